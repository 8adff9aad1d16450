"""Migrations: how they are named, that they apply once whoever else tries, and that no data is lost."""

import asyncio
import subprocess
import sys

import asyncpg
import pytest

import migrations
from adapters.stores.schema import migrate, pending
from core.errors import ConfigurationError, SchemaError, UnavailableError
from migrations import Migration, migration


async def fetch(url: str, query: str, *values: object) -> list[asyncpg.Record]:
    """One query on a connection of its own."""
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetch(query, *values)
    finally:
        await connection.close()


def a_step(number: int, sql: str, name: str = "step") -> Migration:
    """A migration that is not in the package."""
    return migration(f"{number:04d}_{name}.sql", sql)


def test_migrations_are_numbered_without_gaps_and_named_by_what_they_do() -> None:
    """The package's own files are found as resources, in order."""
    steps = migrations.load()

    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    assert steps[0].name == "extensions"
    assert all(len(step.checksum) == 64 for step in steps)


@pytest.mark.parametrize("name", ["1_x.sql", "0001-x.sql", "0001_X.sql", "0001_.sql", "x.sql"])
def test_a_misnamed_migration_is_refused(name: str) -> None:
    """The message says how a migration is called."""
    with pytest.raises(ValueError, match="NNNN_what_it_does"):
        migration(name, "SELECT 1")


def test_line_ends_do_not_change_a_checksum() -> None:
    """A checkout on Windows is the same migration."""
    assert migration("0001_x.sql", "a\r\nb\r\n").checksum == migration("0001_x.sql", "a\nb\n").checksum


def test_only_the_marker_on_the_first_line_turns_the_transaction_off() -> None:
    """A mention further down is just a comment."""
    marked = a_step(1, "-- footnote: no transaction\nCREATE INDEX CONCURRENTLY x ON y (z)")
    mentioned = a_step(1, "SELECT 1;\n-- footnote: no transaction")

    assert (marked.in_transaction, mentioned.in_transaction) == (False, True)


async def test_an_empty_database_gets_everything_and_a_second_run_nothing(empty_database_url: str) -> None:
    """`pending` tells before what `migrate` does."""
    before = await pending(empty_database_url)
    applied = await migrate(empty_database_url)
    again = await migrate(empty_database_url)

    assert before == applied == migrations.load()
    assert again == ()
    assert await pending(empty_database_url) == ()


async def test_asking_what_is_pending_changes_nothing(empty_database_url: str) -> None:
    """Not even the ledger is made."""
    await pending(empty_database_url)

    tables = await fetch(empty_database_url, "SELECT 1 FROM pg_tables WHERE schemaname = 'public'")
    assert tables == []


async def test_four_runners_at_once_apply_each_migration_once(empty_database_url: str) -> None:
    """The losers of the race wait, then find nothing to do."""
    results = await asyncio.gather(*(migrate(empty_database_url) for _ in range(4)))

    assert sorted(len(applied) for applied in results) == [0, 0, 0, len(migrations.load())]


async def test_runners_race_over_an_index_made_concurrently(empty_database_url: str) -> None:
    """A waiting runner holds no snapshot for which CREATE INDEX CONCURRENTLY would wait."""
    steps = (
        a_step(1, "CREATE TABLE t (n int); INSERT INTO t SELECT generate_series(1, 1000)"),
        a_step(2, "-- footnote: no transaction\nCREATE INDEX CONCURRENTLY IF NOT EXISTS t_n ON t (n)"),
    )

    results = await asyncio.gather(*(migrate(empty_database_url, steps) for _ in range(4)))

    assert sorted(len(applied) for applied in results) == [0, 0, 0, 2]
    assert len(await fetch(empty_database_url, "SELECT 1 FROM pg_indexes WHERE indexname = 't_n'")) == 1


async def test_a_failing_migration_leaves_nothing_behind_and_is_named(empty_database_url: str) -> None:
    """Earlier ones stay, the failing one is undone as a whole."""
    steps = (
        a_step(1, "CREATE TABLE kept (n int)"),
        a_step(2, "CREATE TABLE lost (n int); SELECT 1/0", "bad"),
    )

    with pytest.raises(SchemaError, match="0002_bad failed: division by zero"):
        await migrate(empty_database_url, steps)

    tables = await fetch(
        empty_database_url, "SELECT tablename FROM pg_tables WHERE tablename IN ('kept', 'lost')"
    )
    assert [row["tablename"] for row in tables] == ["kept"]
    assert [step.number for step in await pending(empty_database_url, steps)] == [2]


async def test_an_edited_migration_is_refused_by_name(empty_database_url: str) -> None:
    """Neither `migrate` nor `pending` goes on when an applied file was changed."""
    await migrate(empty_database_url, (a_step(1, "CREATE TABLE t (n int)", "first"),))
    edited = (a_step(1, "CREATE TABLE t (n bigint)", "first"), a_step(2, "SELECT 1"))

    for ask in (migrate, pending):
        with pytest.raises(SchemaError, match="0001_first was edited"):
            await ask(empty_database_url, edited)


@pytest.mark.parametrize("known", [(), (a_step(1, "CREATE TABLE t (n int)", "renamed"),)])
async def test_an_unknown_applied_migration_is_refused_by_name(
    empty_database_url: str, known: tuple[Migration, ...]
) -> None:
    """A database of a newer version is not touched by an older one."""
    await migrate(empty_database_url, (a_step(1, "CREATE TABLE t (n int)", "first"),))

    with pytest.raises(SchemaError, match="0001_first was applied to this database but is unknown"):
        await migrate(empty_database_url, known)


async def test_old_data_survive_a_later_migration(empty_database_url: str) -> None:
    """Rows written between two versions are still there."""
    first = a_step(1, "CREATE TABLE t (n int)")
    await migrate(empty_database_url, (first,))
    await fetch(empty_database_url, "INSERT INTO t VALUES (42)")

    await migrate(empty_database_url, (first, a_step(2, "ALTER TABLE t ADD m int NOT NULL DEFAULT 7")))

    assert [tuple(row) for row in await fetch(empty_database_url, "SELECT n, m FROM t")] == [(42, 7)]


async def test_a_dead_host_gives_one_clear_line_without_the_password() -> None:
    """The message names host and database and asks the right question."""
    url = "postgresql://bot:hunter2@127.0.0.1:1/footnote"

    with pytest.raises(UnavailableError) as raised:
        await migrate(url)

    assert str(raised.value).startswith("PostgreSQL at 127.0.0.1:1/footnote cannot be reached")
    assert "hunter2" not in str(raised.value)
    assert "\n" not in str(raised.value)


async def test_a_missing_database_is_told_from_a_missing_server(postgres_url: str) -> None:
    """The message says that the database does not exist and how to create it."""
    with pytest.raises(ConfigurationError, match="does not exist; create it"):
        await migrate(postgres_url.replace("@/footnote?", "@/nowhere?"))


@pytest.mark.parametrize("url", ["", "mysql://x/y", "postgresql://[", "not a url"])
async def test_an_unusable_url_is_a_mistake_of_the_configuration(url: str) -> None:
    """The message names the setting."""
    with pytest.raises(ConfigurationError, match="DATABASE_URL"):
        await migrate(url)


def test_pgqueuers_tables_are_those_of_the_installed_version() -> None:
    """When pgqueuer changes its schema, a new migration is due (docs/decisions)."""
    printed = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "pgqueuer", "sql", "install"],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    ).stdout
    [ours] = [step for step in migrations.load() if step.name == "pgqueuer"]

    assert ours.sql.split("\n\n", 1)[1].strip() == printed.strip()


async def test_every_language_of_this_postgresql_is_mapped(database_url: str) -> None:
    """Each built-in configuration belongs to at least one ISO 639-1 code, and any other text to simple."""
    codes = [
        *("ar", "ca", "da", "de", "el", "en", "es", "et", "eu", "fi", "fr", "ga", "hi", "hu", "hy", "id"),
        *("it", "lt", "nb", "ne", "nl", "nn", "no", "pt", "ro", "ru", "sr", "sv", "ta", "tr", "yi"),
    ]
    rows = await fetch(
        database_url,
        """
        SELECT cfgname FROM pg_ts_config
        WHERE cfgnamespace = 'pg_catalog'::regnamespace AND cfgname <> 'simple'
          AND oid <> ALL (SELECT footnote_configuration(code)::oid FROM unnest($1::text[]) AS code)
        """,
        codes,
    )
    [odd] = await fetch(
        database_url,
        "SELECT array_agg(footnote_configuration(code)::text) AS found "
        "FROM unnest(ARRAY['', 'pl', 'zh', 'xx', NULL, 'english']) AS code",
    )

    assert [row["cfgname"] for row in rows] == []
    assert odd["found"] == ["simple"] * 6


async def test_a_regional_code_is_its_language(database_url: str) -> None:
    """``pt-BR`` and ``DE`` are stemmed like ``pt`` and ``de``."""
    [row] = await fetch(
        database_url, "SELECT footnote_configuration('pt-BR')::text a, footnote_configuration('DE')::text b"
    )

    assert tuple(row) == ("portuguese", "german")
