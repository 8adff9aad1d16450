"""Limits and leases while Redis is away, and when it returns."""

from pathlib import Path

import pytest

from adapters.caches.connecting import Client, RedisConnection
from adapters.caches.leases import RedisLeases
from adapters.caches.limits import RedisLimits
from bot.embedded import embedded_redis
from core.ports.sharing import Admission, Budget, Window

NOWHERE = "redis://127.0.0.1:1/0"
PERSON = Window(key="person:U1", limit=10, seconds=60)


async def test_a15_without_redis_each_process_grants_its_share_and_then_answers_without_a_model() -> None:
    """Ten over three processes are three each; from the fourth on answers cost nothing."""
    connection = RedisConnection(NOWHERE)
    limits = RedisLimits(connection, processes=3)

    admissions = [await limits.admit([PERSON]) for _ in range(6)]

    assert all(admission.admitted for admission in admissions)
    assert [admission.makeshift for admission in admissions] == [False] * 3 + [True] * 3
    await connection.close()


async def test_a15_without_redis_a_share_of_nothing_is_nothing() -> None:
    """More processes than questions: cost stays bounded rather than rounded up."""
    connection = RedisConnection(NOWHERE)

    admission = await RedisLimits(connection, processes=20).admit([PERSON])

    assert admission == Admission(admitted=True, makeshift=True)
    await connection.close()


async def test_a15_without_redis_spending_is_counted_here() -> None:
    """A process's share of the token budget bounds what it can cost."""
    connection = RedisConnection(NOWHERE)
    limits = RedisLimits(connection, processes=2)
    budget = Budget(key="tokens:T1", tokens=1000)
    first = await limits.admit([PERSON], budgets=[budget])
    await limits.spend([budget], tokens=500)

    second = await limits.admit([PERSON], budgets=[budget])

    assert not first.makeshift
    assert second.makeshift
    await connection.close()


async def test_t27_what_was_granted_without_redis_counts_when_it_is_back(tmp_path: Path) -> None:
    """The window does not start afresh."""
    with embedded_redis(tmp_path) as url:
        pass
    connection = RedisConnection(url, rest=0.0)
    limits = RedisLimits(connection, processes=2)
    while_away = [await limits.admit([PERSON]) for _ in range(5)]

    with embedded_redis(tmp_path):
        back = [await limits.admit([PERSON]) for _ in range(7)]

    assert not any(admission.makeshift for admission in while_away)
    assert [admission.admitted for admission in back] == [True] * 5 + [False] * 2
    await connection.close()


async def test_without_redis_everybody_may_work() -> None:
    """Twice the work is better than none."""
    connection = RedisConnection(NOWHERE)
    leases = RedisLeases(connection)

    tokens = [await leases.take("work", seconds=10) for _ in range(2)]

    assert None not in tokens
    await leases.give_back("work", tokens[0] or "")
    await connection.close()


@pytest.mark.parametrize("seconds", [60, 24 * 3600])
async def test_nothing_is_left_behind_in_redis(redis_url: str, seconds: float) -> None:
    """Every counter expires with its window."""
    connection = RedisConnection(redis_url)
    limits = RedisLimits(connection)
    budget = Budget(key="tokens:U1", tokens=10, seconds=seconds)
    await limits.admit([Window(key="person:U1", limit=1, seconds=seconds)], budgets=[budget])
    await limits.spend([budget], tokens=5)
    await RedisLeases(connection).take("work", seconds=5)

    async def lives_of_all(client: Client) -> list[float]:
        return [await client.ttl(key) for key in await client.keys("*")]

    lives = await connection.ask(lives_of_all)

    assert len(lives) == 3
    assert all(0 < life <= seconds * 25 / 24 + 1 for life in lives)
    await connection.close()
