"""A stand-in for Notion and a client of it, fresh for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from notion_client import AsyncClient

from tests.fakes.notion import NotionServer, Workspace
from tests.fakes_checks.notion_client_for import client_for


@pytest.fixture
def workspace() -> Workspace:
    """An empty workspace whose time stands still."""
    return Workspace()


@pytest.fixture
async def server(workspace: Workspace) -> AsyncIterator[NotionServer]:
    """The workspace, served."""
    async with NotionServer(workspace) as running:
        yield running


@pytest.fixture
async def notion(server: NotionServer) -> AsyncIterator[AsyncClient]:
    """The real client with the newest API version."""
    async with client_for(server) as client:
        yield client
