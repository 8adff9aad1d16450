"""One pace for all calls to Notion: pauses bind everybody, and the rate is learned, never assumed (NOT-2)."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

MAX_IN_FLIGHT = 8
"""Calls under way at once; what a refusal finds in flight is refused as well, so this bounds a storm."""

_GROWTH = 1.05
"""How much faster than the learned rate a new cycle may get: enough to notice that more is allowed again."""

_MIN_LEARNED_CALLS = 3
"""A cycle of fewer calls says nothing about the rate."""


class Pace:
    """Lets calls start: not during a pause, not above the learned rate, not too many at once.

    Notion names no rate that holds for every plan. The pace therefore starts unbounded, and each refusal ends
    a cycle: its length, the pause included, and the number of accepted calls give the rate that is allowed.
    ``monotonic`` and ``sleep`` are the time to live in.
    """

    def __init__(
        self,
        *,
        max_in_flight: int = MAX_IN_FLIGHT,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._slots = asyncio.Semaphore(max_in_flight)
        self._monotonic = monotonic
        self._sleep = sleep
        self._jitter = jitter
        self._resume_at = 0.0
        self._next_start = 0.0
        self._cycle_start = monotonic()
        self._accepted = 0
        self._rate: float | None = None

    @property
    def rate(self) -> float | None:
        """Calls per second that were found to be allowed; null before the first refusal."""
        return self._rate

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait until a call may start; it occupies a slot until the block ends."""
        async with self._slots:
            await self._wait()
            yield

    async def _wait(self) -> None:
        while True:
            now = self._monotonic()
            start = max(self._resume_at, self._next_start)
            if now >= start:
                break
            await self._sleep(start - now)
        if self._rate is not None:
            self._next_start = max(now, self._next_start) + 1 / self._rate

    def accepted(self) -> None:
        """A call was answered."""
        self._accepted += 1
        if self._rate is not None:
            # Over a cycle as long as the last one the rate grows by the factor, not faster.
            self._rate *= 1 + (_GROWTH - 1) / max(self._accepted, _MIN_LEARNED_CALLS)

    def refused(self, retry_after: float) -> None:
        """Everybody pauses ``retry_after`` seconds, however long, and a moment more (NOT-2)."""
        now = self._monotonic()
        resume_at = now + retry_after + self._jitter() * min(1.0, retry_after * 0.05)
        if now >= self._resume_at:
            self._learn(resume_at)
        self._resume_at = max(self._resume_at, resume_at)
        self._cycle_start = self._resume_at

    def _learn(self, resume_at: float) -> None:
        """End the cycle; calls refused in the same pause come here only once."""
        length = resume_at - self._cycle_start
        if self._accepted >= _MIN_LEARNED_CALLS and length > 0:
            self._rate = self._accepted / length
        self._accepted = 0
