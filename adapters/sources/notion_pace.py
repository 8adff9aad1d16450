"""One pace for all calls to Notion: pauses bind everybody, and the rate is learned, never assumed (NOT-2)."""

import asyncio
import math
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from core.errors import UnavailableError
from core.ports.sharing import LEARNING, Learning, SharedPace

MAX_IN_FLIGHT = 8
"""Calls under way at once; what a refusal finds in flight is refused as well, so this bounds a storm."""


TELL_AGAIN_SECONDS = 1.0
"""Until a pause that could not be told to the other processes is told again."""


class Rhythm:
    """When calls may start: not during a pause, not above the learned rate. Knows no clock of its own.

    Notion names no rate that holds for every plan. The rhythm therefore starts unbounded, and each refusal
    ends a cycle: its length, the pause included, and the number of accepted calls give the rate that is
    allowed. The script ``pace.lua`` of the caches does the same for all processes; a test keeps them equal.
    """

    def __init__(self, now: float, learning: Learning = LEARNING) -> None:
        self._learning = learning
        self.resume_at = now
        self._next_start = now
        self._cycle_start = now
        self._accepted = 0
        self.learned: float | None = None
        self._cycle_length = 1.0
        self._has_taught = False
        self._last_claim = now

    def rate(self, now: float) -> float | None:
        """Calls per second that may start now; null before the first refusal."""
        if self.learned is None:
            return None
        cycles = max(0.0, now - self._cycle_start) / self._cycle_length
        most = self._learning.most_cycles
        return self.learned * math.exp(self._learning.growth * min(cycles, most) ** 2)

    def count(self, now: float, accepted: int) -> None:
        """Calls were answered; what is told during a pause belongs to the cycle that taught the rate."""
        if now < self.resume_at and self._has_taught and self.learned is not None:
            self.learned += accepted / self._cycle_length
        else:
            self._accepted += accepted

    def claim(self, now: float, *, accepted: int = 0) -> float:
        """0 if a call starts now, which is counted; else the seconds until one may. ``accepted`` were
        answered since the last claim."""
        self.count(now, accepted)
        self._rest(now)
        start = max(self.resume_at, self._next_start)
        if now < start:
            return start - now
        if (rate := self.rate(now)) is not None:
            # A sleeper that woke late makes good for it, up to one call.
            self._next_start = max(self._next_start, now - 1 / rate) + 1 / rate
        return 0.0

    def _rest(self, now: float) -> None:
        """Leave time out in which nobody wanted to call: it says nothing of what is allowed."""
        idle = now - max(self._last_claim, self.resume_at, self._next_start)
        self._last_claim = now
        if idle <= self._learning.idle:
            return
        if self.learned is None or idle > self._cycle_length:
            self.learned, self._has_taught = None, False
            self._accepted, self._cycle_start = 0, now
        else:
            self._cycle_start += idle

    def adopt(self, rate: float, now: float) -> None:
        """Go by a rate that somebody else learned, as if a minute's cycle had just ended with it."""
        self.learned = rate
        self._cycle_start, self._cycle_length = now, 60.0
        self._accepted, self._has_taught = 0, False

    def refused(self, now: float, wait: float, *, accepted: int = 0) -> None:
        """Nobody calls for so many seconds; what is refused within one pause teaches once."""
        self.count(now, accepted)
        resume_at = now + wait
        if now >= self.resume_at:
            length = resume_at - self._cycle_start
            self._has_taught = self._accepted >= self._learning.least_calls and length > 0
            if self._has_taught:
                self.learned = self._accepted / length
                self._cycle_length = length
            self._accepted = 0
        self.resume_at = max(self.resume_at, resume_at)
        self._cycle_start = self.resume_at


class Pace:
    """Lets calls of this process start, in step with all processes that share the token.

    ``shared`` is asked before each call; while it is away, and without one, this process keeps the rhythm
    that it learned by itself, which is its own part of the rate; before it learned any, that of all.
    ``monotonic`` and ``sleep`` are the time to live in.
    """

    def __init__(
        self,
        *,
        shared: SharedPace | None = None,
        max_in_flight: int = MAX_IN_FLIGHT,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._shared = shared
        self._slots = asyncio.Semaphore(max_in_flight)
        self._asking = asyncio.Lock()
        self._monotonic = monotonic
        self._sleep = sleep
        self._jitter = jitter
        self._own = Rhythm(monotonic())
        self._unreported = 0
        self._owes_pause = False
        self._rate_of_all: float | None = None

    @property
    def rate(self) -> float | None:
        """Calls per second that this process would start by itself now; null before the first refusal."""
        return self._own.rate(self._monotonic())

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait until a call may start; it occupies a slot until the block ends."""
        async with self._slots:
            # One asks for all of this process: the others would only be told to wait as well.
            async with self._asking:
                while wait := await self._claim():
                    await self._sleep(wait)
            yield

    def accepted(self) -> None:
        """A call was answered."""
        self._own.count(self._monotonic(), 1)
        if self._shared is not None:
            self._unreported += 1

    async def refused(self, retry_after: float) -> None:
        """Everybody pauses ``retry_after`` seconds, however long, and a moment more (NOT-2)."""
        wait = retry_after + self._jitter() * min(0.25, retry_after * 0.02)
        self._own.refused(self._monotonic(), wait)
        if self._shared is not None:
            await self._tell_pause(self._shared, wait)

    async def _tell_pause(self, shared: SharedPace, wait: float) -> None:
        accepted, self._unreported = self._unreported, 0
        try:
            await shared.refused(wait, accepted=accepted)
        except UnavailableError:
            self._unreported += accepted
            self._owes_pause = True
        else:
            self._owes_pause = False

    async def _claim(self) -> float:
        """Seconds to wait, 0 if the call starts now."""
        now = self._monotonic()
        if self._shared is None:
            return self._own.claim(now)
        # A pause that could not be shared binds at least this process, and the others as soon as they can be
        # told; what was answered before it must be told before it ends, else all learn too low a rate.
        if (rest := self._own.resume_at - now) > 0:
            if self._owes_pause:
                await self._tell_pause(self._shared, rest)
            return min(rest, TELL_AGAIN_SECONDS) if self._owes_pause else rest
        accepted, self._unreported = self._unreported, 0
        try:
            start = await self._shared.claim(accepted=accepted)
        except UnavailableError:
            self._unreported += accepted
            if self._own.learned is None and self._rate_of_all is not None:
                self._own.adopt(self._rate_of_all, now)
            return self._own.claim(now)
        self._rate_of_all = start.rate
        return start.wait
