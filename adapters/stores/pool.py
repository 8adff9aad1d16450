"""The pool of connections: how each is set up once, and how long anything may take."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
from pgvector.asyncpg import register_vector

from adapters.stores.connecting import CONNECT_SECONDS, translated
from core.errors import SchemaError

STATEMENT_SECONDS = 30.0
ACQUIRE_SECONDS = 10.0
MAX_CONNECTIONS = 10

SESSION = {
    "application_name": "footnote",
    # Candidates come 200 a side at most; with the default of 40 a scan would return 40 rows (inventory X9).
    "hnsw.ef_search": "200",
    # Keep walking the graph until enough rows have passed the scope, nearest first.
    "hnsw.iterative_scan": "strict_order",
    "hnsw.max_scan_tuples": "200000",
    "statement_timeout": f"{STATEMENT_SECONDS:.0f}s",
    "idle_in_transaction_session_timeout": "60s",
    "lock_timeout": "20s",
    # Scopes differ from question to question: each is planned for what it really admits.
    "plan_cache_mode": "force_custom_plan",
    # Compiling takes longer than any of these statements runs.
    "jit": "off",
    # Data fits in memory or lies on solid-state disks; the default of 4 speaks against every index.
    "random_page_cost": "1.1",
    "timezone": "UTC",
}


@asynccontextmanager
async def pooled(
    url: str, *, size: int = MAX_CONNECTIONS, read_only: bool = False
) -> AsyncIterator[asyncpg.Pool]:
    """A pool for the block, its connections set up for searching; with ``read_only`` for nothing else.

    Raises:
        UnavailableError, RefusedError, ConfigurationError: as `connecting.translated`.
        SchemaError: the database was never migrated.
    """
    with translated(url):
        pool = await asyncpg.create_pool(
            url,
            min_size=1,
            max_size=size,
            timeout=CONNECT_SECONDS,
            command_timeout=STATEMENT_SECONDS + 5,
            server_settings=SESSION | ({"default_transaction_read_only": "on"} if read_only else {}),
            init=_set_up,
            reset=_leave_as_it_is,
        )
    try:
        yield pool
    finally:
        with translated(url):
            pool.terminate()


async def _leave_as_it_is(_connection: asyncpg.Connection) -> None:
    """Nothing here outlives its transaction: settings are local, locks are the transaction's, nobody listens.

    The driver has ended a transaction that was left open; what it would do beyond that is a round trip for
    each question.
    """


async def _set_up(connection: asyncpg.Connection) -> None:
    home = await connection.fetchval(
        "SELECT nspname FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace "
        "WHERE extname = 'vector'"
    )
    if home is None:
        raise SchemaError("this database was never migrated; run `footnote migrate`")
    await register_vector(connection, schema=home)
    # Ids are strings in the domain.
    await connection.set_type_codec("uuid", schema="pg_catalog", encoder=str, decoder=str, format="text")
