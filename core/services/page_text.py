"""A whole page as plain text that keeps its Markdown structure, for full-text search and summaries."""

from collections.abc import Iterator, Sequence

from core.domain.documents import Block, BlockKind, PageRef
from core.services.sectioning import heading_of, indent_below, paragraph_text
from core.services.splitting import mend


def page_text(ref: PageRef, blocks: Sequence[Block]) -> str:
    """Properties, then every block in reading order; headings with hash marks, nested items indented.

    The title is not part of it (it is searched in a field of its own), so a page without text gives ``""``.
    Items of one list stand on consecutive lines, everything else is set apart by an empty line.
    """
    parts: list[str] = []
    properties = property_lines(ref)
    if properties:
        parts.append("\n".join(properties))
    in_list = False
    for text, kind in _lines(blocks):
        is_item = kind is BlockKind.LIST_ITEM
        if parts:
            parts.append("\n" if is_item and in_list else "\n\n")
        parts.append(text)
        in_list = is_item
    return "".join(parts)


def property_lines(ref: PageRef) -> list[str]:
    """The properties of a database row as lines ``Name: value``; those without a value are left out."""
    return [
        mend(f"{' '.join(name.split())}: {' '.join(value.split())}")
        for name, value in ref.properties
        if value.strip()
    ]


def _lines(blocks: Sequence[Block]) -> Iterator[tuple[str, BlockKind]]:
    stack = [(block, 0) for block in reversed(blocks)]
    while stack:
        block, indent = stack.pop()
        if heading := heading_of(block):
            yield str(heading), block.kind
        elif (text := paragraph_text(block, indent)).strip():
            yield text, block.kind
        below = indent_below(block, indent)
        stack.extend((child, below) for child in reversed(block.children))
