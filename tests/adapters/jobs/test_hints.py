"""Hints of webhooks: gathered, followed once, tried again, never lost with a process."""

import asyncio
from uuid import UUID

import asyncpg
import pytest

from adapters.jobs.hints import ANYTHING, DueHint
from core.domain.ids import PageId
from core.ports.chat import ResyncKind
from tests.adapters.jobs.rig import DirectedWork, JobsRig, until

ONE = PageId(str(UUID(int=1)))
TWO = PageId(str(UUID(int=2)))


async def gathered(rig: JobsRig, count: int) -> tuple[DueHint, ...]:
    """That many hints, once they have gathered long enough."""
    async with asyncio.timeout(10):
        while len(due := await rig.hints.due()) < count:  # noqa: ASYNC110 - it is in the database
            await asyncio.sleep(0.05)
    return due


async def test_not17_a_burst_of_a_thousand_hints_is_two_looks_at_most(rig: JobsRig) -> None:
    """Though two machines could follow them."""
    work = DirectedWork()
    rig.start(work)
    rig.start(work)

    for batch in range(20):
        await asyncio.gather(*(rig.hints.take(f"event {batch}/{number}", [ONE]) for number in range(50)))
    await until(lambda: work.looks)
    await asyncio.sleep(2.5)

    assert len(work.looks) <= 2
    assert await rig.hints.due() == ()


async def test_not17_an_event_that_comes_again_is_no_second_hint(rig: JobsRig) -> None:
    """Whichever process gets the repeated delivery."""
    assert await rig.hints.take("event 1", [ONE])
    assert not await rig.hints.take("event 1", [ONE])
    assert await rig.hints.take("event 2", [ONE])


async def test_not17_a_clock_that_was_set_back_keeps_no_hint_waiting(rig: JobsRig, database_url: str) -> None:
    """It would seem to have come tomorrow."""
    await rig.hints.take("event", [ONE, TWO])
    connection = await asyncpg.connect(database_url)
    try:
        await connection.execute(
            "UPDATE page_hints SET first_at = now() + interval '1 day', last_at = now() + interval '1 day' "
            "WHERE page_id = $1::uuid",
            ONE,
        )
        assert [hint.page_id for hint in await rig.hints.due()] == [ONE]
    finally:
        await connection.close()


async def test_not17_a_hint_that_comes_during_a_look_causes_one_more(rig: JobsRig) -> None:
    """What changed after the page was read is read as well."""
    await rig.hints.take("before", [ONE, TWO])
    due = await gathered(rig, 2)
    await rig.hints.take("meanwhile", [ONE])

    await rig.hints.settle(due)
    left = await gathered(rig, 1)

    assert [hint.page_id for hint in left] == [ONE]


async def test_a_hint_outlives_the_process_that_took_it(rig: JobsRig) -> None:
    """Taken while nobody works, followed by whoever begins to."""
    await rig.hints.take("event", [ONE])
    machine = rig.start()

    await until(lambda: machine.work.looks)

    assert machine.work.looks == [frozenset({ONE})]


async def test_a_page_that_cannot_be_looked_at_is_tried_a_few_times(rig: JobsRig) -> None:
    """Five looks, then the next poll has to find it; the other page was settled at once."""
    machine = rig.start(DirectedWork(unreadable=frozenset({ONE})))
    await rig.hints.take("event", [ONE, TWO])

    await until(lambda: len(machine.work.looks) == 5)
    await asyncio.sleep(2.0)

    assert machine.work.looks[0] == {ONE, TWO}
    assert machine.work.looks[1:] == [frozenset({ONE})] * 4


async def test_a_change_that_no_page_names_begins_a_run(rig: JobsRig) -> None:
    """A database changed: only a listing of changes can follow that."""
    machine = rig.start()
    machine.work.gate.set()
    await rig.hints.take("event", [ANYTHING])

    await until(lambda: machine.work.steps)

    assert machine.work.kinds == [ResyncKind.CHANGES]
    assert [run.asked_by for run in await rig.runs.recent(limit=5)] == ["webhook"]


async def test_a_change_during_a_run_begins_another_when_that_ended(rig: JobsRig) -> None:
    """The open run may have listed already."""
    machine = rig.start()
    first = await rig.runs.request(ResyncKind.CHANGES, asked_by="test")
    await until(lambda: machine.work.steps)
    await rig.hints.take("event", [ANYTHING])
    await asyncio.sleep(1.5)
    assert len(machine.work.steps) == 1

    machine.work.gate.set()
    await until(lambda: len(machine.work.steps) == 2)

    assert [run.asked_by for run in await rig.runs.recent(limit=5)] == ["webhook", "test"]
    assert first.run_id


@pytest.mark.parametrize("is_used", [False, True])
async def test_not17_a_newer_token_replaces_only_one_that_signed_nothing(rig: JobsRig, is_used: bool) -> None:
    """Whoever can reach the address can offer a token; one that works is never given up for it."""
    assert await rig.tokens.shake_hands("first")
    if is_used:
        await rig.tokens.used("first")

    assert await rig.tokens.shake_hands("second") is not is_used
    stored = await rig.tokens.read()

    assert stored.trusted is not None
    assert stored.trusted.token == ("first" if is_used else "second")
    assert (stored.offered is not None) is is_used
    assert "first" not in repr(stored)
