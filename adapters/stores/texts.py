"""Texts and block trees in forms that PostgreSQL can hold."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from core.domain.documents import Block, BlockKind, Heading
from core.domain.ids import BlockId

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """``text`` without NUL, which PostgreSQL refuses, and with U+FFFD for halves of surrogate pairs."""
    if _UNSTORABLE.search(text) is None:
        return text
    return _UNSTORABLE.sub(lambda found: "" if found.group() == "\x00" else "\ufffd", text)


def is_storable(text: str) -> bool:
    """Whether `storable` would leave the text as it is."""
    return _UNSTORABLE.search(text) is None


def blocks_to_json(blocks: Sequence[Block]) -> str:
    """The tree as a flat JSON list with depths: nested JSON would hit limits that Notion does not have."""
    return json.dumps(list(_flat(blocks)), ensure_ascii=False, separators=(",", ":"))


def _flat(blocks: Sequence[Block]) -> Iterator[dict[str, Any]]:
    stack = [(block, 0) for block in reversed(blocks)]
    while stack:
        block, depth = stack.pop()
        row: dict[str, Any] = {"kind": block.kind.value, "depth": depth}
        if block.text:
            row["text"] = storable(block.text)
        if block.id is not None:
            row["id"] = block.id
        if block.level:
            row["level"] = block.level
        yield row
        stack.extend((child, depth + 1) for child in reversed(block.children))


def blocks_from_json(stored: str) -> tuple[Block, ...]:
    """The tree that `blocks_to_json` wrote."""
    rows: list[dict[str, Any]] = json.loads(stored)
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
        )
        waiting.setdefault(depth, []).append(block)
    return tuple(reversed(waiting.get(0, [])))


def headings_to_json(path: Sequence[Heading]) -> str:
    """A heading path as ``[[level, text], ...]``."""
    return json.dumps([[heading.level, storable(heading.text)] for heading in path], ensure_ascii=False)


def headings_from_json(stored: str) -> tuple[Heading, ...]:
    """The path that `headings_to_json` wrote."""
    return tuple(Heading(level, text) for level, text in json.loads(stored))


def pairs_to_json(pairs: Sequence[tuple[str, str]]) -> str:
    """Rendered properties as ``[[name, value], ...]``, in their order."""
    return json.dumps([[storable(name), storable(value)] for name, value in pairs], ensure_ascii=False)


def pairs_from_json(stored: str) -> tuple[tuple[str, str], ...]:
    """The pairs that `pairs_to_json` wrote."""
    return tuple((name, value) for name, value in json.loads(stored))
