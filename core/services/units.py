"""A passage as the things it says one by one: sentences, list items, table rows, code blocks. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from core.services.markdown_text import plain
from core.services.splitting import sentences

WHOLE_LIST = 500
"""Characters up to which a numbered list is one unit: steps are of no use one by one."""

_LIST_ITEM = re.compile(r"^(?P<indent>\s*)(?P<marker>[-*+•]|\d+[.)])\s+(?:\[[ xX]\]\s+)?(?P<text>.*)$")
_NUMBERED = re.compile(r"^\s*\d+[.)]\s")
_LINK_ALONE = re.compile(r"\W*\[(?:\\.|[^\[\]\\])*\]\([^()\s]*\)\W*")
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
_HEADING = re.compile(r"^#{1,6}\s")
_QUOTE = re.compile(r"^\s*>\s?")
_SEPARATOR = re.compile(r"^\s*+\|?\s*+:?-+:?\s*+(?:\|\s*+:?-+:?\s*+)*\|?\s*$")
_CELL = re.compile(r"(?<!\\)\|")


class Kind(StrEnum):
    """What a line of a passage belongs to."""

    PROSE = "prose"
    HEADING = "heading"
    LIST = "list"
    TABLE = "table"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Unit:
    """One thing that a passage says.

    ``text`` is Markdown as it would be quoted, ``plain`` is what it means on one line, with the context that
    it needs to be understood: the sentence that introduces a list or a code block.
    """

    text: str
    plain: str
    is_block: bool = False

    @property
    def is_link(self) -> bool:
        """Whether it only leads on: a link to another page, alone on its line."""
        return _LINK_ALONE.fullmatch(self.text.strip()) is not None


def units_of(body: str) -> tuple[Unit, ...]:
    """What a passage says, in order. Headings are no statements; if there is nothing else, they are."""
    found: list[Unit] = []
    headings: list[Unit] = []
    for kind, lines in groups_of(body):
        introduction = ""
        if kind in (Kind.CODE, Kind.LIST) and found and found[-1].text.endswith(":"):
            # It says nothing alone; it is quoted with what it introduces.
            introduction = found.pop().text
        match kind:
            case Kind.CODE:
                found.append(_code("\n".join(lines), introduction))
            case Kind.TABLE:
                found.extend(_rows(lines))
            case Kind.LIST:
                found.extend(_items(lines, introduction))
            case Kind.HEADING:
                headings.extend(_sentences([_HEADING.sub("", line) for line in lines]))
            case Kind.PROSE:
                found.extend(_sentences(lines))
            case _:
                assert_never(kind)
    statements = [unit for unit in found if not unit.is_link]
    return tuple(statements or headings or found)


def groups_of(body: str) -> Iterator[tuple[Kind, list[str]]]:
    """Neighbouring lines of one kind. A line of prose is a paragraph of its own, as chunks are written."""
    kind: Kind | None = None
    lines: list[str] = []
    fence = ""
    for line in body.splitlines():
        here = Kind.CODE if fence else _kind_of(line, kind)
        if here is not kind or here is Kind.PROSE or (here is Kind.CODE and not fence):
            if kind is not None and lines:
                yield kind, lines
            kind, lines = here, []
        if line.strip() or fence:
            lines.append(line)
        fence = _fence_after(line, fence)
        if here is Kind.CODE and not fence:
            yield Kind.CODE, lines
            kind, lines = None, []
    if kind is not None and lines:
        yield kind, lines


def _kind_of(line: str, before: Kind | None) -> Kind:
    if _FENCE.match(line):
        return Kind.CODE
    if line.lstrip().startswith("|"):
        return Kind.TABLE
    if _LIST_ITEM.match(line) or (before is Kind.LIST and line.startswith(("  ", "\t"))):
        return Kind.LIST
    return Kind.HEADING if _HEADING.match(line) else Kind.PROSE


def _fence_after(line: str, fence: str) -> str:
    """The fence that is open behind a line, or nothing."""
    opened = _FENCE.match(line)
    if not fence:
        return opened[1] if opened else ""
    closes = line.strip().startswith(fence) and not line.strip().strip(fence[0])
    return "" if closes else fence


def _sentences(lines: list[str]) -> list[Unit]:
    bare = (_QUOTE.sub("", line).strip() for line in lines)
    found = [one for line in bare for one, _blank in sentences(line)]
    return [Unit(text=one, plain=plain(one)) for one in found if _has_words(one)]


def _items(lines: list[str], introduction: str) -> list[Unit]:
    items: list[list[str]] = []
    for line in lines:
        if _LIST_ITEM.match(line) or not items:
            items.append([line])
        else:
            items[-1].append(line)
    if _NUMBERED.match(lines[0]) and len(items) > 1 and sum(map(len, lines)) <= WHOLE_LIST:
        return [_whole("\n".join(lines), introduction)]
    return [_item(item, introduction) for item in items]


def _item(lines: list[str], introduction: str) -> Unit:
    match = _LIST_ITEM.match(lines[0])
    first = match["text"] if match else lines[0].strip()
    text = " ".join((first, *(line.strip() for line in lines[1:])))
    shown = f"{introduction} {text}".strip()
    return Unit(text=shown, plain=plain(shown))


def _whole(text: str, introduction: str) -> Unit:
    shown = f"{introduction}\n\n{text}" if introduction else text
    return Unit(text=shown, plain=plain(f"{introduction} {text}"), is_block=True)


def _code(block: str, introduction: str) -> Unit:
    """A code block is quoted with all its lines, and with the sentence that says what it does."""
    shown = f"{introduction}\n\n{block}" if introduction else block
    inside = " ".join(line for line in block.splitlines() if not _FENCE.match(line))
    return Unit(text=shown, plain=" ".join(f"{introduction} {inside}".split()), is_block=True)


def _rows(lines: list[str]) -> list[Unit]:
    """Each row as ``Header: value`` pairs; where the header is elsewhere, the values alone."""
    rows = [_cells(line) for line in lines if line.strip() and not _SEPARATOR.match(line)]
    has_header = len(lines) > 1 and _SEPARATOR.match(lines[1]) is not None
    if has_header and len(rows) > 1:
        header, *rows = rows
    else:
        header = []
    return [Unit(text=text, plain=plain(text)) for row in rows if (text := _pairs(header, row))]


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [cell.strip().replace("\\|", "|") for cell in _CELL.split(inner)]


def _pairs(header: list[str], row: list[str]) -> str:
    names = [*header, *[""] * (len(row) - len(header))]
    said = [f"{name}: {value}" if name else value for name, value in zip(names, row, strict=False) if value]
    return "; ".join(said)


def _has_words(text: str) -> bool:
    return any(character.isalnum() for character in text)
