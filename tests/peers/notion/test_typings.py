"""Every answer of the stand-in has the shape of Notion's official typings, and no key more."""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any

import pytest

from tests.fakes.notion import RequestRecord, Webhooks, Workspace, blocks, routes, showcase
from tests.peers.notion.peers import CURRENT, Json, block_types, complaint, definitions
from tests.peers.notion.reading import read_server

_OBJECTS = {
    "page": "PageObjectResponse",
    "database": "DatabaseObjectResponse",
    "data_source": "DataSourceObjectResponse",
    "user": "UserObjectResponse",
    "comment": "CommentObjectResponse",
    "page_markdown": "PageMarkdownResponse",
}
_LISTS = {
    routes.CHILDREN: "ListBlockChildrenResponse",
    routes.SEARCH: "SearchResponse",
    routes.QUERY: "QueryDataSourceResponse",
    routes.USERS: "ListUsersResponse",
    routes.COMMENTS: "ListCommentsResponse",
    routes.PROPERTY: "GetPagePropertyResponse",
}
_UNTYPED_COLUMNS = ("button", "place", "verification")


def _known(answer: Json) -> Json:
    """The answer without what real answers have and the typings lack: the request's id, ``has_more``
    of a relation, and columns of three types that the typings know as values only."""
    kept = copy.deepcopy(answer)
    kept.pop("request_id", None)
    for item in [kept, *kept.get("results", [])]:
        properties = item.get("properties", {})
        for name, value in list(properties.items()):
            if item["object"] == "data_source" and value["type"] in _UNTYPED_COLUMNS:
                del properties[name]
            if item["object"] == "page" and value["type"] == "relation":
                del value["has_more"]
    return kept


def _complaints(request: RequestRecord, version: str) -> list[str]:
    answer = _known(request.answer)
    found = []
    if answer.get("object") == "list" or request.route == routes.PROPERTY:
        found.append(complaint(_LISTS[request.route], answer, version))
    elif "templates" in answer:
        found.append(complaint("ListDataSourceTemplatesResponse", answer, version))
    else:
        found.append(_object(answer, version))
    if request.route != routes.PROPERTY:
        found += [_object(item, version) for item in answer.get("results", [])]
    return [f"{request.route}: {text}" for text in found if text]


def _object(value: Json, version: str) -> str:
    if value["object"] == "block":
        return complaint(block_types()[value["type"]], value, version)
    return complaint(_OBJECTS[value["object"]], value, version)


@pytest.mark.parametrize("version", [CURRENT, "2025-09-03"])
async def test_not1_every_answer_has_the_official_shape(version: str) -> None:
    """Objects in full, lists and pages of lists, for all block and property types, in both versions."""
    async with read_server(version) as server:
        assert not server.complaints
        assert {request.status for request in server.requests} == {200}
        problems = [text for request in server.requests for text in _complaints(request, version)]
    assert problems == []
    seen: Counter[str] = Counter()
    for request in server.calls(routes.CHILDREN):
        seen.update(block["type"] for block in request.answer["results"])
    other = "transcription" if version >= CURRENT else "meeting_notes"
    assert set(seen) == set(block_types()) - {other}
    kinds = {
        value["type"]
        for request in server.calls(routes.PAGE)
        for value in request.answer["properties"].values()
    }
    assert kinds == _property_types()
    assert server.counts[routes.SEARCH] > 2


def _property_types() -> set[str]:
    """The property types a page may have, read from the official type."""
    values = definitions()["PageObjectResponse"]["properties"]["properties"]["additionalProperties"]
    found: set[str] = set()

    def collect(node: Any) -> None:
        if "$ref" in node:
            collect(definitions()[node["$ref"].rsplit("/", 1)[-1]])
        elif "anyOf" in node:
            for item in node["anyOf"]:
                collect(item)
        else:
            found.add(node["properties"]["type"]["const"])

    collect(values)
    return found


def test_the_check_itself_can_fail() -> None:
    """A key too few, a key too many and a wrong type are complained of."""
    workspace = Workspace()
    page = workspace.add_page("Page", blocks=[blocks.paragraph("x")])
    good: Json = {
        "object": "page_markdown",
        "id": page,
        "markdown": "x",
        "truncated": False,
        "unknown_block_ids": [],
    }
    assert complaint("PageMarkdownResponse", good) == ""
    assert complaint("PageMarkdownResponse", {**good, "more": 1}) != ""
    assert complaint("PageMarkdownResponse", {**good, "truncated": "no"}) != ""
    assert complaint("PageMarkdownResponse", {key: good[key] for key in ("object", "id")}) != ""


def test_not17_webhook_payloads_have_the_official_shape() -> None:
    """Each kind of event the stand-in sends fits its own official type."""
    workspace = Workspace()
    shown = showcase.build(workspace)
    hooks = Webhooks(workspace, "http://127.0.0.1:9/")
    block = workspace.find_block(shown.page, "Plain")
    workspace.edit_block(block, "Edited")
    workspace.rename(shown.row, "Renamed")
    workspace.rename(shown.database, "Stock")
    workspace.rename(shown.data_source, "Stock")
    workspace.lock(shown.child)
    workspace.lock(shown.child, locked=False)
    workspace.move(shown.child, None)
    workspace.move(shown.database, shown.child)
    for identifier in (shown.row, shown.database, shown.data_source):
        workspace.trash(identifier)
        workspace.restore(identifier)
    workspace.delete_comment(shown.comment)
    types = {
        schema["properties"]["type"]["const"]: name
        for name, schema in definitions().items()
        if name.endswith("WebhookPayload") and "type" in schema.get("properties", {})
    }
    payloads = hooks.pending()
    sent = {payload["type"] for payload in payloads}
    assert sent <= set(types)
    assert len(sent) >= 15
    assert [complaint(types[payload["type"]], payload) for payload in payloads] == [""] * len(payloads)
