"""Runs in PostgreSQL: asked for, joined, upgraded, held by one worker, and taken over."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from uuid import UUID

import asyncpg
from pgqueuer.db import AsyncpgDriver
from pgqueuer.queries import Queries

from adapters.jobs import runs_sql as sql
from adapters.jobs.names import MOST_STARTS, RUN_LOCK, SYNC, Timings
from adapters.stores.connecting import Connection, translated
from adapters.stores.pool import ACQUIRE_SECONDS
from adapters.stores.texts import storable
from core.errors import UnavailableError
from core.ports.chat import ResyncKind, ResyncTicket
from core.ports.jobs import NOTION, RunProgress, RunView, Step, StepEnd, next_kind

_DIED = "Its process ended in the middle."
_STOPPED = "It was stopped on request; what it did until then stays."


class PostgresRuns:
    """`core.ports.jobs.SyncRuns`, and what a worker needs beside; made by `open_jobs`."""

    def __init__(self, url: str, pool: asyncpg.Pool, timings: Timings) -> None:
        self._url = url
        self._pool = pool
        self._timings = timings

    # --- Asking ----------------------------------------------------------------------------------------

    async def request(
        self, kind: ResyncKind, *, asked_by: str, known_pages: int | None = None
    ) -> ResyncTicket:
        """As `SyncRuns.request`; run and job are one transaction (T24)."""
        async with self._deciding() as connection:
            found = await self._open(connection)
            if found is not None and found.source != NOTION:
                if not _is_dead(found):
                    raise UnavailableError(
                        f"run {found.id} ({found.source}, begun by {found.asked_by}) is under way and cannot "
                        "do this too; ask again when it is done"
                    )
                await _give_up(connection, found.id, _DIED)
                found = None
            if found is None:
                run_id = await connection.fetchval(sql.BEGIN, NOTION, kind.value, asked_by, known_pages)
                await _enqueue(connection, run_id)
                return ResyncTicket(run_id)
            await connection.execute(sql.JOIN, found.id, kind.value)
            # The job is there already, unless its worker came to grief between two transactions.
            await _enqueue(connection, found.id)
            upgraded = kind is ResyncKind.FULL and kind not in found.wanted
            return ResyncTicket(found.id, joined=True, upgraded=upgraded)

    async def view(self, run_id: int) -> RunView | None:
        """As `SyncRuns.view`."""
        async with self._connection() as connection:
            row = await connection.fetchrow(sql.ONE, self._timings.expires, run_id)
        return _view(row) if row else None

    async def open_run(self) -> RunView | None:
        """As `SyncRuns.open_run`."""
        async with self._connection() as connection:
            found = await self._open(connection)
        return None if found is not None and _is_dead(found) else found

    async def recent(self, *, limit: int) -> Sequence[RunView]:
        """As `SyncRuns.recent`."""
        async with self._connection() as connection:
            return [_view(row) for row in await connection.fetch(sql.RECENT, self._timings.expires, limit)]

    # --- Working ---------------------------------------------------------------------------------------

    async def begin_here(self, source: str, kind: ResyncKind, *, asked_by: str) -> int | None:
        """Begin a run that only this process can do; null while another is open."""
        async with self._deciding() as connection:
            found = await self._open(connection)
            if found is not None and found.is_alive:
                return None
            if found is not None:
                # Nobody has worked on it for a minute; what it left undone, the next run of its kind does.
                await _give_up(connection, found.id, _DIED)
            run_id: int = await connection.fetchval(sql.BEGIN, source, kind.value, asked_by, None)
            return run_id

    async def take(self, run_id: int, holder: UUID) -> Step | None:
        """Hold a run and learn what is to be done; null if it ended, or was begun too often."""
        async with self._deciding() as connection:
            row = await connection.fetchrow(sql.TAKE, run_id, holder)
            if row is None:
                return None
            if row["starts"] > MOST_STARTS:
                await _give_up(connection, run_id, f"Given up: {MOST_STARTS} workers died on it.")
                return None
            if row["step"] is not None:
                return Step(run_id, ResyncKind(row["step"]), row["step_begun"], is_resumed=True)
            return await _enter_next(connection, run_id, holder, row)

    async def beat(self, run_id: int, holder: UUID, progress: RunProgress) -> bool:
        """Note progress; false if somebody else holds the run by now."""
        async with self._connection() as connection:
            return bool(
                await connection.fetchval(
                    sql.BEAT,
                    *(run_id, holder, progress.done, progress.total, progress.failed),
                    storable(progress.message),
                    progress.begun,
                )
            )

    async def step_ended(self, run_id: int, holder: UUID, end: StepEnd) -> Step | None:
        """Note a step's end; the next step if more was asked for meanwhile, else null and the run ends."""
        async with self._deciding() as connection:
            row = await connection.fetchrow(
                sql.STEP_ENDED,
                *(run_id, holder, end.failed, storable(end.message)),
                storable(json.dumps(dict(end.report), ensure_ascii=False, default=str)),
                end.pages,
            )
            if row is None:
                return None
            following = await _enter_next(connection, run_id, holder, row)
            if following is None:
                await connection.execute(sql.END, run_id)
            return following

    async def hand_over(self, run_id: int, holder: UUID, message: str) -> None:
        """Let go of a run so that any worker goes on with it."""
        async with self._connection() as connection:
            await connection.execute(sql.HAND_OVER, run_id, holder, storable(message))

    async def try_later(self, run_id: int, holder: UUID, message: str) -> timedelta | None:
        """Let go of a run that failed for now; when to try again, or null where it was given up.

        Null as well where somebody else holds the run by now, who goes on with it.
        """
        async with self._deciding() as connection:
            tries = await connection.fetchval(sql.TRY_LATER, run_id, holder, storable(message))
            if tries is None:
                return None
            if tries <= len(self._timings.retries):
                pause: timedelta = self._timings.retries[tries - 1]
                return pause
            await _give_up(connection, run_id, message)
            return None

    async def give_up(self, run_id: int, holder: UUID, message: str) -> None:
        """End a run that cannot be done; nothing happens if somebody else holds it by now."""
        async with self._deciding() as connection:
            if await connection.fetchval(sql.IS_HELD, run_id, holder):
                await _give_up(connection, run_id, message)

    async def stop(self, run_id: int, holder: UUID) -> None:
        """End a run that only this process could do, since somebody stopped it: that is no failure."""
        async with self._deciding() as connection:
            if await connection.fetchval(sql.IS_HELD, run_id, holder):
                await connection.execute(sql.STOP, run_id, _STOPPED)

    async def revive(self) -> None:
        """See to it that the open run has a job; forget what is long over."""
        async with self._deciding() as connection:
            found = await self._open(connection)
            if found is not None and found.source == NOTION:
                await _enqueue(connection, found.id)
            elif found is not None and _is_dead(found):
                await _give_up(connection, found.id, _DIED)
            await connection.execute(sql.FORGET)
            await connection.execute(sql.FORGET_LOG)

    # --- Connections -----------------------------------------------------------------------------------

    async def _open(self, connection: Connection) -> RunView | None:
        row = await connection.fetchrow(sql.OPEN, self._timings.expires)
        return _view(row) if row else None

    @asynccontextmanager
    async def _deciding(self) -> AsyncIterator[Connection]:
        """A transaction beside which nobody begins, joins or ends a run."""
        async with self._connection() as connection, connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock($1)", RUN_LOCK)
            yield connection

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Connection]:
        with translated(self._url):
            async with self._pool.acquire(timeout=ACQUIRE_SECONDS) as connection:
                yield connection


def _is_dead(run: RunView) -> bool:
    """Whether nobody will go on with it: the one process that could is gone."""
    return run.source != NOTION and not run.is_alive


async def _enqueue(connection: Connection, run_id: int) -> None:
    """One job for each run, however often this is called."""
    queries = Queries(AsyncpgDriver(connection))  # type: ignore[arg-type] # a proxy is as good
    await queries.enqueue(SYNC, str(run_id).encode(), dedupe_key=f"run:{run_id}", on_conflict="skip")


async def _enter_next(connection: Connection, run_id: int, holder: UUID, row: asyncpg.Record) -> Step | None:
    kind = next_kind(_kinds(row["wanted"]), _kinds(row["finished"]))
    if kind is None:
        return None
    await connection.execute(sql.ENTER, run_id, holder, kind.value)
    return Step(run_id, kind)


async def _give_up(connection: Connection, run_id: int, message: str) -> None:
    await connection.execute(sql.GIVE_UP, run_id, storable(message), json.dumps({"error": storable(message)}))


def _kinds(names: Sequence[str]) -> frozenset[ResyncKind]:
    return frozenset(ResyncKind(name) for name in names)


def _view(row: asyncpg.Record) -> RunView:
    return RunView(
        id=row["id"],
        source=row["source"],
        wanted=_kinds(row["wanted"]),
        done=row["done"],
        total=row["total"],
        failed=row["failed"],
        message=row["message"],
        asked_by=row["asked_by"],
        asked_at=row["asked_at"],
        ended_at=row["ended_at"],
        is_alive=row["is_alive"],
        silent_seconds=max(0.0, row["silent_seconds"]),
        asked_seconds_ago=row["asked_seconds_ago"],
        report=json.loads(row["report"]),
    )
