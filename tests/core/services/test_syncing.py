"""Syncing: the real notion-client, the stand-in of Notion, and an index in memory."""

from datetime import timedelta

import pytest

from adapters.stores.ledger_memory import MemoryLedger
from core.domain.ids import PageId
from core.errors import RefusedError, UnavailableError
from core.ports.ledger import Fate
from core.services.comparing import content_hash
from core.services.syncing import SyncSettings
from tests.core.services.sync_rig import SyncRig, sync_rig
from tests.fakes.notion import Workspace, blocks, faults, generate, properties, richtext, routes

# --- What a run costs ----------------------------------------------------------------------------------


async def test_a_first_sync_indexes_everything_and_counts_it() -> None:
    """Pages, databases and rows; the figures add up."""
    async with sync_rig() as rig:
        generate(rig.workspace, pages=120)
        base = rig.workspace.add_database("Base", description="All our things.")
        rig.workspace.add_row(base, "Drill", properties={"Place": properties.rich_text("shelf 7")})

        report = await rig.sync()

        assert report.is_clean
        assert report.complete
        assert report.listed == report.read == report.changed == report.pages_embedded == 122
        assert report.unchanged == report.removed == report.reused == 0
        assert report.embedded == report.chunks == len(rig.embedder.embedded)
        assert report.requests == rig.notion.server.total
        assert [hit.title for hit in await rig.found("shelf")] == ["Drill"]


async def test_sy1_an_unchanged_page_costs_no_block_fetch() -> None:
    """A whole listing of an unchanged workspace reads nothing and embeds nothing."""
    async with sync_rig() as rig:
        generate(rig.workspace, pages=250)
        await rig.settled()

        report = await rig.reconcile()

        assert report.unchanged == report.listed == 250
        assert rig.notion.server.counts == {routes.SEARCH: 3}
        assert rig.embedder.calls == 0


async def test_an_idle_poll_costs_one_request() -> None:
    """Between two listings only changes are asked for."""
    async with sync_rig() as rig:
        generate(rig.workspace, pages=250)
        await rig.settled()

        report = await rig.sync()

        assert not report.complete
        assert report.requests == 1


async def test_one_edited_page_costs_its_own_reading() -> None:
    """One search, and the page's blocks; what did not change is not embedded."""
    async with sync_rig() as rig:
        generate(rig.workspace, pages=150)
        page = rig.workspace.add_page(
            "Notice",
            blocks=[
                blocks.heading(1, "A"),
                blocks.paragraph("old words"),
                blocks.heading(1, "B"),
                blocks.paragraph("same words"),
            ],
        )
        await rig.settled()
        rig.workspace.edit_block(rig.workspace.find_block(page, "old words"), "new words")

        report = await rig.sync()

        assert report.requests == 2
        assert (report.read, report.changed, report.embedded, report.reused) == (1, 1, 1, 1)
        assert any("new words" in body for body in rig.bodies(page))
        assert not any("old words" in body for body in rig.bodies(page))


async def test_sy2_a_new_time_with_equal_content_embeds_nothing() -> None:
    """The time is stored, the vectors stay."""
    async with sync_rig() as rig:
        page = rig.workspace.add_page("Page", blocks=[blocks.paragraph("text")])
        await rig.settled()
        before = await rig.store.generation()
        rig.workspace.edit_block(rig.workspace.find_block(page, "text"), "text")

        report = await rig.sync()

        assert (report.read, report.changed, report.embedded, report.pages_embedded) == (1, 0, 0, 0)
        state = (await rig.store.states([page]))[page]  # type: ignore[list-item,index] # ids of the stand-in are strings
        assert state.ref.last_edited == rig.workspace.clock.now().replace(second=0, microsecond=0)
        assert await rig.store.generation() <= before + 1


async def test_a_moved_paragraph_is_not_embedded_again() -> None:
    """Vectors are reused by the exact text, wherever it stands."""
    async with sync_rig() as rig:
        sections = [[blocks.heading(1, f"Part {n}"), blocks.paragraph(f"text {n} " * 20)] for n in range(4)]
        page = rig.workspace.add_page("Page", blocks=[one for section in sections for one in section])
        await rig.settled()
        rig.workspace.replace_blocks(page, [one for section in reversed(sections) for one in section])

        report = await rig.sync()

        assert (report.changed, report.embedded, report.reused) == (1, 0, 4)


async def test_f34_what_was_done_before_a_crash_is_not_done_again() -> None:
    """A run cut off in the middle is taken up: finished pages are not read again, none is skipped."""
    async with sync_rig() as rig:
        generate(rig.workspace, pages=100)
        rig.later()
        rule = rig.notion.server.faults.add(faults.unauthorized(), route=routes.CHILDREN, after=60)
        with pytest.raises(RefusedError):
            await rig.sync()
        rig.notion.server.faults.remove(rule)
        stored = len(rig.pages())

        report = await rig.reconcile()

        assert 40 <= stored <= 60
        assert report.unchanged == stored
        assert report.read == 100 - stored
        assert len(rig.pages()) == 100
        assert report.is_clean


async def test_f34_a_full_run_that_was_cut_off_reads_on_where_it_was() -> None:
    """What it read is not read again, though everything was asked for; what it did not is."""
    async with sync_rig() as rig:
        generate(rig.workspace, pages=100)
        rig.later()
        await rig.settled()
        begun = rig.workspace.clock.now()
        rig.later(minutes=1)
        rule = rig.notion.server.faults.add(faults.unauthorized(), route=routes.CHILDREN, after=60)
        with pytest.raises(RefusedError):
            await rig.sync(full=True)
        rig.notion.server.faults.remove(rule)

        report = await rig.restart().run(full=True, read_since=begun)
        rig.later(minutes=1)
        again = await rig.restart().run(full=True, read_since=rig.workspace.clock.now())

        assert 40 <= report.unchanged <= 60
        assert report.read == 100 - report.unchanged
        assert again.read == 100
        assert report.is_clean


async def test_f34_a_reembedding_that_was_cut_off_goes_on() -> None:
    """Pages that were embedded before the cut are not embedded again."""
    async with sync_rig() as rig:
        for number in range(100):
            rig.workspace.add_page(f"Page {number}", blocks=[blocks.paragraph(f"text {number}")])
        await rig.sync()
        await rig.store.mark_all_pending()
        rig.embedder.poison, rig.embedder.error = {"text 7"}, RefusedError("the key was refused")
        with pytest.raises(RefusedError):
            await rig.syncer.reembed()
        left = await rig.store.count_pending()
        rig.embedder.error = None

        report = await rig.syncer.reembed(is_resumed=True)

        assert report.pages_embedded == left
        assert await rig.store.count_pending() == 0


async def test_sy16_u8_every_pending_page_is_embedded_in_one_run() -> None:
    """450 forced pages, no request to Notion, one run."""
    async with sync_rig() as rig:
        for number in range(450):
            rig.workspace.add_page(f"Page {number}", blocks=[blocks.paragraph(f"text {number}")])
        await rig.sync()
        rig.notion.server.forget()

        report = await rig.syncer.reembed()

        assert report.pages_embedded == 450
        assert report.embedded == 450
        assert rig.notion.server.total == 0


# --- What changes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("restart", [False, True], ids=["same process", "new process"])
async def test_sy4_u2_f23_a_second_edit_in_the_same_minute_arrives(restart: bool) -> None:
    """Both edits carry the same minute; the next run sees the second."""
    async with sync_rig() as rig:
        page = rig.workspace.add_page("Page", blocks=[blocks.paragraph("first text")])
        await rig.settled()
        rig.workspace.clock.advance(seconds=10)
        rig.workspace.edit_block(rig.workspace.block_ids(page)[0], "second text")
        rig.workspace.clock.advance(seconds=20)
        await rig.sync()
        rig.workspace.clock.advance(seconds=20)
        rig.workspace.edit_block(rig.workspace.block_ids(page)[0], "third text")
        rig.workspace.clock.advance(minutes=30)
        if restart:
            rig.restart()

        report = await rig.sync()

        assert report.changed == 1
        assert rig.bodies(page) == ["third text"]


async def test_not8_an_edit_that_search_learns_of_late_arrives() -> None:
    """Search lags by almost two minutes: the overlap covers it."""
    async with sync_rig() as rig:
        page = rig.workspace.add_page("Page", blocks=[blocks.paragraph("first text")])
        await rig.settled()
        rig.notion.server.behaviour.search_lag = timedelta(seconds=110)
        rig.workspace.edit_block(rig.workspace.block_ids(page)[0], "second text")
        rig.workspace.clock.advance(seconds=100)
        await rig.sync()
        assert rig.bodies(page) == ["first text"]
        rig.workspace.clock.advance(seconds=60)

        await rig.sync()

        assert rig.bodies(page) == ["second text"]


async def test_u1_sy3_a_rename_reaches_every_descendant_without_reading_them() -> None:
    """Breadcrumbs are embedded, so descendants are embedded anew, from what is stored."""
    async with sync_rig() as rig:
        root = rig.workspace.add_page("Old", blocks=[blocks.paragraph("root text")])
        child = rig.workspace.add_page("Child", parent=root, blocks=[blocks.paragraph("child text")])
        grandchildren = [
            rig.workspace.add_page(f"Grandchild {n}", parent=child, blocks=[blocks.paragraph(f"leaf {n}")])
            for n in range(30)
        ]
        await rig.settled()
        rig.workspace.rename(root, "New")

        report = await rig.sync()

        assert report.requests == 2
        assert report.pages_embedded == 32
        assert all(text.startswith("[New > Child") or "New" in text for text in rig.embedder.embedded)
        assert rig.chunks(grandchildren[3])[0].chunk.breadcrumb == "New > Child > Grandchild 3"
        assert [hit.title for hit in await rig.found("root")] == ["New"]


async def test_sy3_a_move_is_seen_although_the_moved_page_is_not_dated() -> None:
    """Its new parent is, and names it."""
    async with sync_rig() as rig:
        here = rig.workspace.add_page("Here")
        there = rig.workspace.add_page("There")
        page = rig.workspace.add_page("Page", parent=here, blocks=[blocks.paragraph("text")])
        await rig.settled()
        rig.workspace.move(page, there)

        report = await rig.sync()

        assert report.is_clean
        assert rig.chunks(page)[0].chunk.breadcrumb == "There > Page"
        [hit] = await rig.found("text")
        assert hit.path == (page, there)


async def test_a_move_costs_the_parents_and_one_look() -> None:
    """A search, both parents, and the page's entry; its blocks are those that are stored."""
    async with sync_rig() as rig:
        here = rig.workspace.add_page("Here")
        there = rig.workspace.add_page("There")
        page = rig.workspace.add_page("Page", parent=here, blocks=[blocks.paragraph("text")])
        await rig.settled()
        rig.workspace.move(page, there)

        report = await rig.sync()

        assert report.requests == 4
        assert page not in {call.params["block_id"] for call in rig.notion.server.calls(routes.CHILDREN)}
        assert rig.chunks(page)[0].chunk.breadcrumb == "There > Page"


async def test_a_deletion_is_seen_between_two_listings_where_a_parent_lost_the_page() -> None:
    """A search, the parent, one look for each page that is gone; what hung on it goes with it."""
    async with sync_rig() as rig:
        parent = rig.workspace.add_page("Parent")
        page = rig.workspace.add_page("Page", parent=parent, blocks=[blocks.paragraph("goneword")])
        below = rig.workspace.add_page("Below", parent=page, blocks=[blocks.paragraph("belowword")])
        base = rig.workspace.add_database("Base", parent=below)
        rig.workspace.add_row(base, "Row")
        await rig.settled()
        rig.workspace.trash(page)

        report = await rig.sync()

        assert not report.complete
        assert report.removed == 4
        assert rig.pages() == {parent}
        assert await rig.found("goneword belowword") == []


async def test_sy3_a_move_to_the_top_is_seen_by_the_next_listing() -> None:
    """Where no page above is dated, the listing shows the new parent."""
    async with sync_rig() as rig:
        here = rig.workspace.add_page("Here")
        page = rig.workspace.add_page("Page", parent=here, blocks=[blocks.paragraph("text")])
        await rig.settled()
        rig.workspace.move(page, None)

        await rig.reconcile()

        assert rig.chunks(page)[0].chunk.breadcrumb == "Page"


async def test_f15_links_show_the_title_a_page_has_now() -> None:
    """Renaming a page re-cuts the pages that mention it, without reading them."""
    async with sync_rig() as rig:
        target = rig.workspace.add_page("Travel policy")
        mention = richtext.mention_page(target)
        page = rig.workspace.add_page(
            "Onboarding", blocks=[blocks.paragraph(["Read the ", mention, " first."])]
        )
        await rig.settled()
        assert "[Travel policy](" in rig.bodies(page)[0]
        rig.workspace.rename(target, "Journeys")

        report = await rig.sync()

        assert "[Journeys](" in rig.bodies(page)[0]
        assert report.read == 1


async def test_relations_show_titles_of_rows_that_came_later() -> None:
    """A related page that is added afterwards gets its title into the row."""
    async with sync_rig() as rig:
        base = rig.workspace.add_database("Projects")
        late = "0a0a0a0a-0a0a-4a0a-8a0a-0a0a0a0a0a0a"
        row = rig.workspace.add_row(base, "Row", properties={"Owner": properties.relation(late)})
        await rig.settled()
        assert not any("Owner" in body for body in rig.bodies(row))
        rig.workspace.add_page("Ada's team", uid=late)

        await rig.sync()

        assert any("Owner: [Ada's team](" in body for body in rig.bodies(row))


async def test_f32_a_page_that_got_shorter_leaves_nothing_behind() -> None:
    """Ten sections become three."""
    async with sync_rig() as rig:

        def sections(count: int) -> list[dict[str, object]]:
            parts = [
                [blocks.heading(1, f"Part {n}"), blocks.paragraph(f"phrase{n} and more")]
                for n in range(count)
            ]
            return [one for part in parts for one in part]

        page = rig.workspace.add_page("Page", blocks=sections(10))
        await rig.settled()
        assert len(rig.bodies(page)) == 10
        rig.workspace.replace_blocks(page, sections(3))

        await rig.sync()

        assert len(rig.bodies(page)) == 3
        assert await rig.found("phrase7") == []


async def test_sy7_u4_an_emptied_page_stops_answering_and_is_not_pending_for_ever() -> None:
    """Its title is all that is left; a page of drawings alone keeps no drawing."""
    async with sync_rig() as rig:
        emptied = rig.workspace.add_page("Emptied", blocks=[blocks.paragraph("secretword")])
        drawing = rig.workspace.add_page("Drawing", blocks=[blocks.paragraph("artword")])
        await rig.settled()
        rig.workspace.replace_blocks(emptied, [])
        rig.workspace.replace_blocks(drawing, [blocks.paragraph("+--+--+\n|  |  |\n+--+--+" * 9)])

        await rig.sync()

        assert await rig.found("secretword artword") == []
        assert await rig.store.pending(limit=5) == []


async def test_f10_a_page_with_a_title_only_is_found_by_it() -> None:
    """Emergency numbers has no body but can be cited."""
    async with sync_rig() as rig:
        page = rig.workspace.add_page("Emergency numbers")

        await rig.sync()

        assert [hit.page_id for hit in await rig.found("emergency")] == [page]


async def test_u6_a_child_s_text_is_found_under_the_child_only() -> None:
    """No wrong citation, no double."""
    async with sync_rig() as rig:
        parent = rig.workspace.add_page("Parent", blocks=[blocks.paragraph("own")])
        child = rig.workspace.add_page("Child", parent=parent, blocks=[blocks.paragraph("uniqueword")])

        await rig.sync()

        assert {hit.page_id for hit in await rig.found("uniqueword")} == {child}


async def test_u7_a_child_that_search_never_shows_is_found_by_its_parent_s_blocks() -> None:
    """At any depth, and databases with their rows too."""
    async with sync_rig() as rig:
        root = rig.workspace.add_page("Root")
        child = rig.workspace.add_page("Child", parent=root)
        base = rig.workspace.add_database("Base", parent=child)
        row = rig.workspace.add_row(base, "Row", blocks=[blocks.paragraph("rowword")])
        source = rig.workspace.databases[base].sources[0]
        rig.notion.server.behaviour.search_omits.update({child, base, row, source})

        report = await rig.sync()

        assert report.is_clean
        assert rig.pages() == {root, child, base, row}
        assert [hit.page_id for hit in await rig.found("rowword")] == [row]


# --- What is removed -----------------------------------------------------------------------------------


async def gone_pages(rig: SyncRig) -> dict[str, str]:
    """Four pages that vanish in four ways, and one that only hides from search."""
    pages = {
        name: rig.workspace.add_page(name, blocks=[blocks.paragraph(f"{name}word")])
        for name in ("trashed", "deleted", "unshared", "hidden", "kept")
    }
    await rig.settled()
    rig.workspace.trash(pages["trashed"])
    rig.workspace.delete_forever(pages["deleted"])
    rig.workspace.unshare(pages["unshared"])
    rig.notion.server.behaviour.search_omits.add(pages["hidden"])
    return pages


async def test_sy5_f20_u3_not7_what_is_gone_is_removed_and_what_hides_is_kept() -> None:
    """Trash, deletion and unsharing end at the next listing; absence from search means nothing."""
    async with sync_rig() as rig:
        pages = await gone_pages(rig)

        report = await rig.reconcile()

        assert report.removed == 3
        assert rig.pages() == {pages["hidden"], pages["kept"]}
        assert await rig.found("trashedword deletedword unsharedword") == []
        assert report.is_clean


async def test_f21_pages_in_the_trash_are_removed_even_if_listed() -> None:
    """A listing that shows trashed pages does not keep them."""
    async with sync_rig() as rig:
        page = rig.workspace.add_page("Page", blocks=[blocks.paragraph("trashword")])
        await rig.settled()
        rig.notion.server.behaviour.search_shows_trashed = True
        rig.workspace.trash(page)

        await rig.reconcile()

        assert await rig.found("trashword") == []


@pytest.mark.parametrize("trouble", ["breaks off", "fails", "refuses single looks", "is empty"])
async def test_sy6_f22_not6_trouble_is_no_proof_of_absence(trouble: str) -> None:
    """A listing that breaks off, fails or is empty, and looks that are refused, remove nothing."""
    async with sync_rig() as rig:
        generate(rig.workspace, pages=150)
        await rig.settled()
        before = rig.content()
        rules = rig.notion.server.faults
        if trouble == "breaks off":
            rules.add(faults.invalid_cursor(), route=routes.SEARCH)
        elif trouble == "fails":
            rules.add(faults.bad_gateway(), route=routes.SEARCH)
        elif trouble == "refuses single looks":
            rules.add(faults.empty_listing(), route=routes.SEARCH)
            rules.add(faults.restricted(), route=routes.PAGE)
        else:
            rules.add(faults.empty_listing(), route=routes.SEARCH)

        report = await rig.reconcile()

        assert report.removed == 0
        assert rig.content() == before
        assert report.is_clean is (trouble == "is empty")
        rules.clear()
        assert (await rig.reconcile()).is_clean


async def test_f22_not6_a_mass_removal_is_withheld_until_it_is_confirmed() -> None:
    """The root was unshared: additions still arrive, nothing is removed, an alarm says why."""
    async with sync_rig() as rig:
        root = rig.workspace.add_page("Root")
        for number in range(60):
            rig.workspace.add_page(f"Page {number}", parent=root, blocks=[blocks.paragraph(f"w{number}")])
        other = rig.workspace.add_page("Other")
        await rig.settled()
        rig.workspace.unshare(root)
        rig.workspace.add_page("Fresh", blocks=[blocks.paragraph("freshword")])

        report = await rig.reconcile()

        assert (report.removed, report.withheld) == (0, 61)
        assert "confirm" in report.alarm
        assert len(await rig.found("freshword")) == 1
        assert len(rig.pages()) == 63

        confirmed = await rig.reconcile(confirm_removal=True)
        assert confirmed.removed == 61
        assert other in rig.pages()


async def test_f22_most_of_a_small_workspace_is_not_removed_unasked() -> None:
    """A mistyped root would take all of it, though it is less than a large workspace may lose."""
    async with sync_rig() as rig:
        root = rig.workspace.add_page("Root")
        for number in range(11):
            rig.workspace.add_page(f"Page {number}", parent=root, blocks=[blocks.paragraph(f"w{number}")])
        await rig.settled()
        rig.workspace.unshare(root)

        report = await rig.reconcile()

        assert (report.removed, report.withheld) == (0, 12)
        assert "--confirm-removal" in report.alarm
        assert len(rig.pages()) == 12
        assert (await rig.reconcile(confirm_removal=True)).removed == 12


@pytest.mark.parametrize(
    ("gone", "known", "allowed"),
    [
        (1, 1, 20),
        (5, 5, 20),
        (6, 12, 20),
        (6, 11, 5),
        (12, 12, 5),
        (20, 60, 20),
        (31, 100, 30),
        (400, 2000, 600),
    ],
)
def test_f22_how_many_may_go_unasked(gone: int, known: int, allowed: int) -> None:
    """Twenty or three of ten; but not more than a handful where it is most of what there is."""
    assert SyncSettings().removed_unasked(gone, known=known) == allowed


async def test_f22_a_withheld_removal_heals_by_itself_when_access_comes_back() -> None:
    """The next good run finds everything as it was."""
    async with sync_rig() as rig:
        root = rig.workspace.add_page("Root")
        for number in range(60):
            rig.workspace.add_page(f"Page {number}", parent=root)
        await rig.settled()
        rig.workspace.unshare(root)
        assert (await rig.reconcile()).withheld == 61
        rig.workspace.share(root)

        report = await rig.reconcile()

        assert report.is_clean
        assert (report.removed, report.withheld, report.changed) == (0, 0, 0)


async def test_a_page_that_vanishes_while_it_is_read_is_removed_on_proof() -> None:
    """Between two listings, too."""
    async with sync_rig() as rig:
        page = rig.workspace.add_page("Page", blocks=[blocks.paragraph("vanishword")])
        await rig.settled()
        rig.workspace.edit_block(rig.workspace.block_ids(page)[0], "vanishword again")
        rule = rig.notion.server.faults.add(faults.not_found(), route=routes.CHILDREN)

        report = await rig.sync()
        assert report.removed == 0
        assert len(rig.pages()) == 1

        rig.notion.server.faults.remove(rule)
        rig.workspace.edit_block(rig.workspace.block_ids(page)[0], "vanishword")
        rig.workspace.unshare(page)
        await rig.reconcile()
        assert rig.pages() == set()


async def test_t26_the_title_of_an_unshared_page_stays_nowhere() -> None:
    """Unsharing dates no page; those that name it are read again, its parent among them."""
    async with sync_rig() as rig:
        parent = rig.workspace.add_page("Parent", blocks=[blocks.paragraph("own")])
        page = rig.workspace.add_page("Layoffs", parent=parent)
        mention = blocks.paragraph(["see ", richtext.mention_page(page), " today"])
        rig.workspace.add_page("Other", blocks=[mention])
        await rig.settled()
        rig.workspace.unshare(page)

        report = await rig.reconcile()

        assert report.removed == 1
        assert not [row for row in rig.content() if "Layoffs" in str(row)]


async def test_a_page_that_is_shared_later_is_named_by_its_parent() -> None:
    """Sharing dates no page; the parent is read again."""
    async with sync_rig() as rig:
        parent = rig.workspace.add_page("Parent", blocks=[blocks.paragraph("own")])
        page = rig.workspace.add_page("Child", parent=parent, shared=False)
        await rig.settled()
        assert "Child" not in rig.bodies(parent)[0]
        rig.workspace.share(page)

        await rig.reconcile()

        assert "[Child](" in rig.bodies(parent)[0]


# --- What fails ----------------------------------------------------------------------------------------


async def test_sy21_f28_a_page_that_fails_fails_alone_and_keeps_its_old_text() -> None:
    """The others are done, the report names it, the next run heals it."""
    async with sync_rig() as rig:
        pages = [rig.workspace.add_page(f"Page {n}", blocks=[blocks.paragraph(f"old{n}")]) for n in range(10)]
        await rig.settled()
        for number, page in enumerate(pages):
            rig.workspace.edit_block(rig.workspace.block_ids(page)[0], f"new{number}")
        rule = rig.notion.server.faults.add(
            faults.bad_gateway(), route=routes.CHILDREN, where=lambda request: pages[7] in request.path
        )

        report = await rig.sync()

        [failure] = report.failed
        assert (failure.page_id, failure.title) == (pages[7], "Page 7")
        assert failure.url.startswith("https://")
        assert "HTTP 502" in failure.reason
        assert rig.bodies(pages[7]) == ["old7"]
        assert rig.bodies(pages[6]) == ["new6"]

        rig.notion.server.faults.remove(rule)
        rig.later()
        healed = await rig.sync()
        assert healed.is_clean
        assert rig.bodies(pages[7]) == ["new7"]


async def test_sy8_t2_u5_f33_a_refused_passage_keeps_the_whole_old_page() -> None:
    """No mixture: the page stays pending with its old passages, and heals."""
    async with sync_rig() as rig:
        parts = [[blocks.heading(1, f"H{n}"), blocks.paragraph(f"old{n} text")] for n in range(5)]
        page = rig.workspace.add_page("Page", blocks=[one for part in parts for one in part])
        other = rig.workspace.add_page("Other", blocks=[blocks.paragraph("othertext")])
        await rig.settled()
        before = rig.bodies(page)
        for number in range(5):
            rig.workspace.edit_block(rig.workspace.find_block(page, f"old{number}"), f"new{number} text")
        rig.workspace.edit_block(rig.workspace.block_ids(other)[0], "newothertext")
        rig.embedder.refuses = {"new3"}

        report = await rig.sync()

        assert rig.bodies(page) == before
        assert rig.bodies(other) == ["newothertext"]
        assert report.pending == 1
        assert "refused 1 of its passages" in report.failed[0].reason

        rig.embedder.refuses = set()
        assert (await rig.sync()).is_clean
        assert rig.bodies(page) == [body.replace("old", "new") for body in before]


async def test_sy8_a_text_that_breaks_the_embedder_costs_its_own_page_only() -> None:
    """Pages of the same batch are embedded one by one."""
    async with sync_rig() as rig:
        pages = [rig.workspace.add_page(f"Page {n}", blocks=[blocks.paragraph(f"text{n}")]) for n in range(8)]
        rig.embedder.error, rig.embedder.poison = UnavailableError("too hot"), {"text5"}

        report = await rig.sync()

        assert [failure.page_id for failure in report.failed] == [pages[5]]
        assert report.pages_embedded == 7
        assert report.embedding_error == ""


async def test_a_page_synced_while_the_embedder_is_down_is_found_by_words() -> None:
    """And by vectors once it is back, without a request to Notion for it."""
    async with sync_rig() as rig:
        pages = [
            rig.workspace.add_page(f"Page {n}", blocks=[blocks.paragraph(f"word{n}")]) for n in range(40)
        ]
        rig.embedder.error = UnavailableError("connection refused")

        report = await rig.sync()

        assert report.embedding_error == "connection refused"
        assert report.pending == 40
        assert rig.embedder.calls <= 5
        assert [hit.page_id for hit in await rig.found("word7", pages=True)] == [pages[7]]

        rig.embedder.error = None
        rig.later()
        healed = await rig.sync()
        assert healed.is_clean
        assert healed.pages_embedded == 40
        assert rig.notion.server.counts[routes.CHILDREN] == 40


async def test_sy20_t21_a_refused_embedding_key_ends_the_run_after_one_call() -> None:
    """500 pages, one call, one clear sentence; the pages are found by words."""
    async with sync_rig() as rig:
        for number in range(100):
            rig.workspace.add_page(f"Page {number}", blocks=[blocks.paragraph(f"word{number}")])
        rig.embedder.error = RefusedError("The embedding service refused the key.")

        with pytest.raises(RefusedError, match="refused the key"):
            await rig.sync()

        assert rig.embedder.calls == 1
        assert len(await rig.found("word42", pages=True)) == 1


async def test_t21_a_refused_notion_token_ends_the_run_at_once() -> None:
    """One request; nothing is removed."""
    async with sync_rig() as rig:
        generate(rig.workspace, pages=30)
        await rig.settled()
        rig.notion.server.revoke_token()

        with pytest.raises(RefusedError, match="NOTION_TOKEN"):
            await rig.sync()

        assert rig.notion.server.total == 1
        assert len(rig.pages()) == 30


async def test_f24_a_listing_goes_on_behind_pages_that_are_all_known() -> None:
    """What is shared late has an old date: it stands behind a hundred pages that are as they were."""
    async with sync_rig() as rig:
        late = rig.workspace.add_page("Late", blocks=[blocks.paragraph("late text")], shared=False)
        for number in range(150):
            rig.workspace.clock.advance(seconds=30)
            rig.workspace.add_page(f"Page {number}")
        await rig.settled()
        rig.workspace.share(late)

        report = await rig.reconcile()

        assert (report.listed, report.changed, report.complete) == (151, 1, True)
        assert await rig.found("late")


async def test_f24_a_run_is_complete_only_after_the_last_page_of_the_listing() -> None:
    """1,175 pages in 12 pages of results, all visited, and counted."""
    async with sync_rig() as rig:
        generate(rig.workspace, pages=1175, blocks=1)

        report = await rig.sync()

        assert report.listed == len(rig.pages()) == 1175
        assert report.complete
        assert rig.notion.server.counts[routes.SEARCH] == 12


async def test_full_reads_every_page_again() -> None:
    """Whatever the times say; equal content is not embedded again."""
    async with sync_rig() as rig:
        generate(rig.workspace, pages=40)
        await rig.settled()

        report = await rig.sync(full=True)

        assert (report.read, report.unchanged, report.changed, report.embedded) == (40, 0, 0, 0)
        assert report.complete


async def test_a_whole_listing_is_due_after_its_interval() -> None:
    """What only a listing shows is seen when that time has come, in the same process."""
    settings = SyncSettings(reconcile_every=timedelta(hours=6))
    async with sync_rig(settings=settings) as rig:
        page = rig.workspace.add_page("Page", blocks=[blocks.paragraph("unsharedword")])
        await rig.settled()
        rig.workspace.unshare(page)
        assert not (await rig.sync()).complete
        assert len(rig.pages()) == 1
        rig.workspace.clock.advance(hours=6)

        report = await rig.sync()

        assert report.complete
        assert report.removed == 1


async def test_roots_bound_what_is_indexed() -> None:
    """A page that moves out of the roots is removed, one that moves in arrives."""
    workspace = Workspace()
    inside = workspace.add_page("Inside")
    outside = workspace.add_page("Outside")
    leaver = workspace.add_page("Leaver", parent=inside, blocks=[blocks.paragraph("leaver")])
    comer = workspace.add_page("Comer", parent=outside, blocks=[blocks.paragraph("comer")])
    async with sync_rig(workspace, roots=[inside]) as rig:
        await rig.settled()
        assert rig.pages() == {inside, leaver}
        workspace.move(leaver, outside)
        workspace.move(comer, inside)

        await rig.reconcile()

        assert rig.pages() == {inside, comer}


async def test_progress_is_told_with_totals() -> None:
    """An observer sees every stage, and the last figures are the report's."""
    from core.services.sync_report import Stage, SyncReport

    class Watcher:
        """Remembers what it is told."""

        def __init__(self) -> None:
            self.seen: list[tuple[Stage, SyncReport]] = []

        def progress(self, stage: Stage, report: SyncReport) -> None:
            """As the protocol."""
            self.seen.append((stage, report))

    async with sync_rig() as rig:
        generate(rig.workspace, pages=20)
        watcher = Watcher()
        report = await rig.syncer.run(observer=watcher)

        stages = list(dict.fromkeys(stage for stage, _ in watcher.seen))
        assert stages == [Stage.LISTING, Stage.REMOVING, Stage.EMBEDDING, Stage.DONE]
        assert watcher.seen[-1][1] == report
        reads = [one.read for _, one in watcher.seen]
        assert reads == sorted(reads)
        assert all(one.read <= one.to_read for _, one in watcher.seen)


async def test_u1_x17_the_hash_covers_all_that_is_cited() -> None:
    """Title, parent, url, properties, text, ids and order each change it."""
    from dataclasses import replace

    from core.domain.documents import Block, BlockKind
    from core.domain.ids import BlockId, PageId
    from tests.builders_store import a_ref

    ref = a_ref(1)
    body = (Block(BlockKind.PARAGRAPH, "a", BlockId("1")), Block(BlockKind.PARAGRAPH, "b", BlockId("2")))
    variants = [
        (ref, body),
        (replace(ref, title="x"), body),
        (replace(ref, parent_id=PageId("p")), body),
        (replace(ref, url="https://x"), body),
        (replace(ref, properties=(("a", "b"),)), body),
        (ref, body[::-1]),
        (ref, (body[0],)),
        (ref, (replace(body[0], children=(body[1],)),)),
        (ref, (replace(body[0], id=BlockId("9")), body[1])),
        (ref, (replace(body[0], kind=BlockKind.QUOTE), body[1])),
    ]

    assert len({content_hash(one, blocks_) for one, blocks_ in variants}) == len(variants)
    assert content_hash(ref, body) == content_hash(replace(ref, last_edited=None), body)


# --- What is remembered --------------------------------------------------------------------------------


async def test_a_new_process_goes_on_where_the_last_one_left_off() -> None:
    """With a ledger an idle poll costs one request, whoever makes it; what failed is looked at again."""
    async with sync_rig() as rig:
        rig.ledger = MemoryLedger(rig.store)
        rig.restart()
        pages = [rig.workspace.add_page(f"Page {n}", blocks=[blocks.paragraph(f"old{n}")]) for n in range(9)]
        await rig.settled()
        rig.workspace.edit_block(rig.workspace.block_ids(pages[4])[0], "new4")
        rule = rig.notion.server.faults.add(faults.bad_gateway(), route=routes.CHILDREN)
        assert len((await rig.sync()).failed) == 1
        rig.notion.server.faults.remove(rule)
        failed = await rig.ledger.entry(PageId(pages[4]))
        assert failed is not None
        assert (failed.fate, failed.title, failed.chunks) == (Fate.FAILED, "Page 4", 1)
        assert "HTTP 502" in failed.reason

        rig.workspace.clock.advance(hours=1)
        healed = await rig.reconcile()
        idle = await rig.reconcile()

        assert not healed.complete
        assert rig.bodies(pages[4]) == ["new4"]
        assert idle.requests == 1
        assert await rig.ledger.totals() == {Fate.INDEXED: 9}


async def test_the_ledger_s_fates_add_up_to_everything_ever_seen() -> None:
    """Indexed, gone and skipped; a linked view that nobody can read is not tried for ever."""
    async with sync_rig() as rig:
        rig.ledger = MemoryLedger(rig.store)
        rig.restart()
        page = rig.workspace.add_page("Page")
        gone = rig.workspace.add_page("Gone")
        base = rig.workspace.add_database("Base", parent=page)
        dead = rig.workspace.add_linked_view(page, base, title="Dead view", resolvable=False)
        await rig.settled()
        rig.workspace.trash(gone)
        rig.restart(settings=SyncSettings(reconcile_every=timedelta(0)))

        report = await rig.sync()

        assert report.is_clean
        assert await rig.ledger.totals() == {Fate.INDEXED: 2, Fate.GONE: 1, Fate.SKIPPED: 1}
        skipped = await rig.ledger.entry(PageId(dead))
        assert skipped is not None
        assert skipped.fate is Fate.SKIPPED
