"""Statements about passages: replacing a page's, and finding vectors that need not be made again."""

from collections.abc import Mapping, Sequence

import numpy as np
import pgvector

from adapters.stores.connecting import Connection
from adapters.stores.fingerprints import Contract
from adapters.stores.texts import headings_to_json, storable
from core.domain.ids import PageId
from core.domain.models import Fingerprint, Vector
from core.errors import InvalidInputError
from core.ports import IndexedChunk

_LOCK_REVISION = "SELECT revision FROM notion_pages WHERE id = $1 FOR UPDATE"

_DELETE_OTHERS = """
DELETE FROM notion_embeddings AS chunk
WHERE chunk.page_id = $1
  AND chunk.fingerprint = $2
  AND NOT EXISTS (
      SELECT FROM unnest($3::smallint[], $4::int[]) AS kept (level, index)
      WHERE kept.level = chunk.chunk_level AND kept.index = chunk.chunk_index
  )
"""

# Rows that would not change are left alone: each new row version is another entry in the vector index.
_UPSERT = """
INSERT INTO notion_embeddings AS chunk (
    page_id, fingerprint, model_name, model_dimensions, chunk_level, chunk_index, chunk_text, page_title,
    heading_context, heading_path, block_id, overlap, language, configuration, text_hash, embedding,
    attachment_id
)
SELECT
    $1, $2, $3, $4, given.level, given.index, given.body, given.breadcrumb, given.heading_context,
    given.heading_path::jsonb, given.block_id, given.overlap, given.language,
    footnote_configuration(given.language), given.text_hash, given.embedding, given.attachment_id
FROM unnest(
    $5::smallint[], $6::int[], $7::text[], $8::text[], $9::text[], $10::text[], $11::uuid[], $12::int[],
    $13::text[], $14::text[], $15::vector[], $16::text[]
) AS given (
    level, index, body, breadcrumb, heading_context, heading_path, block_id, overlap, language, text_hash,
    embedding, attachment_id
)
ON CONFLICT (page_id, chunk_level, chunk_index, fingerprint) DO UPDATE SET
    chunk_text = excluded.chunk_text,
    page_title = excluded.page_title,
    heading_context = excluded.heading_context,
    heading_path = excluded.heading_path,
    block_id = excluded.block_id,
    attachment_id = excluded.attachment_id,
    overlap = excluded.overlap,
    language = excluded.language,
    configuration = excluded.configuration,
    text_hash = excluded.text_hash,
    embedding = excluded.embedding,
    created_at = now()
WHERE (
    chunk.chunk_text, chunk.page_title, chunk.heading_path, chunk.block_id, chunk.overlap, chunk.language,
    chunk.configuration, chunk.text_hash, chunk.embedding, chunk.attachment_id
) IS DISTINCT FROM (
    excluded.chunk_text, excluded.page_title, excluded.heading_path, excluded.block_id, excluded.overlap,
    excluded.language, excluded.configuration, excluded.text_hash, excluded.embedding, excluded.attachment_id
) OR chunk.created_at <= (SELECT reuse_after FROM index_fingerprints WHERE fingerprint = chunk.fingerprint)
"""

_MARK_EMBEDDED = """
INSERT INTO notion_embedded (page_id, fingerprint, revision) VALUES ($1, $2, $3)
ON CONFLICT (page_id, fingerprint) DO UPDATE SET revision = excluded.revision, embedded_at = now()
"""

_SHOW_EMBEDDED = """
UPDATE notion_pages SET embedded_at = now()
WHERE id = $1 AND $2 = (SELECT active FROM index_state)
"""

_BY_HASH = """
SELECT DISTINCT ON (chunk.text_hash) chunk.text_hash, chunk.embedding
FROM notion_embeddings AS chunk
JOIN index_fingerprints AS made ON made.fingerprint = chunk.fingerprint
WHERE chunk.fingerprint = $1 AND chunk.text_hash = ANY ($2::text[]) AND chunk.created_at > made.reuse_after
"""

_MARK_ALL_PENDING = (
    "UPDATE index_fingerprints SET reuse_after = now() WHERE fingerprint = $1",
    "DELETE FROM notion_embedded WHERE fingerprint = $1",
    """
    UPDATE notion_pages SET embedded_at = NULL
    WHERE embedded_at IS NOT NULL AND $1 = (SELECT active FROM index_state)
    """,
)


async def swap(
    connection: Connection,
    contract: Contract,
    page_id: PageId,
    *,
    revision: int,
    chunks: Sequence[IndexedChunk],
) -> bool:
    """Replace a page's passages inside the caller's transaction; false if the page changed or went away."""
    if await connection.fetchval(_LOCK_REVISION, page_id) != revision:
        return False
    fingerprint = contract.fingerprint
    places = [(one.chunk.level, one.chunk.index) for one in chunks]
    await connection.execute(
        _DELETE_OTHERS, page_id, fingerprint, [level for level, _ in places], [index for _, index in places]
    )
    if chunks:
        columns = map(list, zip(*(_row(one, contract) for one in chunks), strict=True))
        profile = contract.profile
        await connection.execute(_UPSERT, page_id, fingerprint, profile.name, profile.dimensions, *columns)
    await connection.execute(_MARK_EMBEDDED, page_id, fingerprint, revision)
    await connection.execute(_SHOW_EMBEDDED, page_id, fingerprint)
    return True


async def vectors_by_hash(
    connection: Connection, fingerprint: Fingerprint, hashes: Sequence[str]
) -> Mapping[str, Vector]:
    """Vectors that were made from exactly these texts."""
    rows = await connection.fetch(_BY_HASH, fingerprint, list(hashes))
    return {row["text_hash"]: row["embedding"].to_numpy() for row in rows}


async def mark_all_pending(connection: Connection, fingerprint: Fingerprint) -> int:
    """Let every page with text be embedded anew, without reusing a vector; returns how many there are."""
    for statement in _MARK_ALL_PENDING:
        await connection.execute(statement, fingerprint)
    marked: int = await connection.fetchval("SELECT count(*) FROM notion_pages WHERE has_text")
    return marked


def _row(indexed: IndexedChunk, contract: Contract) -> tuple[object, ...]:
    chunk = indexed.chunk
    vector = np.asarray(indexed.vector, dtype=np.float32)
    if vector.shape != (contract.profile.dimensions,) or not np.isfinite(vector).all():
        raise InvalidInputError(
            f"page {chunk.page_id}, chunk {chunk.index}: {contract.profile.name} should give "
            f"{contract.profile.dimensions} finite figures, but gave a vector of shape {vector.shape}"
        )
    return (
        chunk.level,
        chunk.index,
        storable(chunk.body),
        storable(chunk.breadcrumb),
        storable(chunk.searched_headings),
        headings_to_json(chunk.heading_path),
        chunk.block_id,
        chunk.overlap,
        indexed.language,
        indexed.text_hash,
        # asyncpg would take a bare array for one more dimension of the list.
        pgvector.Vector(vector),
        chunk.attachment_id,
    )
