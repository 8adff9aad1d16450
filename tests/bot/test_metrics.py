"""``/metrics`` of the running app: real database, real Redis."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
from aiohttp.test_utils import TestClient, TestServer
from prometheus_client.parser import text_string_to_metric_families

from adapters.stores.ledger import PostgresLedger, open_ledger
from adapters.stores.schema import migrate
from bot.health import health_app
from bot.settings import Settings
from bot.wiring import App, ask_as_console, open_app
from bot.work import source_name
from core.ports.chat import Verdict
from core.ports.ledger import RunRecord, Trouble
from tests.builders_store import a_page, page_id


@pytest.fixture
async def app(database_url: str, redis_url: str) -> AsyncIterator[App]:
    """The app over empty servers, with vectors that need no model."""
    settings = Settings.from_mapping(
        {
            "DATABASE_URL": database_url,
            "REDIS_URL": redis_url,
            "EMBEDDING_MODEL": "hashing:384",
            "NOTION_TOKEN": "ntn_x",
            "NOTION_SYNC_INTERVAL": "30",
        }
    )
    await migrate(database_url)
    async with open_app(settings) as opened:
        yield opened


async def test_metrics_tell_questions_cache_feedback_sync_and_pages(app: App) -> None:
    """All that the alert rules look at, with how sync and pages stand by the clock that dates looks."""
    looked = datetime.now(UTC) + timedelta(days=1)
    await app.store.put_pages([a_page(1, "The garden has three trees.", title="Garden")])
    await app.answerer.answer(ask_as_console("How many trees are in the garden?"))
    await app.learning.feedback.judge(question_id="E", person="U1", verdict=Verdict.BAD)
    await app.learning.feedback.judge(question_id="E", person="U1", verdict=Verdict.BAD, reason="old")
    async with open_ledger(app.servers.database_url) as ledger:
        await ledger.keep_run(
            RunRecord(
                started=looked,
                finished=looked,
                reached_end=True,
                complete=True,
                source=source_name(app.settings),
            ),
            troubles=[Trouble(page_id(9), "Broken", "", "could not be read")],
            healed=[],
        )
        async with TestClient(
            TestServer(health_app(app, ledger, now=lambda: looked + timedelta(minutes=10)))
        ) as client:
            response = await client.get("/metrics")
            text = await response.text()
            health = await (await client.get("/health")).json()

    figures = {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    assert response.content_type == "text/plain"
    assert figures["footnote_questions_total", "console"] == 1
    assert figures["footnote_feedback_total", "bad"] == 1
    assert figures["footnote_cache_lookups_total", "answer", "miss"] >= 1
    assert figures["footnote_cache_lookups_total", "miss", "vector"] == 1
    assert figures["footnote_stage_seconds_count", "search"] == 1
    assert figures["footnote_sync_interval_seconds",] == 1800
    assert figures["footnote_sync_lag_seconds",] == 600
    assert figures["footnote_pages", "failed"] == 1
    assert figures["footnote_pages", "pending"] == 1
    assert figures["footnote_index_generation",] == health["generation"]
    assert "garden" not in text.lower()


async def test_metrics_come_without_the_state_of_the_index_too(app: App) -> None:
    """A process that cannot reach its database still tells what it counted."""
    app.watch.asked("slack")
    ledger_of_no_database = await _broken(app)

    async with TestClient(TestServer(health_app(app, ledger_of_no_database))) as client:
        response = await client.get("/metrics")
        text = await response.text()

    assert response.status == 200
    assert 'footnote_questions_total{platform="slack"} 1.0' in text


async def _broken(app: App) -> PostgresLedger:
    """A ledger whose connections are closed."""
    async with open_ledger(app.servers.database_url) as ledger:
        return ledger
