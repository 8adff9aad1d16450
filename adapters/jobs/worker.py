"""A worker: takes jobs from the queue as long as it runs; several may run side by side."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import assert_never
from uuid import UUID, uuid4

import asyncpg
from pgqueuer import PgQueuer
from pgqueuer.errors import FailingListenerError, RetryRequested
from pgqueuer.models import Job, Schedule

from adapters.jobs.hints import ANYTHING, DueHint, PostgresHints
from adapters.jobs.holding import Cut, Holding
from adapters.jobs.names import EVERY_MINUTE, HINTS, SCHEDULE, SYNC, Timings
from adapters.jobs.runs import PostgresRuns
from adapters.stores.connecting import CONNECT_SECONDS, translated
from adapters.stores.pool import STATEMENT_SECONDS
from core.errors import FootnoteError, PermanentError, TemporaryError, UnavailableError
from core.ports.chat import ResyncKind
from core.ports.jobs import Step, StepEnd, Work

_logger = logging.getLogger("footnote.jobs")

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
REVIVE_SECONDS = 20.0
HAND_OVER_SECONDS = 10.0
SCHEDULER = "schedule"
WEBHOOK = "webhook"


class Worker:
    """Runs syncs, follows hints, and keeps the schedule.

    ``is_scheduled``: whether runs begin by themselves; with an interval of 0 nothing is registered (T11).
    """

    def __init__(
        self,
        url: str,
        *,
        runs: PostgresRuns,
        hints: PostgresHints,
        work: Work,
        is_scheduled: bool,
        timings: Timings | None = None,
    ) -> None:
        self._url = url
        self._runs = runs
        self._hints = hints
        self._work = work
        self._is_scheduled = is_scheduled
        self._timings = timings or Timings()
        self._stop = asyncio.Event()

    async def run(self, stop: asyncio.Event) -> None:
        """Work until ``stop`` is set; what is under way then is handed over. Outages are waited out."""
        stopping = asyncio.create_task(self._stop_with(stop))
        reviving = asyncio.create_task(self._keep_alive())
        pause = FIRST_PAUSE
        try:
            while not stop.is_set():
                began = asyncio.get_running_loop().time()
                try:
                    await self._take_jobs()
                except (FootnoteError, FailingListenerError) as error:
                    if asyncio.get_running_loop().time() - began > LONGEST_PAUSE:
                        pause = FIRST_PAUSE
                    reason = str(error) or type(error).__name__
                    _logger.warning("No jobs can be taken, trying again in %.0f s: %s", pause, reason)
                    await _wait(stop, pause)
                    pause = min(2 * pause, LONGEST_PAUSE)
        finally:
            self._stop.set()
            for task in (stopping, reviving):
                task.cancel()
            await asyncio.gather(stopping, reviving, return_exceptions=True)

    # --- The queue -------------------------------------------------------------------------------------

    async def _take_jobs(self) -> None:
        async with self._pool() as pool:
            queuer = PgQueuer.from_asyncpg_pool(pool)
            queuer.entrypoint(SYNC, concurrency_limit=1)(self._sync)
            # Two workers at once would look at the same pages.
            queuer.entrypoint(HINTS, concurrency_limit=1)(self._follow_hints)
            if self._is_scheduled:
                queuer.schedule(SCHEDULE, EVERY_MINUTE)(self._on_the_minute)
            ending = asyncio.create_task(_pass_on(self._stop, queuer.shutdown))
            running = queuer.run if self._is_scheduled else queuer.qm.run
            taking = asyncio.create_task(
                running(
                    dequeue_timeout=self._timings.poll,
                    heartbeat_timeout=self._timings.heartbeat,
                    shutdown_on_listener_failure=True,
                )
            )
            try:
                with translated(self._url):
                    await asyncio.shield(taking)
            except asyncio.CancelledError:
                # Handlers are to hand over what they hold before they end.
                self._stop.set()
                await asyncio.wait({taking}, timeout=HAND_OVER_SECONDS)
                raise
            except RuntimeError as error:
                # The library says so of a missing table or column.
                raise UnavailableError(f"the job queue cannot be used: {error}") from error
            finally:
                for task in (ending, taking):
                    task.cancel()
                await asyncio.gather(ending, taking, return_exceptions=True)

    @asynccontextmanager
    async def _pool(self) -> AsyncIterator[asyncpg.Pool]:
        """A pool of the queue's own, left behind whole when its connections are lost."""
        with translated(self._url):
            pool = await asyncpg.create_pool(
                self._url,
                min_size=1,
                max_size=4,
                timeout=CONNECT_SECONDS,
                command_timeout=STATEMENT_SECONDS,
                server_settings={"application_name": "footnote jobs", "timezone": "UTC"},
            )
        try:
            yield pool
        finally:
            pool.terminate()

    async def _stop_with(self, stop: asyncio.Event) -> None:
        await stop.wait()
        self._stop.set()

    async def _keep_alive(self) -> None:
        """At the start and then now and again: whether a run is due, and jobs that lost their worker.

        The queue's schedule looks on the minute, but not before its time comes again once the database's
        clock was set back.
        """
        while not self._stop.is_set():
            try:
                if self._is_scheduled:
                    await self._begin_if_due()
                await self._runs.revive()
            except FootnoteError as error:
                _logger.warning("The queue cannot be looked after: %s", error)
            await _wait(self._stop, REVIVE_SECONDS)

    # --- Runs ------------------------------------------------------------------------------------------

    async def _sync(self, job: Job) -> None:
        try:
            await self._do_run(int(job.payload or b"0"))
        except FootnoteError as error:
            # The run itself cannot be noted: the queue tries again.
            raise RetryRequested(self._timings.retries[0], str(error)) from error

    async def _do_run(self, run_id: int) -> None:
        holder = uuid4()
        step = await self._runs.take(run_id, holder)
        while step is not None:
            end = await self._do_step(step, holder)
            if end is None:
                return
            step = await self._runs.step_ended(run_id, holder, end)

    async def _do_step(self, step: Step, holder: UUID) -> StepEnd | None:
        """How it ended; null where the run is no longer ours to go on with."""
        _logger.info("Run %d: %s%s", step.run_id, step.kind, ", taken over" if step.is_resumed else "")
        holding = Holding(self._runs, holder, self._timings)
        try:
            end = await holding.do(step, self._work, self._stop)
        except TemporaryError as error:
            _logger.warning("Run %d failed for now: %s", step.run_id, error)
            pause = await self._runs.try_later(step.run_id, holder, str(error))
            if pause is not None:
                raise RetryRequested(pause, str(error)) from error
            return None
        except PermanentError as error:
            _logger.error("Run %d failed: %s", step.run_id, error)
            await self._runs.give_up(step.run_id, holder, str(error))
            return None
        except Exception as error:
            _logger.exception("Run %d failed unexpectedly", step.run_id)
            await self._runs.give_up(step.run_id, holder, f"It failed unexpectedly ({type(error).__name__}).")
            return None
        match end:
            case Cut.STOPPED:
                await self._runs.hand_over(step.run_id, holder, "handed over to another worker")
                raise RetryRequested(timedelta(), "handed over")
            case Cut.LOST:
                _logger.warning("Run %d is held by another worker now", step.run_id)
                return None
            case StepEnd():
                return end
            case _:
                assert_never(end)

    # --- The schedule ----------------------------------------------------------------------------------

    async def _on_the_minute(self, schedule: Schedule) -> None:
        del schedule
        try:
            await self._begin_if_due()
        except FootnoteError as error:
            _logger.warning("A scheduled run could not be begun: %s", error)

    async def _begin_if_due(self) -> None:
        if await self._work.is_due():
            pages = await self._work.known_pages()
            await self._runs.request(ResyncKind.CHANGES, asked_by=SCHEDULER, known_pages=pages)

    # --- Hints -----------------------------------------------------------------------------------------

    async def _follow_hints(self, job: Job) -> None:
        del job
        try:
            due = await self._hints.due()
            pages = tuple(hint for hint in due if hint.page_id != ANYTHING)
            if pages:
                await self._look_at(pages)
            if anything := tuple(hint for hint in due if hint.page_id == ANYTHING):
                await self._look_at_all(anything)
        except FootnoteError as error:
            _logger.warning("Changes that Notion told of could not be followed: %s", error)
            raise RetryRequested(self._timings.retries[-1], str(error)) from error

    async def _look_at(self, hints: tuple[DueHint, ...]) -> None:
        try:
            failed = await self._work.look_at(frozenset(hint.page_id for hint in hints))
        except FootnoteError as error:
            _logger.warning("Pages that Notion told of could not be looked at: %s", error)
            failed = frozenset(hint.page_id for hint in hints)
        await self._hints.settle([hint for hint in hints if hint.page_id not in failed])
        if again := [hint for hint in hints if hint.page_id in failed]:
            await self._hints.again(again, after=self._timings.retries[-1])

    async def _look_at_all(self, hints: tuple[DueHint, ...]) -> None:
        """A change that no page names: a run, and another one if the open one may have missed it."""
        if await self._runs.open_run() is None:
            await self._runs.request(ResyncKind.CHANGES, asked_by=WEBHOOK)
            await self._hints.settle(hints)
        else:
            await self._hints.postpone(hints, after=self._timings.retries[0])


async def _pass_on(source: asyncio.Event, target: asyncio.Event) -> None:
    await source.wait()
    target.set()


async def _wait(stop: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(stop.wait(), timeout=seconds)
    except TimeoutError:
        return
