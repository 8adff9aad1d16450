"""The bits of HTML that Markdown exports hold: callouts and toggles as containers, the rest as its text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from html.parser import HTMLParser

CONTAINER_TAGS = frozenset({"aside", "details", "column", "columns", "blockquote", "callout", "synced_block"})

# fmt: off
_INLINE_TAGS = frozenset(
    {
        "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i",
        "ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub",
        "sup", "time", "tt", "u", "var", "wbr",
    }
)
_CELL_TAGS = frozenset({"td", "th"})
_BLOCK_TAGS = frozenset(
    {
        "address", "article", "audio", "body", "br", "button", "canvas", "caption", "center", "col",
        "colgroup", "dd", "div", "dl", "dt", "embed", "fieldset", "figcaption", "figure", "footer",
        "form", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html", "iframe", "img",
        "input", "legend", "li", "link", "main", "meta", "nav", "object", "ol", "option", "p", "param",
        "picture", "pre", "script", "section", "select", "source", "style", "summary", "svg", "table",
        "tbody", "textarea", "tfoot", "thead", "title", "tr", "track", "ul", "video",
    }
)
# fmt: on
_KNOWN_TAGS = CONTAINER_TAGS | _INLINE_TAGS | _CELL_TAGS | _BLOCK_TAGS
_UNSEEN = frozenset({"script", "style", "head", "title"})
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9_-]*)")


class Mark(Enum):
    """Where a container begins or ends."""

    OPEN = auto()
    CLOSE = auto()


@dataclass(frozen=True, slots=True)
class Text:
    """Text between tags, entities resolved, still Markdown."""

    text: str


def parts(html: str) -> Iterator[Text | Mark]:
    """Containers and texts in order; what is no HTML, such as ``<your-name>``, stays as it is written."""
    parser = _Parser()
    parser.feed(html)
    parser.close()
    yield from parser.finish()


def inline(html: str) -> str:
    """What one tag inside a line stands for: a line break, nothing, or itself where it is no HTML."""
    match = _TAG.match(html)
    if match is None:
        return "" if html.startswith(("<!", "<?")) else html
    name = match.group(2).lower()
    if name == "br":
        return "\n"
    return "" if name in _KNOWN_TAGS else html


class _Parser(HTMLParser):
    """Collects text between tags; convert_charrefs resolves entities."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._found: list[Text | Mark] = []
        self._text: list[str] = []
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open a container, break a line, or keep what is no HTML."""
        del attrs
        if tag in _UNSEEN:
            self._unseen += 1
        elif tag in CONTAINER_TAGS:
            self._mark(Mark.OPEN)
        elif tag not in _KNOWN_TAGS:
            self._text.append(self.get_starttag_text() or "")
        else:
            self._text.append(_between(tag))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A tag that closes itself holds nothing."""
        del attrs
        self._text.append(_between(tag) if tag in _KNOWN_TAGS else self.get_starttag_text() or "")

    def handle_endtag(self, tag: str) -> None:
        """Close a container, break a line, or keep what is no HTML."""
        if tag in _UNSEEN:
            self._unseen = max(0, self._unseen - 1)
        elif tag in CONTAINER_TAGS:
            self._mark(Mark.CLOSE)
        else:
            self._text.append(_between(tag) if tag in _KNOWN_TAGS else f"</{tag}>")

    def handle_data(self, data: str) -> None:
        """Text, unless it is a script or a style."""
        if not self._unseen:
            self._text.append(data)

    def finish(self) -> list[Text | Mark]:
        """Everything found."""
        self._end_text()
        return self._found

    def _mark(self, mark: Mark) -> None:
        self._end_text()
        self._found.append(mark)

    def _end_text(self) -> None:
        text = "".join(self._text)
        self._text = []
        if text.strip():
            self._found.append(Text(text))


def _between(tag: str) -> str:
    if tag in _INLINE_TAGS:
        return ""
    return " " if tag in _CELL_TAGS else "\n"
