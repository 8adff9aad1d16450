"""Which way of making the index is in force, and how another one takes its place."""

from dataclasses import dataclass

import asyncpg

from adapters.stores.connecting import Connection
from core.domain.models import Fingerprint, ModelProfile
from core.errors import IndexMismatchError

DROP_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class Contract:
    """What a fingerprint stands for; the chunker, a part of it, is kept beside it for messages only."""

    fingerprint: Fingerprint
    profile: ModelProfile
    chunker: str = ""

    def __str__(self) -> str:
        chunker = f", chunker {self.chunker}" if self.chunker else ""
        return f"{self.profile.name} with {self.profile.dimensions} dimensions{chunker} [{self.fingerprint}]"


async def active(connection: Connection) -> Fingerprint | None:
    """The fingerprint that searches use; null before anything was indexed."""
    found: str | None = await connection.fetchval("SELECT active FROM index_state")
    return Fingerprint(found) if found is not None else None


async def others(connection: Connection, fingerprint: Fingerprint) -> tuple[Fingerprint, ...]:
    """Every other fingerprint that was ever configured here and not dropped since."""
    rows = await connection.fetch(
        "SELECT fingerprint FROM index_fingerprints WHERE fingerprint <> $1 ORDER BY fingerprint", fingerprint
    )
    return tuple(Fingerprint(row["fingerprint"]) for row in rows)


async def adopt(connection: Connection, contract: Contract, *, beside: bool) -> None:
    """Register the contract, and make it the active one where nothing was indexed under another.

    ``beside`` allows another one to be active: its passages go on serving meanwhile.

    Raises:
        IndexMismatchError: the index was made in another way; names both and the cure.
    """
    async with connection.transaction():
        await connection.execute(
            """
            INSERT INTO index_fingerprints
                (fingerprint, model, dimensions, query_prefix, passage_prefix, chunker)
            VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (fingerprint) DO NOTHING
            """,
            contract.fingerprint,
            contract.profile.name,
            contract.profile.dimensions,
            contract.profile.query_prefix,
            contract.profile.passage_prefix,
            contract.chunker,
        )
        current = await connection.fetchval("SELECT active FROM index_state FOR UPDATE")
        if current == contract.fingerprint or (beside and current is not None):
            return
        if current is not None and await _is_filled(connection, current):
            raise IndexMismatchError(await _explain(connection, current, contract))
        await connection.execute("UPDATE index_state SET active = $1", contract.fingerprint)


async def check(connection: Connection, contract: Contract) -> None:
    """As `adopt`, for a reader that may not write.

    Raises:
        IndexMismatchError: the index was made in another way.
    """
    current = await active(connection)
    if current not in (None, contract.fingerprint) and await _is_filled(connection, current):
        raise IndexMismatchError(await _explain(connection, current, contract))


async def activate(connection: Connection, fingerprint: Fingerprint) -> None:
    """Let searches use this fingerprint from the next statement on."""
    async with connection.transaction():
        await connection.execute("UPDATE index_state SET active = $1", fingerprint)
        await connection.execute(
            """
            UPDATE notion_pages AS page
            SET embedded_at = state.embedded_at
            FROM notion_pages AS every
            LEFT JOIN notion_embedded AS state ON state.page_id = every.id AND state.fingerprint = $1
            WHERE every.id = page.id AND page.embedded_at IS DISTINCT FROM state.embedded_at
            """,
            fingerprint,
        )


async def drop(connection: Connection, fingerprint: Fingerprint) -> int:
    """Forget a fingerprint and its passages; returns how many there were.

    Raises:
        IndexMismatchError: it is the active one.
    """
    async with connection.transaction():
        if await connection.fetchval("SELECT active FROM index_state FOR UPDATE") == fingerprint:
            raise IndexMismatchError(f"{fingerprint} is in use: activate another one before dropping it")
        # Its terms go with it as a whole, and so many rows may take their time.
        await connection.execute("SET LOCAL footnote.drop = 'on'")
        await connection.execute("SET LOCAL statement_timeout = 0")
        removed: int = await connection.fetchval(
            """
            WITH removed AS (DELETE FROM notion_embeddings WHERE fingerprint = $1 RETURNING 1)
            SELECT count(*) FROM removed
            """,
            fingerprint,
            timeout=DROP_SECONDS,
        )
        await connection.execute("DELETE FROM notion_embedded WHERE fingerprint = $1", fingerprint)
        await connection.execute("DELETE FROM index_fingerprints WHERE fingerprint = $1", fingerprint)
        return removed


async def _is_filled(connection: Connection, fingerprint: str) -> bool:
    filled: bool = await connection.fetchval(
        "SELECT EXISTS (SELECT FROM notion_embeddings WHERE fingerprint = $1)", fingerprint
    )
    return filled


async def _explain(connection: Connection, current: str | None, wanted: Contract) -> str:
    row = await connection.fetchrow(
        "SELECT model, dimensions, chunker FROM index_fingerprints WHERE fingerprint = $1", current
    )
    if row is None:
        return f"the index was built as [{current}] but {wanted} is configured: run `footnote reembed`"
    chunker = f", chunker {row['chunker']}" if row["chunker"] else ""
    back = _settings_to_undo(row, wanted)
    return (
        f"the index was built with {row['model']} with {row['dimensions']} dimensions{chunker} [{current}], "
        f"but {wanted} is configured: {f'set {back} back, or ' if back else ''}run `footnote reembed`"
    )


def _settings_to_undo(built: asyncpg.Record, wanted: Contract) -> str:
    """The settings in which the two differ; none where only a newer version cuts pages otherwise."""
    names = []
    if built["model"] != wanted.profile.name:
        names.append("EMBEDDING_MODEL")
    elif built["dimensions"] != wanted.profile.dimensions:
        names.append("EMBEDDING_DIMENSIONS")
    # Version, size, overlap, unit and the model's own limit, as `ChunkSettings.version` writes them.
    pairs = list(zip(built["chunker"].split("/"), wanted.chunker.split("/"), strict=False))
    sizes = zip(("NOTION_CHUNK_SIZE", "NOTION_CHUNK_OVERLAP"), pairs[1:3], strict=False)
    names += [name for name, (before, now) in sizes if before != now]
    return " and ".join(names)
