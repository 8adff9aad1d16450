"""Requests to Notion are judged by Prism with Notion's official OpenAPI document.

Judged are the requests that the tests of the product's Notion adapter made (kept by ``prepare.sh``)
and one of each kind that reads a whole workspace.
"""

from __future__ import annotations

import asyncio
import json
import socket
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from shutil import which

import httpx

from tests.fakes.notion import routes
from tests.fakes.notion.openapi import widened
from tests.fakes.notion.recording import kinds
from tests.peers.notion.peers import Json, folder, package
from tests.peers.notion.reading import read_server

_PATIENCE = 60.0  # seconds for Prism to start
_ABSENT = ("GET /v1/comments/{comment_id}",)  # endpoints that the document does not describe


@asynccontextmanager
async def prism() -> AsyncIterator[httpx.AsyncClient]:
    """Prism on loopback; it answers 4xx to what the document does not allow."""
    node = which("node")
    assert node is not None
    program = package("@stoplight/prism-cli") / "dist" / "index.js"
    official = package("@notionhq/notion-mcp-server") / "scripts" / "notion-openapi.json"
    document = folder() / "openapi.json"
    document.write_text(
        json.dumps(widened(json.loads(official.read_text(encoding="utf-8")))), encoding="utf-8"
    )
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = ["mock", "--errors", "--host", "127.0.0.1", "--port", str(port), str(document)]
    process = await asyncio.create_subprocess_exec(
        node, str(program), *arguments, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL
    )
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=30) as web:
            await _until_up(web)
            yield web
    finally:
        process.terminate()
        await process.wait()


async def _until_up(web: httpx.AsyncClient) -> None:
    async with asyncio.timeout(_PATIENCE):
        while True:
            try:
                await web.get("/v1/users/me")
            except httpx.ConnectError:
                await asyncio.sleep(0.2)
            else:
                return


async def _complaint(web: httpx.AsyncClient, request: Json) -> str:
    """What Prism has against a request; empty if nothing."""
    headers = {**request["headers"], "Authorization": "Bearer secret"}
    answer = await web.request(
        request["method"],
        request["path"],
        params=request["query"],
        json=request["body"],
        headers=headers,
    )
    return "" if answer.is_success else f"{request['route']}: {answer.status_code} {answer.text[:600]}"


def _recorded() -> Iterator[Json]:
    for file in sorted((folder() / "recordings").glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


async def test_not1_every_request_fits_the_official_document() -> None:
    """No request of the product, and none of a complete reading, breaks a rule of the document."""
    async with read_server() as server:
        recorded = list(_recorded())
        requests = [*kinds(server.requests), *recorded]
    asked = {request["route"] for request in recorded}
    assert asked >= {routes.SEARCH, routes.CHILDREN, routes.PAGE, routes.QUERY}
    judged = [request for request in requests if request["route"] not in _ABSENT]
    assert len({request["route"] for request in judged}) >= 12
    async with prism() as web:
        problems = [await _complaint(web, request) for request in judged]
    assert [text for text in problems if text] == []


async def test_prism_and_the_stand_in_refuse_the_same() -> None:
    """The judge is awake: what is wrong with a request is refused by both."""
    base: Json = {"method": "POST", "path": "/v1/search", "route": "search", "query": {}}
    headers = {"notion-version": "2026-03-11", "content-type": "application/json"}
    wrong: list[Json] = [
        {"filter": {"property": "object", "value": "database"}},
        {"page_size": "10"},
        {"start_cursor": None},
        {"query": 5},
    ]
    async with prism() as web, read_server() as server:
        async with httpx.AsyncClient(base_url=server.url) as ours:
            for body in wrong:
                request = {**base, "body": body, "headers": headers}
                assert await _complaint(web, request)
                signed = {**headers, "Authorization": f"Bearer {server.token}"}
                answer = await ours.post("/v1/search", json=body, headers=signed)
                assert answer.status_code == 400, body
        assert await _complaint(web, {**base, "body": {}, "headers": headers}) == ""
