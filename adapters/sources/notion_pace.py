"""One pace for all calls to Notion: pauses bind everybody, and the rate is learned, never assumed (NOT-2)."""

import asyncio
import math
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

MAX_IN_FLIGHT = 8
"""Calls under way at once; what a refusal finds in flight is refused as well, so this bounds a storm."""

_GROWTH = 0.05
"""The share by which the rate exceeds the learned one after a cycle as long as the last. The exponent grows
with the square of the time, so that a budget that grew is found within a few cycles while a steady one is
hardly exceeded."""

_MAX_CYCLES = 20.0
"""Cycles after which the learned rate is no longer of interest."""

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
        self._learned: float | None = None
        self._cycle_length = 1.0

    @property
    def rate(self) -> float | None:
        """Calls per second that may start now; null before the first refusal."""
        if self._learned is None:
            return None
        cycles = max(0.0, self._monotonic() - self._cycle_start) / self._cycle_length
        return self._learned * math.exp(_GROWTH * min(cycles, _MAX_CYCLES) ** 2)

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
        if (rate := self.rate) is not None:
            self._next_start = max(now, self._next_start) + 1 / rate

    def accepted(self) -> None:
        """A call was answered."""
        self._accepted += 1

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
            self._learned = self._accepted / length
            self._cycle_length = length
        self._accepted = 0
