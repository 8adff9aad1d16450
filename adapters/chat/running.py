"""What runs at the moment: our own tasks, handlers of the library's, and how they end together."""

import asyncio
import logging
from collections.abc import Awaitable, Coroutine, Iterator
from contextlib import contextmanager
from typing import TypeVar

from core.errors import FootnoteError

logger = logging.getLogger(__name__)

HANDLER_SECONDS = 5.0
"""What a handler may still take after all answers have ended; none takes longer than a few calls."""

BOUND_SECONDS = 5.0
T = TypeVar("T")


class Running:
    """Tasks that `drain` waits for. ``is_draining``: nothing new is begun any more."""

    def __init__(self) -> None:
        self._answers: set[asyncio.Task[None]] = set()
        self._shows: set[asyncio.Task[None]] = set()
        self._handlers: set[asyncio.Task[object]] = set()
        self.is_draining = False

    def start(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        """Run something that is given time to end."""
        return _started(work, self._answers)

    def start_show(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        """Run something that shows what goes on elsewhere: cancelled as soon as everything ends."""
        return _started(work, self._shows)

    @contextmanager
    def handling(self) -> Iterator[None]:
        """The calling task belongs to the library, and what it does must come to its end."""
        task = asyncio.current_task()
        if task is None or task in self._handlers:
            yield
            return
        self._handlers.add(task)
        try:
            yield
        finally:
            self._handlers.discard(task)

    async def drain(self, seconds: float) -> None:
        """Begin nothing more and wait for what runs; tasks that take longer are cancelled."""
        self.is_draining = True
        await _cancelled(self._shows)
        deadline = asyncio.get_running_loop().time() + seconds
        # A handler may start one more answer before it hears of the end.
        while running := self._answers | self._handlers:
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0:
                break
            await asyncio.wait(running, timeout=left)
        await _cancelled(self._answers)
        if self._handlers:
            await asyncio.wait(self._handlers, timeout=HANDLER_SECONDS)
        await _cancelled(self._answers)


async def bounded(work: Awaitable[T]) -> T | None:
    """What is done while everything ends: not for long, and never the reason of a failure."""
    try:
        return await asyncio.wait_for(work, timeout=BOUND_SECONDS)
    except (FootnoteError, TimeoutError) as error:
        logger.warning("a reply could not be handed over: %s", error)
        return None


def _started(work: Coroutine[None, None, None], tasks: set[asyncio.Task[None]]) -> asyncio.Task[None]:
    task = asyncio.create_task(work)
    tasks.add(task)

    def ended(_: asyncio.Task[None]) -> None:
        tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("something ended early: %s", error, exc_info=error)

    task.add_done_callback(ended)
    return task


async def _cancelled(tasks: set[asyncio.Task[None]]) -> None:
    ending = tuple(tasks)
    for task in ending:
        task.cancel()
    await asyncio.gather(*ending, return_exceptions=True)
