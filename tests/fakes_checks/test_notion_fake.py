"""The stand-in for Notion answers the real client as Notion does."""

from __future__ import annotations

from datetime import timedelta
from importlib.resources import files
from typing import Any

import httpx
import pytest
from notion_client import AsyncClient
from notion_client.errors import APIResponseError
from notion_client.helpers import async_collect_paginated_api

from tests.fakes.notion import NotionServer, Parent, Workspace, blocks, generate, load, routes
from tests.fakes.notion import properties as prop
from tests.fakes.notion import richtext as rt
from tests.fakes_checks.notion_client_for import Json, client_for, code_of, names


async def test_f1_children_come_in_pages_with_a_cursor(
    workspace: Workspace, server: NotionServer, notion: AsyncClient
) -> None:
    """130 blocks take two calls, the second with the cursor the first one gave."""
    page = workspace.add_page("Long", blocks=[blocks.paragraph(f"p{n:03d}") for n in range(1, 131)])
    first = await notion.blocks.children.list(page)
    assert (len(first["results"]), first["has_more"]) == (100, True)
    second = await notion.blocks.children.list(page, start_cursor=first["next_cursor"])
    assert (len(second["results"]), second["has_more"], second["next_cursor"]) == (30, False, None)
    assert names(first) + names(second) == list(workspace.block_ids(page))
    assert server.counts == {routes.CHILDREN: 2}
    assert server.requests[1].value("start_cursor") == first["next_cursor"]


async def test_f2_deep_nesting_is_served_level_by_level(workspace: Workspace, notion: AsyncClient) -> None:
    """1,200 bullets inside each other can be stored and walked."""
    page = workspace.add_page("Deep", blocks=[blocks.nested([f"level {n}" for n in range(1, 1201)])])
    below, seen = page, []
    while True:
        answer = (await notion.blocks.children.list(below))["results"]
        if not answer:
            break
        seen.append(answer[0]["bulleted_list_item"]["rich_text"][0]["plain_text"])
        if not answer[0]["has_children"]:
            break
        below = answer[0]["id"]
        if len(seen) == 5:
            below = workspace.find_block(page, "level 1199")
    assert seen == [f"level {n}" for n in (1, 2, 3, 4, 5, 1200)]


async def test_children_are_never_inline(workspace: Workspace, notion: AsyncClient) -> None:
    """A block with children says so and holds no child."""
    page = workspace.add_page("Toggle", blocks=[blocks.toggle("Open me", [blocks.paragraph("inside")])])
    (block,) = (await notion.blocks.children.list(page))["results"]
    assert block["has_children"] is True
    assert "children" not in block
    assert "children" not in block["toggle"]
    (inner,) = (await notion.blocks.children.list(block["id"]))["results"]
    assert inner["parent"] == {"type": "block_id", "block_id": block["id"]}


async def test_times_are_rounded_down_to_the_minute(workspace: Workspace, notion: AsyncClient) -> None:
    """F23: two edits in one minute look the same; databases carry another format."""
    page = workspace.add_page("Minute", blocks=[blocks.paragraph("one")])
    base = workspace.add_database("Table", parent=page)
    workspace.clock.advance(minutes=5, seconds=10)
    workspace.edit_block(workspace.find_block(page, "one"), "two")
    first = await notion.pages.retrieve(page)
    workspace.clock.advance(seconds=40)
    workspace.edit_block(workspace.find_block(page, "two"), "three")
    second = await notion.pages.retrieve(page)
    assert first["last_edited_time"] == second["last_edited_time"] == "2026-11-02T09:05:00.000Z"
    database = await notion.databases.retrieve(base)
    assert database["created_time"] == "2026-11-02T09:00:00.000+00:00"


async def test_editing_below_does_not_touch_what_is_above(workspace: Workspace, notion: AsyncClient) -> None:
    """A child page's edit leaves the page above as it was; a nested block's edit dates its page only."""
    top = workspace.add_page("Top", blocks=[blocks.toggle("Fold", [blocks.paragraph("inner")])])
    child = workspace.add_page("Child", parent=top, blocks=[blocks.paragraph("text")])
    fold = workspace.find_block(top, "Fold")
    before = (await notion.pages.retrieve(top))["last_edited_time"]
    workspace.clock.advance(hours=1)
    workspace.edit_block(workspace.find_block(child, "text"), "other")
    workspace.rename(child, "Renamed")
    assert (await notion.pages.retrieve(top))["last_edited_time"] == before
    assert (await notion.pages.retrieve(child))["last_edited_time"] > before
    workspace.edit_block(workspace.find_block(top, "inner"), "changed")
    assert (await notion.pages.retrieve(top))["last_edited_time"] > before
    assert (await notion.blocks.retrieve(fold))["last_edited_time"] == before


async def test_a_rename_changes_title_address_and_the_block_above(
    workspace: Workspace, notion: AsyncClient
) -> None:
    """The new name is in the page, in its address and in the parent's child_page block."""
    top = workspace.add_page("Top")
    page = workspace.add_page("Old name", parent=top)
    old = await notion.pages.retrieve(page)
    workspace.rename(page, "New name")
    new = await notion.pages.retrieve(page)
    (block,) = (await notion.blocks.children.list(top))["results"]
    assert old["url"] == f"https://www.notion.so/Old-name-{page.replace('-', '')}"
    assert new["url"] == f"https://www.notion.so/New-name-{page.replace('-', '')}"
    assert block["id"] == page
    assert block["child_page"] == {"title": "New name"}


async def test_a_move_changes_the_parent_and_not_the_date(workspace: Workspace, notion: AsyncClient) -> None:
    """SY3, SY27: a moved page keeps its last_edited_time and leaves its old parent's list."""
    one, two = workspace.add_page("One"), workspace.add_page("Two")
    page = workspace.add_page("Wanderer", parent=one)
    workspace.clock.advance(hours=1)
    workspace.move(page, two)
    moved = await notion.pages.retrieve(page)
    assert moved["parent"] == {"type": "page_id", "page_id": two}
    assert moved["last_edited_time"] == "2026-11-02T09:00:00.000Z"
    assert names(await notion.blocks.children.list(one)) == []
    assert names(await notion.blocks.children.list(two)) == [page]


async def test_trash_restore_and_deletion_for_ever(workspace: Workspace, notion: AsyncClient) -> None:
    """Trashed is 200 with in_trash, also for what is below; out of the trash is 404."""
    top = workspace.add_page("Top")
    page = workspace.add_page("Bin", parent=top)
    below = workspace.add_page("Below", parent=page)
    workspace.trash(page)
    assert [(await notion.pages.retrieve(key))["in_trash"] for key in (page, below)] == [True, True]
    assert names(await notion.search()) == [top]
    assert names(await notion.blocks.children.list(top)) == []
    assert set(names(await notion.search(filter={"in_trash": True}))) == {page, below}
    workspace.restore(page)
    assert (await notion.pages.retrieve(below))["in_trash"] is False
    workspace.delete_forever(page)
    for key in (page, below):
        with pytest.raises(APIResponseError) as raised:
            await notion.pages.retrieve(key)
        assert (raised.value.status, code_of(raised.value)) == (404, "object_not_found")


async def test_a_deleted_block_leaves_the_listing_but_can_be_retrieved(
    workspace: Workspace, notion: AsyncClient
) -> None:
    """The listing has one block less; the block itself says in_trash."""
    page = workspace.add_page("Page", blocks=[blocks.paragraph("keep"), blocks.paragraph("drop")])
    doomed = workspace.find_block(page, "drop")
    workspace.delete_block(doomed)
    assert len(names(await notion.blocks.children.list(page))) == 1
    assert (await notion.blocks.retrieve(doomed))["in_trash"] is True


async def test_the_older_version_has_archived_and_transcription(
    workspace: Workspace, server: NotionServer, notion: AsyncClient
) -> None:
    """NOT-1: 2025-09-03 answers with archived beside in_trash, and calls meeting notes transcription."""
    page = workspace.add_page("Meeting", blocks=[blocks.meeting_notes("Weekly", [blocks.paragraph("sum")])])
    async with client_for(server, version="2025-09-03") as older:
        old_page, new_page = await older.pages.retrieve(page), await notion.pages.retrieve(page)
        (old_block,) = (await older.blocks.children.list(page))["results"]
    (new_block,) = (await notion.blocks.children.list(page))["results"]
    assert (old_page["archived"], old_page["in_trash"]) == (False, False)
    assert "archived" not in new_page
    assert (old_block["type"], new_block["type"]) == ("transcription", "meeting_notes")
    summary = new_block["meeting_notes"]["children"]["summary_block_id"]
    assert names(await notion.blocks.children.list(summary)) == [workspace.find_block(page, "sum")]


async def test_f3_a_synced_copy_shows_the_original_or_nothing(
    workspace: Workspace, notion: AsyncClient
) -> None:
    """A copy's children are the original's; with the original unshared both answer 404."""
    home = workspace.add_page("Home", blocks=[blocks.synced_original([blocks.paragraph("shared text")])])
    (original,) = workspace.block_ids(home)
    away = workspace.add_page("Away", blocks=[blocks.synced_copy(original)])
    (copy,) = (await notion.blocks.children.list(away))["results"]
    assert copy["has_children"] is True
    assert copy["synced_block"]["synced_from"]["block_id"] == original
    (inner,) = (await notion.blocks.children.list(copy["id"]))["results"]
    assert inner["parent"] == {"type": "block_id", "block_id": original}
    workspace.unshare(home)
    for key in (copy["id"], original):
        with pytest.raises(APIResponseError) as raised:
            await notion.blocks.children.list(key)
        assert code_of(raised.value) == "object_not_found"


async def test_f4_children_of_an_unsupported_block_are_refused(
    workspace: Workspace, notion: AsyncClient
) -> None:
    """A type the API does not know is listed, and its children call is 400."""
    strange = blocks.raw("external_object_instance_page", {}, has_children=True)
    page = workspace.add_page("P", blocks=[blocks.paragraph("a"), strange, blocks.paragraph("b")])
    listed = (await notion.blocks.children.list(page))["results"]
    assert [block["type"] for block in listed] == ["paragraph", "external_object_instance_page", "paragraph"]
    with pytest.raises(APIResponseError) as raised:
        await notion.blocks.children.list(listed[1]["id"])
    assert (raised.value.status, code_of(raised.value)) == (400, "validation_error")


async def test_f5_a_linked_view_cannot_be_queried(workspace: Workspace, notion: AsyncClient) -> None:
    """The block's id is no table; the database object names the true one, or is refused too."""
    page = workspace.add_page("Page")
    tasks = workspace.add_database("Tasks", parent=page)
    row = workspace.add_row(tasks, "Fix the door")
    view = workspace.add_linked_view(page, tasks, title="Tasks")
    blind = workspace.add_linked_view(page, tasks, resolvable=False)
    with pytest.raises(APIResponseError) as raised:
        await notion.data_sources.query(view)
    assert raised.value.status == 400
    (source,) = (await notion.databases.retrieve(view))["data_sources"]
    assert names(await notion.data_sources.query(source["id"])) == [row]
    with pytest.raises(APIResponseError, match="does not contain any data sources"):
        await notion.databases.retrieve(blind)


async def test_a_database_may_hold_several_data_sources(workspace: Workspace, notion: AsyncClient) -> None:
    """NOT-14: the container lists its tables; rows name table and container as parents."""
    page = workspace.add_page("Page")
    base = workspace.add_database("Base", parent=page)
    second = workspace.add_data_source(base, "More")
    row = workspace.add_row(second, "In the second")
    database = await notion.databases.retrieve(base)
    assert [source["name"] for source in database["data_sources"]] == ["Base", "More"]
    assert "properties" not in database
    parent = (await notion.pages.retrieve(row))["parent"]
    assert parent == {"type": "data_source_id", "data_source_id": second, "database_id": base}
    source = await notion.data_sources.retrieve(second)
    assert source["parent"] == {"type": "database_id", "database_id": base}
    assert source["database_parent"] == {"type": "page_id", "page_id": page}


async def test_f7_the_title_property_may_have_any_name_and_no_text(
    workspace: Workspace, notion: AsyncClient
) -> None:
    """A row's title is called as its column; it can be empty."""
    base = workspace.add_database("Aufgaben", schema={"Aufgabe": prop.column("title")})
    row = workspace.add_row(base, "")
    properties = (await notion.pages.retrieve(row))["properties"]
    assert properties == {"Aufgabe": {"id": "title", "type": "title", "title": []}}


async def test_f8_guests_and_deleted_users_are_an_id_and_no_more(
    workspace: Workspace, server: NotionServer, notion: AsyncClient
) -> None:
    """People and mentions name members in full and everybody else by id alone."""
    member = workspace.add_user("Kim", "kim@example.org")
    guest = workspace.add_user("Guest", guest=True)
    gone = "00000000-0000-0000-0000-000000000001"
    base = workspace.add_database("Table")
    row = workspace.add_row(base, "Row", properties={"Who": prop.people(member, guest, gone)})
    people = (await notion.pages.retrieve(row))["properties"]["Who"]["people"]
    assert people[0]["name"] == "Kim"
    assert people[1:] == [{"object": "user", "id": guest}, {"object": "user", "id": gone}]
    assert guest not in names(await notion.users.list())
    page = workspace.add_page("M", blocks=[blocks.paragraph([rt.mention_user(gone)])])
    (block,) = (await notion.blocks.children.list(page))["results"]
    assert block["paragraph"]["rich_text"][0]["plain_text"] == "@Anonymous"
    server.behaviour.rights.discard("read_users")
    assert (await notion.pages.retrieve(row))["properties"]["Who"]["people"][0] == {
        "object": "user",
        "id": member,
    }


async def test_f15_mentions_of_pages_carry_the_title_of_the_moment(
    workspace: Workspace, notion: AsyncClient
) -> None:
    """The text of a mention is the page's title when read, or Untitled if the page is not shared."""
    target = workspace.add_page("Target")
    page = workspace.add_page("Page", blocks=[blocks.paragraph([rt.mention_page(target)])])

    async def shown() -> str:
        (block,) = (await notion.blocks.children.list(page))["results"]
        return str(block["paragraph"]["rich_text"][0]["plain_text"])

    assert await shown() == "Target"
    workspace.rename(target, "Renamed")
    assert await shown() == "Renamed"
    workspace.unshare(target)
    assert await shown() == "Untitled"


async def test_f29_a_shared_page_below_a_private_one(workspace: Workspace, notion: AsyncClient) -> None:
    """The child answers, its parent is 404."""
    parent = workspace.add_page("Private", shared=False)
    child = workspace.add_page("Open", parent=parent, shared=True)
    assert (await notion.pages.retrieve(child))["parent"] == {"type": "page_id", "page_id": parent}
    with pytest.raises(APIResponseError) as raised:
        await notion.pages.retrieve(parent)
    assert (raised.value.status, code_of(raised.value)) == (404, "object_not_found")
    assert names(await notion.search()) == [child]


async def test_unsharing_takes_what_hangs_below_and_sharing_gives_it_back(
    workspace: Workspace, notion: AsyncClient
) -> None:
    """NOT-7: no trace is left of an unshared subtree, in retrievals, listings or search."""
    top = workspace.add_page("Top")
    page = workspace.add_page("Page", parent=top)
    below = workspace.add_page("Below", parent=page)
    workspace.unshare(page)
    assert names(await notion.search()) == [top]
    assert names(await notion.blocks.children.list(top)) == []
    with pytest.raises(APIResponseError):
        await notion.pages.retrieve(below)
    workspace.share(page)
    assert (await notion.pages.retrieve(below))["id"] == below


async def test_search_looks_at_titles_only_and_sorts(workspace: Workspace, notion: AsyncClient) -> None:
    """Text in a page is not found; the newest edit or the best match comes first."""
    first = workspace.add_page("Holiday rules", blocks=[blocks.paragraph("zebra")])
    workspace.clock.advance(minutes=1)
    second = workspace.add_page("Rules")
    workspace.clock.advance(minutes=1)
    table = workspace.add_database("Rules of the table")
    (source,) = workspace.databases[table].sources
    assert names(await notion.search(query="zebra")) == []
    assert names(await notion.search(query="rules")) == [source, second, first]
    assert names(await notion.search(query="rules", sort={"property": "relevance"})) == [
        second,
        source,
        first,
    ]
    oldest = {"timestamp": "last_edited_time", "direction": "ascending"}
    assert names(await notion.search(sort=oldest)) == [first, second, source]
    only = {"property": "object", "value": "data_source"}
    assert names(await notion.search(filter=only)) == [source]


async def test_search_omits_and_lags(workspace: Workspace, server: NotionServer, notion: AsyncClient) -> None:
    """What search leaves out can be retrieved; what is new or edited shows up later."""
    old, hidden = workspace.add_page("Old"), workspace.add_page("Hidden")
    server.behaviour.search_omits.add(hidden)
    assert names(await notion.search()) == [old]
    assert (await notion.pages.retrieve(hidden))["id"] == hidden
    server.behaviour.search_lag = timedelta(seconds=90)
    workspace.clock.advance(minutes=10)
    new = workspace.add_page("New")
    workspace.rename(old, "Older")
    workspace.clock.advance(seconds=60)
    (stale,) = (await notion.search())["results"]
    assert stale["last_edited_time"] == "2026-11-02T09:00:00.000Z"
    workspace.clock.advance(seconds=60)
    fresh = (await notion.search())["results"]
    assert {item["id"] for item in fresh} == {old, new}
    assert {item["last_edited_time"] for item in fresh} == {"2026-11-02T09:10:00.000Z"}


async def test_f21_listings_may_show_trashed_pages(
    workspace: Workspace, server: NotionServer, notion: AsyncClient
) -> None:
    """With the switch on, search returns what lies in the trash, marked as such."""
    page = workspace.add_page("Gone")
    workspace.trash(page)
    assert names(await notion.search()) == []
    server.behaviour.search_shows_trashed = True
    (found,) = (await notion.search())["results"]
    assert found["in_trash"] is True


async def test_pages_of_results_may_be_short_or_empty(
    workspace: Workspace, server: NotionServer, notion: AsyncClient
) -> None:
    """NOT-4, SY13: fewer results than asked, even none, although more follow; all come in the end."""
    pages = [workspace.add_page(f"Page {n}") for n in range(250)]
    server.pager.short = server.pager.empty = True
    sizes, cursor, seen = [], None, []
    while True:
        answer = await notion.search(start_cursor=cursor)
        sizes.append(len(answer["results"]))
        seen += names(answer)
        cursor = answer["next_cursor"]
        if not answer["has_more"]:
            break
    assert sorted(seen) == sorted(pages)
    assert max(sizes) <= 50
    assert min(sizes) == 0


async def test_a_listing_that_changes_while_it_is_read(workspace: Workspace, notion: AsyncClient) -> None:
    """An edit between two calls moves a page to the front, so the second call does not show it."""
    pages = []
    for number in range(4):
        pages.append(workspace.add_page(f"Page {number}"))
        workspace.clock.advance(minutes=1)
    first = await notion.search(page_size=2)
    assert names(first) == [pages[3], pages[2]]
    workspace.rename(pages[0], "Page 0, edited")
    second = await notion.search(page_size=2, start_cursor=first["next_cursor"])
    assert names(second) == [pages[1]]


@pytest.mark.parametrize(("where", "marked"), [("every", [0, 1, 2]), ("first", [0]), ("last", [2])])
async def test_not5_a_query_stops_at_the_cap(
    workspace: Workspace, server: NotionServer, notion: AsyncClient, where: str, marked: list[int]
) -> None:
    """Rows beyond the cap are missing; some page of the listing says incomplete."""
    base = workspace.add_database("Big")
    (source,) = workspace.databases[base].sources
    rows = [workspace.add_row(source, f"Row {n}") for n in range(40)]
    server.behaviour.query_cap, server.behaviour.request_status_on = 30, where
    answers, cursor = [], None
    for _ in range(3):
        answer = await notion.data_sources.query(source, page_size=10, start_cursor=cursor)
        answers.append(answer)
        cursor = answer["next_cursor"]
    assert [key for answer in answers for key in names(answer)] == rows[:30]
    assert answers[2]["has_more"] is False
    status = {"type": "incomplete", "incomplete_reason": "query_result_limit_reached"}
    assert [n for n, answer in enumerate(answers) if answer.get("request_status") == status] == marked


async def test_not5_windows_of_creation_time_reach_every_row(
    workspace: Workspace, server: NotionServer, notion: AsyncClient
) -> None:
    """Filters by created_time split a capped listing without gap or overlap."""
    workspace.clock.tick = timedelta(seconds=30)
    source = workspace.databases[workspace.add_database("Big")].sources[0]
    rows = [workspace.add_row(source, f"Row {n}") for n in range(40)]
    server.behaviour.query_cap = 30
    middle = "2026-11-02T09:10:00.000Z"
    halves = [
        await notion.data_sources.query(
            source, filter={"timestamp": "created_time", "created_time": {word: middle}}
        )
        for word in ("before", "on_or_after")
    ]
    assert "request_status" not in halves[0]
    assert names(halves[0]) + names(halves[1]) == rows


async def test_property_filters_and_sorts(workspace: Workspace, notion: AsyncClient) -> None:
    """Conditions by type, joined by and/or, with order by property."""
    source = workspace.databases[workspace.add_database("Tools")].sources[0]
    rows = {
        name: workspace.add_row(
            source,
            name,
            properties={
                "Price": prop.number(price),
                "Owner": prop.select(owner),
                "Since": prop.date(since),
                "Tags": prop.multi_select(*tags),
            },
        )
        for name, price, owner, since, tags in [
            ("Miro", 12, "Design", "2026-01-05", ["board"]),
            ("Figma", 15, "Design", "2026-03-01", ["board", "draw"]),
            ("Jira", 9, "Build", None, []),
        ]
    }

    async def found(filter_: Json, **more: Any) -> list[str]:
        answer = await notion.data_sources.query(source, filter=filter_, **more)
        return [next(name for name, key in rows.items() if key == found) for found in names(answer)]

    design = {"property": "Owner", "select": {"equals": "Design"}}
    assert await found(design) == ["Miro", "Figma"]
    by_price = [{"property": "Price", "direction": "descending"}]
    assert await found(design, sorts=by_price) == ["Figma", "Miro"]
    assert await found({"property": "Price", "number": {"less_than": 13}}) == ["Miro", "Jira"]
    assert await found({"property": "Since", "date": {"is_empty": True}}) == ["Jira"]
    assert await found({"property": "Since", "date": {"after": "2026-02-01"}}) == ["Figma"]
    assert await found({"property": "Tags", "multi_select": {"contains": "draw"}}) == ["Figma"]
    assert await found({"property": "Name", "title": {"starts_with": "Ji"}}) == ["Jira"]
    cheap = {"property": "Price", "number": {"less_than": 10}}
    both: Json = {"or": [cheap, {"and": [design, {"property": "Name", "title": {"contains": "fig"}}]}]}
    assert await found(both) == ["Figma", "Jira"]


async def test_not14_more_than_25_references_need_the_property_endpoint(
    workspace: Workspace, server: NotionServer, notion: AsyncClient
) -> None:
    """A page shows 25 relations and says there are more; the endpoint pages through all 60."""
    targets = [workspace.add_page(f"Target {n}") for n in range(60)]
    source = workspace.databases[workspace.add_database("Table")].sources[0]
    mentions = [rt.mention_page(key) for key in targets]
    row = workspace.add_row(
        source,
        "Row",
        properties={"Links": prop.relation(*targets), "Text": prop.rich_text([*mentions, "end"])},
    )
    shown = (await notion.pages.retrieve(row))["properties"]
    assert len(shown["Links"]["relation"]) == 25
    assert shown["Links"]["has_more"] is True
    assert len(shown["Text"]["rich_text"]) == 25
    items = await async_collect_paginated_api(
        notion.pages.properties.retrieve, page_id=row, property_id=shown["Links"]["id"], page_size=25
    )
    assert [item["relation"]["id"] for item in items] == targets
    assert server.counts[routes.PROPERTY] == 3
    text = await notion.pages.properties.retrieve(row, shown["Text"]["id"])
    assert text["results"][-1]["rich_text"]["plain_text"] == "end"


async def test_filter_properties_limits_what_is_shown(workspace: Workspace, notion: AsyncClient) -> None:
    """Only the properties asked for by id come back, from a page and from a query."""
    source = workspace.databases[workspace.add_database("T")].sources[0]
    values = {"A": prop.number(1), "B": prop.number(2)}
    row = workspace.add_row(source, "Row", properties=values)
    wanted = (await notion.pages.retrieve(row))["properties"]["A"]["id"]
    page = await notion.pages.retrieve(row, filter_properties=[wanted])
    assert list(page["properties"]) == ["A"]
    answer = await notion.data_sources.query(source, filter_properties=[wanted])
    assert list(answer["results"][0]["properties"]) == ["A"]


async def test_not15_page_markdown_is_cut_and_names_what_is_missing(
    workspace: Workspace, server: NotionServer, notion: AsyncClient
) -> None:
    """Beyond the limit the answer is truncated; the ids it names can be fetched one by one."""
    content = [blocks.paragraph("one"), blocks.unsupported(), blocks.paragraph("three")]
    page = workspace.add_page("Page", blocks=content)
    ids = workspace.block_ids(page)
    whole = await notion.pages.retrieve_markdown(page)
    assert (whole["truncated"], whole["unknown_block_ids"]) == (False, [ids[1]])
    assert whole["markdown"].startswith("one\n<unknown url=")
    server.behaviour.markdown_block_limit = 2
    cut = await notion.pages.retrieve_markdown(page)
    assert (cut["truncated"], cut["unknown_block_ids"]) == (True, [ids[1], ids[2]])
    rest = await notion.pages.retrieve_markdown(ids[2])
    assert rest["markdown"] == "three"


async def test_comments_belong_to_one_page_or_block(
    workspace: Workspace, server: NotionServer, notion: AsyncClient
) -> None:
    """A page's comments are its own; a block's have to be asked for; the right can be missing."""
    page = workspace.add_page("Page", blocks=[blocks.paragraph("text")])
    block = workspace.find_block(page, "text")
    first = workspace.add_comment(page, "Looks good")
    reply = workspace.add_comment(page, "Thanks", discussion=first)
    inline = workspace.add_comment(block, "Typo?")
    listed = await notion.comments.list(block_id=page)
    assert names(listed) == [first, reply]
    assert len({item["discussion_id"] for item in listed["results"]}) == 1
    assert names(await notion.comments.list(block_id=block)) == [inline]
    server.behaviour.rights.discard("read_comments")
    with pytest.raises(APIResponseError) as raised:
        await notion.comments.list(block_id=page)
    assert (raised.value.status, code_of(raised.value)) == (403, "restricted_resource")


async def test_users_members_and_the_bot(workspace: Workspace, notion: AsyncClient) -> None:
    """The bot knows itself; members are listed with their addresses."""
    kim = workspace.add_user("Kim", "kim@example.org")
    assert (await notion.users.me())["id"] == workspace.bot.id
    assert set(names(await notion.users.list())) == {workspace.bot.id, workspace.author.id, kim}
    assert (await notion.users.retrieve(kim))["person"] == {"email": "kim@example.org"}


async def test_f19_file_addresses_are_signed_and_end(workspace: Workspace, notion: AsyncClient) -> None:
    """NOT-13: the address works for an hour; a fresh one comes with every retrieval; forgery is 403."""
    stored = workspace.add_file("plan.pdf", b"%PDF-1.7 plan", "application/pdf")
    page = workspace.add_page("Page", blocks=[blocks.pdf(stored, "Floor plan")])
    (block,) = (await notion.blocks.children.list(page))["results"]
    address = block["pdf"]["file"]["url"]
    assert block["pdf"]["file"]["expiry_time"] == "2026-11-02T10:00:00.000Z"
    assert "X-Amz-Signature" in address
    async with httpx.AsyncClient() as web:
        good = await web.get(address)
        assert (good.status_code, good.content) == (200, b"%PDF-1.7 plan")
        assert good.headers["content-type"] == "application/pdf"
        assert (await web.get(address.replace("Expires=3600", "Expires=9999"))).status_code == 403
        workspace.clock.advance(hours=1)
        late = await web.get(address)
        assert (late.status_code, "expired" in late.text) == (403, True)
        (again,) = (await notion.blocks.children.list(page))["results"]
        assert (await web.get(again["pdf"]["file"]["url"])).status_code == 200


async def test_f9_unknown_keys_types_and_parents_can_be_served(
    workspace: Workspace, notion: AsyncClient
) -> None:
    """NOT-10: keys, block types, mentions, properties and parents that nobody knows yet."""
    parent = Parent("agent_id", "11111111-1111-4111-8111-111111111111")
    content = [
        blocks.paragraph([rt.mention("hologram", {"id": "x"}, "shown text")]),
        {**blocks.paragraph("b"), "brand_new": {"x": 1}},
    ]
    page = workspace.add_page(
        "Page", parent=parent, blocks=content, properties={"Odd": prop.value("hologram", {"a": 1})}
    )
    workspace.pages[page].extra["brand_new"] = {"x": 1}
    answer = await notion.pages.retrieve(page)
    assert answer["parent"] == {"type": "agent_id", "agent_id": parent.id}
    assert answer["brand_new"] == {"x": 1}
    assert answer["properties"]["Odd"]["hologram"] == {"a": 1}
    first, second = (await notion.blocks.children.list(page))["results"]
    assert first["paragraph"]["rich_text"][0]["mention"]["type"] == "hologram"
    assert second["brand_new"] == {"x": 1}


async def test_the_sample_workspace_is_served_whole(workspace: Workspace) -> None:
    """Every page and block of the product's sample can be reached from its roots over the API."""
    load(workspace, files("adapters.sources.sample_workspace"))
    assert len(workspace.pages) > 50
    async with NotionServer(workspace) as server, client_for(server) as notion:
        waiting = [key for key, page in workspace.pages.items() if page.parent.kind == "workspace"]
        reached: set[str] = set()
        while waiting:
            below = waiting.pop()
            if below in workspace.pages:
                reached.add(below)
            for block in await async_collect_paginated_api(notion.blocks.children.list, block_id=below):
                if block["type"] == "child_database":
                    base = await notion.databases.retrieve(block["id"])
                    for source in base["data_sources"]:
                        waiting += names(await notion.data_sources.query(source["id"]))
                elif block["has_children"] or block["type"] == "child_page":
                    waiting.append(block["id"])
        assert reached == set(workspace.pages)
        assert not server.complaints


async def test_a_made_up_workspace_has_the_asked_size(workspace: Workspace, notion: AsyncClient) -> None:
    """generate() makes 200 pages on three levels below the roots, all found by search."""
    roots = generate(workspace, pages=200, blocks=2, roots=4)
    assert len(await async_collect_paginated_api(notion.search)) == 200
    assert len(roots) == 4
    depths = {sum(1 for _ in workspace.upwards(page)) for page in workspace.pages.values()}
    assert depths == {1, 2, 3}
    total = len(workspace.blocks) + sum(1 for page in workspace.pages.values() if page.parent.id)
    assert total == 200 * 2 + 196
