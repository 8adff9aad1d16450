"""The Notion source: the real notion-client against the stand-in."""

import itertools
import logging

import pytest

from adapters.sources.notion_editors import NotionEditors
from adapters.sources.notion_tree import TreeLimits
from core.domain.documents import ObjectType, PageRef, walk
from core.domain.ids import PageId, without_dashes
from core.errors import NotFoundError, RefusedError, TemporaryError, UnavailableError, UnreadableError
from core.ports import IncrementalSource, Presence
from tests.adapters.sources.notion_rig import notion_rig, texts_of
from tests.fakes.notion import Workspace, blocks, faults, generate, load, properties, routes


def by_title(refs: list[PageRef]) -> dict[str, PageRef]:
    """Entries by title."""
    return {ref.title: ref for ref in refs}


# --- Reading a page ------------------------------------------------------------------------------------


async def test_f1_sy13_all_pages_of_children_are_read_in_order() -> None:
    """130 blocks come in two pages; the second call carries the cursor and the same block."""
    async with notion_rig() as rig:
        page = rig.workspace.add_page("Long", blocks=[blocks.paragraph(f"p{n:03}") for n in range(1, 131)])

        assert await rig.texts(page) == [f"p{n:03}" for n in range(1, 131)]

        first, second = rig.server.calls(routes.CHILDREN)
        assert first.params == second.params == {"block_id": page}
        assert "start_cursor" not in first.query
        assert second.query["start_cursor"]


async def test_sy13_short_pages_of_results_are_followed() -> None:
    """However few results come at once, has_more alone decides."""
    async with notion_rig() as rig:
        rig.server.pager.short = True
        page = rig.workspace.add_page("Long", blocks=[blocks.paragraph(f"p{n}") for n in range(101)])

        assert await rig.texts(page) == [f"p{n}" for n in range(101)]


async def test_f2_sy12_a_page_nested_1200_levels_is_read() -> None:
    """Every level arrives, each below the one before."""
    async with notion_rig() as rig:
        page = rig.workspace.add_page("Deep", blocks=[blocks.nested([f"level {n}" for n in range(1200)])])

        read = await rig.page(page)

        found = [(block.text, depth) for block, depth in walk(read.blocks)]
        assert found == [(f"- level {n}", n) for n in range(1200)]


async def test_sy12_what_lies_beyond_the_limits_is_counted(caplog: pytest.LogCaptureFixture) -> None:
    """Limits of depth and size leave out the rest, and say so."""
    async with notion_rig(limits=TreeLimits(depth=2, blocks=5)) as rig:
        deep = rig.workspace.add_page("Deep", blocks=[blocks.nested([f"level {n}" for n in range(5)])])
        wide = rig.workspace.add_page("Wide", blocks=[blocks.paragraph(str(n)) for n in range(9)])

        with caplog.at_level(logging.WARNING):
            assert await rig.texts(deep) == ["- level 0", "- level 1", "- level 2"]
            assert await rig.texts(wide) == ["0", "1", "2", "3", "4"]

        assert rig.source.skipped == {"too deep": 1, "too many blocks": 4}
        assert "too deep" in caplog.text


async def test_f3_sy10_a_copy_of_a_synced_block_shows_its_original() -> None:
    """The original's text stands on both pages; without access the rest of the page stays."""
    async with notion_rig() as rig:
        home = rig.workspace.add_page("Home", blocks=[blocks.synced_original([blocks.paragraph("shared")])])
        original = rig.workspace.block_ids(home)[0]
        copy = rig.workspace.add_page(
            "Copy",
            blocks=[blocks.paragraph("before"), blocks.synced_copy(original), blocks.paragraph("after")],
        )

        assert await rig.texts(home) == ["shared"]
        assert await rig.texts(copy) == ["before", "shared", "after"]

        rig.workspace.unshare(home)
        assert await rig.texts(copy) == ["before", "after"]
        assert rig.source.skipped == {"original not shared": 1}


async def test_sy10_a_synced_block_inside_itself_ends() -> None:
    """A copy within its own original is not followed for ever."""
    async with notion_rig() as rig:
        page = rig.workspace.add_page("Loop", blocks=[blocks.synced_original([blocks.paragraph("once")])])
        original = rig.workspace.block_ids(page)[0]
        rig.workspace.append_blocks(original, [blocks.synced_copy(original)])

        assert await rig.texts(page) == ["once"]


async def test_sy10_what_stands_on_a_page_in_many_copies_is_asked_for_once() -> None:
    """Copies of copies of copies cost as many requests as there are synced blocks."""
    async with notion_rig() as rig:
        inner = [blocks.paragraph("leaf")]
        for level in range(5):
            home = rig.workspace.add_page(f"Level {level}", blocks=[blocks.synced_original(inner)])
            inner = [blocks.synced_copy(rig.workspace.block_ids(home)[0]) for _ in range(5)]
        page = rig.workspace.add_page("Page", blocks=inner)
        ref = await rig.ref(page)
        rig.server.forget()

        assert texts_of((await rig.source.read(ref)).blocks) == ["leaf"] * 5**5
        assert rig.server.counts[routes.CHILDREN] == 6


async def test_not9_a_block_that_is_met_inside_itself_ends() -> None:
    """As happens when somebody moves blocks while their page is read."""
    async with notion_rig() as rig:
        inner = blocks.toggle("two", [blocks.paragraph("three")])
        page = rig.workspace.add_page("Page", blocks=[blocks.toggle("one", [inner])])
        [one] = rig.workspace.block_ids(page)
        [two] = rig.workspace.block_ids(one)
        rig.workspace.blocks[two].children.append(one)

        assert await rig.texts(page) == ["- one", "- two", "three", "- one"]


async def test_u6_sy9_a_page_inside_a_synced_block_belongs_to_the_page_of_the_original() -> None:
    """Whoever shows a copy of the block is no parent of the pages in it."""
    async with notion_rig() as rig:
        home = rig.workspace.add_page("Home", blocks=[blocks.synced_original([blocks.child_page("Kid")])])
        [original] = rig.workspace.block_ids(home)
        [kid] = rig.workspace.block_ids(original)
        copy = rig.workspace.add_page("Copy", blocks=[blocks.synced_copy(original)])

        assert (await rig.page(copy)).children == ()
        assert (await rig.page(home)).children == (kid,)
        assert (await rig.ref(kid)).parent_id == home


async def test_f4_children_of_an_unsupported_block_do_not_lose_the_page() -> None:
    """The API refuses the children of a type it does not know; everything else is read."""
    async with notion_rig() as rig:
        strange = blocks.raw("external_object_instance_page", {}, has_children=True)
        page = rig.workspace.add_page(
            "Odd",
            blocks=[
                blocks.paragraph("a"),
                strange,
                blocks.unsupported("ai_block", True),
                blocks.paragraph("b"),
            ],
        )

        assert await rig.texts(page) == ["a", "b"]
        assert sum(rig.source.unknown.values()) == 2


async def test_not9_a_failing_block_never_truncates_a_page_silently() -> None:
    """If the children of a known block cannot be had, the page is not given at all."""
    async with notion_rig() as rig:
        page = rig.workspace.add_page(
            "Page", blocks=[blocks.paragraph("a"), blocks.toggle("more", [blocks.paragraph("inside")])]
        )
        toggle = rig.workspace.block_ids(page)[1]
        ref = await rig.ref(page)
        rig.server.faults.add(
            faults.internal_error(), route=routes.CHILDREN, where=lambda request: toggle in request.path
        )

        with pytest.raises(TemporaryError):
            await rig.source.read(ref)

        rig.server.faults.clear()
        rig.server.faults.add(
            faults.not_found(), route=routes.CHILDREN, where=lambda request: toggle in request.path
        )
        with pytest.raises(UnavailableError):
            await rig.source.read(ref)


async def test_u6_sy9_child_pages_are_pages_of_their_own() -> None:
    """The parent holds a reference, the child its body, and nobody fetches it twice."""
    async with notion_rig() as rig:
        parent = rig.workspace.add_page("Parent", blocks=[blocks.paragraph("own")])
        child = rig.workspace.add_page("Child", parent=parent, blocks=[blocks.paragraph("secret")])
        database = rig.workspace.add_database("Tasks", parent=parent)

        read = await rig.page(parent)

        assert texts_of(read.blocks) == ["own", f"[Child](page:{child})", f"[Tasks](page:{database})"]
        assert read.children == (child, database)
        assert await rig.texts(child) == ["secret"]


async def test_f10_a_page_without_body_and_its_child_are_both_listed() -> None:
    """Empty pages are pages."""
    async with notion_rig() as rig:
        numbers = rig.workspace.add_page("Emergency numbers")
        rig.workspace.add_page("Berlin", parent=numbers)

        refs = by_title(await rig.listed())

        assert set(refs) == {"Emergency numbers", "Berlin"}
        assert refs["Berlin"].parent_id == numbers


async def test_meeting_notes_are_read_with_all_their_sections() -> None:
    """Summary, notes and transcript are blocks that are named by id."""
    async with notion_rig() as rig:
        notes = blocks.meeting_notes(
            "Weekly", [blocks.paragraph("sum")], [blocks.paragraph("note")], [blocks.paragraph("said")]
        )
        page = rig.workspace.add_page("Meeting", blocks=[notes])

        assert await rig.texts(page) == ["Weekly", "sum", "note", "said"]


async def test_f9_the_sample_workspace_reads_over_the_api_as_from_disk() -> None:
    """The same pages come out of the API and out of the folder of JSON."""
    from importlib.resources import files

    from adapters.sources.sample import SampleSource

    workspace = Workspace()
    load(workspace, files("adapters.sources.sample_workspace"))
    local = {ref.id: ref async for ref in SampleSource().list_pages()}
    async with notion_rig(workspace) as rig:
        refs = {ref.id: ref for ref in await rig.listed()}

        assert refs.keys() == local.keys()
        for page_id, ref in refs.items():
            assert ref.title == local[page_id].title
            assert ref.parent_id == local[page_id].parent_id
            assert ref.properties == local[page_id].properties
        for page_id in list(refs)[::7]:
            assert (await rig.source.read(refs[page_id])).blocks == (
                await SampleSource().read(local[page_id])
            ).blocks


# --- Listing -------------------------------------------------------------------------------------------


async def test_everything_shared_is_listed_parents_first() -> None:
    """Without roots, all pages, databases and rows; no request is malformed."""
    async with notion_rig() as rig:
        generate(rig.workspace, pages=250)
        base = rig.workspace.add_database("Base", description="All our things.")
        for number in range(120):
            rig.workspace.add_row(base, f"Row {number}")

        refs = await rig.listed()

        assert len(refs) == len({ref.id for ref in refs}) == 250 + 1 + 120
        seen: set[PageId] = set()
        for ref in refs:
            assert ref.parent_id is None or ref.parent_id in seen
            seen.add(ref.id)
        assert rig.server.complaints == []
        assert isinstance(rig.source, IncrementalSource)


async def test_u7_what_search_omits_is_found_by_parents_roots_and_queries() -> None:
    """A parent, a root and rows that search never returns are listed all the same."""
    workspace = Workspace()
    root = workspace.add_page("Root")
    middle = workspace.add_page("Middle", parent=root)
    workspace.add_page("Leaf", parent=middle)
    base = workspace.add_database("Base", parent=root)
    row = workspace.add_row(base, "Row")
    async with notion_rig(workspace, roots=[root]) as rig:
        rig.server.behaviour.search_omits.update({root, middle, row})

        assert await rig.titles() == {"Root", "Middle", "Leaf", "Base", "Row"}


async def test_roots_bound_what_is_given() -> None:
    """Nothing outside the roots' subtrees is listed, changed or probed as live."""
    workspace = Workspace()
    inside = workspace.add_page("Inside")
    workspace.add_page("Child", parent=inside)
    outside = workspace.add_page("Outside")
    workspace.add_page("Stranger", parent=outside)
    async with notion_rig(workspace, roots=[inside]) as rig:
        assert await rig.titles() == {"Inside", "Child"}
        changed = [ref.title async for ref in rig.source.changed_since(workspace.clock.now())]
        assert sorted(changed) == ["Child", "Inside"]
        assert (await rig.source.probe(PageId(outside))).presence is Presence.NOT_SHARED


async def test_f30_sy26_a_root_that_is_not_shared_is_named_and_the_others_are_listed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A wrong id costs a clear line, not the run."""
    workspace = Workspace()
    good = workspace.add_page("Good")
    wrong = "deadbeef-dead-4ead-8ead-deadbeefdead"
    async with notion_rig(workspace, roots=[good, wrong]) as rig:
        with caplog.at_level(logging.WARNING):
            assert await rig.titles() == {"Good"}

        assert wrong in caplog.text
        assert "not shared" in caplog.text


async def test_u10_parents_through_blocks_columns_and_data_sources() -> None:
    """A page inside a toggle in a column belongs to the page around it, a row to its database."""
    async with notion_rig() as rig:
        inner = blocks.toggle("box", [blocks.child_page("Boxed")])
        page = rig.workspace.add_page("Outer", blocks=[blocks.columns([inner], [blocks.paragraph("x")])])
        base = rig.workspace.add_database("Base", parent=page)
        rig.workspace.add_row(base, "Row")

        refs = by_title(await rig.listed())

        assert refs["Boxed"].parent_id == page
        assert refs["Base"].parent_id == page
        assert refs["Row"].parent_id == base
        assert refs["Row"].object_type is ObjectType.ROW
        assert refs["Base"].object_type is ObjectType.DATABASE


async def test_u10_a_page_that_was_read_tells_where_its_children_stand() -> None:
    """After the outer page was read, no block has to be climbed for its children."""
    async with notion_rig() as rig:
        page = rig.workspace.add_page("Outer", blocks=[blocks.columns([blocks.child_page("Boxed")])])
        await rig.source.read(await rig.ref(page))
        rig.server.forget()

        refs = by_title(await rig.listed())

        assert refs["Boxed"].parent_id == page
        assert rig.server.counts[routes.BLOCK] == 0


async def test_f29_a_parent_without_access_costs_one_look_and_shortens_the_path() -> None:
    """No retry on 404; the page itself is listed at the top."""
    async with notion_rig() as rig:
        private = rig.workspace.add_page("Private", shared=False)
        rig.workspace.add_page("Open", parent=private, shared=True)

        refs = by_title(await rig.listed())

        assert set(refs) == {"Open"}
        assert refs["Open"].parent_id is None
        assert rig.server.counts[routes.PAGE] == 1
        assert rig.time.slept == []


async def test_sy15_rows_have_properties_and_the_path_through_their_data_source() -> None:
    """Numbers have the format of their column, relations name pages by reference."""
    async with notion_rig() as rig:
        base = rig.workspace.add_database(
            "Tools",
            schema={
                "Price": properties.column("number", format="euro"),
                "Done": properties.column("checkbox"),
            },
        )
        row = rig.workspace.add_row(
            base, "Drill", properties={"Price": properties.number(20), "Done": properties.checkbox(True)}
        )

        ref = await rig.ref(row)

        assert ref.properties == (("Price", "20 €"), ("Done", "yes"))
        assert ref.parent_id == base


async def test_not14_every_data_source_of_a_database_is_listed() -> None:
    """A container with two tables gives the rows of both."""
    async with notion_rig() as rig:
        base = rig.workspace.add_database("Base")
        second = rig.workspace.add_data_source(base, "Archive")
        rows = {rig.workspace.add_row(base, "New"), rig.workspace.add_row(second, "Old")}
        # Search is free to omit rows: only the tables themselves are sure to have them.
        rig.server.behaviour.search_omits |= rows

        refs = by_title(await rig.listed())

        assert set(refs) == {"Base", "New", "Old"}
        assert refs["New"].parent_id == refs["Old"].parent_id == base


async def test_not14_properties_of_more_than_25_entries_are_completed() -> None:
    """A relation of 60 pages is rendered in full."""
    async with notion_rig() as rig:
        targets = [rig.workspace.add_page(f"T{number}") for number in range(60)]
        base = rig.workspace.add_database("Base")
        row = rig.workspace.add_row(base, "Row", properties={"Links": properties.relation(*targets)})

        ref = await rig.ref(row)

        (name, value), *_ = ref.properties
        assert name == "Links"
        assert value.count("(page:") == 60


async def test_f5_a_linked_view_is_resolved_or_skipped() -> None:
    """The view's title stays on the page; its rows belong to the true database; nothing crashes."""
    async with notion_rig() as rig:
        page = rig.workspace.add_page("Page")
        base = rig.workspace.add_database("Tasks", parent=rig.workspace.add_page("Home"))
        rig.workspace.add_row(base, "Row")
        view = rig.workspace.add_linked_view(page, base)
        dead = rig.workspace.add_linked_view(page, base, title="Dead view", resolvable=False)

        refs = by_title(await rig.listed())

        assert set(refs) == {"Page", "Home", "Tasks", "Row"}
        assert refs["Tasks"].id == base
        assert "Tasks" in " ".join(await rig.texts(page))
        assert "Dead view" in " ".join(await rig.texts(page))
        assert (await rig.source.probe(PageId(view))).ref == await rig.ref(base)
        with pytest.raises(UnreadableError):
            await rig.source.probe(PageId(dead))


async def test_f21_trashed_and_archived_pages_are_not_listed() -> None:
    """Even if search shows them."""
    async with notion_rig() as rig:
        rig.workspace.add_page("Live")
        gone = rig.workspace.add_page("Gone")
        rig.workspace.trash(gone)
        rig.server.behaviour.search_shows_trashed = True

        assert await rig.titles() == {"Live"}
        assert (await rig.source.probe(PageId(gone))).presence is Presence.IN_TRASH


async def test_f26_an_invalid_cursor_restarts_the_listing_once() -> None:
    """Nothing is given twice; a second refusal breaks the listing off."""
    async with notion_rig() as rig:
        generate(rig.workspace, pages=350)
        rig.server.faults.add(faults.invalid_cursor(), route=routes.SEARCH, after=2, times=1)

        assert len(await rig.listed()) == 350

        rig.server.faults.add(faults.invalid_cursor(), route=routes.SEARCH)
        with pytest.raises(TemporaryError):
            await rig.listed()


async def test_f25_a_cursor_that_never_moves_ends_the_listing_with_an_error() -> None:
    """One repeat is enough."""
    async with notion_rig() as rig:
        generate(rig.workspace, pages=250)
        rig.server.faults.add(faults.repeated_cursor(), route=routes.SEARCH)

        with pytest.raises(TemporaryError, match="does not move on"):
            await rig.listed()

        assert rig.server.counts[routes.SEARCH] == 2


async def test_f24_f25_empty_pages_of_results_do_not_end_a_listing() -> None:
    """A page without results and with has_more is followed."""
    async with notion_rig() as rig:
        generate(rig.workspace, pages=350)
        rig.server.pager.empty = True

        assert len(await rig.listed()) == 350


async def test_f25_a_listing_of_ever_new_cursors_and_nothing_else_ends() -> None:
    """A few empty pages are Notion's way; a hundred of them in a row are none."""
    async with notion_rig() as rig:
        rig.workspace.add_page("Page")
        numbers = itertools.count()
        rig.server.faults.add(
            faults.Change(
                lambda _, answer: {
                    **answer,
                    "results": [],
                    "has_more": True,
                    "next_cursor": f"cursor {next(numbers)}",
                }
            ),
            route=routes.SEARCH,
        )
        rig.server.pager.cut = lambda *_, **__: ([], None)  # type: ignore[method-assign] # takes any cursor
        with pytest.raises(UnavailableError, match="does not move on"):
            await rig.listed()
        assert rig.server.counts[routes.SEARCH] < 110


async def test_not4_a_listing_without_has_more_ends() -> None:
    """The missing key reads as the end, never as a crash."""
    async with notion_rig() as rig:
        rig.workspace.add_page("One")
        rig.server.faults.add(faults.no_has_more())

        assert await rig.titles() == {"One"}


async def test_not5_sy25_u26_queries_beyond_the_cap_are_completed_by_windows() -> None:
    """2,300 rows with a cap of 500 per query all arrive, once each."""
    workspace = Workspace()
    base = workspace.add_database("Base")
    for number in range(2300):
        if number % 50 == 0:
            workspace.clock.advance(minutes=1)
        workspace.add_row(base, f"Row {number}")
    async with notion_rig(workspace) as rig:
        rig.server.behaviour.query_cap = 500
        rig.server.behaviour.search_omits.update(workspace.sources[workspace.databases[base].sources[0]].rows)

        refs = await rig.listed()

        assert len(refs) == 2301
        assert rig.server.complaints == []


async def test_not5_a_cap_that_windows_cannot_pass_is_loud() -> None:
    """More rows of one minute than a query gives: an error, not a quiet cut."""
    workspace = Workspace()
    base = workspace.add_database("Base")
    for number in range(40):
        workspace.add_row(base, f"Row {number}")
    async with notion_rig(workspace) as rig:
        rig.server.behaviour.query_cap = 20

        with pytest.raises(TemporaryError, match="split it"):
            await rig.listed()


async def test_f31_no_filter_means_no_key() -> None:
    """Queries of a whole data source have no filter in their body."""
    async with notion_rig() as rig:
        base = rig.workspace.add_database("Base")
        rig.workspace.add_row(base, "Row")
        await rig.listed()

        assert all("filter" not in call.body for call in rig.server.calls(routes.QUERY))
        assert rig.server.counts[routes.QUERY] == 1


# --- Changes and single looks --------------------------------------------------------------------------


async def test_changes_come_newest_first_and_stop_at_the_moment() -> None:
    """Asking for changes costs one request however large the workspace is."""
    async with notion_rig() as rig:
        generate(rig.workspace, pages=300)
        rig.workspace.clock.advance(hours=1)
        moment = rig.workspace.clock.now()
        changed = rig.workspace.add_page("Fresh")
        base = rig.workspace.add_database("Base")
        rig.workspace.clock.advance(minutes=1)
        row = rig.workspace.add_row(base, "Row")
        rig.server.forget()

        refs = [ref async for ref in rig.source.changed_since(moment)]

        assert refs[0].id == row
        assert {ref.id for ref in refs} == {changed, base, row}
        assert rig.server.counts[routes.SEARCH] == 1


async def test_not6_a_look_tells_live_trashed_and_unshared_apart() -> None:
    """Only 200 with in_trash and 404 are proof; a 403 or 500 is none."""
    async with notion_rig(patience=None) as rig:
        page = rig.workspace.add_page("Page")
        base = rig.workspace.add_database("Base")

        assert (await rig.source.probe(PageId(page))).presence is Presence.LIVE
        assert (await rig.source.probe(PageId(base))).presence is Presence.LIVE
        rig.workspace.trash(page)
        assert (await rig.source.probe(PageId(page))).presence is Presence.IN_TRASH
        rig.workspace.restore(page)
        rig.workspace.unshare(page)
        assert (await rig.source.probe(PageId(page))).presence is Presence.NOT_SHARED
        rig.server.faults.add(faults.restricted(), route=routes.PAGE)
        with pytest.raises(UnreadableError):
            await rig.source.probe(PageId(page))
        rig.server.faults.clear()
        rig.server.faults.add(faults.unavailable())
        with pytest.raises(TemporaryError):
            await rig.source.probe(PageId(page))


async def test_a_page_that_is_gone_is_not_found() -> None:
    """Reading what was deleted meanwhile says so."""
    async with notion_rig() as rig:
        page = rig.workspace.add_page("Page", blocks=[blocks.paragraph("x")])
        ref = await rig.ref(page)
        rig.workspace.delete_forever(page)

        with pytest.raises(NotFoundError):
            await rig.source.read(ref)


async def test_t21_sy20_a_refused_token_ends_everything_at_once() -> None:
    """One request, one clear sentence, and the token is not in it."""
    async with notion_rig() as rig:
        rig.workspace.add_page("Page")
        rig.server.revoke_token()

        with pytest.raises(RefusedError, match="NOTION_TOKEN") as caught:
            await rig.listed()

        assert rig.server.total == 1
        assert rig.server.token not in str(caught.value)


async def test_an_integration_that_may_not_read_is_told_what_to_turn_on() -> None:
    """403 on search concerns the whole run."""
    async with notion_rig() as rig:
        rig.server.behaviour.rights.discard("read_content")

        with pytest.raises(RefusedError, match="Read content"):
            await rig.listed()


async def test_not12_links_are_given_as_notion_gives_them() -> None:
    """Whatever the host, the page's own link is kept."""
    async with notion_rig() as rig:
        url = "https://app.notion.com/p/Handbook-1"
        page = rig.workspace.add_page("Handbook", url=url)

        assert (await rig.ref(page)).url == url
        other = rig.workspace.add_page("Other")
        assert without_dashes(other) in (await rig.ref(other)).url


async def test_block_parents_of_parent_type_block_id_are_read_at_any_depth() -> None:
    """Five blocks between a page and the page around it."""
    async with notion_rig() as rig:
        spec = blocks.child_page("Far inside")
        for number in range(5):
            spec = blocks.toggle(f"t{number}", [spec])
        page = rig.workspace.add_page("Outer", blocks=[spec])

        refs = by_title(await rig.listed())

        assert refs["Far inside"].parent_id == page


async def test_the_last_editor_of_a_page_is_known_by_address() -> None:
    """As far as the integration may read addresses, and nobody's for a page that is not there."""
    async with notion_rig() as rig:
        editor = rig.workspace.add_user("Ada", "ada@example.com")
        page = rig.workspace.add_page("Page")
        rig.workspace.pages[page].edited_by = editor
        editors = NotionEditors(rig.api)

        assert await editors.email_of_last_editor(page) == "ada@example.com"
        assert await editors.email_of_last_editor(rig.workspace.new_id()) == ""
        rig.server.behaviour.rights -= {"read_emails"}
        assert await editors.email_of_last_editor(page) == ""
        rig.server.behaviour.rights -= {"read_users"}
        assert await editors.email_of_last_editor(page) == ""
