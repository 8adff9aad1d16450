"""The cache before the claims: it saves a statement, and decides nothing."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime

import pytest

from adapters.caches.memory import MemoryCache
from adapters.caches.redis import RedisCache
from adapters.stores.claims_memory import ClaimTable, MemoryClaims
from core.errors import UnavailableError
from core.ports import Cache
from core.ports.chat import ClaimKey, ClaimState
from core.services.prechecking import PrecheckedClaims

KEY = ClaimKey(platform="slack", event="Ev1", place="C1:1.0")
TWIN = ClaimKey(platform="slack", event="Ev2", place="C1:1.0")
NOWHERE = "redis://127.0.0.1:9/0"


class SystemClock:
    """Now."""

    def now(self) -> datetime:
        """The current instant."""
        return datetime.now(UTC)


class CountedClaims(MemoryClaims):
    """Counts how often it is asked, and can be away."""

    asked = 0
    is_away = False

    async def claim(
        self, key: ClaimKey, *, payload: Mapping[str, str], lease_seconds: float, thread: str = ""
    ) -> ClaimState:
        """Count, then as it is."""
        self.asked += 1
        if self.is_away:
            raise UnavailableError("the database is away")
        return await super().claim(key, payload=payload, lease_seconds=lease_seconds, thread=thread)


@pytest.fixture(params=["memory", "redis", "away"])
async def cache(request: pytest.FixtureRequest, redis_url: str) -> AsyncIterator[Cache]:
    """A cache in memory, in Redis, and in a Redis that is not there."""
    if request.param == "memory":
        yield MemoryCache()
        return
    opened = RedisCache(redis_url if request.param == "redis" else NOWHERE)
    yield opened
    await opened.close()


async def claim(claims: PrecheckedClaims, key: ClaimKey) -> ClaimState:
    """One attempt."""
    return await claims.claim(key, payload={"text": "Why?"}, lease_seconds=60)


async def test_slk1_one_of_many_deliveries_is_taken_whatever_the_cache_is(cache: Cache) -> None:
    """Thirty deliveries over three processes, with Redis and without: exactly one is told to answer."""
    table = ClaimTable()
    processes = [PrecheckedClaims(MemoryClaims(clock=SystemClock(), table=table), cache) for _ in range(3)]

    states = await asyncio.gather(*(claim(processes[number % 3], KEY) for number in range(30)))

    assert states.count(ClaimState.TAKEN) == 1
    assert len(table.rows) == 1


async def test_f50_mention_and_message_are_one_question_whatever_the_cache_is(cache: Cache) -> None:
    """The second event about one message is held, by its place."""
    claims = PrecheckedClaims(MemoryClaims(clock=SystemClock()), cache)

    assert await claim(claims, KEY) is ClaimState.TAKEN
    assert await claim(claims, TWIN) is not ClaimState.TAKEN
    assert await claim(claims, ClaimKey("slack", "Ev3", "C1:2.0")) is ClaimState.TAKEN


async def test_what_the_cache_knows_costs_no_statement() -> None:
    """A redelivery is seen without the database."""
    inner = CountedClaims(clock=SystemClock())
    claims = PrecheckedClaims(inner, MemoryCache())
    await claim(claims, KEY)
    inner.is_away = True

    assert await claim(claims, KEY) is ClaimState.HELD
    assert await claim(claims, TWIN) is ClaimState.HELD
    assert inner.asked == 1


async def test_f49_what_was_not_claimed_is_not_remembered() -> None:
    """The database was away: the redelivery is a question like any other."""
    inner = CountedClaims(clock=SystemClock())
    claims = PrecheckedClaims(inner, MemoryCache())
    inner.is_away = True
    with pytest.raises(UnavailableError):
        await claim(claims, KEY)
    inner.is_away = False

    assert await claim(claims, KEY) is ClaimState.TAKEN


async def test_an_empty_cache_gives_no_question_away() -> None:
    """Redis was emptied: the database still knows."""
    inner = MemoryClaims(clock=SystemClock())
    await claim(PrecheckedClaims(inner, MemoryCache()), KEY)

    assert await claim(PrecheckedClaims(inner, MemoryCache()), KEY) is ClaimState.HELD
