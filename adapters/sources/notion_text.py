"""Rich text to Markdown that reads well, searches well, and never turns into structure it was not."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from adapters.markup.escaping import escape_structure
from adapters.markup.links import NOTION, code_span, link, safe_link
from adapters.sources.notion_json import (
    Json,
    as_list,
    as_mapping,
    as_text,
    page_id,
    payload,
    type_of,
)
from core.domain.documents import UNTITLED
from core.domain.ids import PageId, without_dashes
from core.domain.references import reference

# --- Whole rich texts ----------------------------------------------------------------------------------


def render(rich_text: object) -> str:
    """A list of rich text items as inline Markdown, lines kept; nothing in it opens a Markdown block."""
    return escape_structure(render_inline(rich_text))


def render_line(rich_text: object) -> str:
    """The same on one line and unescaped, for places where only inline Markdown is read: headings, cells."""
    return " ".join(render_inline(rich_text).split())


def plain(rich_text: object) -> str:
    """The letters alone, as titles, code and equations need them."""
    return "".join(_plain_text(as_mapping(item)) for item in as_list(rich_text))


def render_inline(rich_text: object) -> str:
    """Inline Markdown of all items; what stands at the start of a line is not yet escaped."""
    pieces = list(_pieces(rich_text))
    return "".join(
        _mark_up(
            piece,
            before=pieces[number - 1].text if number else "",
            after=pieces[number + 1].text if number + 1 < len(pieces) else "",
        )
        for number, piece in enumerate(pieces)
    )


# --- Pieces: runs of equal look ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Look:
    """Annotations that Markdown knows; colours and underlines carry no meaning for a reader of answers."""

    bold: bool = False
    italic: bool = False
    struck: bool = False
    code: bool = False
    link: str = ""
    finished: bool = False
    """The text is Markdown already: a mention or an equation."""


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    look: _Look


def _pieces(rich_text: object) -> Iterator[_Piece]:
    """The items, neighbours of equal look joined: Notion cuts runs where nobody sees a difference."""
    pending: _Piece | None = None
    for item in map(as_mapping, as_list(rich_text)):
        piece = _piece(item)
        if not piece.text:
            continue
        if pending is not None and pending.look == piece.look:
            pending = _Piece(pending.text + piece.text, piece.look)
            continue
        if pending is not None:
            yield pending
        pending = piece
    if pending is not None:
        yield pending


def _piece(item: Json) -> _Piece:
    kind = type_of(item)
    annotations = as_mapping(item.get("annotations"))
    bold, italic, struck = (annotations.get(name) is True for name in ("bold", "italic", "strikethrough"))
    if kind == "mention":
        return _Piece(_mention(item), _Look(bold=bold, italic=italic, struck=struck, finished=True))
    if kind == "equation":
        text = _plain_text(item)
        look = _Look(bold=bold, italic=italic, struck=struck, finished=True)
        return _Piece(f"${text}$" if text.strip() else text, look)
    look = _Look(
        bold=bold,
        italic=italic,
        struck=struck,
        code=annotations.get("code") is True,
        link=safe_link(_href(item)),
    )
    return _Piece(_plain_text(item), look)


def _plain_text(item: Json) -> str:
    text = as_text(item.get("plain_text"))
    if text:
        return text
    held = payload(item)
    return as_text(held.get("content")) or as_text(held.get("expression"))


def _href(item: Json) -> str:
    return as_text(item.get("href")) or as_text(as_mapping(payload(item).get("link")).get("url"))


# --- Marking up ----------------------------------------------------------------------------------------


def _mark_up(piece: _Piece, *, before: str, after: str) -> str:
    """One piece with its markers inside its edge white space (F13)."""
    core = piece.text.strip()
    if not core:
        return piece.text
    start = piece.text.index(core)
    lead, trail = piece.text[:start], piece.text[start + len(core) :]
    look = piece.look
    marked = code_span(core) if look.code and not look.finished else core
    if look.link and not look.finished:
        marked = link(marked, look.link)
    # Markers inside a word ("**P**ersonal") would cut it in two for every search.
    cuts_word = (not lead and _joins(before[-1:], core[0])) or (not trail and _joins(core[-1], after[:1]))
    if not cuts_word and "\n\n" not in core:
        for wanted, marker in ((look.italic, "*"), (look.bold, "**"), (look.struck, "~~")):
            if wanted:
                marked = f"{marker}{marked}{marker}"
    return f"{lead}{marked}{trail}"


def _joins(left: str, right: str) -> bool:
    return left.isalnum() and right.isalnum()


# --- Mentions ------------------------------------------------------------------------------------------


def _mention(item: Json) -> str:
    mention = as_mapping(item.get("mention"))
    kind = type_of(mention)
    shown = _plain_text(item)
    held = payload(mention)
    if kind in {"page", "database", "data_source"}:
        return page_link(page_id(held.get("id")), shown=shown, href=_href(item))
    if kind == "date":
        return shown or date_range(held)
    if kind == "user":
        name = as_text(held.get("name"))
        return shown or (f"@{name}" if name else "")
    if kind in {"link_mention", "link_preview"}:
        href = safe_link(as_text(held.get("href")) or as_text(held.get("url")) or _href(item))
        title = " ".join(as_text(held.get("title")).split())
        label = f"{title} ({shown})" if title and shown and shown not in {title, href} else title
        return link(label or shown or href, href)
    # Template mentions, custom emoji and whatever comes next: what Notion shows is what there is (NOT-10).
    return link(shown, safe_link(_href(item)))


def page_link(identifier: PageId | None, *, shown: str = "", href: str = "") -> str:
    """A reference to another page, which shows its title once that is known (F15); never empty."""
    title = " ".join(shown.split())
    if identifier is None:
        return link(title or UNTITLED, safe_link(href))
    return reference(identifier, title or UNTITLED)


def page_address(identifier: PageId | None) -> str:
    """Notion's address for an id whose own link is unknown."""
    return f"{NOTION}{without_dashes(identifier)}" if identifier else ""


def date_range(date: object) -> str:
    """``2026-05-01 → 2026-05-03 (Europe/Berlin)``; times without seconds, empty where there is no date."""
    fields = as_mapping(date)
    start, end = (_readable_time(as_text(fields.get(name))) for name in ("start", "end"))
    if not start:
        return ""
    zone = as_text(fields.get("time_zone"))
    return f"{start}{f' → {end}' if end else ''}{f' ({zone})' if zone else ''}"


_TIME = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$")


def _readable_time(text: str) -> str:
    match = _TIME.match(text)
    if match is None:
        return text
    day, time, zone = match.groups()
    if zone in {"Z", "+00:00"}:
        return f"{day} {time} UTC"
    return f"{day} {time}{f' {zone}' if zone else ''}"
