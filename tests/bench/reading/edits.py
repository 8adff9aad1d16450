"""A page with a line more, or without what answers: the same page, and another verdict."""

import random
import re
from dataclasses import replace
from itertools import pairwise

from tests.bench.reading.groups import GroupPage

_BREAK = re.compile(r"\n+|(?<=[.!?…])\s+(?=\S)")
"""Between two lines or sentences."""

WHOLE = 200
"""An answer of more characters may be the begin only of one: so they were asked for."""


def with_line(page: GroupPage, line: str, draw: random.Random) -> tuple[GroupPage, int]:
    """The page with the line somewhere between its own, and where it begins."""
    breaks = list(_BREAK.finditer(page.text))
    gap = "\n" if "\n" in page.text else " "
    places = [one.start() for one in breaks] + [len(page.text)]
    at = draw.choice(places)
    text = f"{page.text[:at]}{gap}{line}{page.text[at:]}"
    return replace(page, text=text), at + len(gap)


def beside(page: GroupPage, other: GroupPage, draw: random.Random) -> tuple[GroupPage, int]:
    """The page with another one's title and text before or behind its own, and where its own begins.

    So long are the passages of an index, and so mixed.
    """
    name = other.title if other.heading is None else other.heading
    more = f"{name}\n{other.text}"
    if draw.random() < 1 / 2:
        return replace(page, text=f"{page.text}\n{more}"), 0
    return replace(page, text=f"{more}\n{page.text}"), len(more) + 1


def without(page: GroupPage, answer: str) -> GroupPage | None:
    """The page without the lines or sentences that have the answer, or a part of it.

    Null where the answer stands elsewhere too, where nothing would be left, and where it is so long that it
    may be a part only of what answers.
    """
    if len(answer) > WHOLE:
        return None
    begin = page.text.index(answer)
    end = begin + len(answer)
    bounds = [0, *(one.end() for one in _BREAK.finditer(page.text)), len(page.text)]
    kept = [page.text[first:last] for first, last in pairwise(bounds) if last <= begin or first >= end]
    text = "".join(kept).strip()
    known = f"{page.title} {page.heading or ''} {text}".casefold()
    if not text or answer.casefold() in known:
        return None
    return replace(page, text=text)
