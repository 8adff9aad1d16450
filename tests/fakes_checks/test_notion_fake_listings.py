"""The stand-in for Notion lists, searches and queries as Notion does."""

from __future__ import annotations

from datetime import timedelta
from importlib.resources import files
from typing import Any

import pytest
from notion_client import AsyncClient
from notion_client.errors import APIResponseError
from notion_client.helpers import async_collect_paginated_api

from tests.fakes.notion import NotionServer, Workspace, blocks, generate, load, routes
from tests.fakes.notion import properties as prop
from tests.fakes.notion import richtext as rt
from tests.fakes_checks.notion_client_for import Json, client_for, names


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
                    source = block.get("synced_block", {}).get("synced_from") or {"block_id": block["id"]}
                    waiting.append(source["block_id"])
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


async def test_a_page_moved_out_of_the_trash_is_found_again(
    workspace: Workspace, notion: AsyncClient
) -> None:
    """Search learns of a page whose trashed parent it left, and of what lies below it."""
    gone, live = workspace.add_page("Gone"), workspace.add_page("Live")
    page = workspace.add_page("Page", parent=gone)
    below = workspace.add_page("Below", parent=page)
    workspace.trash(gone)
    assert names(await notion.search()) == [live]
    workspace.move(page, live)
    assert set(names(await notion.search())) == {live, page, below}
