"""The real Notion client, pointed at a stand-in."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from notion_client import AsyncClient
from notion_client.errors import HTTPResponseError

from tests.fakes.notion import NotionServer

Json = dict[str, Any]


@asynccontextmanager
async def client_for(
    server: NotionServer, *, version: str = "2026-03-11", timeout_ms: int = 10_000, token: str | None = None
) -> AsyncIterator[AsyncClient]:
    """A client without retries of its own, so that every answer is seen as it came."""
    client = AsyncClient(
        auth=server.token if token is None else token,
        base_url=server.url,
        notion_version=version,
        retry=False,
        timeout_ms=timeout_ms,
        logger=logging.getLogger("tests.notion"),
    )
    try:
        yield client
    finally:
        await client.aclose()


def code_of(error: HTTPResponseError) -> str:
    """The error's code as Notion spells it."""
    return str(getattr(error.code, "value", error.code))


def names(answer: Json) -> list[str]:
    """The ids of a listing's results."""
    return [item["id"] for item in answer["results"]]
