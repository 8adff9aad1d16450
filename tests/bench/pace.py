"""Several processes on one budget of Notion's, with and without a shared pace: python -m tests.bench.pace.

Real time, real processes, a real Redis; the stand-in of Notion enforces the budget and counts.
"""

import asyncio
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from adapters.caches.connecting import RedisConnection
from adapters.caches.pace import RedisPace
from adapters.sources.notion_api import NotionApi
from adapters.sources.notion_pace import MAX_IN_FLIGHT, Pace
from bot.embedded import embedded_redis
from tests.fakes.notion import NotionServer, Workspace, blocks

PROCESSES = 3
BUDGETS = ((30, 10.0), (180, 60.0))
"""Requests in a window of so many seconds: about three a second, as Notion gives."""
WINDOWS = {10.0: 6, 60.0: 2}


async def work(url: str, token: str, page: str, redis_url: str) -> None:
    """One process: eight readers, until it is ended. An empty link to Redis means a pace of its own."""
    connection = RedisConnection(redis_url) if redis_url else None
    shared = RedisPace(connection, token) if connection is not None else None
    async with NotionApi(token, base_url=url, pace=Pace(shared=shared)) as api:

        async def read() -> None:
            while True:
                await api.page(page)

        await asyncio.gather(*(read() for _ in range(MAX_IN_FLIGHT)))


async def measure(redis_url: str, requests: int, window: float) -> str:
    """One line of the table."""
    workspace = Workspace()
    page = workspace.add_page("Page", blocks=[blocks.paragraph("text")])
    async with NotionServer(workspace) as server:
        budget = server.limits.set(requests, window=window)
        arguments = ("-m", "tests.bench.pace", "work", server.url, server.token, page, redis_url)
        workers = [await asyncio.create_subprocess_exec(sys.executable, *arguments) for _ in range(PROCESSES)]
        while not server.total:  # noqa: ASYNC110 - the stand-in has no event for it
            await asyncio.sleep(0.01)
        began = time.monotonic()
        await asyncio.sleep(WINDOWS[window] * window)
        seconds = time.monotonic() - began
        answered, refused = server.total - budget.refused, budget.refused
        for worker in workers:
            worker.kill()
            await worker.wait()
        early = len(server.early)
    use = answered / (requests * seconds / window)
    name = "shared" if redis_url else "each its own"
    return (
        f"| {requests} in {window:.0f} s | {name} | {answered} | {use:.0%} | {refused} | "
        f"{refused / (answered + refused):.1%} | {early} |"
    )


async def price(redis_url: str, calls: int = 2000) -> float:
    """Microseconds that one question to Redis takes."""
    connection = RedisConnection(redis_url)
    try:
        pace = RedisPace(connection, "price")
        await pace.claim()
        began = time.perf_counter()
        for _ in range(calls):
            await pace.claim(accepted=1)
        return (time.perf_counter() - began) / calls * 1e6
    finally:
        await connection.close()


async def table(redis_url: str) -> None:
    """Print all of it, line by line."""
    say(
        f"| budget | pace of {PROCESSES} processes | answered | of the budget | refused | share | too early |"
    )
    say("|---|---|---:|---:|---:|---:|---:|")
    for requests, window in BUDGETS:
        for url in ("", redis_url):
            say(await measure(url, requests, window))
    say(f"\nOne question to Redis takes {await price(redis_url):.0f} microseconds.")


def say(line: str) -> None:
    """A line, at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    """Print the table; ``work`` is one of its processes."""
    if sys.argv[1:2] == ["work"]:
        with suppress(KeyboardInterrupt):
            asyncio.run(work(*sys.argv[2:]))
        return
    with tempfile.TemporaryDirectory() as folder, embedded_redis(Path(folder)) as redis_url:
        asyncio.run(table(redis_url))


if __name__ == "__main__":
    main()
