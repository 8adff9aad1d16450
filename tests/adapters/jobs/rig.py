"""Workers in one process that believe themselves on several machines, with work that a test directs."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from adapters.jobs.hints import PostgresHints
from adapters.jobs.names import Timings
from adapters.jobs.opening import open_jobs
from adapters.jobs.runs import PostgresRuns
from adapters.jobs.tokens import PostgresTokens
from adapters.jobs.worker import Worker
from core.domain.ids import PageId
from core.ports.chat import ResyncKind
from core.ports.jobs import Note, RunProgress, RunView, Step, StepEnd

QUICK = Timings(
    heartbeat=timedelta(seconds=2),
    poll=timedelta(seconds=0.2),
    beat=timedelta(seconds=0.05),
    expires=timedelta(seconds=4),
    gather=timedelta(seconds=0.5),
    gather_most=timedelta(seconds=20),
    retries=(timedelta(seconds=0.1), timedelta(seconds=0.1)),
)
WAIT_SECONDS = 30.0


@dataclass
class DirectedWork:
    """Work that waits where a test says so. ``steps`` were begun, ``looks`` are pages looked at."""

    pages: int = 100
    is_scheduled: bool = False
    steps: list[Step] = field(default_factory=list)
    looks: list[frozenset[PageId]] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)
    unreadable: frozenset[PageId] = frozenset()
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    running: int = 0
    most_running: int = 0

    async def sync(self, step: Step, note: Note) -> StepEnd:
        """Report half, wait for the gate, report all."""
        self.steps.append(step)
        self.running += 1
        self.most_running = max(self.running, self.most_running)
        try:
            if self.errors:
                raise self.errors.pop(0)
            note(RunProgress(done=self.pages // 2, total=self.pages, message="half way"))
            await self.gate.wait()
            note(RunProgress(done=self.pages, total=self.pages))
            return StepEnd({"kind": step.kind.value, "changed": 3}, message=f"{step.kind} done")
        finally:
            self.running -= 1

    async def look_at(self, pages: frozenset[PageId]) -> frozenset[PageId]:
        """Note them."""
        self.looks.append(pages)
        return pages & self.unreadable

    async def is_due(self) -> bool:
        """As the test says, once."""
        due, self.is_scheduled = self.is_scheduled, False
        return due

    async def known_pages(self) -> int:
        """All."""
        return self.pages

    @property
    def kinds(self) -> list[ResyncKind]:
        """Of the steps, in order."""
        return [step.kind for step in self.steps]


@dataclass
class Machine:
    """One worker with its own connections."""

    work: DirectedWork
    stop: asyncio.Event
    task: "asyncio.Task[None]"

    async def end(self) -> None:
        """In good order."""
        self.stop.set()
        await asyncio.wait_for(self.task, timeout=WAIT_SECONDS)


@dataclass
class JobsRig:
    """A database, and machines that work on it."""

    url: str
    runs: PostgresRuns
    hints: PostgresHints
    tokens: PostgresTokens
    machines: list[Machine] = field(default_factory=list)

    def start(self, work: DirectedWork | None = None, *, is_scheduled: bool = False) -> Machine:
        """One more machine."""
        work = work or DirectedWork()
        worker = Worker(
            self.url,
            runs=self.runs,
            hints=self.hints,
            work=work,
            is_scheduled=is_scheduled,
            timings=QUICK,
        )
        stop = asyncio.Event()
        machine = Machine(work, stop, asyncio.create_task(worker.run(stop)))
        self.machines.append(machine)
        return machine

    async def run(self, run_id: int) -> RunView:
        """One run."""
        found = await self.runs.view(run_id)
        assert found is not None
        return found

    async def ended(self, run_id: int) -> RunView:
        """One run, once it ended."""
        return await self.reached(run_id, lambda run: run.ended_at is not None)

    async def reached(self, run_id: int, is_true: Callable[[RunView], bool]) -> RunView:
        """One run, once it is as a test waits for."""
        async with asyncio.timeout(WAIT_SECONDS):
            while not is_true(found := await self.run(run_id)):  # noqa: ASYNC110 - it is in the database
                await asyncio.sleep(0.02)
        return found


async def until(is_true: Callable[[], object]) -> None:
    """Wait for a condition."""
    async with asyncio.timeout(WAIT_SECONDS):
        while not is_true():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.02)


@asynccontextmanager
async def jobs_rig(url: str) -> AsyncIterator[JobsRig]:
    """A rig on a database; its machines are stopped at the end."""
    async with open_jobs(url, timings=QUICK) as jobs:
        rig = JobsRig(url, jobs.runs, jobs.hints, jobs.tokens)
        try:
            yield rig
        finally:
            for machine in rig.machines:
                machine.work.gate.set()
                await machine.end()
