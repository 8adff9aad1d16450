"""The same work asked for by several at once is done once."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from core.ports.sharing import Leases

LEASE_SECONDS = 10.0
"""A process that dies while it works holds the others up for so long."""
FIRST_LOOK, LAST_LOOK = 0.05, 0.5
"""Seconds between two looks for the result of another process: doubling, up to the second figure."""

T = TypeVar("T")


@dataclass(slots=True)
class _Flight(Generic[T]):
    task: "asyncio.Task[T]"
    passengers: int = 0


class SingleFlight(Generic[T]):
    """Lets callers with an equal key share one computation; its result or error goes to all of them.

    A caller that is cancelled leaves the others aboard. When the last one leaves, the work is cancelled.
    """

    def __init__(self) -> None:
        self._flights: dict[str, _Flight[T]] = {}

    async def run(self, key: str, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of ``make``, or of a call with the same key that has not ended yet."""
        flight = self._flights.get(key)
        if flight is None:
            flight = self._take_off(key, make)
        flight.passengers += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.passengers -= 1
            if flight.passengers == 0 and not flight.task.done():
                self._land(key, flight)
                flight.task.cancel()

    def _take_off(self, key: str, make: Callable[[], Coroutine[Any, Any, T]]) -> _Flight[T]:
        flight = self._flights[key] = _Flight(asyncio.create_task(make()))

        def landed(task: "asyncio.Task[T]") -> None:
            self._land(key, flight)
            if not task.cancelled():
                # Passengers that all left early never look at it; asyncio would complain.
                task.exception()

        flight.task.add_done_callback(landed)
        return flight

    def _land(self, key: str, flight: _Flight[T]) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]


class SharedFlight(Generic[T]):
    """Single flight over all processes that share a cache (A16).

    Within the process callers share one computation. Of several processes one works, the others look for
    its result in the cache. If it ends without one, since what it made is not kept, they work themselves.
    """

    def __init__(self, leases: Leases, *, lease_seconds: float = LEASE_SECONDS) -> None:
        self._leases = leases
        self._lease_seconds = lease_seconds
        self._here: SingleFlight[T] = SingleFlight()

    async def run(
        self,
        key: str,
        make: Callable[[], Coroutine[Any, Any, T]],
        *,
        find: Callable[[], Coroutine[Any, Any, T | None]],
    ) -> T:
        """The result of ``make``, or what ``find`` finds once another process has put it there."""
        return await self._here.run(key, lambda: self._lead_or_follow(key, make, find))

    async def _lead_or_follow(
        self,
        key: str,
        make: Callable[[], Coroutine[Any, Any, T]],
        find: Callable[[], Coroutine[Any, Any, T | None]],
    ) -> T:
        token = await self._leases.take(key, seconds=self._lease_seconds)
        if token is not None:
            return await self._lead(key, token, make, find)
        pause = FIRST_LOOK
        while token is None:
            await asyncio.sleep(pause)
            pause = min(2 * pause, LAST_LOOK)
            if (found := await find()) is not None:
                return found
            token = await self._leases.take(key, seconds=self._lease_seconds)
        # The other one has ended. Between our last look and its end it may have left a result.
        await self._leases.give_back(key, token)
        found = await find()
        return await make() if found is None else found

    async def _lead(
        self,
        key: str,
        token: str,
        make: Callable[[], Coroutine[Any, Any, T]],
        find: Callable[[], Coroutine[Any, Any, T | None]],
    ) -> T:
        heart = asyncio.create_task(self._beat(key, token))
        try:
            # Another process may have ended between the caller's own look and our claim.
            found = await find()
            return await make() if found is None else found
        finally:
            heart.cancel()
            await asyncio.gather(heart, return_exceptions=True)
            await self._leases.give_back(key, token)

    async def _beat(self, key: str, token: str) -> None:
        while True:
            await asyncio.sleep(self._lease_seconds / 3)
            await self._leases.extend(key, token, seconds=self._lease_seconds)
