"""Equal work at the same time is done once."""

import asyncio

import pytest

from core.services.flights import SingleFlight


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
