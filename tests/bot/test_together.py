"""Parts that run side by side: one that fails takes the others down, in good order."""

import asyncio

import pytest

from bot.together import Runner, run_together
from core.errors import RefusedError


def a_part(log: list[str], name: str, *, ends_in: float = 0.0) -> Runner:
    """Runs until it is asked to end, and takes its time for that."""

    async def run(stop: asyncio.Event) -> None:
        await stop.wait()
        await asyncio.sleep(ends_in)
        log.append(name)

    return run


async def refused(_: asyncio.Event) -> None:
    """A chat whose token nobody accepts."""
    await asyncio.sleep(0)
    raise RefusedError("Slack does not accept SLACK_BOT_TOKEN")


async def test_all_end_when_they_are_asked_to() -> None:
    """The slowest is waited for."""
    log: list[str] = []
    stop = asyncio.Event()
    running = asyncio.create_task(
        run_together([a_part(log, "quick"), a_part(log, "slow", ends_in=0.2)], stop)
    )
    await asyncio.sleep(0)
    stop.set()
    await running

    assert log == ["quick", "slow"]


async def test_one_that_is_refused_ends_all_after_they_have_drained() -> None:
    """Its own error is what is raised, alone."""
    log: list[str] = []

    with pytest.raises(RefusedError, match="SLACK_BOT_TOKEN"):
        await run_together([refused, a_part(log, "answers", ends_in=0.1)], asyncio.Event())

    assert log == ["answers"]


async def test_who_does_not_end_in_time_is_cut_off() -> None:
    """A part that hangs keeps nobody from ending."""
    log: list[str] = []
    stop = asyncio.Event()
    stop.set()

    await run_together([a_part(log, "hangs", ends_in=1000.0), a_part(log, "ends")], stop, drain_seconds=0.2)

    assert log == ["ends"]


async def test_a_fault_of_ours_is_not_hidden() -> None:
    """It ends all, and is raised as it is."""

    async def broken(_: asyncio.Event) -> None:
        raise KeyError("ours")

    with pytest.raises(KeyError):
        await run_together([broken, a_part([], "other")], asyncio.Event())
