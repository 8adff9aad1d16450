"""Every reading endpoint of the API, called with the real client on a workspace with everything."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files

from notion_client import AsyncClient
from notion_client.helpers import async_collect_paginated_api

from tests.fakes.notion import NotionServer, Workspace, load, properties, showcase
from tests.fakes_checks.notion_client_for import client_for
from tests.peers.notion.peers import CURRENT


@asynccontextmanager
async def read_server(version: str = CURRENT) -> AsyncIterator[NotionServer]:
    """A server whose workspace (a showcase and the product's sample) has been read in full."""
    workspace = Workspace()
    shown = showcase.build(workspace)
    load(workspace, files("adapters.sources.sample_workspace"))
    many = [workspace.add_page(f"Target {number}") for number in range(30)]
    workspace.set_properties(shown.row, {"Many": properties.relation(*many)})
    workspace.trash(many[0])
    async with NotionServer(workspace, keep_answers=True) as server:
        async with client_for(server, version=version) as notion:
            await _lists(notion, shown)
            for page in list(workspace.pages):
                await _page(notion, page)
            for base, container in workspace.databases.items():
                await notion.databases.retrieve(base)
                for source in container.sources:
                    await _table(notion, source)
            if version >= CURRENT:
                await notion.pages.retrieve_markdown(shown.page, include_transcript="true")
        yield server


async def _lists(notion: AsyncClient, shown: showcase.Showcase) -> None:
    await notion.users.me()
    await notion.users.retrieve(shown.user)
    await async_collect_paginated_api(notion.users.list, page_size=2)
    await notion.comments.list(block_id=shown.page)
    await notion.comments.retrieve(shown.comment)
    await notion.search(filter={"property": "object", "value": "page"}, page_size=100)
    newest = {"timestamp": "last_edited_time", "direction": "descending"}
    await async_collect_paginated_api(notion.search, query="", sort=newest, page_size=20)


async def _page(notion: AsyncClient, page: str) -> None:
    answer = await notion.pages.retrieve(page)
    for value in answer["properties"].values():
        await notion.pages.properties.retrieve(page, value["id"])
    waiting = [page]
    while waiting:
        for block in await async_collect_paginated_api(notion.blocks.children.list, block_id=waiting.pop()):
            await notion.blocks.retrieve(block["id"])
            own = block["type"] not in ("child_page", "child_database", "unsupported")
            source = block.get("synced_block", {}).get("synced_from") or {"block_id": block["id"]}
            if block["has_children"] and own:
                waiting.append(source["block_id"])


async def _table(notion: AsyncClient, source: str) -> None:
    await notion.data_sources.retrieve(source)
    await notion.data_sources.list_templates(source)
    newest = [{"timestamp": "last_edited_time", "direction": "descending"}]
    window = {"timestamp": "created_time", "created_time": {"on_or_after": "2020-01-01T00:00:00.000Z"}}
    await async_collect_paginated_api(
        notion.data_sources.query, data_source_id=source, filter=window, sorts=newest, page_size=5
    )
