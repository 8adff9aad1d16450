"""Connections for short statements: nobody waits for one without end."""

import asyncio
from datetime import UTC, datetime

import pytest

from adapters.stores import learning_sql as sql
from adapters.stores.learning import open_learning
from adapters.stores.locking import LOG_LOCK
from adapters.stores.small_pool import SmallPool, small_pool
from core.errors import PermanentError, UnavailableError


async def test_who_finds_no_free_connection_is_told(database_url: str) -> None:
    """While every connection is taken, asking for another one ends in an error of ours."""
    async with small_pool(database_url, seconds=0.2, size=1) as pool, pool.transaction():
        with pytest.raises(UnavailableError, match="took too long"):
            await pool.fetch("SELECT 1")


async def test_a_statement_without_end_is_cut_off(database_url: str) -> None:
    """The connection serves the next statement."""
    async with small_pool(database_url, seconds=0.2, size=1) as pool:
        with pytest.raises(UnavailableError, match="took too long"):
            await pool.execute("SELECT pg_sleep(60)")

        assert await pool.fetchval("SELECT 7") == 7


async def test_a_failed_transaction_leaves_nothing(database_url: str) -> None:
    """What was written before the failure is not there."""
    async with small_pool(database_url, seconds=5.0) as pool:
        with pytest.raises(PermanentError):
            await twice(pool, "INSERT INTO digests VALUES ('slack', 'C1', '2026-05-04')")

        assert await pool.fetchval("SELECT count(*) FROM digests") == 0


async def test_a_table_that_changes_under_a_transaction_is_tried_again_later(database_url: str) -> None:
    """While a newer version migrates, what fails fails for now; the next try knows the new table."""
    async with small_pool(database_url, seconds=5.0, size=1) as pool:
        await pool.fetch("SELECT * FROM digests")
        async with small_pool(database_url, seconds=5.0) as migrating:
            await migrating.execute("ALTER TABLE digests ADD COLUMN added text")

        with pytest.raises(UnavailableError):
            await twice(pool, "SELECT * FROM digests")

        assert await pool.fetch("SELECT * FROM digests") == []


async def twice(pool: SmallPool, statement: str) -> None:
    """Run a statement two times in one transaction."""
    async with pool.transaction() as connection:
        await connection.fetch(statement)
        await connection.fetch(statement)


async def test_forgetting_waits_for_questions_that_are_being_written(database_url: str) -> None:
    """An audience under which nobody asked yet is not taken away from the question that brings it."""
    async with open_learning(database_url) as log, small_pool(database_url, seconds=5.0) as pool:
        async with pool.transaction() as writing:
            await writing.execute("SELECT pg_advisory_xact_lock_shared($1)", LOG_LOCK)
            await writing.execute(sql.PUT_AUDIENCES, ["staff"], ["[]"])
            pruning = asyncio.create_task(log.prune(before=datetime(2026, 1, 1, tzinfo=UTC)))
            await somebody_waits(pool)
            await writing.execute(
                "INSERT INTO questions (event, platform, person, audience, text, asked_at) "
                "VALUES ('E1', 'slack', 'U1', 'staff', 'Where?', '2026-05-04')"
            )
        await pruning

        assert await pool.fetchval("SELECT audience FROM questions") == "staff"


async def somebody_waits(pool: SmallPool) -> None:
    """Until a session waits for a lock."""
    async with asyncio.timeout(20):
        while not await pool.fetchval("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)"):  # noqa: ASYNC110 - it is in the database
            await asyncio.sleep(0.02)
