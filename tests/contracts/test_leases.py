"""What holds for every kind of lease."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from adapters.caches.connecting import RedisConnection
from adapters.caches.leases import MemoryLeases, RedisLeases
from core.ports.sharing import Leases


@pytest.fixture(params=["memory", "redis"])
async def leases(request: pytest.FixtureRequest, redis_url: str) -> AsyncIterator[Leases]:
    """Each adapter in turn, with nothing claimed."""
    if request.param == "memory":
        yield MemoryLeases()
        return
    connection = RedisConnection(redis_url)
    yield RedisLeases(connection)
    await connection.close()


async def test_one_of_many_gets_it(leases: Leases) -> None:
    """However many ask at once."""
    tokens = await asyncio.gather(*(leases.take("work", seconds=10) for _ in range(20)))

    assert sum(token is not None for token in tokens) == 1
    assert await leases.take("other work", seconds=10) is not None


async def test_it_can_be_taken_again_once_it_is_given_back(leases: Leases) -> None:
    """At once."""
    token = await leases.take("work", seconds=10)
    assert token is not None

    await leases.give_back("work", token)

    assert await leases.take("work", seconds=10) is not None


async def test_it_ends_by_itself_unless_it_is_extended(leases: Leases) -> None:
    """So that a process that dies holds nobody up for long."""
    token = await leases.take("work", seconds=0.3)
    assert token is not None
    await leases.extend("work", token, seconds=1.0)
    await asyncio.sleep(0.4)
    extended = await leases.take("work", seconds=10)
    await asyncio.sleep(0.7)

    assert extended is None
    assert await leases.take("work", seconds=10) is not None


async def test_a_lost_claim_is_not_touched(leases: Leases) -> None:
    """Who was too slow can neither end nor extend what another holds by now."""
    slow = await leases.take("work", seconds=0.02)
    assert slow is not None
    await asyncio.sleep(0.05)
    assert await leases.take("work", seconds=10) is not None

    await leases.extend("work", slow, seconds=0.001)
    await leases.give_back("work", slow)
    await asyncio.sleep(0.02)

    assert await leases.take("work", seconds=10) is None
