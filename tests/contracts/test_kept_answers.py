"""What holds for private answers in PostgreSQL and in memory: their asker has them, once, for a while."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime

import asyncpg
import pytest

from adapters.stores.kept_answers import open_kept_answers
from adapters.stores.kept_answers_memory import MemoryKeptAnswers
from adapters.stores.learning import open_learning
from core.ports.chat import KeptAnswer, KeptAnswers
from tests.builders_store import page_id

KEPT = KeptAnswer(
    platform="slack",
    event="E1",
    person="U1",
    pages=(page_id(1), page_id(2)),
    body='{"text": "ünï \U0001f600"}',
)


class SystemClock:
    """Now."""

    def now(self) -> datetime:
        """The current instant."""
        return datetime.now(UTC)


@pytest.fixture(params=["memory", "postgres"])
async def processes(request: pytest.FixtureRequest, database_url: str) -> AsyncIterator[list[KeptAnswers]]:
    """Two processes that share one store."""
    if request.param == "memory":
        kept = MemoryKeptAnswers(clock=SystemClock())
        yield [kept, kept]
        return
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(open_kept_answers(database_url)) for _ in range(2)]


async def test_shr4_another_process_hands_it_to_its_asker(processes: list[KeptAnswers]) -> None:
    """Kept by one, taken by the other, as it was."""
    await processes[0].keep(KEPT, seconds=60)

    assert await processes[1].take("slack", "E1", person="U1") == KEPT


async def test_shr4_nobody_else_gets_it(processes: list[KeptAnswers]) -> None:
    """Not by another person, on another platform, or under another name; the asker still does."""
    await processes[0].keep(KEPT, seconds=60)

    assert await processes[1].take("slack", "E1", person="U2") is None
    assert await processes[1].take("discord", "E1", person="U1") is None
    assert await processes[1].take("slack", "E2", person="U1") is None
    assert await processes[1].take("slack", "E1", person="U1") == KEPT


async def test_it_is_handed_out_once(processes: list[KeptAnswers]) -> None:
    """Of several takers at once one gets it; kept again, it is there again."""
    await processes[0].keep(KEPT, seconds=60)
    taken = await asyncio.gather(*(one.take("slack", "E1", person="U1") for one in processes * 4))
    assert [one for one in taken if one] == [KEPT]

    await processes[0].keep(KEPT, seconds=60)
    assert await processes[0].take("slack", "E1", person="U1") == KEPT


async def test_it_expires(processes: list[KeptAnswers]) -> None:
    """After its time nobody gets it."""
    await processes[0].keep(KEPT, seconds=0)

    assert await processes[1].take("slack", "E1", person="U1") is None


async def test_the_database_forgets_it_and_its_asker(database_url: str) -> None:
    """The row holds no id of a person, and is gone with the next answer, or when the person is forgotten."""
    async with open_kept_answers(database_url) as kept, open_learning(database_url) as log:
        connection = await asyncpg.connect(database_url)
        try:
            await kept.keep(KEPT, seconds=0)
            assert "U1" not in str(await connection.fetch("SELECT * FROM kept_answers"))
            await kept.keep(KeptAnswer("slack", "E2", "U1", (), "x"), seconds=60)
            rows = await connection.fetch("SELECT event FROM kept_answers")
            assert [row["event"] for row in rows] == ["E2"]

            assert await log.forget("U1") == 1
            assert await connection.fetchval("SELECT count(*) FROM kept_answers") == 0
        finally:
            await connection.close()
