"""A cited passage, read once for checking: its facts, its words, what it says one by one. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.domain.answers import Passage
from core.services import languages
from core.services.facts import facts_of
from core.services.markdown_text import plain
from core.services.orders import without_orders
from core.services.overlap import words_of
from core.services.said import Said, said_by
from core.services.units import Kind, groups_of, units_of

_SIGNS = re.compile(r"[`|*_#>-]")
_SEPARATOR = re.compile(r"^\s*+\|?\s*+:?-+:?\s*+(?:\|\s*+:?-+:?\s*+)*\|?\s*$")


@dataclass(frozen=True, slots=True)
class Group:
    """The rows of a table or the items of a list, and the rest of the passage."""

    items: tuple[str, ...]
    around: str


@dataclass(frozen=True, slots=True)
class Read:
    """What one or several passages say.

    ``units`` are their sentences, rows and items as plain text; ``groups`` its tables and lists.
    ``language`` is the first passage's.
    """

    text: str
    language: str
    units: tuple[str, ...]
    groups: tuple[Group, ...]
    said: Said
    words: frozenset[str]


def read(passage: Passage, language: str) -> Read:
    """The passage with its title and headings, for statements in ``language``."""
    candidate = passage.candidate
    headings = "\n".join(heading.text for heading in candidate.heading_path)
    above = f"{candidate.breadcrumb or candidate.title}\n{headings}"
    spoken = candidate.language or languages.detect(_SIGNS.sub(" ", candidate.body))
    body = without_orders(candidate.body)
    text = f"{above}\n{body}"
    return Read(
        text=text,
        language=spoken,
        units=tuple(unit.plain for unit in units_of(body) if unit.plain),
        groups=tuple(_groups(body, above)),
        said=said_by(text, facts_of(text, (spoken, language), is_source=True)),
        words=words_of(text).all,
    )


def together(parts: Sequence[Read]) -> Read:
    """Several passages as one source."""
    if len(parts) == 1:
        return parts[0]
    return Read(
        text="\n".join(part.text for part in parts),
        language=parts[0].language,
        units=tuple(unit for part in parts for unit in part.units),
        groups=tuple(group for part in parts for group in part.groups),
        said=Said(
            numbers=tuple(one for part in parts for one in part.said.numbers),
            dates=tuple(one for part in parts for one in part.said.dates),
            clocks=frozenset[int]().union(*(part.said.clocks for part in parts)),
            named=frozenset[tuple[str, int]]().union(*(part.said.named for part in parts)),
            literals=frozenset[str]().union(*(part.said.literals for part in parts)),
            text=" ".join(part.said.text for part in parts),
        ),
        words=frozenset[str]().union(*(part.words for part in parts)),
    )


def _groups(body: str, above: str) -> list[Group]:
    groups = list(groups_of(body))
    found: list[Group] = []
    for place, (kind, lines) in enumerate(groups):
        if kind not in (Kind.TABLE, Kind.LIST):
            continue
        rows = [line for line in lines if not _SEPARATOR.match(line)]
        has_header = kind is Kind.TABLE and len(lines) > 1 and _SEPARATOR.match(lines[1]) is not None
        items = tuple(map(plain, rows[1:] if has_header else rows))
        if len(items) > 1:
            others = [line for at, (_kind, other) in enumerate(groups) if at != place for line in other]
            header = rows[:1] if has_header else []
            found.append(Group(items=items, around="\n".join((above, *others, *header))))
    return found
