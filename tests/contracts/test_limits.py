"""What holds for every limiter: no window ever holds more than its limit."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import redis.asyncio

from adapters.caches.connecting import RedisConnection
from adapters.caches.limits import RedisLimits
from adapters.caches.limits_memory import MemoryLimits
from core.ports.sharing import Admission, Budget, RateLimits, Window

WIDE = Window(key="channel:C1", limit=100, seconds=60)


@pytest.fixture(params=["memory", "redis"])
async def limits(request: pytest.FixtureRequest, redis_url: str) -> AsyncIterator[RateLimits]:
    """Each adapter in turn, with nothing counted yet."""
    if request.param == "memory":
        yield MemoryLimits()
        return
    connection = RedisConnection(redis_url)
    yield RedisLimits(connection)
    await connection.close()


async def test_t27_so_many_are_admitted_and_no_more(limits: RateLimits) -> None:
    """The next one learns how long to wait: until the first has left the window."""
    window = Window(key="person:U1", limit=3, seconds=60)

    admissions = [await limits.admit([window]) for _ in range(4)]

    assert [admission.admitted for admission in admissions] == [True, True, True, False]
    assert 50 < admissions[3].wait <= 60


async def test_t27_a_burst_at_once_is_counted_atomically(limits: RateLimits) -> None:
    """Twenty at the same moment, room for five."""
    window = Window(key="person:U1", limit=5, seconds=60)

    admissions = await asyncio.gather(*(limits.admit([window]) for _ in range(20)))

    assert sum(admission.admitted for admission in admissions) == 5


async def test_a17_a_burst_across_a_boundary_stays_within_the_limit(limits: RateLimits) -> None:
    """Whatever window one lays over the admissions, it holds at most the limit: there is no boundary."""
    window = Window(key="person:U1", limit=4, seconds=0.2)
    now = asyncio.get_running_loop().time
    admitted: list[tuple[float, float]] = []
    end = now() + 0.7
    while now() < end:
        asked = now()
        if (await limits.admit([window])).admitted:
            admitted.append((asked, now()))
        await asyncio.sleep(0.002)

    # From asking the first of five to answering the last of them, a whole window has passed.
    gaps = [later[1] - earlier[0] for earlier, later in zip(admitted, admitted[4:], strict=False)]
    assert len(admitted) > 8
    assert min(gaps) >= 0.2


async def test_the_wait_that_is_told_is_enough(limits: RateLimits) -> None:
    """Who waits so long is admitted."""
    window = Window(key="person:U1", limit=2, seconds=0.6)
    await limits.admit([window])
    await limits.admit([window])
    refused = await limits.admit([window])

    await asyncio.sleep(refused.wait + 0.005)

    assert not refused.admitted
    assert (await limits.admit([window])).admitted


async def test_t27_a_refused_question_counts_against_nothing(limits: RateLimits) -> None:
    """Being over one's own limit does not use up the channel's, nor lengthen one's own wait."""
    person = Window(key="person:U1", limit=1, seconds=60)
    channel = Window(key="channel:C1", limit=2, seconds=60)
    await limits.admit([person, channel])
    for _ in range(5):
        assert not (await limits.admit([person, channel])).admitted

    other = await limits.admit([Window(key="person:U2", limit=1, seconds=60), channel])

    assert other.admitted


async def test_the_longest_wait_of_all_windows_is_told(limits: RateLimits) -> None:
    """One full window is enough, wherever it stands in the list."""
    short = Window(key="person:U1", limit=1, seconds=10)
    long = Window(key="workspace:T1", limit=1, seconds=1000)
    await limits.admit([short, long])

    assert 900 < (await limits.admit([short, long])).wait <= 1000
    assert 900 < (await limits.admit([long, short])).wait <= 1000
    assert 0 < (await limits.admit([WIDE, short])).wait <= 10


async def test_a_limit_of_nothing_admits_nobody(limits: RateLimits) -> None:
    """Zero is a limit too."""
    assert not (await limits.admit([Window(key="guests", limit=0, seconds=60)])).admitted


async def test_no_windows_admit_everybody(limits: RateLimits) -> None:
    """Limits are off unless set."""
    assert await limits.admit([]) == Admission(admitted=True)


async def test_t27_tokens_are_counted_too(limits: RateLimits) -> None:
    """Once the day's budget is spent, the wait is till the spending is forgiven; other budgets are not."""
    mine = Budget(key="tokens:U1", tokens=1000)
    before = await limits.admit([WIDE], budgets=[mine])
    await limits.spend([mine], tokens=600)
    half = await limits.admit([WIDE], budgets=[mine])
    await limits.spend([mine], tokens=600)
    spent = await limits.admit([WIDE], budgets=[mine])
    other = await limits.admit([WIDE], budgets=[Budget(key="tokens:U2", tokens=1000)])

    assert [before.admitted, half.admitted, spent.admitted, other.admitted] == [True, True, False, True]
    assert 23 * 3600 < spent.wait <= 25 * 3600


async def test_a_spent_budget_is_forgiven_in_time(limits: RateLimits) -> None:
    """And not before: a slot that has just begun counts for one slot more."""
    budget = Budget(key="tokens:U1", tokens=10, seconds=0.6)
    await limits.spend([budget], tokens=10)
    spent = await limits.admit([], budgets=[budget])

    await asyncio.sleep(spent.wait + 0.005)

    assert not spent.admitted
    assert 0.3 < spent.wait <= 0.626
    assert (await limits.admit([], budgets=[budget])).admitted


async def test_a_redis_that_forgot_its_scripts_is_taught_again(redis_url: str) -> None:
    """After a restart of Redis limits are counted there, and not shared out as while it is away."""
    connection = RedisConnection(redis_url)
    client = redis.asyncio.Redis.from_url(redis_url)
    try:
        limits = RedisLimits(connection, processes=1000)
        window = Window(key="person:1", limit=2, seconds=60)
        first = await limits.admit([window])
        await client.script_flush()
        second, third = await limits.admit([window]), await limits.admit([window])
    finally:
        await connection.close()
        await client.aclose()

    assert [one.admitted for one in (first, second, third)] == [True, True, False]
    assert not second.makeshift
