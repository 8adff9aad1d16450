"""Applies the migrations, each once, whoever else tries at the same time."""

from collections.abc import Sequence

import asyncpg

import migrations
from adapters.stores.connecting import connected
from adapters.stores.locking import schema_lock
from core.errors import SchemaError
from migrations import Migration

_STATEMENT_SECONDS = 3600.0

_CREATE_LEDGER = """
CREATE TABLE IF NOT EXISTS footnote_migrations (
    number     int         PRIMARY KEY,
    name       text        NOT NULL,
    checksum   text        NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
)
"""


async def migrate(url: str, steps: Sequence[Migration] | None = None) -> tuple[Migration, ...]:
    """Apply what is missing, in order; returns what was applied.

    Runners that race wait for one another. A migration and its ledger entry are committed together, except
    one that forbids a transaction: it must be safe to run again.

    Raises:
        SchemaError: an applied migration was edited or is unknown, or a step failed; names it.
        UnavailableError, RefusedError, ConfigurationError: as `adapters.stores.connecting.translated`.
    """
    wanted = migrations.load() if steps is None else tuple(steps)
    async with connected(url, seconds=_STATEMENT_SECONDS) as connection, schema_lock(connection):
        await connection.execute(_CREATE_LEDGER)
        missing = _missing(wanted, await _ledger(connection))
        for step in missing:
            await _apply(connection, step)
        return missing


async def pending(url: str, steps: Sequence[Migration] | None = None) -> tuple[Migration, ...]:
    """What `migrate` would apply; changes nothing.

    Raises:
        SchemaError: an applied migration was edited or is unknown.
        UnavailableError, RefusedError, ConfigurationError: as `adapters.stores.connecting.translated`.
    """
    wanted = migrations.load() if steps is None else tuple(steps)
    async with connected(url) as connection:
        exists = await connection.fetchval("SELECT to_regclass('footnote_migrations') IS NOT NULL")
        return _missing(wanted, await _ledger(connection) if exists else {})


async def _ledger(connection: asyncpg.Connection) -> dict[int, tuple[str, str]]:
    rows = await connection.fetch("SELECT number, name, checksum FROM footnote_migrations")
    return {row["number"]: (row["name"], row["checksum"]) for row in rows}


def _missing(wanted: Sequence[Migration], applied: dict[int, tuple[str, str]]) -> tuple[Migration, ...]:
    known = {step.number: step for step in wanted}
    for number, (name, checksum) in sorted(applied.items()):
        title = f"{number:04d}_{name}"
        if (step := known.get(number)) is None or step.name != name:
            raise SchemaError(
                f"migration {title} was applied to this database but is unknown to this version of Footnote: "
                "use the version that wrote it, or a newer one"
            )
        if step.checksum != checksum:
            raise SchemaError(
                f"migration {title} was edited after it had been applied to this database: restore the file; "
                "a change of the schema is a new migration"
            )
    return tuple(step for step in wanted if step.number not in applied)


async def _apply(connection: asyncpg.Connection, step: Migration) -> None:
    try:
        if step.in_transaction:
            async with connection.transaction():
                await connection.execute(step.sql)
                await _note(connection, step)
        else:
            await connection.execute(step.sql)
            await _note(connection, step)
    except asyncpg.PostgresError as error:
        hint = f" {error.hint}" if error.hint else ""
        raise SchemaError(
            f"migration {step.number:04d}_{step.name} failed: {error.message}.{hint}"
        ) from error


async def _note(connection: asyncpg.Connection, step: Migration) -> None:
    await connection.execute(
        "INSERT INTO footnote_migrations (number, name, checksum) VALUES ($1, $2, $3)",
        step.number,
        step.name,
        step.checksum,
    )
