"""A few connections for short statements, apart from the index's own, so that neither delays the other."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal

import asyncpg

from adapters.stores.connecting import CONNECT_SECONDS, Connection, translated


class SmallPool:
    """Statements over a few connections; made by `small_pool`.

    Whoever waits for a connection waits as long as one statement may take. Every method raises what
    `adapters.stores.connecting.translated` says.
    """

    def __init__(self, pool: "asyncpg.Pool[asyncpg.Record]", *, url: str, seconds: float) -> None:
        self._pool = pool
        self._url = url
        self._seconds = seconds

    async def fetch(self, statement: str, *values: object) -> Sequence[asyncpg.Record]:
        """All rows."""
        async with self._connection() as connection:
            rows: Sequence[asyncpg.Record] = await connection.fetch(statement, *values)
            return rows

    async def fetchval(self, statement: str, *values: object) -> Any:
        """The first value of the first row; null where there is none."""
        async with self._connection() as connection:
            return await connection.fetchval(statement, *values)

    async def execute(self, statement: str, *values: object) -> None:
        """Run a statement whose result nobody needs."""
        async with self._connection() as connection:
            await connection.execute(statement, *values)

    @asynccontextmanager
    async def transaction(
        self, *, isolation: Literal["read_committed", "repeatable_read"] = "read_committed"
    ) -> AsyncIterator[Connection]:
        """A connection for the block; all of it or nothing."""
        async with self._connection() as connection, connection.transaction(isolation=isolation):
            yield connection

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Connection]:
        with translated(self._url):
            async with self._pool.acquire(timeout=self._seconds) as connection:
                yield connection


@asynccontextmanager
async def small_pool(url: str, *, seconds: float, size: int = 2, least: int = 0) -> AsyncIterator[SmallPool]:
    """A pool of ``least`` to ``size`` connections; a statement, or waiting for one, may take ``seconds``.

    Raises:
        UnavailableError, RefusedError, ConfigurationError: as `adapters.stores.connecting.translated`.
    """
    with translated(url):
        pool = await asyncpg.create_pool(
            url,
            min_size=least,
            max_size=size,
            timeout=CONNECT_SECONDS,
            command_timeout=seconds,
            server_settings={"application_name": "footnote"},
        )
    try:
        yield SmallPool(pool, url=url, seconds=seconds)
    finally:
        try:
            await asyncio.wait_for(pool.close(), timeout=seconds)
        except (TimeoutError, OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
            pool.terminate()
