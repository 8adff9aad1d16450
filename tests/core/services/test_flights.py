"""Equal work at the same time is done once."""

import asyncio

import pytest

from adapters.caches.leases import MemoryLeases
from core.ports.sharing import Leases
from core.services.flights import SharedFlight, SingleFlight


class Work:
    """Work that ends when the test says so."""

    def __init__(self, error: Exception | None = None) -> None:
        self.started = 0
        self.cancelled = 0
        self.go = asyncio.Event()
        self.error = error

    async def __call__(self) -> str:
        self.started += 1
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.error is not None:
            raise self.error
        return f"result {self.started}"


async def settle() -> None:
    """Let every task run until it waits."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a16_twenty_equal_calls_at_once_do_the_work_once() -> None:
    """All twenty get the one result."""
    flights: SingleFlight[str] = SingleFlight()
    work = Work()
    calls = [asyncio.create_task(flights.run("key", work)) for _ in range(20)]
    await settle()
    work.go.set()

    assert await asyncio.gather(*calls) == ["result 1"] * 20
    assert work.started == 1


async def test_other_keys_and_later_calls_do_their_own_work() -> None:
    """Only what is equal and still running is shared."""
    flights: SingleFlight[str] = SingleFlight()
    work = Work()
    work.go.set()

    await asyncio.gather(flights.run("one", work), flights.run("two", work))
    await flights.run("one", work)

    assert work.started == 3


async def test_an_error_reaches_every_caller_and_is_not_kept() -> None:
    """The next call tries again."""
    flights: SingleFlight[str] = SingleFlight()
    work = Work(error=ValueError("broken"))
    work.go.set()

    results = await asyncio.gather(*(flights.run("key", work) for _ in range(3)), return_exceptions=True)
    with pytest.raises(ValueError, match="broken"):
        await flights.run("key", work)

    assert [str(result) for result in results] == ["broken"] * 3
    assert work.started == 2


async def test_a_caller_that_leaves_does_not_end_the_work_of_the_others() -> None:
    """The first caller's cancellation is its own."""
    flights: SingleFlight[str] = SingleFlight()
    work = Work()
    first = asyncio.create_task(flights.run("key", work))
    await settle()
    second = asyncio.create_task(flights.run("key", work))
    await settle()

    first.cancel()
    await settle()
    work.go.set()

    assert await second == "result 1"
    assert first.cancelled()
    assert work.cancelled == 0


async def test_work_that_nobody_waits_for_is_cancelled_and_not_joined() -> None:
    """A call that comes while the cancelled work winds down starts afresh."""
    flights: SingleFlight[str] = SingleFlight()
    work = Work()
    only = asyncio.create_task(flights.run("key", work))
    await settle()

    only.cancel()
    with pytest.raises(asyncio.CancelledError):
        await only
    work.go.set()
    again = await flights.run("key", work)

    assert again == "result 2"
    assert work.cancelled == 1


class Place:
    """Where finished work lies, and what was asked of it."""

    def __init__(self) -> None:
        self.result: str | None = None
        self.looks = 0

    async def find(self) -> str | None:
        self.looks += 1
        return self.result


def processes(count: int, leases: Leases, *, lease_seconds: float = 5.0) -> list[SharedFlight[str]]:
    """So many processes that share leases."""
    return [SharedFlight(leases, lease_seconds=lease_seconds) for _ in range(count)]


async def test_a16_twenty_equal_questions_in_several_processes_do_the_work_once() -> None:
    """One process works; the others find what it left."""
    place, work = Place(), Work()

    async def make() -> str:
        place.result = await work()
        return place.result

    flights = processes(4, MemoryLeases())
    calls = [asyncio.create_task(flights[n % 4].run("key", make, find=place.find)) for n in range(20)]
    await settle()
    work.go.set()

    assert await asyncio.gather(*calls) == ["result 1"] * 20
    assert work.started == 1


async def test_a16_a_result_that_is_not_kept_is_made_by_each_process() -> None:
    """A failed or unanswered question is waited for once, not in a queue of processes."""
    place, work = Place(), Work()
    flights = processes(3, MemoryLeases())
    calls = [asyncio.create_task(flight.run("key", work, find=place.find)) for flight in flights]
    await settle()
    work.go.set()
    await asyncio.gather(*calls)

    assert work.started == 3


async def test_a16_an_error_of_one_process_is_not_the_others() -> None:
    """They try themselves."""
    place = Place()
    failing, working = Work(error=ValueError("broken")), Work()
    working.go.set()
    one, other = processes(2, MemoryLeases())
    first = asyncio.create_task(one.run("key", failing, find=place.find))
    await settle()
    second = asyncio.create_task(other.run("key", working, find=place.find))
    failing.go.set()

    with pytest.raises(ValueError, match="broken"):
        await first
    assert await second == "result 1"


async def test_a16_a_process_that_died_holds_the_others_up_for_a_lease_only() -> None:
    """Its claim ends by itself, and the work is done by another."""
    leases, place, work = MemoryLeases(), Place(), Work()
    work.go.set()
    await leases.take("key", seconds=0.1)
    (flight,) = processes(1, leases)

    assert await flight.run("key", work, find=place.find) == "result 1"


async def test_a16_long_work_keeps_its_claim() -> None:
    """The heart beats as long as the work lasts, and stops with it."""
    leases, place, work = MemoryLeases(), Place(), Work()
    (flight,) = processes(1, leases, lease_seconds=0.3)
    call = asyncio.create_task(flight.run("key", work, find=place.find))
    await asyncio.sleep(0.7)
    held = await leases.take("key", seconds=1)
    work.go.set()
    await call

    assert held is None
    assert await leases.take("key", seconds=1) is not None


async def test_a16_what_was_finished_a_moment_ago_is_found() -> None:
    """Between the caller's own look and the claim another process may have ended."""
    place, work = Place(), Work()
    place.result = "just finished"
    (flight,) = processes(1, MemoryLeases())

    assert await flight.run("key", work, find=place.find) == "just finished"
    assert work.started == 0
