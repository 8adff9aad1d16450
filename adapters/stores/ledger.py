"""The ledger of syncs in PostgreSQL."""

import json
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime

import asyncpg

from adapters.stores.connecting import Connection, translated
from adapters.stores.pool import ACQUIRE_SECONDS, pooled
from adapters.stores.texts import storable
from core.domain.ids import PageId
from core.ports.ledger import LONGEST_PAUSE, Fate, LedgerEntry, Looks, RunRecord, Trouble, pause_after

KEEP_RUNS = 1000
"""How many runs are remembered: three weeks of one every half hour."""

# By their order, not by their times: a clock that was ahead once must not rule for ever.
_LOOKS = """
SELECT
    (SELECT started FROM sync_runs WHERE source = $1 AND reached_end ORDER BY id DESC LIMIT 1) AS changes,
    (
        SELECT started FROM sync_runs WHERE source = $1 AND reached_end AND complete ORDER BY id DESC LIMIT 1
    ) AS listing
"""

_KEEP_RUN = """
INSERT INTO sync_runs (started, finished, reached_end, complete, figures, source)
VALUES ($1, $2, $3, $4, $5::jsonb, $6)
"""

# The newest run of each kind stays, since the next one begins where it looked.
_FORGET_RUNS = """
DELETE FROM sync_runs AS run
WHERE id <= (SELECT max(id) FROM sync_runs) - $1
  AND id < coalesce((SELECT max(id) FROM sync_runs WHERE reached_end AND source = run.source), id + 1)
  AND id < coalesce(
      (SELECT max(id) FROM sync_runs WHERE reached_end AND complete AND source = run.source), id + 1
  )
"""

_KEEP_TROUBLES = """
INSERT INTO sync_troubles AS trouble (page_id, title, url, reason, skipped, since, last_try, next_try)
SELECT given.*, $6::timestamptz, $6, $6 + ($7::interval[])[1]
FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::boolean[]) AS given
ON CONFLICT (page_id) DO UPDATE SET
    title    = coalesce(nullif(excluded.title, ''), trouble.title),
    url      = coalesce(nullif(excluded.url, ''), trouble.url),
    reason   = excluded.reason,
    skipped  = excluded.skipped,
    tries    = trouble.tries + 1,
    last_try = $6,
    next_try = $6 + ($7::interval[])[least(trouble.tries + 1, cardinality($7))]
"""

_PAUSES = tuple(pause_after(tries) for tries in range(1, 20))
"""By how often a page failed in a row; the last one holds for all that follow."""

_HEAL = "DELETE FROM sync_troubles WHERE page_id = ANY ($1::uuid[])"

_IN_TROUBLE = """
SELECT page_id FROM sync_troubles
WHERE NOT skipped AND ($1::timestamptz IS NULL OR next_try <= $1 OR next_try > $1 + $2::interval)
ORDER BY page_id
"""

_TOTALS = "SELECT fate, count(*) AS objects FROM sync_ledger GROUP BY fate"

_ENTRIES = """
SELECT ledger.*, (
    SELECT count(*) FROM notion_embeddings AS passage
    WHERE passage.page_id = ledger.id AND passage.fingerprint = (SELECT active FROM index_state)
) AS chunks
FROM sync_ledger AS ledger
"""

_ENTRY = f"{_ENTRIES} WHERE ledger.id = $1::uuid"

_OF_FATE = f"{_ENTRIES} WHERE ledger.fate = $1 ORDER BY ledger.title, ledger.id LIMIT $2"


@asynccontextmanager
async def open_ledger(url: str) -> AsyncIterator["PostgresLedger"]:
    """The ledger of a database, for the block.

    Raises:
        UnavailableError, RefusedError, ConfigurationError, SchemaError: the database cannot be used.
    """
    async with pooled(url, size=2) as pool:
        yield PostgresLedger(url, pool)


class PostgresLedger:
    """A `SyncLedger`; made by `open_ledger`."""

    def __init__(self, url: str, pool: asyncpg.Pool) -> None:
        self._url = url
        self._pool = pool

    async def looks(self, source: str = "") -> Looks:
        """As `SyncLedger.looks`."""
        [row] = await self._fetch(_LOOKS, source)
        return Looks(row["changes"], row["listing"])

    async def keep_run(
        self, run: RunRecord, *, troubles: Sequence[Trouble], healed: Collection[PageId]
    ) -> None:
        """As `SyncLedger.keep_run`."""
        figures = json.dumps(dict(run.figures))
        with translated(self._url):
            async with self._pool.acquire(timeout=ACQUIRE_SECONDS) as connection, connection.transaction():
                await _note(connection, run.finished, troubles, healed)
                await connection.execute(
                    _KEEP_RUN, run.started, run.finished, run.reached_end, run.complete, figures, run.source
                )
                await connection.execute(_FORGET_RUNS, KEEP_RUNS)

    async def note_pages(
        self, *, at: datetime, troubles: Sequence[Trouble], healed: Collection[PageId]
    ) -> None:
        """As `SyncLedger.note_pages`."""
        with translated(self._url):
            async with self._pool.acquire(timeout=ACQUIRE_SECONDS) as connection, connection.transaction():
                await _note(connection, at, troubles, healed)

    async def in_trouble(self, *, due_by: datetime | None = None) -> Sequence[PageId]:
        """As `SyncLedger.in_trouble`."""
        return [PageId(row["page_id"]) for row in await self._fetch(_IN_TROUBLE, due_by, LONGEST_PAUSE)]

    async def totals(self) -> Mapping[Fate, int]:
        """As `SyncLedger.totals`."""
        return {Fate(row["fate"]): row["objects"] for row in await self._fetch(_TOTALS)}

    async def entry(self, page_id: PageId) -> LedgerEntry | None:
        """As `SyncLedger.entry`."""
        rows = await self._fetch(_ENTRY, page_id)
        return _entry(rows[0]) if rows else None

    async def entries(self, fate: Fate, *, limit: int) -> Sequence[LedgerEntry]:
        """As `SyncLedger.entries`."""
        return [_entry(row) for row in await self._fetch(_OF_FATE, fate.value, limit)]

    async def _fetch(self, statement: str, *values: object) -> Sequence[asyncpg.Record]:
        with translated(self._url):
            async with self._pool.acquire(timeout=ACQUIRE_SECONDS) as connection:
                rows: Sequence[asyncpg.Record] = await connection.fetch(statement, *values)
                return rows


async def _note(
    connection: Connection, at: datetime, troubles: Sequence[Trouble], healed: Collection[PageId]
) -> None:
    await connection.execute(_HEAL, list(healed))
    if troubles:
        await connection.execute(
            _KEEP_TROUBLES,
            [trouble.page_id for trouble in troubles],
            [storable(trouble.title) for trouble in troubles],
            [storable(trouble.url) for trouble in troubles],
            [storable(trouble.reason) for trouble in troubles],
            [trouble.skipped for trouble in troubles],
            at,
            _PAUSES,
        )


def _entry(row: asyncpg.Record) -> LedgerEntry:
    return LedgerEntry(
        page_id=PageId(str(row["id"])),
        title=row["title"],
        url=row["url"],
        fate=Fate(row["fate"]),
        reason=row["reason"],
        seen_at=row["seen_at"],
        chunks=row["chunks"],
        next_try=row["next_try"],
    )
