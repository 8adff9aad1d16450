"""A tree of blocks as flat rows with depths: nested JSON would hit limits that Notion does not have."""

from collections.abc import Iterator, Sequence
from typing import Any

from core.domain.documents import Block, BlockKind
from core.domain.ids import BlockId

Row = dict[str, Any]
"""One block as JSON holds it; what is empty is left out."""


def rows_of(blocks: Sequence[Block]) -> Iterator[Row]:
    """Every block in reading order."""
    stack = [(block, 0) for block in reversed(blocks)]
    while stack:
        block, depth = stack.pop()
        row: Row = {"kind": block.kind.value, "depth": depth}
        if block.text:
            row["text"] = block.text
        if block.id is not None:
            row["id"] = block.id
        if block.level:
            row["level"] = block.level
        if block.file_key:
            row["file"] = block.file_key
        if block.note:
            row["note"] = block.note
        if block.mirrors is not None:
            row["mirrors"] = block.mirrors
        yield row
        stack.extend((child, depth + 1) for child in reversed(block.children))


def blocks_of(rows: Sequence[Row]) -> tuple[Block, ...]:
    """The tree that `rows_of` flattened."""
    # From the end: when a block is reached, everything below it has been built and waits at its depth + 1.
    waiting: dict[int, list[Block]] = {}
    for row in reversed(rows):
        depth: int = row["depth"]
        children = tuple(reversed(waiting.pop(depth + 1, [])))
        block = Block(
            kind=BlockKind(row["kind"]),
            text=row.get("text", ""),
            id=BlockId(row["id"]) if "id" in row else None,
            level=row.get("level", 0),
            children=children,
            file_key=row.get("file", ""),
            note=row.get("note", ""),
            mirrors=BlockId(row["mirrors"]) if "mirrors" in row else None,
        )
        waiting.setdefault(depth, []).append(block)
    return tuple(reversed(waiting.get(0, [])))
