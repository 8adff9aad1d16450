"""A role that may search and nothing else (rows 59, 94): what it is granted, and whether it has more."""

from collections.abc import Sequence
from urllib.parse import parse_qs, unquote, urlsplit

from adapters.stores.connecting import connected
from adapters.stores.quoting import literal
from core.errors import ConfigurationError

READ = (
    "index_state",
    "index_fingerprints",
    "notion_pages",
    "notion_embeddings",
    "notion_embedded",
    "notion_terms",
    "notion_term_weights",
    "index_backgrounds",
)
"""All that a search looks at. Not what people asked, not their judgements, not the key of their hashes."""

_OTHERS = """
SELECT format('%I.%I', space.nspname, class.relname) AS name
FROM pg_class AS class
JOIN pg_namespace AS space ON space.oid = class.relnamespace
WHERE class.relkind IN ('r', 'p', 'v', 'm', 'S')
  AND space.nspname = current_schema()
  AND CASE
      WHEN class.relkind = 'S'
      THEN has_sequence_privilege(class.oid, 'USAGE') OR has_sequence_privilege(class.oid, 'UPDATE')
      ELSE has_table_privilege(class.oid, 'INSERT') OR has_table_privilege(class.oid, 'UPDATE')
          OR has_table_privilege(class.oid, 'DELETE') OR has_table_privilege(class.oid, 'TRUNCATE')
          OR (has_table_privilege(class.oid, 'SELECT') AND class.relname <> ALL ($1::text[]))
  END
ORDER BY name
"""


def role_of(url: str) -> str:
    """The user in a database URL.

    Raises:
        ConfigurationError: the URL names none.
    """
    try:
        parts = urlsplit(url)
        name = unquote(parts.username or "") or parse_qs(parts.query).get("user", [""])[0]
    except ValueError:
        name = ""
    if not name:
        raise ConfigurationError(
            "DATABASE_READ_URL names no user: expected postgresql://reader:password@host:5432/database"
        )
    return name


async def grant_reading(url: str, role: str) -> None:
    """Let a role read what searches look at. Repeat it after each migration: there may be new tables.

    Raises:
        ConfigurationError: there is no such role; says how to make it.
        UnavailableError, RefusedError: the database cannot be used, or refuses to grant.
    """
    async with connected(url, seconds=30.0) as connection, connection.transaction():
        if not await connection.fetchval("SELECT 1 FROM pg_roles WHERE rolname = $1", role):
            raise ConfigurationError(
                f"DATABASE_READ_URL: the role {role!r} does not exist; make it as an administrator with: "
                f"CREATE ROLE \"{role}\" LOGIN PASSWORD '...'"
            )
        # Identifiers cannot be parameters; the server quotes them.
        quoted = await connection.fetchval(f"SELECT format('%I', {literal(role)}::text)")
        space = await connection.fetchval("SELECT format('%I', current_schema())")
        await connection.execute(f"GRANT USAGE ON SCHEMA {space} TO {quoted}")
        await connection.execute(f"GRANT SELECT ON {', '.join(READ)} TO {quoted}")


async def excess_rights(url: str) -> Sequence[str]:
    """Tables that the user of a URL may change, or may read without need; none for a proper reader.

    Raises:
        UnavailableError, RefusedError, ConfigurationError: the database cannot be used.
    """
    async with connected(url, seconds=10.0) as connection:
        return tuple(row["name"] for row in await connection.fetch(_OTHERS, list(READ)))
