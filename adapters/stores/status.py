"""The six checks of a healthy index, and its totals (inventory row 96)."""

from dataclasses import dataclass

import numpy as np

import migrations
from adapters.stores.connecting import Connection
from adapters.stores.fingerprints import Contract
from adapters.stores.quoting import index_name
from adapters.stores.search_sql import Space

_COUNTS = """
SELECT
    (SELECT count(*) FROM notion_pages) AS pages,
    (SELECT count(*) FROM notion_pages WHERE NOT has_text) AS empty_pages,
    (
        SELECT count(*)
        FROM notion_pages AS page
        LEFT JOIN notion_embedded AS state ON state.page_id = page.id AND state.fingerprint = $1
        WHERE page.has_text AND state.revision IS DISTINCT FROM page.revision
    ) AS pending,
    count(*) AS embeddings,
    count(*) FILTER (WHERE vector_dims(embedding) <> $2) AS wrong_dimensions,
    count(*) FILTER (
        WHERE page_title = '' AND chunk_level > 0
        AND EXISTS (SELECT FROM notion_pages AS page WHERE page.id = page_id AND btrim(page.title) <> '')
    ) AS without_title,
    count(*) FILTER (WHERE heading_context = '') AS without_heading,
    (SELECT count(*) FROM notion_embeddings WHERE fingerprint <> $1) AS of_other_fingerprints,
    (SELECT generation FROM index_state) AS generation,
    (SELECT active FROM index_state) AS active
FROM notion_embeddings
WHERE fingerprint = $1
"""

_INDEX = """
SELECT am.amname, index.indisvalid, class.reloptions
FROM pg_index AS index
JOIN pg_class AS class ON class.oid = index.indexrelid
JOIN pg_am AS am ON am.oid = class.relam
WHERE index.indexrelid = to_regclass($1)
"""


@dataclass(frozen=True, slots=True)
class IndexCounts:
    """What `footnote status` shows. ``vector_index`` is ``hnsw``, or empty if it is missing or unfinished.

    ``nearest_to_itself`` tells that a stored vector, searched for, finds a passage with cosine 1; null while
    the index is empty. ``without_title`` counts passages whose page has a title that they lack; a page that
    is nothing but a title has it as its text. ``without_heading`` is no fault by itself: text may stand above
    the first heading.
    """

    pages: int
    empty_pages: int
    pending: int
    embeddings: int
    of_other_fingerprints: int
    vector_index: str
    vector_index_options: tuple[str, ...]
    wrong_dimensions: int
    nearest_to_itself: bool | None
    without_title: int
    without_heading: int
    generation: int
    active: str | None


async def counts(connection: Connection, contract: Contract) -> IndexCounts:
    """Count and check what lies under the contract's fingerprint."""
    [row] = await connection.fetch(_COUNTS, contract.fingerprint, contract.profile.dimensions)
    index = await connection.fetchrow(
        _INDEX, index_name(contract.fingerprint, migrations.VECTOR_INDEX_VERSION)
    )
    method, options = (index["amname"], index["reloptions"]) if index and index["indisvalid"] else ("", ())
    return IndexCounts(
        pages=row["pages"],
        empty_pages=row["empty_pages"],
        pending=row["pending"],
        embeddings=row["embeddings"],
        of_other_fingerprints=row["of_other_fingerprints"],
        vector_index=method,
        vector_index_options=tuple(options or ()),
        wrong_dimensions=row["wrong_dimensions"],
        nearest_to_itself=await _finds_itself(connection, contract),
        without_title=row["without_title"],
        without_heading=row["without_heading"],
        generation=row["generation"],
        active=row["active"],
    )


async def _finds_itself(connection: Connection, contract: Contract) -> bool | None:
    space = Space(contract.fingerprint, contract.profile.dimensions)
    sample = await connection.fetchval(
        f"SELECT embedding FROM notion_embeddings WHERE fingerprint = {space.literal} ORDER BY id LIMIT 1"
    )
    if sample is None:
        return None
    distance: float = await connection.fetchval(
        f"""
        SELECT embedding <=> $1 FROM notion_embeddings AS chunk
        WHERE fingerprint = {space.literal} ORDER BY {space.distance("$1")} LIMIT 1
        """,
        sample,
    )
    return bool(np.isclose(distance, 0.0, atol=1e-5))
