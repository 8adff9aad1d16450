"""Inline Markdown, parsed, written again: links resolved, images as their captions, escapes undone."""

import re
from collections.abc import Callable, Sequence
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

from adapters.markup.html_text import inline
from adapters.markup.links import code_span, link, safe_link

ResolveLink = Callable[[str], str | None]
"""The address that a relative link stands for; null if it leads to nothing that can be opened."""

_MARKERS = {
    "strong_open": "**",
    "strong_close": "**",
    "em_open": "*",
    "em_close": "*",
    "s_open": "~~",
    "s_close": "~~",
}
_FILE_NAME = re.compile(r"[^\n]*\.(?:png|jpe?g|gif|webp|svg|heic|bmp|tiff?|pdf|mp4|mov)", re.IGNORECASE)


MAX_BRACKETS = 1_000
"""Opening brackets in one paragraph; the parser's time grows with the square of those that close nothing."""


def render_inline(text: str, parser: MarkdownIt, resolve: ResolveLink) -> str:
    """The text of a paragraph as plain Markdown, lines kept; left alone if it has far too many brackets."""
    if text.count("[") > MAX_BRACKETS:
        return text
    tokens: list[Token] = []
    parser.inline.parse(text, parser, {}, tokens)
    written: list[list[str]] = [[]]
    targets: list[str] = []
    for child in tokens:
        if child.type == "link_open":
            targets.append(_target(str(child.attrs.get("href", "")), resolve))
            written.append([])
        elif child.type == "link_close":
            label = "".join(written.pop())
            target = targets.pop()
            written[-1].append(link(label if label.strip() else target, target))
        else:
            written[-1].append(_plain(child))
    return "".join(written[0])


def _plain(child: Token) -> str:
    match child.type:
        case "code_inline":
            return code_span(child.content)
        case "softbreak" | "hardbreak":
            return "\n"
        case "html_inline":
            return inline(child.content)
        case "image":
            return _caption(child)
        case _:
            return _MARKERS.get(child.type, child.content)


def _caption(image: Token) -> str:
    """What somebody wrote below the image; a file name says nothing."""
    caption = _letters(image.children or ())
    name = unquote(str(image.attrs.get("src", ""))).rsplit("/", 1)[-1]
    return "" if caption == name or _FILE_NAME.fullmatch(caption) else caption


def _letters(tokens: Sequence[Token]) -> str:
    return "".join("\n" if token.type.endswith("break") else token.content for token in tokens)


def _target(href: str, resolve: ResolveLink) -> str:
    try:
        parts = urlsplit(href)
    except ValueError:
        return ""
    if parts.scheme or parts.netloc:
        return safe_link(href)
    if not parts.path:
        return ""
    return resolve(href) or ""
