"""What runs at the moment: our own tasks, handlers of the library's, and how they end together."""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager

HANDLER_SECONDS = 5.0
"""What a handler may still take after all answers have ended; none takes longer than a few calls."""


class Running:
    """Tasks that `drain` waits for. ``is_draining``: nothing new is begun any more."""

    def __init__(self) -> None:
        self._answers: set[asyncio.Task[None]] = set()
        self._shows: set[asyncio.Task[None]] = set()
        self._handlers: set[asyncio.Task[object]] = set()
        self.is_draining = False

    def start(self, work: Coroutine[None, None, None]) -> None:
        """Run something that is given time to end."""
        _started(work, self._answers)

    def start_show(self, work: Coroutine[None, None, None]) -> None:
        """Run something that shows what goes on elsewhere: cancelled as soon as everything ends."""
        _started(work, self._shows)

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


def _started(work: Coroutine[None, None, None], tasks: set[asyncio.Task[None]]) -> None:
    task = asyncio.create_task(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)


async def _cancelled(tasks: set[asyncio.Task[None]]) -> None:
    ending = tuple(tasks)
    for task in ending:
        task.cancel()
    await asyncio.gather(*ending, return_exceptions=True)
