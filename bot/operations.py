"""Jobs, ledger and administration of an app, opened together; and the worker that does the jobs."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

from adapters.jobs.names import Timings
from adapters.jobs.opening import Jobs, open_jobs
from adapters.jobs.worker import Worker
from adapters.stores.ledger import PostgresLedger, open_ledger
from bot.clock import SystemClock
from bot.index_health import health_of
from bot.wiring import App
from bot.work import SyncWork, source_name
from core.domain.audiences import Audience
from core.ports import PageSource
from core.ports.chat import Gap
from core.services.administration import POLL_SECONDS, Administrator
from core.services.sync_report import SyncObserver


@dataclass(frozen=True, slots=True)
class Operations:
    """What keeps the index in order, on any number of machines."""

    app: App
    jobs: Jobs
    ledger: PostgresLedger
    administrator: Administrator

    def work(self, source: PageSource, *, name: str, observer: SyncObserver | None = None) -> SyncWork:
        """What this process can do with a source of that name; ``observer`` sees it from nearby."""
        return SyncWork(
            self.app, source, name=name, ledger=self.ledger, runs=self.jobs.runs, observer=observer
        )

    def worker(self, source: PageSource, *, is_scheduled: bool, timings: Timings | None = None) -> Worker:
        """A worker over a source, which must be Notion: any worker may be given any job."""
        return Worker(
            self.app.servers.database_url,
            runs=self.jobs.runs,
            hints=self.jobs.hints,
            work=self.work(source, name=source_name(self.app.settings)),
            is_scheduled=is_scheduled,
            timings=timings,
        )


@asynccontextmanager
async def open_operations(app: App, *, poll_seconds: float = POLL_SECONDS) -> AsyncIterator[Operations]:
    """Jobs, ledger and administration over an app's database.

    Raises:
        UnavailableError, RefusedError, SchemaError: the database cannot be used.
    """

    async def gaps(*, viewer: Audience, since: datetime, limit: int) -> Sequence[Gap]:
        found = await app.learning.gaps.find(viewer=viewer, since=since, limit=limit)
        return [gap.as_gap() for gap in found]

    url = app.servers.database_url
    async with open_jobs(url) as jobs, open_ledger(url) as ledger:
        administrator = Administrator(
            runs=jobs.runs,
            ledger=ledger,
            pages=app.store,
            health=lambda: health_of(app.store),
            gaps=gaps,
            scopes=lambda: app.audiences.rules.scopes,
            roots=frozenset(app.settings.root_pages),
            source_name=source_name(app.settings),
            clock=SystemClock(),
            poll_seconds=poll_seconds,
        )
        yield Operations(app=app, jobs=jobs, ledger=ledger, administrator=administrator)
