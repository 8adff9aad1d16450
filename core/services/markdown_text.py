"""Markdown taken apart as far as answers need it: code, which nobody may touch, and the prose around it."""

import re
from dataclasses import dataclass
from functools import cache

from markdown_it import MarkdownIt

_FENCE = re.compile(r"^[ \t]{0,3}(?:>[ \t]?)*[ \t]*(?P<fence>`{3,}|~{3,})(?P<rest>[^\n]*)$", re.MULTILINE)
_INLINE_CODE = re.compile(r"(?<!`)(?P<ticks>`+)(?!`)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)", re.DOTALL)

_LINE_MARKS = re.compile(r"^[^\S\n]*(?:(?:[>#*+\-]+|\d+[.)]|\[[ xX]\])(?:\s++|$))+", re.MULTILINE)
_INLINE_MARKS = re.compile(r"[`*~]{1,3}")
_LINK_SIGNS = re.compile(r"[\\\[\]<>!]")
_LINK = re.compile(r"(?P<escape>\\[\[\]\\])|!?\[(?P<text>(?:\\.|[^\[\]\\])*)\]\([^()\s]*\)")
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|<>~&$])")


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of Markdown that is code, or is not."""

    text: str
    is_code: bool


def segments(text: str) -> tuple[Segment, ...]:
    """The text as code and prose in turn; joined again they are the text."""
    found: list[Segment] = []
    end = 0
    for start, stop in _fenced(text):
        found.extend(_inline(text[end:start]))
        found.append(Segment(text[start:stop], is_code=True))
        end = stop
    found.extend(_inline(text[end:]))
    return tuple(segment for segment in found if segment.text)


def has_links(text: str) -> bool:
    """Whether a CommonMark parser finds a link or an image in the text."""
    return any(
        child.type in ("link_open", "image")
        for token in _parser().parse(text)
        for child in token.children or ()
    )


def inert(text: str) -> str:
    """The text with every sign escaped that could begin or end a link."""
    return _LINK_SIGNS.sub(r"\\\g<0>", text)


def _fenced(text: str) -> list[tuple[int, int]]:
    """Where fenced blocks start and end; an unclosed one runs to the end of the text."""
    found: list[tuple[int, int]] = []
    opened: re.Match[str] | None = None
    for match in _FENCE.finditer(text):
        if opened is None:
            if match["fence"][0] == "~" or "`" not in match["rest"]:
                opened = match
        elif match["fence"].startswith(opened["fence"]) and not match["rest"].strip():
            found.append((opened.start(), match.end()))
            opened = None
    if opened is not None:
        found.append((opened.start(), len(text)))
    return found


def _inline(prose: str) -> list[Segment]:
    found: list[Segment] = []
    end = 0
    for match in _INLINE_CODE.finditer(prose):
        if "\n\n" in match["code"]:
            continue
        found.append(Segment(prose[end : match.start()], is_code=False))
        found.append(Segment(match.group(), is_code=True))
        end = match.end()
    found.append(Segment(prose[end:], is_code=False))
    return found


def plain(markdown: str) -> str:
    """A sentence without the marks of Markdown, on one line."""
    unlinked = _LINE_MARKS.sub(" ", _LINK.sub(lambda match: match["escape"] or match["text"], markdown))
    unmarked = _INLINE_MARKS.sub("", unlinked).replace("|", " ")
    return " ".join(_ESCAPE.sub(r"\1", unmarked).split())


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark")
