"""The real notion-client against the stand-in, in a time that only moves when somebody sleeps."""

import asyncio
import heapq
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count

from adapters.sources.notion import NotionSource
from adapters.sources.notion_api import NotionApi, Patience
from adapters.sources.notion_pace import Pace
from adapters.sources.notion_time import NotionTime
from adapters.sources.notion_tree import TreeLimits
from core.domain.documents import Block, Page, PageRef, walk
from core.domain.ids import PageId
from core.ports.sharing import SharedPace
from tests.fakes.notion import NotionServer, Workspace


class SleepersTime:
    """A monotonic time that jumps to the earliest sleeper's end, so that nobody really waits."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []
        self.under_way = 0
        self._ends: list[float] = []

    def __call__(self) -> float:
        """The present moment in seconds."""
        return self.now

    async def sleep(self, seconds: float) -> None:
        """Sleep as long as everybody who has to wake up earlier."""
        self.slept.append(seconds)
        end = self.now + max(0.0, seconds)
        heapq.heappush(self._ends, end)
        try:
            while self.now < end:
                # Let requests under way come first: they take no time here.
                await asyncio.sleep(0.002)
                if self._ends[0] == end and not self.under_way:
                    self.now = max(self.now, end)
        finally:
            self._ends.remove(end)
            heapq.heapify(self._ends)


class WatchedPace(Pace):
    """A pace during whose calls time stands still."""

    def __init__(self, time: SleepersTime, max_in_flight: int, shared: SharedPace | None = None) -> None:
        super().__init__(shared=shared, max_in_flight=max_in_flight, monotonic=time, sleep=time.sleep)
        self._time = time

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """As the real one."""
        async with super().turn():
            self._time.under_way += 1
            try:
                yield
            finally:
                self._time.under_way -= 1


class OurClock:
    """The clock of our machine, which need not agree with Notion's; ``skew`` is how far it is ahead."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.skew = timedelta()
        self._processes = 0

    def now(self) -> datetime:
        """What our machine believes."""
        return self._workspace.clock.now() + self.skew

    def new_process(self) -> NotionTime:
        """A process that knows nothing of Notion's time; its monotonic clock starts anywhere."""
        self._processes += 1
        start, began, ticks = 7919.0 * self._processes, self._workspace.clock.now(), count()

        def monotonic() -> float:
            # No two moments are the same, although the workspace's time stands still.
            return start + (self._workspace.clock.now() - began).total_seconds() + next(ticks) * 1e-9

        return NotionTime(clock=self.now, monotonic=monotonic)


@dataclass
class Rig:
    """A workspace, its server, and our client and source on it. ``time`` is slept by, ``clock`` is ours."""

    workspace: Workspace
    server: NotionServer
    time: SleepersTime
    api: NotionApi
    source: NotionSource
    clock: OurClock

    def restart(self) -> None:
        """Forget what this process learned of Notion's time."""
        self.api.time = self.clock.new_process()

    async def listed(self) -> list[PageRef]:
        """Everything the source lists, in order."""
        return [ref async for ref in self.source.list_pages()]

    async def titles(self) -> set[str]:
        """The titles of all listed pages."""
        return {ref.title for ref in await self.listed()}

    async def ref(self, page_id: str) -> PageRef:
        """The entry of one page."""
        found = (await self.source.probe(PageId(page_id))).ref
        assert found is not None
        return found

    async def page(self, page_id: str) -> Page:
        """One page, read."""
        return await self.source.read(await self.ref(page_id))

    async def texts(self, page_id: str) -> list[str]:
        """The texts of one page."""
        return texts_of((await self.page(page_id)).blocks)


def texts_of(blocks: tuple[Block, ...]) -> list[str]:
    """The texts of blocks in reading order, without empty ones."""
    return [block.text for block, _ in walk(blocks) if block.text]


@asynccontextmanager
async def notion_rig(
    workspace: Workspace | None = None,
    *,
    roots: Collection[str] = (),
    patience: Patience | None = None,
    limits: TreeLimits | None = None,
    in_flight: int = 8,
) -> AsyncIterator[Rig]:
    """A stand-in of Notion with a source on it; no request of ours may be malformed."""
    time = SleepersTime()
    workspace = workspace or Workspace()
    clock = OurClock(workspace)
    async with NotionServer(workspace, time=time) as server:
        pace = WatchedPace(time, in_flight)
        async with NotionApi(
            server.token,
            base_url=server.url,
            pace=pace,
            patience=patience or Patience(timeout=20.0),
            sleep=time.sleep,
            time=clock.new_process(),
        ) as api:
            source = NotionSource(api, roots=[PageId(root) for root in roots], limits=limits)
            yield Rig(workspace, server, time, api, source, clock)
