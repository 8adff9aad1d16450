"""One at a time, across processes, for whatever changes the schema, the index or the log of questions."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from adapters.stores.connecting import Connection
from core.errors import UnavailableError

SCHEMA_LOCK = 7_305_214_669
"""Any number, the same for every version of Footnote."""

WRITE_LOCK = 7_305_214_670
"""Taken by every transaction that changes the index, so that no two can block each other for good."""

LOG_LOCK = 7_305_214_672
"""Shared by all that write down questions, taken whole by whoever forgets old ones."""

_WAIT_SECONDS = 600.0
_POLL_SECONDS = 0.1


@asynccontextmanager
async def schema_lock(connection: Connection) -> AsyncIterator[None]:
    """Hold the schema's session lock.

    Polled: a session that waits inside pg_advisory_lock holds a snapshot, for which CREATE INDEX CONCURRENTLY
    of the session that has the lock would wait in turn.

    Raises:
        UnavailableError: another process did not give the lock back.
    """

    async def acquire() -> None:
        while not await _try_lock(connection):  # noqa: ASYNC110 - what is waited for is in the server
            await asyncio.sleep(_POLL_SECONDS)

    try:
        await asyncio.wait_for(acquire(), timeout=_WAIT_SECONDS)
    except TimeoutError as error:
        raise UnavailableError("another process is still migrating this database; try again later") from error
    try:
        yield
    finally:
        if not connection.is_closed():
            await connection.execute("SELECT pg_advisory_unlock($1)", SCHEMA_LOCK)


async def _try_lock(connection: Connection) -> bool:
    locked: bool = await connection.fetchval("SELECT pg_try_advisory_lock($1)", SCHEMA_LOCK)
    return locked
