"""A workspace with one running process for every test that asks for one."""

from collections.abc import AsyncIterator

import pytest

from tests.adapters.chat.slack.harness import Session, slack_session


@pytest.fixture
async def session() -> AsyncIterator[Session]:
    """Started, over Socket Mode, without rate limits."""
    async with slack_session() as started:
        yield started
