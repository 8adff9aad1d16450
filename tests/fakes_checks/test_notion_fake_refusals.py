"""The stand-in refuses what Notion refuses, in Notion's codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from notion_client import AsyncClient
from notion_client.errors import APIResponseError

from tests.fakes.notion import NotionServer, Workspace, blocks, routes
from tests.fakes.notion import properties as prop
from tests.fakes_checks.notion_client_for import client_for, code_of, names

_GOOD = {"Authorization": "Bearer ntn_stand_in_token", "Notion-Version": "2026-03-11"}


async def _raw(server: NotionServer, method: str, path: str, **more: Any) -> tuple[int, str, str]:
    """Status, code and message of a request that no client would send."""
    headers = more.pop("headers", _GOOD)
    async with httpx.AsyncClient(base_url=server.url) as web:
        answer = (await web.request(method, path, headers=headers, **more)).json()
    return answer.get("status", 200), answer.get("code", ""), answer.get("message", "")


async def test_a_missing_or_wrong_token_is_401(server: NotionServer) -> None:
    """No header, another scheme and another token are all unauthorized."""
    for authorization in (None, "Basic abc", "Bearer other", "Bearer"):
        headers = {**_GOOD, "Authorization": authorization} if authorization else {"Notion-Version": "x"}
        status, code, message = await _raw(server, "GET", "/v1/users/me", headers=headers)
        assert (status, code, message) == (401, "unauthorized", "API token is invalid.")


async def test_a_revoked_token_is_401_from_then_on(server: NotionServer, notion: AsyncClient) -> None:
    """T21, SY20: the same client is refused after the token was taken away."""
    assert (await notion.users.me())["object"] == "user"
    server.revoke_token()
    with pytest.raises(APIResponseError) as raised:
        await notion.users.me()
    assert (raised.value.status, code_of(raised.value)) == (401, "unauthorized")


async def test_the_version_header_is_required_and_known(server: NotionServer) -> None:
    """Without Notion-Version: missing_version; with an unknown one: validation_error."""
    bare = {"Authorization": _GOOD["Authorization"]}
    status, code, message = await _raw(server, "GET", "/v1/users/me", headers=bare)
    assert (status, code) == (400, "missing_version")
    assert "should be defined, instead was `undefined`" in message
    status, code, _ = await _raw(
        server, "GET", "/v1/users/me", headers={**bare, "Notion-Version": "2020-01-01"}
    )
    assert (status, code) == (400, "validation_error")


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/v1/nothing"), ("PUT", "/v1/search"), ("GET", "/v2/users")]
)
async def test_an_unknown_endpoint_is_invalid_request_url(
    server: NotionServer, method: str, path: str
) -> None:
    """A path or method that does not exist is 400, not 404."""
    assert (await _raw(server, method, path))[:2] == (400, "invalid_request_url")


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ({"filter": {}}, "body.filter.property should be defined"),
        ({"filter": {"property": "object", "value": "database"}}, 'should be `"page"` or `"data_source"`'),
        ({"filter": {"property": "type", "value": "page"}}, 'body.filter.property should be `"object"`'),
        ({"filter": {"value": "page"}}, "body.filter.property should be defined"),
        ({"filter": {"in_trash": "yes"}}, "body.filter.in_trash should be a boolean"),
        ({"sort": {"timestamp": "created_time", "direction": "ascending"}}, "body.sort.timestamp"),
        ({"sort": {"timestamp": "last_edited_time"}}, "body.sort.direction should be defined"),
        ({"sort": {"property": "title"}}, "body.sort.property"),
        ({"query": None}, "body.query should be a string or `undefined`, instead was `null`"),
        ({"start_cursor": None}, "body.start_cursor should be a string"),
        ({"page_size": 101}, "body.page_size should be ≤ `100`, instead was `101`"),
        ({"page_size": 0}, "body.page_size should be ≥ `1`"),
        ({"page_size": "10"}, "body.page_size should be a number"),
        ({"limit": 5}, "body.limit should be not present"),
    ],
)
async def test_search_bodies_are_checked(server: NotionServer, body: dict[str, Any], complaint: str) -> None:
    """Every key and value of a search is what the official document and typings allow."""
    status, code, message = await _raw(server, "POST", "/v1/search", json=body)
    assert (status, code) == (400, "validation_error")
    assert complaint in message
    assert server.complaints == [f"POST /v1/search: {message}"]


@pytest.mark.parametrize(
    "body",
    [
        {"filter": {}},
        {"filter": {"property": "Nope", "title": {"equals": "x"}}},
        {"filter": {"property": "Name", "select": {"equals": "x"}}},
        {"filter": {"property": "Name", "title": {"resembles": "x"}}},
        {"filter": {"timestamp": "created_time", "created_time": {}}},
        {"filter": {"timestamp": "created_time", "created_time": {"after": "yesterday"}}},
        {"filter": {"timestamp": "made", "made": {"after": "2026-01-01"}}},
        {"filter": {"or": {"property": "Name"}}},
        {"sorts": {"property": "Name", "direction": "ascending"}},
        {"sorts": [{"property": "Name"}]},
        {"sorts": [{"timestamp": "edited", "direction": "ascending"}]},
        {"result_type": "row"},
        {"in_trash": 1},
        {"sort": []},
    ],
)
async def test_f31_query_bodies_are_checked(
    workspace: Workspace, server: NotionServer, body: dict[str, Any]
) -> None:
    """An empty filter object, an unknown column, condition or key of a query is 400."""
    source = workspace.databases[workspace.add_database("T")].sources[0]
    answer = await _raw(server, "POST", f"/v1/data_sources/{source}/query", json=body)
    assert answer[:2] == (400, "validation_error")
    assert len(server.complaints) == 1
    assert (await _raw(server, "POST", f"/v1/data_sources/{source}/query", json={}))[0] == 200


async def test_a_filter_nests_two_levels_and_no_more(workspace: Workspace, server: NotionServer) -> None:
    """Three compound filters inside each other are refused."""
    source = workspace.databases[workspace.add_database("T")].sources[0]
    filter_: dict[str, Any] = {"property": "Name", "title": {"equals": "x"}}
    statuses = []
    for _ in range(3):
        filter_ = {"and": [filter_]}
        path = f"/v1/data_sources/{source}/query"
        statuses.append((await _raw(server, "POST", path, json={"filter": filter_}))[0])
    assert statuses == [200, 200, 400]


@pytest.mark.parametrize(
    "query", ["page_size=0", "page_size=101", "page_size=ten", "cursor=x", "page_size=1&page_size=2"]
)
async def test_query_strings_are_checked(workspace: Workspace, server: NotionServer, query: str) -> None:
    """Children listings refuse sizes out of range and unknown keys."""
    page = workspace.add_page("Page")
    answer = await _raw(server, "GET", f"/v1/blocks/{page}/children?{query}")
    assert answer[:2] == (400, "validation_error")


async def test_bodies_that_are_no_json_are_refused(server: NotionServer) -> None:
    """Broken JSON and another content type are invalid_json; a list is a validation_error."""
    broken = await _raw(server, "POST", "/v1/search", content=b"{", headers=_GOOD)
    assert broken == (400, "invalid_json", "Error parsing JSON body.")
    typed = {**_GOOD, "Content-Type": "text/plain"}
    assert (await _raw(server, "POST", "/v1/search", content=b"{}", headers=typed))[1] == "invalid_json"
    assert (await _raw(server, "POST", "/v1/search", json=[]))[1] == "validation_error"


async def test_f30_ids_with_and_without_dashes_and_malformed_ones(
    workspace: Workspace, notion: AsyncClient
) -> None:
    """SY26: three spellings mean one page; a title with an id, a short or an odd one is 400."""
    page = workspace.add_page("Page")
    for spelling in (page, page.replace("-", ""), page.upper()):
        assert (await notion.pages.retrieve(spelling))["id"] == page
    for wrong in (f"Team-Wiki-{page.replace('-', '')}", page[:-1], "abc", "g" * 32):
        with pytest.raises(APIResponseError) as raised:
            await notion.pages.retrieve(wrong)
        assert (raised.value.status, code_of(raised.value)) == (400, "validation_error")
        assert "path.page_id should be a valid uuid" in str(raised.value)


async def test_ids_of_another_kind_are_refused(workspace: Workspace, notion: AsyncClient) -> None:
    """A database is no page, a page no database, a container no table, a table no block."""
    page = workspace.add_page("Page", blocks=[blocks.paragraph("text")])
    base = workspace.add_database("Base", parent=page)
    (source,) = workspace.databases[base].sources
    block = workspace.find_block(page, "text")
    wrong: list[tuple[Any, str]] = [
        (notion.pages.retrieve, base),
        (notion.pages.retrieve, source),
        (notion.pages.retrieve, block),
        (notion.databases.retrieve, page),
        (notion.databases.retrieve, source),
        (notion.data_sources.query, base),
        (notion.data_sources.retrieve, page),
    ]
    for call, identifier in wrong:
        with pytest.raises(APIResponseError, match="is a ") as raised:
            await call(identifier)
        assert raised.value.status == 400
    with pytest.raises(APIResponseError) as raised:
        await notion.blocks.children.list(source)
    assert raised.value.status == 404


@pytest.mark.parametrize("kind", ["pages", "blocks", "databases", "data_sources", "users"])
async def test_ids_of_nothing_are_404(notion: AsyncClient, kind: str) -> None:
    """An id that nothing has is object_not_found, and the message says how it may come about."""
    nothing = "12345678-1234-4234-8234-123456789012"
    with pytest.raises(APIResponseError, match="shared with your integration") as raised:
        await getattr(notion, kind).retrieve(nothing)
    assert (raised.value.status, code_of(raised.value)) == (404, "object_not_found")
    assert nothing in str(raised.value)


async def test_a_foreign_or_made_up_cursor_is_refused(workspace: Workspace, notion: AsyncClient) -> None:
    """A cursor is good for its own listing with its own filter, nowhere else."""
    pages = [workspace.add_page(f"Page {n}", blocks=[blocks.paragraph("x")] * 3) for n in range(3)]
    own = (await notion.blocks.children.list(pages[0], page_size=1))["next_cursor"]
    search = (await notion.search(page_size=1))["next_cursor"]
    assert len(names(await notion.blocks.children.list(pages[0], start_cursor=own))) == 2
    wrong = [
        (pages[1], own),
        (pages[0], search),
        (pages[0], "made-up"),
        (pages[0], workspace.block_ids(pages[0])[1]),
    ]
    for page, cursor in wrong:
        with pytest.raises(APIResponseError, match="start_cursor provided is invalid") as raised:
            await notion.blocks.children.list(page, start_cursor=cursor)
        assert (raised.value.status, code_of(raised.value)) == (400, "validation_error")
    with pytest.raises(APIResponseError, match="start_cursor"):
        await notion.search(query="Page", start_cursor=search)


async def test_missing_rights_are_403(
    workspace: Workspace, server: NotionServer, notion: AsyncClient
) -> None:
    """Without the right to read content every content endpoint is restricted_resource."""
    page = workspace.add_page("Page")
    server.behaviour.rights.discard("read_content")
    for call in (notion.pages.retrieve, notion.blocks.children.list, notion.pages.retrieve_markdown):
        with pytest.raises(APIResponseError) as raised:
            await call(page)
        assert (raised.value.status, code_of(raised.value)) == (403, "restricted_resource")
    server.behaviour.rights.discard("read_users")
    with pytest.raises(APIResponseError) as raised:
        await notion.users.list()
    assert raised.value.status == 403


async def test_every_writing_endpoint_is_403_and_changes_nothing(
    workspace: Workspace, server: NotionServer, notion: AsyncClient
) -> None:
    """The integration may only read."""
    page = workspace.add_page("Page", blocks=[blocks.paragraph("text")])
    before = workspace.version
    calls = [
        notion.pages.update(page, in_trash=True),
        notion.blocks.delete(page),
        notion.blocks.children.append(page, children=[]),
        notion.pages.create(parent={"page_id": page}, properties={}),
        notion.comments.create(parent={"page_id": page}, rich_text=[]),
    ]
    for call in calls:
        with pytest.raises(APIResponseError) as raised:
            await call
        assert (raised.value.status, code_of(raised.value)) == (403, "restricted_resource")
    assert workspace.version == before
    assert all(request.route for request in server.requests)


async def test_page_markdown_needs_the_newest_version(workspace: Workspace, server: NotionServer) -> None:
    """With 2025-09-03 the endpoint is refused."""
    page = workspace.add_page("Page")
    async with client_for(server, version="2025-09-03") as older:
        with pytest.raises(APIResponseError, match="2026-03-11") as raised:
            await older.pages.retrieve_markdown(page)
    assert raised.value.status == 400


async def test_comments_need_the_id_of_a_block(server: NotionServer) -> None:
    """Without block_id, or with a malformed one, the listing is 400."""
    assert (await _raw(server, "GET", "/v1/comments"))[1] == "validation_error"
    assert (await _raw(server, "GET", "/v1/comments?block_id=abc"))[1] == "validation_error"


async def test_an_unknown_property_is_400(workspace: Workspace, notion: AsyncClient) -> None:
    """The property endpoint knows ids (encoded or not) and nothing else."""
    source = workspace.databases[workspace.add_database("T")].sources[0]
    row = workspace.add_row(source, "Row", properties={"Price": prop.number(7)})
    identifier = (await notion.pages.retrieve(row))["properties"]["Price"]["id"]
    assert (await notion.pages.properties.retrieve(row, identifier))["number"] == 7
    with pytest.raises(APIResponseError, match="Could not find property"):
        await notion.pages.properties.retrieve(row, "none")


async def test_requests_are_recorded_without_the_token(
    workspace: Workspace, server: NotionServer, notion: AsyncClient
) -> None:
    """Method, path, endpoint, query, body and headers are kept; the token is not."""
    page = workspace.add_page("Page")
    await notion.blocks.children.list(page, page_size=7)
    await notion.search(query="Page")
    with pytest.raises(APIResponseError):
        await notion.pages.retrieve("abc")
    first, second, third = server.requests
    assert (first.method, first.route, first.status) == ("GET", routes.CHILDREN, 200)
    assert (first.path, first.query) == (f"/v1/blocks/{page}/children", {"page_size": ["7"]})
    assert first.headers["notion-version"] == "2026-03-11"
    assert (second.route, second.body) == (routes.SEARCH, {"query": "Page"})
    assert (third.route, third.status) == (routes.PAGE, 400)
    assert server.total == 3
    assert server.token not in repr(server.requests)
    server.forget()
    assert server.total == 0


async def test_the_official_document_is_asked_where_it_lies(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With FOOTNOTE_SPECS set a request that the OpenAPI document does not allow is 400."""
    body = {"type": "object", "properties": {"query": {"type": "string", "maxLength": 3}}}
    operation = {"requestBody": {"content": {"application/json": {"schema": body}}}}
    size = {"name": "page_size", "in": "query", "schema": {"type": "integer", "maximum": 5}}
    document = {
        "components": {"schemas": {"sortObject": {}}},
        "paths": {"/v1/search": {"post": operation}, "/v1/users": {"get": {"parameters": [size]}}},
    }
    (tmp_path / "notion-openapi.json").write_text(json.dumps(document), encoding="utf-8")
    monkeypatch.setenv("FOOTNOTE_SPECS", str(tmp_path))
    async with NotionServer(workspace) as server, client_for(server) as notion:
        await notion.search(query="abc")
        await notion.users.list(page_size=5)
        with pytest.raises(APIResponseError, match="official OpenAPI document"):
            await notion.search(query="abcd")
        with pytest.raises(APIResponseError, match="official OpenAPI document"):
            await notion.users.list(page_size=6)
        assert len(server.complaints) == 2


async def test_requests_are_kept_for_the_official_document(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With FOOTNOTE_RECORD set a stopping server writes one request of each kind, refused ones left out."""
    monkeypatch.setenv("FOOTNOTE_RECORD", str(tmp_path))
    page = workspace.add_page("Page")
    async with NotionServer(workspace) as server, client_for(server) as notion:
        for _ in range(3):
            await notion.pages.retrieve(page)
        await notion.search(query="Page")
        with pytest.raises(APIResponseError):
            await notion.pages.retrieve("abc")
    kept = _lines_below(tmp_path)
    assert [json.loads(line)["route"] for line in kept] == [routes.PAGE, routes.SEARCH]
    assert server.token not in "".join(kept)


def _lines_below(folder: Path) -> list[str]:
    (file,) = folder.iterdir()
    return file.read_text(encoding="utf-8").splitlines()
