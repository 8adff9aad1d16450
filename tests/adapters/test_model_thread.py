"""A model in a thread of its own: one call after the other, none waited for without end."""

import asyncio
import threading

import pytest

from adapters.model_thread import ModelThread
from core.errors import UnavailableError


async def test_calls_follow_one_another() -> None:
    """In the order they came, in one thread that is not the loop's."""
    thread = ModelThread("tiny", seconds=20)
    seen = list[tuple[int, str]]()
    await asyncio.gather(
        *(
            thread.run(lambda one: seen.append((one, threading.current_thread().name)), one)
            for one in range(9)
        )
    )
    thread.close()
    assert [one for one, _ in seen] == list(range(9))
    assert {name for _, name in seen} == {"tiny_0"}


async def test_a_hang_ends_for_who_waits() -> None:
    """With what hung, and after how long."""
    thread, go_on = ModelThread("tiny", seconds=0.05), threading.Event()
    with pytest.raises(UnavailableError, match="tiny was not done after 0 s"):
        await thread.run(go_on.wait, 20)
    go_on.set()
    thread.close()


async def test_failures_of_the_work_are_its_own() -> None:
    """Nothing is put in their place."""
    thread = ModelThread("tiny", seconds=20)
    with pytest.raises(ZeroDivisionError):
        await thread.run(lambda: 1 // 0)
    thread.close()


async def test_nothing_runs_after_the_end() -> None:
    """A late question is told so, as by any model that is not there."""
    thread = ModelThread("tiny", seconds=20)
    thread.close()
    with pytest.raises(UnavailableError, match="tiny is closed"):
        await thread.run(int)
