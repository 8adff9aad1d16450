"""Texts and block trees in forms that PostgreSQL can hold."""

import json
import re
from collections.abc import Sequence

from adapters.markup.tree_json import blocks_of, rows_of
from core.domain.documents import Block, Heading

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
    """The tree as a flat JSON list."""
    rows = ({**row, "text": storable(row["text"])} if "text" in row else row for row in rows_of(blocks))
    return json.dumps(list(rows), ensure_ascii=False, separators=(",", ":"))


def blocks_from_json(stored: str) -> tuple[Block, ...]:
    """The tree that `blocks_to_json` wrote."""
    return blocks_of(json.loads(stored))


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
