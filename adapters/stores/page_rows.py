"""Statements about pages: storing, touching, removing, and what is left to embed."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import asyncpg

from adapters.stores.connecting import Connection
from adapters.stores.rows import REF_COLUMNS, page_ref
from adapters.stores.texts import (
    blocks_from_json,
    blocks_to_json,
    is_storable,
    pairs_to_json,
    storable,
)
from core.domain.documents import Block, PageRef, PlacedPage, walk
from core.domain.ids import BlockId, PageId
from core.domain.models import Fingerprint
from core.domain.references import referenced
from core.domain.trees import mirrored
from core.ports import PageState, PendingPage, StoredPage

_log = logging.getLogger(__name__)

_PUT = """
INSERT INTO notion_pages AS page (
    id, parent_id, data_source_id, object_type, title, url, content_text, content_hash, blocks, properties,
    refers_to, language, configuration, last_edited, last_edited_by, source, synced_at
)
SELECT
    given.id, given.parent_id, given.data_source_id, given.object_type, given.title, given.url,
    given.content_text, given.content_hash, given.blocks::jsonb, given.properties::jsonb,
    given.refers_to::uuid[], given.language, footnote_configuration(given.language), given.last_edited,
    given.last_edited_by, given.source, coalesce(given.seen_at, now())
FROM unnest(
    $1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
    $9::text[], $10::text[], $11::text[], $12::text[], $13::timestamptz[], $14::text[], $15::text[],
    $16::timestamptz[]
) AS given (
    id, parent_id, data_source_id, object_type, title, url, content_text, content_hash,
    blocks, properties, refers_to, language, last_edited, last_edited_by, source, seen_at
)
ORDER BY given.id
ON CONFLICT (id) DO UPDATE SET
    parent_id = excluded.parent_id,
    data_source_id = excluded.data_source_id,
    object_type = excluded.object_type,
    title = excluded.title,
    url = excluded.url,
    content_text = excluded.content_text,
    content_hash = excluded.content_hash,
    blocks = excluded.blocks,
    properties = excluded.properties,
    refers_to = excluded.refers_to,
    language = excluded.language,
    configuration = excluded.configuration,
    last_edited = excluded.last_edited,
    last_edited_by = excluded.last_edited_by,
    source = excluded.source,
    synced_at = excluded.synced_at,
    revision = page.revision + (page.content_hash <> excluded.content_hash)::int
"""

# A page without text has nothing to embed: what was found in it before must not answer any longer (U4).
_EMPTY = """
WITH emptied AS (
    SELECT id, revision FROM notion_pages WHERE id = ANY ($1::uuid[]) AND NOT has_text
), removed AS (
    DELETE FROM notion_embeddings WHERE page_id IN (SELECT id FROM emptied)
)
UPDATE notion_embedded AS state
SET revision = emptied.revision, embedded_at = now()
FROM emptied
WHERE state.page_id = emptied.id
"""

STATE_COLUMNS = (
    f"{REF_COLUMNS}, page.content_hash, page.revision, page.synced_at, page.embedded_at, page.source"
)

_STATES = f"""
SELECT {STATE_COLUMNS}
FROM notion_pages AS page
WHERE page.id = ANY ($1::uuid[])
"""

_PENDING = f"""
SELECT {REF_COLUMNS}, page.path, page.blocks, page.revision
FROM notion_pages AS page
LEFT JOIN notion_embedded AS state ON state.page_id = page.id AND state.fingerprint = $1
WHERE page.has_text
  AND state.revision IS DISTINCT FROM page.revision
  AND ($2::uuid IS NULL OR page.id > $2::uuid)
ORDER BY page.id
LIMIT $3
"""

_COUNT_PENDING = """
SELECT count(*)
FROM notion_pages AS page
LEFT JOIN notion_embedded AS state ON state.page_id = page.id AND state.fingerprint = $1
WHERE page.has_text AND state.revision IS DISTINCT FROM page.revision
"""

_CHILDREN = """
SELECT id FROM notion_pages WHERE parent_id = $1::uuid ORDER BY id
"""

_ABOVE = f"""
SELECT {REF_COLUMNS} FROM notion_pages AS page WHERE page.id = ANY ($1::uuid[])
"""

_ALL_STATES = f"""
SELECT {STATE_COLUMNS}
FROM notion_pages AS page
WHERE $1::uuid IS NULL OR page.id > $1::uuid
ORDER BY page.id
LIMIT $2
"""

# Links show titles: whoever links to a page that came, went or was renamed is cut anew.
_MARK_REFERRING = "UPDATE notion_pages SET revision = revision + 1 WHERE refers_to && $1::uuid[]"

_SHOWN = "SELECT id, title, url FROM notion_pages WHERE id = ANY ($1::uuid[])"

_REFERRING = "SELECT id FROM notion_pages WHERE refers_to && $1::uuid[] ORDER BY id"

_TOUCH = """
UPDATE notion_pages AS page
SET synced_at = $3, last_edited = seen.last_edited
FROM unnest($1::uuid[], $2::timestamptz[]) AS seen (id, last_edited)
WHERE page.id = seen.id
"""

_REMOVE = """
WITH removed AS (
    DELETE FROM notion_pages WHERE id = ANY ($1::uuid[]) RETURNING id, title, url
), noted AS (
    INSERT INTO notion_tombstones (page_id, proof, title, url)
    SELECT id, $2, title, url FROM removed
    ON CONFLICT (page_id) DO UPDATE
    SET proof = excluded.proof, title = excluded.title, url = excluded.url, removed_at = now()
)
SELECT count(*) FROM removed
"""


async def put(connection: Connection, pages: Sequence[StoredPage]) -> None:
    """Store or update pages; triggers keep paths, breadcrumbs and the generation."""
    latest = {stored.page.ref.id: stored for stored in pages}
    rows = [_row(stored) for stored in latest.values()]
    ids = list(latest)
    shown = {row["id"]: (row["title"], row["url"]) for row in await connection.fetch(_SHOWN, ids)}
    await connection.execute(_PUT, *map(list, zip(*rows, strict=True)))
    renamed = [page_id for page_id, stored in latest.items() if shown.get(page_id) != _shown(stored)]
    if renamed:
        await connection.execute(_MARK_REFERRING, renamed)
    await connection.execute(_EMPTY, ids)
    await connection.execute("DELETE FROM notion_tombstones WHERE page_id = ANY ($1::uuid[])", ids)


async def states(connection: Connection, ids: Sequence[PageId]) -> Mapping[PageId, PageState]:
    """What is known of these pages."""
    rows = await connection.fetch(_STATES, list(ids))
    return {PageId(row["id"]): _state(row) for row in rows}


async def all_states(connection: Connection, *, limit: int, after: PageId | None) -> Sequence[PageState]:
    """What is known of all pages, in order of id."""
    return [_state(row) for row in await connection.fetch(_ALL_STATES, after, limit)]


def _state(row: asyncpg.Record) -> PageState:
    return PageState(
        ref=page_ref(row),
        content_hash=row["content_hash"],
        revision=row["revision"],
        synced_at=row["synced_at"],
        embedded_at=row["embedded_at"],
        source=row["source"],
    )


async def pending(
    connection: Connection, fingerprint: Fingerprint, *, limit: int, after: PageId | None
) -> Sequence[PendingPage]:
    """Pages with text whose passages under this fingerprint are missing or of an older revision."""
    rows = await connection.fetch(_PENDING, fingerprint, after, limit)
    wanted = {one for row in rows for one in row["path"]}
    above = {PageId(row["id"]): page_ref(row) for row in await connection.fetch(_ABOVE, list(wanted))}
    return [
        PendingPage(
            placed=PlacedPage(ref=page_ref(row), ancestors=ancestors(page_ref(row), above)),
            blocks=blocks_from_json(row["blocks"]),
            revision=row["revision"],
        )
        for row in rows
    ]


async def count_pending(connection: Connection, fingerprint: Fingerprint) -> int:
    """How many pages wait to be embedded under this fingerprint."""
    found: int = await connection.fetchval(_COUNT_PENDING, fingerprint)
    return found


async def stored_blocks(connection: Connection, page_id: PageId) -> tuple[Block, ...] | None:
    """The tree of a page as it was read."""
    stored = await connection.fetchval("SELECT blocks FROM notion_pages WHERE id = $1::uuid", page_id)
    return None if stored is None else blocks_from_json(stored)


async def child_ids(connection: Connection, page_id: PageId) -> Sequence[PageId]:
    """What is stored directly below a page."""
    return [PageId(row["id"]) for row in await connection.fetch(_CHILDREN, page_id)]


def ancestors(ref: PageRef, known: Mapping[PageId, PageRef]) -> tuple[PageRef, ...]:
    """The pages above ``ref`` from the top down, as far as they are known; each at most once (K15, U12)."""
    found: list[PageRef] = []
    seen = {ref.id}
    parent = ref.parent_id
    while parent is not None and parent in known and parent not in seen:
        seen.add(parent)
        found.append(known[parent])
        parent = known[parent].parent_id
    return tuple(reversed(found))


async def touch(connection: Connection, refs: Sequence[PageRef], synced_at: datetime) -> None:
    """Note that pages were seen unchanged."""
    await connection.execute(_TOUCH, [ref.id for ref in refs], [ref.last_edited for ref in refs], synced_at)


async def referring(connection: Connection, ids: Sequence[PageId | BlockId]) -> Sequence[PageId]:
    """The pages that refer to one of these, or show them."""
    return [PageId(row["id"]) for row in await connection.fetch(_REFERRING, list(ids))]


async def remove(connection: Connection, ids: Sequence[PageId], proof: str) -> int:
    """Remove pages with all that hangs on them, and remember why."""
    removed: int = await connection.fetchval(_REMOVE, list(ids), storable(proof))
    if removed:
        await connection.execute(_MARK_REFERRING, list(ids))
    return removed


def _row(stored: StoredPage) -> tuple[object, ...]:
    page, ref = stored.page, stored.page.ref
    if not all(map(is_storable, _texts(stored))):
        _log.warning("page %s holds signs that PostgreSQL cannot store; they were removed", ref.id)
    return (
        ref.id,
        ref.parent_id,
        ref.data_source_id,
        ref.object_type.value,
        storable(ref.title),
        storable(ref.url),
        storable(stored.content_text),
        stored.content_hash,
        blocks_to_json(page.blocks),
        pairs_to_json(ref.properties),
        "{" + ",".join((*referenced(_texts(stored)), *mirrored(page.blocks))) + "}",
        stored.language,
        ref.last_edited,
        storable(ref.last_edited_by) if ref.last_edited_by is not None else None,
        stored.source,
        stored.seen_at,
    )


def _shown(stored: StoredPage) -> tuple[str, str]:
    """What links to a page show."""
    return storable(stored.page.ref.title), storable(stored.page.ref.url)


def _texts(stored: StoredPage) -> Iterable[str]:
    ref = stored.page.ref
    yield from (ref.title, ref.url, stored.content_text, ref.last_edited_by or "")
    for pair in ref.properties:
        yield from pair
    for block, _ in walk(stored.page.blocks):
        yield block.text
