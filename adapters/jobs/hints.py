"""Hints of webhooks in PostgreSQL: many on one page are one look, and none is lost with a process."""

import time
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import uuid4

import asyncpg
from pgqueuer.db import AsyncpgDriver
from pgqueuer.queries import Queries

from adapters.jobs.names import HINTS, Timings
from adapters.stores.connecting import Connection, translated
from adapters.stores.pool import ACQUIRE_SECONDS
from core.domain.ids import PageId

ANYTHING = PageId("00000000-0000-0000-0000-000000000000")
"""Stands for a change that no single page names."""

MOST_TRIES = 5
"""A page that fails so often is left to the next poll."""

LONGEST_REST = timedelta(hours=1)
"""No hint waits longer: what is to be followed later was taken before the database's clock was set back."""

_NEW_EVENT = "INSERT INTO webhook_events (id) VALUES ($1) ON CONFLICT DO NOTHING RETURNING id"

_FORGET_EVENTS = "DELETE FROM webhook_events WHERE at < now() - interval '3 days'"

_HINT = """
INSERT INTO page_hints (page_id) VALUES ($1::uuid)
ON CONFLICT (page_id) DO UPDATE SET last_at = now()
"""

_DUE = """
SELECT page_id, last_at FROM page_hints
WHERE last_at <= now() - $1::interval OR first_at <= now() - $2::interval
   OR last_at > now() + $3::interval
ORDER BY first_at
LIMIT 100
"""

# What was hinted again meanwhile stays, as new.
_SETTLE = """
WITH looked AS (SELECT * FROM unnest($1::uuid[], $2::timestamptz[]) AS one (page_id, last_at)),
settled AS (
    DELETE FROM page_hints AS hint USING looked
    WHERE hint.page_id = looked.page_id AND hint.last_at = looked.last_at
)
UPDATE page_hints AS hint SET first_at = hint.last_at, tries = 0
FROM looked WHERE hint.page_id = looked.page_id AND hint.last_at <> looked.last_at
"""

_AGAIN = """
UPDATE page_hints SET tries = tries + 1, first_at = now() + $2::interval, last_at = now() + $2::interval
WHERE page_id = ANY ($1::uuid[])
"""

_POSTPONE = """
UPDATE page_hints SET first_at = now() + $2::interval, last_at = now() + $2::interval
WHERE page_id = ANY ($1::uuid[])
"""

_GIVE_UP = "DELETE FROM page_hints WHERE tries >= $1"


@dataclass(frozen=True, slots=True)
class DueHint:
    """A page to look at, and when it was hinted at last."""

    page_id: PageId
    last_at: datetime


class PostgresHints:
    """Takes hints from any process, gives them to any worker."""

    def __init__(self, url: str, pool: asyncpg.Pool, timings: Timings) -> None:
        self._url = url
        self._pool = pool
        self._timings = timings
        self._process = uuid4().hex

    async def take(self, event: str, pages: Collection[PageId]) -> bool:
        """Keep the hints of one event; false if the event was taken before.

        Raises:
            UnavailableError: nothing was kept; the event must come again.
        """
        async with self._connection() as connection, connection.transaction():
            if event and await connection.fetchval(_NEW_EVENT, event) is None:
                return False
            # In one order, so that two events with the same pages never wait for each other.
            for page_id in sorted(pages):
                await connection.execute(_HINT, page_id)
            if pages:
                await self._wake(connection, self._timings.gather + timedelta(seconds=1))
        return True

    async def due(self) -> tuple[DueHint, ...]:
        """What gathered long enough."""
        async with self._connection() as connection:
            await connection.execute(_FORGET_EVENTS)
            rows = await connection.fetch(_DUE, self._timings.gather, self._timings.gather_most, LONGEST_REST)
        return tuple(DueHint(PageId(row["page_id"]), row["last_at"]) for row in rows)

    async def settle(self, hints: Collection[DueHint]) -> None:
        """These were followed, as far as they were known."""
        async with self._connection() as connection:
            await connection.execute(
                _SETTLE, [hint.page_id for hint in hints], [hint.last_at for hint in hints]
            )

    async def again(self, hints: Collection[DueHint], *, after: timedelta) -> None:
        """These could not be followed: a few more tries, then the next poll finds what changed."""
        async with self._connection() as connection, connection.transaction():
            await connection.execute(_AGAIN, [hint.page_id for hint in hints], after)
            await connection.execute(_GIVE_UP, MOST_TRIES)
            await self._wake(connection, after + self._timings.gather + timedelta(seconds=1))

    async def postpone(self, hints: Collection[DueHint], *, after: timedelta) -> None:
        """These cannot be followed yet."""
        async with self._connection() as connection, connection.transaction():
            await connection.execute(_POSTPONE, [hint.page_id for hint in hints], after)
            await self._wake(connection, after + self._timings.gather + timedelta(seconds=1))

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Connection]:
        with translated(self._url):
            async with self._pool.acquire(timeout=ACQUIRE_SECONDS) as connection:
                yield connection

    async def _wake(self, connection: Connection, after: timedelta) -> None:
        """A job once the hints have gathered; at most one a second for each process.

        A key of one second ends before its job begins, so no hint can find its job begun already.
        """
        key = f"hints:{self._process}:{after}:{int(time.monotonic())}"
        queries = Queries(AsyncpgDriver(connection))  # type: ignore[arg-type] # a proxy is as good
        await queries.enqueue(HINTS, None, execute_after=after, dedupe_key=key, on_conflict="skip")
