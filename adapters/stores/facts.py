"""What a database says of itself, for `footnote check`."""

from collections.abc import Collection
from dataclasses import dataclass

from adapters.stores.connecting import connected
from core.domain.ids import PageId


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """Versions as the server tells them; ``pgvector`` is null while the extension is not created."""

    postgres: str
    pgvector: str | None
    pgvector_available: str | None


async def server_facts(url: str) -> ServerFacts:
    """Ask once.

    Raises:
        UnavailableError, RefusedError, ConfigurationError: the database cannot be used; says why.
    """
    async with connected(url, seconds=5.0) as connection:
        row = await connection.fetchrow(
            """
            SELECT
                current_setting('server_version') AS postgres,
                (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS pgvector,
                (SELECT default_version FROM pg_available_extensions WHERE name = 'vector') AS available
            """
        )
    if row is None:
        return ServerFacts(postgres="", pgvector=None, pgvector_available=None)
    return ServerFacts(
        postgres=row["postgres"], pgvector=row["pgvector"], pgvector_available=row["available"]
    )


async def unknown_pages(url: str, ids: Collection[PageId]) -> frozenset[PageId]:
    """Those of the pages and data sources that no stored page is or lies below.

    Raises:
        UnavailableError, RefusedError, ConfigurationError, SchemaError: the database cannot be used.
    """
    async with connected(url, seconds=10.0) as connection:
        rows = await connection.fetch(
            """
            SELECT given::text AS id FROM unnest($1::uuid[]) AS given
            WHERE NOT EXISTS (SELECT FROM notion_pages AS page WHERE page.path @> ARRAY[given])
            """,
            sorted(ids),
        )
    return frozenset(PageId(row["id"]) for row in rows)


async def unknown_titles(url: str, titles: Collection[str]) -> frozenset[str]:
    """Those of the titles that no stored page has, whatever the case and the spaces.

    Raises:
        UnavailableError, RefusedError, ConfigurationError, SchemaError: the database cannot be used.
    """
    async with connected(url, seconds=10.0) as connection:
        stored = {folded(row["title"]) for row in await connection.fetch("SELECT title FROM notion_pages")}
    return frozenset(title for title in titles if folded(title) not in stored)


def folded(title: str) -> str:
    """A title as it is compared: case and spaces do not count."""
    return " ".join(title.casefold().split())


async def noted(url: str, name: str) -> str:
    """A fact that was noted before; empty if it never was.

    Raises:
        UnavailableError, RefusedError, ConfigurationError, SchemaError: the database cannot be used.
    """
    async with connected(url, seconds=10.0) as connection:
        found: str | None = await connection.fetchval(
            "SELECT value FROM footnote_facts WHERE name = $1", name
        )
    return found or ""


async def note_fact(url: str, name: str, value: str) -> None:
    """Note a fact in place of what was noted under this name.

    Raises:
        UnavailableError, RefusedError, ConfigurationError, SchemaError: the database cannot be used.
    """
    async with connected(url, seconds=10.0) as connection:
        await connection.execute(
            """
            INSERT INTO footnote_facts (name, value) VALUES ($1, $2)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value, noted_at = now()
            """,
            name,
            value,
        )


async def note_fact_instead(url: str, name: str, value: str, *, of: str) -> bool:
    """Note a fact if another one is noted still; false if somebody noted something else meanwhile.

    Raises:
        UnavailableError, RefusedError, ConfigurationError, SchemaError: the database cannot be used.
    """
    async with connected(url, seconds=10.0) as connection:
        found = await connection.fetchval(
            """
            UPDATE footnote_facts SET value = $3, noted_at = now() WHERE name = $1 AND value = $2
            RETURNING value
            """,
            name,
            of,
            value,
        )
    return found is not None
