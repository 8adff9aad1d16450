"""Pages for the chunker's tests, showing only what matters to each."""

from collections.abc import Sequence
from typing import Any

from core.domain.documents import Block, BlockKind, Chunk, PageRef, PlacedPage
from core.domain.ids import BlockId, PageId
from core.services.chunking import ChunkSettings, chunk_page


def a_page(title: str = "Doc", *ancestors: str, properties: tuple[tuple[str, str], ...] = ()) -> PlacedPage:
    """A page with this title below ancestors with those, top first."""
    above = tuple(
        PageRef(PageId(f"ancestor-{number}"), name, "https://www.notion.so/a")
        for number, name in enumerate(ancestors)
    )
    return PlacedPage(PageRef(PageId("page"), title, "https://www.notion.so/p", properties=properties), above)


def text(content: str, block: str | None = None) -> Block:
    """A paragraph."""
    return Block(BlockKind.PARAGRAPH, content, BlockId(block) if block else None)


def heading(level: int, content: str, *children: Block, block: str | None = None) -> Block:
    """A heading, with children where it is a toggle."""
    return Block(BlockKind.HEADING, content, BlockId(block) if block else None, level, children)


def item(content: str, *children: Block, block: str | None = None) -> Block:
    """A list item or toggle; the text carries the marker."""
    return Block(BlockKind.LIST_ITEM, content, BlockId(block) if block else None, 0, children)


def container(*children: Block) -> Block:
    """A column, synced block or the like."""
    return Block(BlockKind.CONTAINER, children=children)


def chunks_of(*blocks: Block, title: str = "Doc", **settings: Any) -> tuple[Chunk, ...]:
    """The chunks of a page with these blocks."""
    return chunk_page(a_page(title), blocks, ChunkSettings(**settings))


def bodies(chunks: Sequence[Chunk]) -> list[str]:
    """The bodies alone."""
    return [chunk.body for chunk in chunks]


def contexts(chunks: Sequence[Chunk]) -> list[str]:
    """The heading path of each chunk as ``# Main > ## Sub``."""
    return [" > ".join(map(str, chunk.heading_path)) for chunk in chunks]


def own_text(chunk: Chunk) -> str:
    """The body without what it repeats of the chunk before."""
    return chunk.body[chunk.overlap :]
