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
