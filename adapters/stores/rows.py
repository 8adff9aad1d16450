"""What the statements return, as values of the domain."""

from collections.abc import Sequence

import asyncpg

from adapters.stores.texts import headings_from_json, pairs_from_json
from core.domain.answers import Candidate
from core.domain.documents import ObjectType, PageRef
from core.domain.ids import BlockId, ChunkId, PageId
from core.domain.models import Vector

REF_COLUMNS = """
    page.id, page.title, page.url, page.parent_id, page.last_edited, page.object_type, page.properties,
    page.data_source_id, page.last_edited_by
"""


def page_ref(row: asyncpg.Record) -> PageRef:
    """A row with `REF_COLUMNS`."""
    return PageRef(
        id=PageId(row["id"]),
        title=row["title"],
        url=row["url"],
        parent_id=_page_id(row["parent_id"]),
        last_edited=row["last_edited"],
        object_type=ObjectType(row["object_type"]),
        properties=pairs_from_json(row["properties"]),
        data_source_id=_page_id(row["data_source_id"]),
        last_edited_by=row["last_edited_by"],
    )


def passage(row: asyncpg.Record) -> Candidate:
    """A row of `search_sql.passages`."""
    return Candidate(
        chunk_id=ChunkId(row["id"]),
        page_id=PageId(row["page_id"]),
        title=row["title"],
        breadcrumb=row["breadcrumb"],
        page_url=row["url"],
        body=row["chunk_text"],
        path=_path(row["path"]),
        block_id=BlockId(row["block_id"]) if row["block_id"] else None,
        heading_path=headings_from_json(row["heading_path"]),
        level=row["chunk_level"],
        index=row["chunk_index"],
        language=row["language"],
        last_edited=row["last_edited"],
        semantic_rank=row["semantic_rank"],
        lexical_rank=row["lexical_rank"],
        cosine=row["cosine"],
        lexical=row["lexical"],
    )


def vectors(rows: Sequence[asyncpg.Record]) -> dict[ChunkId, Vector]:
    """The embeddings of `search_sql.passages`, by passage."""
    return {ChunkId(row["id"]): row["embedding"].to_numpy() for row in rows if row["embedding"] is not None}


def shares(rows: Sequence[asyncpg.Record]) -> dict[ChunkId, float]:
    """How much of the question's words each passage has, by passage."""
    return {ChunkId(row["id"]): row["share"] for row in rows if row["share"] is not None}


def page_hit(row: asyncpg.Record) -> Candidate:
    """A row of `search_sql.pages`."""
    return Candidate(
        chunk_id=None,
        page_id=PageId(row["page_id"]),
        title=row["title"],
        breadcrumb=row["breadcrumb"],
        page_url=row["url"],
        body=row["snippet"],
        path=_path(row["path"]),
        language=row["page_language"],
        last_edited=row["last_edited"],
        lexical_rank=row["lexical_rank"],
        lexical=row["lexical"],
    )


def _path(ids: Sequence[str]) -> tuple[PageId, ...]:
    return tuple(PageId(one) for one in ids)


def _page_id(value: str | None) -> PageId | None:
    return PageId(value) if value else None
