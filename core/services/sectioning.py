"""A page's block tree as a list of sections, each with the headings above it and its paragraphs.

Headings come from heading blocks alone, never from text, so nothing in code, quotes or prose can open one.
A heading inside a toggle, column or callout opens a section of its level; behind the container the headings
that stood before it hold again. What stands inside a toggle heading stands under it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from core.domain.documents import PART_LEVEL, Block, BlockKind, Heading
from core.domain.ids import BlockId
from core.services.splitting import mend

DEEPEST_SECTION = 3
"""Headings of levels 1 to 3 open sections (inventory row 20)."""

DEEPEST_INDENT = 24
"""Columns; items nested further are not indented further, or indentation would be all there is."""

_LIST_MARKER = re.compile(r"(?:[-*+•▸]|\d{1,9}[.)])[ \t]+")
_INDENT_STEP = 2


@dataclass(frozen=True, slots=True)
class Paragraph:
    """The text of one block as it is written into chunks, indented below its list item."""

    text: str
    kind: BlockKind
    block_id: BlockId | None = None


@dataclass(frozen=True, slots=True, eq=False)
class HeadingNode:
    """One heading of the page; two headings with the same words are different ones."""

    heading: Heading
    block_id: BlockId | None
    file_key: str = ""


@dataclass(slots=True)
class Section:
    """What stands under one heading up to the next, the heading's own ancestors first in ``path``."""

    path: tuple[HeadingNode, ...]
    paragraphs: list[Paragraph] = field(default_factory=list)

    @property
    def headings(self) -> tuple[Heading, ...]:
        """The heading path as chunks carry it."""
        return tuple(node.heading for node in self.path)


@dataclass(frozen=True, slots=True)
class _Leave:
    """On the stack behind a container's children: the path that holds again."""

    path: tuple[HeadingNode, ...]


def paragraphs_with_paths(
    blocks: Sequence[Block],
) -> Iterator[tuple[tuple[HeadingNode, ...], Paragraph | None]]:
    """Everything on the page in reading order with the headings above it; null marks a heading itself."""
    path: tuple[HeadingNode, ...] = ()
    stack: list[tuple[Block, int] | _Leave] = [(block, 0) for block in reversed(blocks)]
    while stack:
        item = stack.pop()
        if isinstance(item, _Leave):
            path = item.path
            continue
        block, indent = item
        if heading := _placed_heading(block, path):
            above = tuple(node for node in path if node.heading.level < heading.level)
            path = (*above, HeadingNode(heading, block.id, block.file_key))
            yield path, None
        elif (text := paragraph_text(block, indent)).strip():
            yield path, Paragraph(text, block.kind, block.id)
        if block.children:
            stack.append(_Leave(path))
            below = indent_below(block, indent)
            stack.extend((child, below) for child in reversed(block.children))


def sections(blocks: Sequence[Block]) -> list[Section]:
    """The sections in reading order. Headings with nothing below them are gathered into one of their own."""
    found: list[Section] = []
    for path, paragraph in paragraphs_with_paths(blocks):
        if paragraph is None or not found or found[-1].path != path:
            found.append(Section(path))
        if paragraph is not None:
            found[-1].paragraphs.append(paragraph)
    return list(_with_bare_headings(found))


def heading_of(block: Block) -> Heading | None:
    """The heading that this block opens a section with; null for empty and deeper ones."""
    if block.kind is BlockKind.PART:
        name = " ".join(mend(block.text).split())
        return Heading(PART_LEVEL, name) if name else None
    if block.kind is not BlockKind.HEADING or not 1 <= block.level <= DEEPEST_SECTION:
        return None
    text = " ".join(mend(block.text).split())
    return Heading(block.level, text) if text else None


def _placed_heading(block: Block, path: tuple[HeadingNode, ...]) -> Heading | None:
    """The heading below what stands above it: those inside a part stay below the part's name."""
    heading = heading_of(block)
    if heading is None or block.kind is BlockKind.PART:
        return heading
    inside = any(node.heading.level >= PART_LEVEL for node in path)
    return Heading(heading.level + PART_LEVEL, heading.text) if inside else heading


def paragraph_text(block: Block, indent: int) -> str:
    """The block's own text, indented; empty where it has none."""
    text = mend(block.text).strip("\r\n").rstrip()
    if not text.strip() or not indent:
        return text
    margin = " " * indent
    return "\n".join(margin + line if line.strip() else line for line in text.split("\n"))


def indent_below(block: Block, indent: int) -> int:
    """The column where the children of this block start: behind the marker of a list item."""
    if block.kind is not BlockKind.LIST_ITEM:
        return indent
    marker = _LIST_MARKER.match(block.text)
    step = min(len(marker.group()), 4) if marker else _INDENT_STEP
    return min(indent + step, DEEPEST_INDENT)


def _with_bare_headings(found: Sequence[Section]) -> Iterator[Section]:
    """Headings that stand above no paragraph become text, so that their words are found all the same."""
    covered = {node for section in found if section.paragraphs for node in section.path}
    bare: list[Section] = []
    for section in found:
        if section.paragraphs:
            yield from _gathered(bare)
            bare = []
            yield section
        elif section.path[-1] not in covered:
            bare.append(section)
    yield from _gathered(bare)


def _gathered(bare: Sequence[Section]) -> Iterator[Section]:
    if not bare:
        return
    lines = [
        Paragraph(str(section.path[-1].heading), BlockKind.HEADING, section.path[-1].block_id)
        for section in bare
    ]
    yield Section(_shared_path([section.path for section in bare]), lines)


def _shared_path(paths: Sequence[tuple[HeadingNode, ...]]) -> tuple[HeadingNode, ...]:
    shared = []
    for nodes in zip(*paths, strict=False):
        if any(node is not nodes[0] for node in nodes):
            break
        shared.append(nodes[0])
    return tuple(shared)
