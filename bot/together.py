"""Several things that run side by side until they are asked to end, or one of them cannot go on."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import structlog

from core.errors import FootnoteError

log = structlog.get_logger()

DRAIN_SECONDS = 30.0
"""How long all may take to end once they are asked to; longer than a chat lets its answers run on."""

Runner = Callable[[asyncio.Event], Awaitable[None]]


async def run_together(
    runners: Sequence[Runner], stop: asyncio.Event, *, drain_seconds: float = DRAIN_SECONDS
) -> None:
    """Run all until ``stop`` is set, then wait until they ended; whoever does not is cut off.

    Raises:
        FootnoteError: the first failure of a runner; the others were asked to end, as by ``stop``.
    """
    failures: list[FootnoteError] = []

    async def run(runner: Runner) -> None:
        try:
            await runner(stop)
        except FootnoteError as error:
            failures.append(error)
        finally:
            # Nobody notices a bot that is only half there.
            stop.set()

    tasks = [asyncio.create_task(run(runner)) for runner in runners]
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({stopping, *tasks}, return_when=asyncio.FIRST_COMPLETED)
        log.info("stopping")
        _, late = await asyncio.wait(tasks, timeout=drain_seconds)
        if late:
            log.warning("cut off what did not end in time", tasks=len(late), seconds=drain_seconds)
    finally:
        for task in (stopping, *tasks):
            task.cancel()
        ended = await asyncio.gather(stopping, *tasks, return_exceptions=True)
    if failures:
        raise failures[0]
    for error in ended:
        if isinstance(error, Exception):
            raise error
