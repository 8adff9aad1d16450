"""Notion's own MCP server, a client nobody here wrote, reads the stand-in."""

from __future__ import annotations

import asyncio
import json
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from shutil import which
from typing import Any

from tests.fakes.notion import NotionServer, Workspace, blocks, routes
from tests.fakes.notion import properties as prop
from tests.peers.notion.peers import Json, package

_PATIENCE = 60.0  # seconds; Node starts slowly on a busy machine


class Mcp:
    """A conversation over standard input and output, one JSON object per line."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._number = 0

    async def ask(self, method: str, params: Json) -> Json:
        """A request and its result."""
        self._number += 1
        await self.tell({"id": self._number, "method": method, "params": params})
        assert self._process.stdout is not None
        while True:
            line = await asyncio.wait_for(self._process.stdout.readline(), _PATIENCE)
            assert line, "the MCP server ended"
            answer = json.loads(line)
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                result: Json = answer["result"]
                return result

    async def tell(self, message: Json) -> None:
        """A message without waiting for an answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        await self._process.stdin.drain()

    async def use(self, tool: str, arguments: Json) -> Any:
        """Call a tool; the JSON that Notion answered."""
        result = await self.ask("tools/call", {"name": tool, "arguments": arguments})
        return json.loads(result["content"][0]["text"])


@asynccontextmanager
async def mcp_server(server: NotionServer) -> AsyncIterator[Mcp]:
    """The MCP server with the stand-in as its Notion."""
    node = which("node")
    assert node is not None
    program = package("@notionhq/notion-mcp-server") / "bin" / "cli.mjs"
    environment = {"BASE_URL": server.url, "NOTION_TOKEN": server.token, "PATH": "/usr/bin:/bin"}
    process = await asyncio.create_subprocess_exec(
        node, str(program), stdin=PIPE, stdout=PIPE, env=environment, limit=10_000_000
    )
    try:
        yield Mcp(process)
    finally:
        process.terminate()
        await process.wait()


async def test_the_official_mcp_server_reads_a_workspace() -> None:
    """Handshake, tools, search, page, property, children, table and its rows, Markdown, comments."""
    workspace = Workspace()
    page = workspace.add_page("Handbook", blocks=[blocks.paragraph("Welcome."), blocks.divider()])
    base = workspace.add_database("Tools", parent=page)
    source = workspace.databases[base].sources[0]
    row = workspace.add_row(source, "Miro", properties={"Price": prop.number(12)})
    workspace.add_row(source, "Jira", properties={"Price": prop.number(9)})
    comment = workspace.add_comment(page, "Nice")
    async with NotionServer(workspace) as server, mcp_server(server) as mcp:
        about = {"name": "peer-check", "version": "1"}
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about}
        assert (await mcp.ask("initialize", hello))["serverInfo"]["name"] == "Notion API"
        await mcp.tell({"method": "notifications/initialized"})
        tools = {tool["name"] for tool in (await mcp.ask("tools/list", {}))["tools"]}
        assert len(tools) >= 20

        assert (await mcp.use("API-get-self", {}))["id"] == workspace.bot.id
        found = await mcp.use("API-post-search", {"query": "hand", "page_size": 10})
        assert [item["id"] for item in found["results"]] == [page]
        assert (await mcp.use("API-retrieve-a-page", {"page_id": page}))["object"] == "page"
        children = await mcp.use("API-get-block-children", {"block_id": page, "page_size": 100})
        kinds = [block["type"] for block in children["results"]]
        assert kinds == ["paragraph", "divider", "child_database"]
        database = await mcp.use("API-retrieve-a-database", {"database_id": base})
        assert database["data_sources"] == [{"id": source, "name": "Tools"}]
        table = await mcp.use("API-retrieve-a-data-source", {"data_source_id": source})
        assert set(table["properties"]) == {"Name", "Price"}
        dear = {"property": "Price", "number": {"greater_than": 10}}
        rows = await mcp.use("API-query-data-source", {"data_source_id": source, "filter": dear})
        assert [item["id"] for item in rows["results"]] == [row]
        wanted = {"page_id": row, "property_id": table["properties"]["Price"]["id"]}
        assert (await mcp.use("API-retrieve-a-page-property", wanted))["number"] == 12
        comments = await mcp.use("API-retrieve-a-comment", {"block_id": page})
        assert [item["id"] for item in comments["results"]] == [comment]
        absent = {"page_id": "12345678-1234-4234-8234-123456789012"}
        assert (await mcp.use("API-retrieve-a-page", absent))["code"] == "object_not_found"
        assert not server.complaints
        assert server.counts[routes.QUERY] == 1
