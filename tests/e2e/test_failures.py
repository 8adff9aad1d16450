"""What is away makes answers slower or plainer, never wrong."""

import socket
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

from adapters.chat.markdown import render
from adapters.sources.sample import SampleSource
from bot.embedded import embedded_redis
from bot.settings import Settings
from bot.syncing import sync_with_progress
from bot.wiring import App, ask_as_console, open_app
from core.domain.answers import Answer
from core.services.sync_report import SyncReport

QUESTION = "How long does the free trial run?"


def a_port_where_nothing_listens() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@asynccontextmanager
async def a_synced_app(
    database_url: str, redis_url: str, **settings: str
) -> AsyncIterator[tuple[App, SyncReport]]:
    """The product over the sample workspace; by default the hashing model keeps it quick."""
    variables = {
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "EMBEDDING_MODEL": "hashing:384",
        **settings,
    }
    async with open_app(Settings.from_mapping(variables)) as app:
        yield app, await sync_with_progress(app, SampleSource())


async def test_f67_a15_killing_redis_during_a_chat_changes_nothing_but_speed(
    database_url: str, tmp_path: Path
) -> None:
    """The same question gives the same answer with Redis, without it, and with it back."""
    with ExitStack() as redis:
        redis_url = redis.enter_context(embedded_redis(tmp_path))
        async with a_synced_app(database_url, redis_url) as (app, _):
            with_redis = await app.answerer.answer(ask_as_console(QUESTION))
            cached = await app.answerer.answer(ask_as_console(QUESTION))
            redis.close()
            without = await app.answerer.answer(ask_as_console(QUESTION))
            assert redis.enter_context(embedded_redis(tmp_path)) == redis_url
            again = await app.answerer.answer(ask_as_console(QUESTION))

    assert isinstance(with_redis, Answer)
    assert isinstance(cached, Answer)
    assert isinstance(without, Answer)
    assert cached.cached
    assert not without.cached
    assert not without.degraded
    assert render(with_redis) == render(cached) == render(without) == render(again)


async def test_a_page_synced_while_the_embedder_was_down_is_found_by_words(
    database_url: str, redis_url: str
) -> None:
    """The pages are stored and answer by their words, marked as degraded and never cached."""
    nowhere = f"http://127.0.0.1:{a_port_where_nothing_listens()}/v1"
    settings = {"EMBEDDING_MODEL": "openai:text-embedding-3-small", "EMBEDDING_BASE_URL": nowhere}
    async with a_synced_app(database_url, redis_url, **settings) as (app, report):
        first = await app.answerer.answer(ask_as_console(QUESTION))
        second = await app.answerer.answer(ask_as_console(QUESTION))

    assert report.embedding_error
    assert report.pending > 0
    assert isinstance(first, Answer)
    assert first.degraded
    assert "Pricing and Plans" in {citation.title for citation in first.citations}
    assert isinstance(second, Answer)
    assert not second.cached
