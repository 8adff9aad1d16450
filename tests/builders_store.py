"""Pages, chunks and vectors that show only what matters to a test of the index."""

from collections.abc import Sequence
from hashlib import sha256
from uuid import UUID

import numpy as np

from core.domain.documents import Block, BlockKind, Chunk, Heading, ObjectType, Page, PageRef
from core.domain.ids import BlockId, PageId
from core.domain.models import ModelProfile, Vector
from core.ports import IndexedChunk, PageWriter, StoredPage, WordQuery

DIMENSIONS = 8
PROFILE = ModelProfile(name="test:tiny", dimensions=DIMENSIONS)
FINGERPRINT = PROFILE.fingerprint("chunker-1")


def page_id(number: int) -> PageId:
    """A canonical id; equal numbers make equal ids."""
    return PageId(str(UUID(int=number)))


def block_id(number: int) -> BlockId:
    """A canonical block id."""
    return BlockId(str(UUID(int=10**9 + number)))


def a_ref(number: int, *, title: str | None = None, parent: int | None = None, **more: object) -> PageRef:
    """Page ``number``, below page ``parent``."""
    values: dict[str, object] = {
        "id": page_id(number),
        "title": f"Page {number}" if title is None else title,
        "url": f"https://www.notion.so/{page_id(number).replace('-', '')}",
        "parent_id": page_id(parent) if parent is not None else None,
        "object_type": ObjectType.PAGE,
    }
    return PageRef(**(values | more))  # type: ignore[arg-type]  # keywords of a dataclass


def a_page(
    number: int,
    text: str = "Some text.",
    *,
    title: str | None = None,
    parent: int | None = None,
    language: str = "",
    **more: object,
) -> StoredPage:
    """A page of one paragraph, hashed as the sync would."""
    ref = a_ref(number, title=title, parent=parent, **more)
    block = Block(kind=BlockKind.PARAGRAPH, text=text, id=block_id(number))
    hashed = sha256(
        repr((ref.title, ref.parent_id, ref.url, ref.properties, text)).encode("utf-8", "replace")
    )
    return StoredPage(
        page=Page(ref=ref, blocks=(block,) if text else ()),
        content_text=text,
        content_hash=hashed.hexdigest(),
        language=language,
    )


def a_vector(*figures: float, dimensions: int = DIMENSIONS) -> Vector:
    """The given figures, then zeros."""
    vector = np.zeros(dimensions, dtype=np.float32)
    vector[: len(figures)] = figures
    return vector


def at_angle(degrees: float) -> Vector:
    """A unit vector whose cosine with ``a_vector(1)`` is that of the angle."""
    return a_vector(np.cos(np.radians(degrees)), np.sin(np.radians(degrees)))


def a_chunk(
    page: int,
    index: int = 0,
    body: str = "Some text.",
    *,
    vector: Vector | None = None,
    breadcrumb: str = "",
    headings: Sequence[str] = (),
    language: str = "",
    level: int = 1,
) -> IndexedChunk:
    """A chunk of page ``page`` with its vector; the hash is that of the text embedded."""
    chunk = Chunk(
        page_id=page_id(page),
        index=index,
        body=body,
        breadcrumb=breadcrumb or f"Page {page}",
        heading_path=tuple(Heading(depth + 1, text) for depth, text in enumerate(headings)),
        block_id=block_id(index),
        level=level,
    )
    hashed = sha256(chunk.text_to_embed.encode("utf-8", "replace")).hexdigest()
    return IndexedChunk(
        chunk=chunk, vector=a_vector(1) if vector is None else vector, text_hash=hashed, language=language
    )


def words(*terms: str, language: str = "") -> WordQuery:
    """A question for any of these terms."""
    return WordQuery(text=" ".join(terms), terms=terms, language=language)


NO_WORDS = WordQuery(text="", terms=())


async def index_page(writer: PageWriter, page: StoredPage, *chunks: IndexedChunk) -> None:
    """Store a page and all its chunks, as a sync would."""
    await writer.put_pages([page])
    state = (await writer.states([page.page.ref.id]))[page.page.ref.id]
    assert await writer.swap_chunks(page.page.ref.id, revision=state.revision, chunks=chunks)
