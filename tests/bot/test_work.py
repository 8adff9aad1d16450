"""When a worker begins a run by itself."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import cast

import pytest

from adapters.jobs.runs import PostgresRuns
from bot.wiring import App
from bot.work import SyncWork
from core.ports import PageSource
from core.ports.chat import ResyncKind
from core.ports.jobs import NOTION, RunView
from core.ports.ledger import SyncLedger

RUN = RunView(
    id=1,
    source=NOTION,
    wanted=frozenset({ResyncKind.CHANGES}),
    done=1,
    total=1,
    failed=0,
    message="",
    asked_by="schedule",
    asked_at=datetime(2026, 11, 2, 9, tzinfo=UTC),
    ended_at=datetime(2026, 11, 2, 9, 1, tzinfo=UTC),
    is_alive=False,
)


class Past:
    """What runs there were; none is open."""

    def __init__(self, *runs: RunView) -> None:
        self._runs = runs

    async def open_run(self) -> None:
        """None."""

    async def recent(self, *, limit: int) -> Sequence[RunView]:
        """The newest."""
        return self._runs[:limit]


def work_after(*runs: RunView) -> SyncWork:
    """A worker's work with an interval of half an hour."""
    app = SimpleNamespace(settings=SimpleNamespace(notion_sync_interval=30))
    return SyncWork(
        cast(App, app),
        cast(PageSource, None),
        name="notion",
        ledger=cast(SyncLedger, None),
        runs=cast(PostgresRuns, Past(*runs)),
    )


@pytest.mark.parametrize(
    ("seconds", "is_due"),
    [(0, False), (1799, False), (1800, True), (90_000, True), (-1, True), (-86_400, True)],
)
async def test_sy19_a_run_is_due_an_interval_after_the_last_one(seconds: float, is_due: bool) -> None:
    """Or at once if it seems to have been asked for in the future: a clock was set back since."""
    assert await work_after(replace(RUN, asked_seconds_ago=seconds)).is_due() is is_due


async def test_sy19_the_first_run_is_due_at_once() -> None:
    """There was none before."""
    assert await work_after().is_due()
