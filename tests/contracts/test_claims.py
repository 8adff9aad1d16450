"""What holds for claims in PostgreSQL and in memory: every question has one holder."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime

import asyncpg
import pytest

from adapters.stores.claims import open_claims
from adapters.stores.claims_memory import ClaimTable, MemoryClaims
from core.ports.chat import ClaimKey, Claims, ClaimState

KEY = ClaimKey(platform="slack", event="Ev1", place="C1:1.0")
PAYLOAD = {"text": "How long is parental leave?"}


class SystemClock:
    """Now."""

    def now(self) -> datetime:
        """The current instant."""
        return datetime.now(UTC)


@pytest.fixture(params=["memory", "postgres"])
async def processes(request: pytest.FixtureRequest, database_url: str) -> AsyncIterator[list[Claims]]:
    """Three processes that share one store."""
    if request.param == "memory":
        table = ClaimTable()
        yield [MemoryClaims(clock=SystemClock(), table=table) for _ in range(3)]
        return
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(open_claims(database_url)) for _ in range(3)]


async def test_slk1_one_of_many_deliveries_is_taken(processes: list[Claims]) -> None:
    """Thirty deliveries over three processes at once: exactly one is told to answer."""
    states = await asyncio.gather(
        *(processes[number % 3].claim(KEY, payload=PAYLOAD, lease_seconds=60) for number in range(30))
    )

    assert sorted(states) == [ClaimState.HELD] * 29 + [ClaimState.TAKEN]


async def test_f50_mention_and_message_are_one_question(processes: list[Claims]) -> None:
    """Another event about the same message of the same channel is the same question."""
    twin = ClaimKey(platform="slack", event="Ev2", place=KEY.place)
    other = ClaimKey(platform="slack", event="Ev3", place="C1:2.0")

    assert await processes[0].claim(KEY, payload=PAYLOAD, lease_seconds=60) is ClaimState.TAKEN
    assert await processes[1].claim(twin, payload=PAYLOAD, lease_seconds=60) is ClaimState.HELD
    assert await processes[1].claim(other, payload=PAYLOAD, lease_seconds=60) is ClaimState.TAKEN


async def test_f49_what_no_database_stores_is_claimed_all_the_same(processes: list[Claims]) -> None:
    """NUL and half a surrogate pair in a question are no reason to lose it."""
    payload = {"text": "How\x00 long \ud83d?"}

    assert await processes[0].claim(KEY, payload=payload, lease_seconds=0) is ClaimState.TAKEN
    (found,) = await processes[1].take_over("slack", lease_seconds=60, limit=10)
    assert found.payload["text"].startswith("How")


async def test_platforms_and_questions_without_a_place_do_not_meet(processes: list[Claims]) -> None:
    """The same names on another platform are another question, and so are two without a place."""
    elsewhere = ClaimKey(platform="discord", event="Ev1", place="C1:1.0")
    placeless = [ClaimKey(platform="discord", event=f"I{number}") for number in range(2)]

    for key in (KEY, elsewhere, *placeless):
        assert await processes[0].claim(key, payload=PAYLOAD, lease_seconds=60) is ClaimState.TAKEN


async def test_f49_an_answered_question_stays_answered(processes: list[Claims]) -> None:
    """A redelivery after the answer, seen by a process that has just started, is done."""
    await processes[0].claim(KEY, payload=PAYLOAD, lease_seconds=0)
    await processes[0].done(KEY, reply="1.5")

    assert await processes[2].claim(KEY, payload=PAYLOAD, lease_seconds=60) is ClaimState.DONE
    assert await processes[1].take_over("slack", lease_seconds=60, limit=10) == ()


async def test_an_abandoned_claim_is_taken_over_once(processes: list[Claims]) -> None:
    """When a lease ended, one process of those that ask gets the question with what it needs to answer."""
    await processes[0].claim(KEY, payload=PAYLOAD, lease_seconds=0)

    taken = await asyncio.gather(
        *(process.take_over("slack", lease_seconds=60, limit=10) for process in processes)
    )

    (found,) = [claim for claims in taken for claim in claims]
    assert (found.key, dict(found.payload), found.attempts, found.reply) == (KEY, PAYLOAD, 2, "")


async def test_a_lease_that_runs_is_not_taken(processes: list[Claims]) -> None:
    """Others wait as long as the holder extends."""
    await processes[0].claim(KEY, payload=PAYLOAD, lease_seconds=0)

    assert await processes[0].extend(KEY, lease_seconds=60)

    assert await processes[1].take_over("slack", lease_seconds=60, limit=10) == ()


async def test_a_lost_claim_cannot_be_extended(processes: list[Claims]) -> None:
    """A holder that was too slow learns that somebody else is at it."""
    await processes[0].claim(KEY, payload=PAYLOAD, lease_seconds=0)
    await processes[1].take_over("slack", lease_seconds=60, limit=10)

    assert not await processes[0].extend(KEY, lease_seconds=60)
    assert await processes[1].extend(KEY, lease_seconds=60)


async def test_the_reply_begun_is_handed_over(processes: list[Claims]) -> None:
    """Whoever takes over knows the message to go on in, and later extensions do not forget it."""
    await processes[0].claim(KEY, payload=PAYLOAD, lease_seconds=60)
    await processes[0].extend(KEY, lease_seconds=60, reply="1.5")
    await processes[0].extend(KEY, lease_seconds=0)

    (found,) = await processes[1].take_over("slack", lease_seconds=60, limit=10)

    assert found.reply == "1.5"


async def test_take_over_is_bounded_and_keeps_to_its_platform(processes: list[Claims]) -> None:
    """At most as many as asked for, oldest first, never those of another platform."""
    for number in range(3):
        key = ClaimKey(platform="slack", event=f"Ev{number}")
        await processes[0].claim(key, payload=PAYLOAD, lease_seconds=0)

    assert await processes[1].take_over("discord", lease_seconds=60, limit=10) == ()
    taken = await processes[1].take_over("slack", lease_seconds=60, limit=2)
    assert sorted(claim.key.event for claim in taken) == ["Ev0", "Ev1"]


async def test_a_thread_is_known_once_it_was_answered(processes: list[Claims]) -> None:
    """Claimed is not answered, another thread is another, and no thread is none."""
    await processes[0].claim(KEY, payload=PAYLOAD, lease_seconds=60, thread="C1:1.0:U1")

    assert not await processes[1].was_answered("slack", "C1:1.0:U1")
    await processes[0].done(KEY, reply="1.5")

    assert await processes[1].was_answered("slack", "C1:1.0:U1")
    assert not await processes[1].was_answered("slack", "C1:1.0:U2")
    assert not await processes[1].was_answered("discord", "C1:1.0:U1")
    assert not await processes[1].was_answered("slack", "")


async def test_the_question_is_forgotten_when_answered(database_url: str) -> None:
    """An answered row holds no text; after a month it is gone."""
    async with open_claims(database_url) as claims:
        await claims.claim(KEY, payload=PAYLOAD, lease_seconds=60)
        await claims.done(KEY, reply="1.5")
        connection = await asyncpg.connect(database_url)
        try:
            kept = await connection.fetchrow("SELECT payload, reply FROM chat_claims")
            assert kept is not None
            assert tuple(kept) == (None, "1.5")

            await connection.execute("UPDATE chat_claims SET done_at = now() - interval '31 days'")
            await claims.take_over("slack", lease_seconds=60, limit=10)
            assert await connection.fetchval("SELECT count(*) FROM chat_claims") == 0
        finally:
            await connection.close()
