"""NOTION_RECHECK: cited pages are looked at in Notion before an answer is given."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from adapters.caches.connecting import RedisConnection
from adapters.jobs.opening import open_jobs
from bot.notion import notion_source, open_notion
from bot.settings import Settings
from core.domain.ids import PageId
from core.ports import PageStates
from core.ports.jobs import NOTION
from core.services.rechecking import Freshness, SourceFreshness


@asynccontextmanager
async def open_freshness(
    settings: Settings, *, url: str, redis: RedisConnection, pages: PageStates
) -> AsyncIterator[Freshness | None]:
    """What tells whether cited pages are current; null where the setting is off.

    Raises:
        UnavailableError, RefusedError, SchemaError: the database cannot be used.
    """
    if settings.notion_recheck == "off":
        yield None
        return
    async with open_notion(settings, redis) as api, open_jobs(url) as jobs:

        async def report(outdated: frozenset[PageId]) -> None:
            await jobs.hints.take("", outdated)

        yield SourceFreshness(notion_source(api, settings), pages, report, source_name=NOTION)
