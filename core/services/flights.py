"""The same work asked for by several at once is done once."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

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
