"""The configured Notion workspace: its API, at one pace with all other processes, and its pages."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from adapters.caches.connecting import RedisConnection
from adapters.caches.pace import RedisPace
from adapters.sources.notion import NotionSource
from adapters.sources.notion_api import NotionApi
from adapters.sources.notion_comments import CommentScope
from adapters.sources.notion_pace import Pace
from bot.settings import Settings
from core.errors import ConfigurationError


def notion_token(settings: Settings) -> str:
    """The configured token.

    Raises:
        ConfigurationError: there is none.
    """
    if settings.notion_token is None:
        raise ConfigurationError(
            "NOTION_TOKEN is not set: put the token of an internal integration into .env, "
            "or sync an export with: footnote sync --export PATH"
        )
    return settings.notion_token.get_secret_value()


@asynccontextmanager
async def open_notion(settings: Settings, redis: RedisConnection | None) -> AsyncIterator[NotionApi]:
    """The Notion API with the configured token, at one pace with all processes that share Redis.

    Raises:
        ConfigurationError: there is no token.
    """
    token, address = notion_token(settings), settings.notion_base_url
    shared = RedisPace(redis, f"notion {address} {token}") if redis is not None else None
    async with NotionApi(
        token, base_url=address, notion_version=settings.notion_version, pace=Pace(shared=shared)
    ) as api:
        yield api


def notion_source(api: NotionApi, settings: Settings) -> NotionSource:
    """The configured part of the workspace."""
    return NotionSource(api, roots=settings.root_pages, comments=CommentScope(settings.notion_comments))
