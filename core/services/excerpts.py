"""The part of a long text that a question is about: what a page found as a whole is quoted by."""

import re
from collections.abc import Iterable, Sequence

from core.services.tokens import fold, word_forms

EXCERPT_LENGTH = 600
"""Characters, as long as a chunk."""

_FENCE = re.compile(r"^\s{0,3}(?P<fence>`{3,}|~{3,})")


def best_excerpt(text: str, terms: Iterable[str], *, length: int = EXCERPT_LENGTH) -> str:
    """The paragraph with the most of the terms and what fits around it; the beginning where none has any.

    Paragraphs, lists, tables and fenced code are never cut in two unless one alone is longer than ``length``.
    """
    paragraphs = paragraphs_of(text)
    if not paragraphs:
        return ""
    wanted = frozenset(fold(term) for term in terms)
    hits = [len(wanted & word_forms(paragraph)) for paragraph in paragraphs]
    first = max(range(len(paragraphs)), key=lambda place: (hits[place], -place))
    return _grow(paragraphs, first, length)


def paragraphs_of(text: str) -> tuple[str, ...]:
    """The blocks of a Markdown text between blank lines; fenced code stays whole."""
    blocks: list[list[str]] = [[]]
    fence = ""
    for line in text.splitlines():
        opened = _FENCE.match(line)
        if fence:
            blocks[-1].append(line)
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif not line.strip():
            blocks.append([])
        else:
            fence = opened["fence"] if opened else ""
            blocks[-1].append(line)
    return tuple("\n".join(block) for block in blocks if block)


def _grow(paragraphs: Sequence[str], first: int, length: int) -> str:
    """Add the following paragraphs, then the preceding ones, while they fit."""
    start, end = first, first + 1
    if len(paragraphs[first]) > length:
        return cut(paragraphs[first], length)
    while end < len(paragraphs) and _size(paragraphs[start : end + 1]) <= length:
        end += 1
    while start > 0 and _size(paragraphs[start - 1 : end]) <= length:
        start -= 1
    return "\n\n".join(paragraphs[start:end])


def cut(text: str, length: int) -> str:
    """The beginning of a text, ended at a line or a word."""
    if len(text) <= length:
        return text
    head = text[: length - 1]
    for sign in ("\n", " "):
        if (at := head.rfind(sign)) > length // 2:
            return head[:at].rstrip() + " …"
    return head + "…"


def _size(paragraphs: Sequence[str]) -> int:
    return sum(len(paragraph) + 2 for paragraph in paragraphs)
