"""One step of a run under way: its progress is noted, and it stops when it must or when it was lost."""

import asyncio
import logging
import time
from contextlib import suppress
from enum import Enum
from uuid import UUID

from adapters.jobs.names import Timings
from adapters.jobs.runs import PostgresRuns
from core.errors import TemporaryError
from core.ports.jobs import RunProgress, Step, StepEnd, Work

_logger = logging.getLogger("footnote.jobs")


class Cut(Enum):
    """Why a step was broken off."""

    STOPPED = "this process is asked to end"
    LOST = "another worker holds the run"


class Holding:
    """A run that this process holds, step by step."""

    def __init__(self, runs: PostgresRuns, holder: UUID, timings: Timings) -> None:
        self._runs = runs
        self._holder = holder
        self._timings = timings
        self._progress = RunProgress()
        self._is_begun = asyncio.Event()

    async def do(self, step: Step, work: Work, stop: asyncio.Event) -> StepEnd | Cut:
        """Do a step, unless it is cut off.

        Raises:
            FootnoteError, Exception: whatever the work raises.
        """
        self._progress = RunProgress()
        self._is_begun.clear()
        working = asyncio.create_task(work.sync(step, self._note))
        beating = asyncio.create_task(self._beat(step.run_id))
        stopping = asyncio.create_task(stop.wait())
        tasks = {working, beating, stopping}
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if working.done():
                return working.result()
            return Cut.STOPPED if stopping.done() else Cut.LOST
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _note(self, progress: RunProgress) -> None:
        self._progress = progress
        if progress.begun is not None:
            self._is_begun.set()

    async def _beat(self, run_id: int) -> None:
        """Note progress until the run is lost: taken by another, or unreachable for as long as that takes."""
        heard = time.monotonic()
        while True:
            try:
                progress = self._progress
                if not await self._runs.beat(run_id, self._holder, progress):
                    return
                heard = time.monotonic()
            except TemporaryError as error:
                if time.monotonic() - heard > self._timings.heartbeat.total_seconds():
                    _logger.warning("Run %d is let go: %s", run_id, error)
                    return
            await self._until_next(self._timings.beat.total_seconds(), knows_begin=progress.begun is not None)

    async def _until_next(self, seconds: float, *, knows_begin: bool) -> None:
        """Sleep; but when the step began is noted at once, since what is read after it counts as read."""
        if knows_begin:
            await asyncio.sleep(seconds)
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(self._is_begun.wait(), timeout=seconds)
