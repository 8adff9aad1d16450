"""Work that goes on after its event was acknowledged: started, waited for, cut off at the end."""

import asyncio
import logging
from collections.abc import Awaitable, Coroutine
from typing import TypeVar

from core.errors import FootnoteError

logger = logging.getLogger(__name__)

BOUND_SECONDS = 5
T = TypeVar("T")


class Tasks:
    """The tasks of one chat; whoever starts one need not keep it."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[None, None, None]) -> "asyncio.Task[None]":
        """Run something in a task that `drain` waits for; what ends early is logged."""
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    async def drain(self, *, seconds: float) -> None:
        """Wait so long for what runs, then cancel it and wait for that."""
        if self._running:
            await asyncio.wait(self._running, timeout=seconds)
        unfinished = tuple(self._running)
        for task in unfinished:
            task.cancel()
        await asyncio.gather(*unfinished, return_exceptions=True)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("something ended early: %s", error, exc_info=error)


async def bounded(work: Awaitable[T]) -> T | None:
    """What is done while everything ends: not for long, and never the reason of a failure."""
    try:
        return await asyncio.wait_for(work, timeout=BOUND_SECONDS)
    except (FootnoteError, TimeoutError) as error:
        logger.warning("a reply could not be handed over: %s", error)
        return None
