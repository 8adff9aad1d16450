"""The markup of a draft: citation markers in all their shapes, and links, of which none may be invented.

Code is set aside first and put back untouched. Everything a model may dress a link or a marker in becomes
either the number of a source or plain words.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from core.domain.answers import Passage
from core.domain.ids import InvalidIdError, parse_page_id
from core.services.markdown_text import segments

# Private-use characters stand for what was already understood; a draft's own are dropped first.
_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010fffd]")
_CODE, _MARK, _END, _GONE = "\ue000", "\ue001", "\ue002", "\ue003"
_CODE_TOKEN = re.compile(f"{_CODE}(\\d+){_END}")
# Blanks before it are read from where they begin, so that a long run of them costs its length and no more.
_BLANKS = r"(?:(?<![ \t])[ \t]+)?"
_MARK_TOKEN = re.compile(f"{_BLANKS}{_MARK}(\\d+){_END}")
_MARKS = f"(?:[ \\t]*{_MARK}\\d+{_END})"

_DEFINITION = re.compile(r"^[ ]{0,3}\[(?P<label>\^?[^\]\n]+)\]:[ \t]*(?P<target>\S[^\n]*)$", re.MULTILINE)
# No label is longer; beyond it the address behind is still found, naked.
_TEXT = r"(?P<text>(?:[^\[\]\\]|\\.|\[(?:[^\[\]\\]|\\.){0,1000}\]){0,1000})"
_TARGET = r"(?P<target><[^<>\n]*>|(?:[^\s()<>\\]|\\.|\((?:[^\s()\\]|\\.)*\))*)"
_TITLE = r"""(?:\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?"""
_INLINE_LINK = re.compile(rf"!?\[{_TEXT}\]\(\s*{_TARGET}{_TITLE}\s*\)", re.DOTALL)
_REFERENCE_LINK = re.compile(r"!?\[(?P<text>[^\[\]\n]+)\]\[(?P<label>[^\[\]\n]*)\]")
_SHORTCUT_LINK = re.compile(r"!?\[(?P<label>[^\[\]\n]+)\](?![\[(:])")
_ANCHOR = re.compile(
    r"<a\b(?P<attributes>[^<>]*)>(?P<text>.{0,1000}?)</a\s*>|<a\b(?P<open>[^<>]*)>|</a\s*>",
    re.DOTALL | re.IGNORECASE,
)
_HREF = re.compile(r"""\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))""", re.IGNORECASE)
_EMBEDDED = re.compile(
    r"<(?P<tag>script|style|iframe|object|svg|form)\b.*?(?:</(?P=tag)\s*>|\Z)"
    r"|</?(?:img|iframe|object|embed|video|audio|source|link|meta|base|form|input|button|script|style|svg)\b[^>]*>",
    re.DOTALL | re.IGNORECASE,
)
_AUTOLINK = re.compile(
    r"<(?P<url>(?:[a-z][a-z0-9+.\-]*:|//|www\.)[^\s<>|]*)(?:\|(?P<text>[^<>]*))?>", re.IGNORECASE
)
_BARE_URL = re.compile(
    r"(?:[a-z][a-z0-9+.\-]{0,30}://|\bwww\.|\bmailto:|\bjavascript:|\bdata:[a-z]+/)[^\s<>\"'`｜|\\^{}\ue000-\ue003]+",
    re.IGNORECASE,
)
_BARE_DOMAIN = re.compile(
    r"(?<![\w@./\-])(?:[a-z0-9](?:[a-z0-9\-]*[a-z0-9])?\.)+[a-z]{2,24}/[^\s<>\"'`|\\^{}\ue000-\ue003]*",
    re.IGNORECASE,
)
_TRAILING = ".,;:!?*_~'\")]}»”’"

_CITING = (
    r"sources?|src|refs?|references?|cite[sd]?|citations?|see|passages?|quellen?|siehe|vgl\.?|beleg"
    r"|источники?|см\.?|fuentes?|sources?|fonti?|fontes?|bron(?:nen)?|źródł[ao]|джерел[ао]|kaynak(?:lar)?|来源|出典"
)
_NUMBERS = r"\^?\d{1,3}(?:\s*(?:[,;&+]|and|und|и|et|y)\s*\^?\d{1,3}|\s*[-–]\s*\d{1,3})*"
_MARKER = re.compile(
    rf"\\?[\[【［]\s*+(?:(?:{_CITING})\s*+[:#.]?\s*+)?#?(?P<numbers>{_NUMBERS})(?:†[^\]】］\n]*)?\s*\\?[\]】］]",
    re.IGNORECASE,
)
_SOURCE_IN_PARENTHESES = re.compile(
    rf"\((?:{_CITING})\s*+[:#.]?\s*+#?(?P<numbers>{_NUMBERS})\)", re.IGNORECASE
)
# "[2? but we did not cite that; skip]", "[citation needed]": deliberation where a source should be (F71).
_MUSING = re.compile(
    rf"[\[【](?:\s*\^?\d{{1,3}}\s*[?!:;,.†–—-][^\]】\n]{{0,300}}|\s*(?:{_CITING})\b[^\]】\n]{{0,300}})[\]】]",
    re.IGNORECASE,
)
_WRAPPED_MARKS = re.compile(
    rf"[(\[][ \t]*+(?:(?:{_CITING})\s*+[:.]?[ \t]*+)?(?P<marks>{_MARKS}(?:[ \t]*[,;&]?{_MARKS})*)[ \t]*[)\]]",
    re.IGNORECASE,
)
_SOURCE_LINE = re.compile(
    rf"(?:\n|\A)[ \t]*+(?:\#{{1,6}}[ \t]*+)?(?:\*\*|__)?(?:{_CITING})(?:\*\*|__)?[ \t]*+:?(?:\*\*|__)?[ \t]*+"
    rf"(?P<marks>(?:{_MARKS}[ \t]*[,;]?)*)[ \t]*\Z",
    re.IGNORECASE,
)
_LISTED_SOURCE = re.compile(rf"(?:\n|\A)[ \t]*+(?:[-*+•][ \t]*+|\d+[.)][ \t]*+)?(?P<marks>{_MARKS})[^\n]*\Z")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text and the sources behind it, as positions in the prompt counted from 0."""

    text: str
    sources: tuple[int, ...] = ()


@dataclass(slots=True)
class _Reading:
    """What is known while one draft is read."""

    sources: Sequence[Passage]
    code: list[str] = field(default_factory=list)

    def marker(self, position: int) -> str:
        return f"{_MARK}{position}{_END}"

    def source_at(self, url: str) -> int | None:
        """The source that a link leads to: the same page on the same host."""
        for position, passage in enumerate(self.sources):
            if url in (passage.url, passage.candidate.page_url) or _is_same_page(url, passage):
                return position
        return None

    def is_wiki(self, url: str) -> bool:
        """Whether a link leads to where the sources live."""
        hosts = {_host(passage.candidate.page_url) for passage in self.sources}
        return self.source_at(url) is not None or _host(url) in hosts

    def keep_code(self, code: str) -> str:
        self.code.append(code)
        return f"{_CODE}{len(self.code) - 1}{_END}"


def read_draft(text: str, sources: Sequence[Passage]) -> tuple[Piece, ...]:
    """The draft's words, each stretch with the sources its markers and links name."""
    reading = _Reading(sources)
    masked = _mask_code(_tidy(text), reading)
    masked = _resolve_markers(_resolve_links(masked, reading), reading)
    return _split(_close_gaps(_drop_source_list(masked)), reading)


def quotable(text: str, sources: Sequence[Passage]) -> str:
    """The text of a page as it may be quoted: no link but its words and, as code, its address.

    What looks like a citation marker in a page is none; it is escaped.
    """
    reading = _Reading(sources)
    masked = _mask_code(_tidy(text), reading)
    masked = _INLINE_LINK.sub(lambda match: _spelled_out(match, reading), masked)
    masked = _MARKER.sub(lambda match: re.sub(r"(?<!\\)([\[\]])", r"\\\1", match.group()), masked)
    masked = _close_gaps(_resolve_links(masked, reading))
    return _restore(_MARK_TOKEN.sub("", masked), reading)


def _spelled_out(match: re.Match[str], reading: _Reading) -> str:
    """A link as its words and, as code, its address, which may be what was asked for."""
    url = _clean_url(match["target"])
    words = match["text"].strip()
    is_web = url.lower().startswith(("http://", "https://"))
    if not is_web or reading.is_wiki(url) or url == words:
        # The wiki's own pages are linked as sources or not at all.
        return match.group()
    return f"{words} ({reading.keep_code(f'`{url}`')})" if words else reading.keep_code(f"`{url}`")


# --- Code ------------------------------------------------------------------------------------------------


def _tidy(text: str) -> str:
    """Without NUL, private-use and invisible characters that could hide a marker or a link."""
    visible = "".join(
        one for one in text if one in "\n\t\u200d" or unicodedata.category(one) not in ("Cc", "Cf", "Cs")
    )
    return _PRIVATE.sub("", visible)


def _mask_code(text: str, reading: _Reading) -> str:
    return "".join(
        reading.keep_code(segment.text) if segment.is_code else segment.text for segment in segments(text)
    )


# --- Links -----------------------------------------------------------------------------------------------


def _resolve_links(text: str, reading: _Reading) -> str:
    definitions: dict[str, str] = {}
    text = _DEFINITION.sub(lambda match: _note(match, definitions), text)
    text = _EMBEDDED.sub(_GONE, text)
    text = _ANCHOR.sub(lambda match: _anchor(match, reading), text)
    text = _until_stable(text, _INLINE_LINK, lambda match: _link(match["text"], match["target"], reading))
    text = _REFERENCE_LINK.sub(lambda match: _reference(match, definitions, reading), text)
    if definitions:
        text = _SHORTCUT_LINK.sub(lambda match: _shortcut(match, definitions, reading), text)
    text = _AUTOLINK.sub(lambda match: _link(match["text"] or "", match["url"], reading), text)
    text = _BARE_URL.sub(lambda match: _bare(match.group(), reading), text)
    return _BARE_DOMAIN.sub(lambda match: _bare(match.group(), reading), text)


def _note(match: re.Match[str], definitions: dict[str, str]) -> str:
    definitions.setdefault(_label(match["label"]), match["target"].split()[0])
    return _GONE


def _anchor(match: re.Match[str], reading: _Reading) -> str:
    if match["text"] is None:
        return ""
    found = _HREF.search(match["attributes"])
    target = next((group for group in found.groups() if group is not None), "") if found else ""
    return _link(match["text"], target, reading)


def _reference(match: re.Match[str], definitions: Mapping[str, str], reading: _Reading) -> str:
    target = definitions.get(_label(match["label"] or match["text"]))
    return match.group() if target is None else _link(match["text"], target, reading)


def _shortcut(match: re.Match[str], definitions: Mapping[str, str], reading: _Reading) -> str:
    label = _label(match["label"])
    if label.lstrip("^").isdecimal() or label not in definitions:
        return match.group()
    return _link(match["label"], definitions[label], reading)


def _link(text: str, target: str, reading: _Reading) -> str:
    """The words of a link; its source where the target is one, nothing of it otherwise."""
    if _MARKER.fullmatch(f"[{text}]"):
        # "[1](https://...)": the number says which source is meant, whatever the address says.
        return f"[{text}]"
    words = "" if _BARE_URL.fullmatch(text.strip()) else text
    position = reading.source_at(_clean_url(target))
    if position is not None:
        return f"{words}{reading.marker(position)}"
    return words or _GONE


def _bare(url: str, reading: _Reading) -> str:
    """A naked address: the source it names, code if a source says it word for word, else nothing."""
    core = url.rstrip(_TRAILING)
    if core.count("(") > core.count(")") and url[len(core) :].startswith(")"):
        core += ")"
    rest = url[len(core) :]
    position = reading.source_at(core)
    if position is not None:
        return f"{reading.marker(position)}{rest}"
    if any(core in passage.candidate.body for passage in reading.sources):
        return reading.keep_code(f"`{core}`") + rest
    return f"{_GONE}{rest}"


def _is_same_page(url: str, passage: Passage) -> bool:
    try:
        mine, theirs = urlsplit(url), urlsplit(passage.candidate.page_url)
        same_host = mine.scheme in ("http", "https") and mine.netloc.lower() == theirs.netloc.lower()
        return same_host and parse_page_id(url) == parse_page_id(passage.candidate.page_id)
    except (InvalidIdError, ValueError):
        return False


def _host(url: str) -> str:
    try:
        return urlsplit(url).netloc.lower()
    except ValueError:
        return ""


def _clean_url(target: str) -> str:
    return re.sub(r"\\(.)", r"\1", target.strip().removeprefix("<").removesuffix(">").strip())


def _label(text: str) -> str:
    return " ".join(text.casefold().split())


def _until_stable(text: str, pattern: re.Pattern[str], change: Callable[[re.Match[str]], str]) -> str:
    """Links in the words of links need another round; each round removes one, so it ends."""
    while (changed := pattern.sub(change, text)) != text:
        text = changed
    return text


# --- Markers ---------------------------------------------------------------------------------------------


def _resolve_markers(text: str, reading: _Reading) -> str:
    text = _MARKER.sub(lambda match: _numbers(match["numbers"], reading), text)
    text = _SOURCE_IN_PARENTHESES.sub(lambda match: _numbers(match["numbers"], reading), text)
    text = _WRAPPED_MARKS.sub(lambda match: match["marks"], text)
    return _MUSING.sub(_GONE, text)


def _numbers(listed: str, reading: _Reading) -> str:
    """The markers of the known numbers in a list such as ``1, 2`` or ``1-3``; the others go (A3)."""
    positions: dict[int, None] = {}
    for first, last in re.findall(r"(\d+)(?:\s*[-–]\s*(\d+))?", listed):
        end = min(int(last or first), len(reading.sources))
        positions.update(dict.fromkeys(range(int(first) - 1, end)))
    known = [position for position in positions if 0 <= position < len(reading.sources)]
    return "".join(reading.marker(position) for position in known) or _GONE


def _drop_source_list(text: str) -> str:
    """Without a list of sources at the end: renderers draw one. Its numbers stand behind the text instead."""
    listed: list[str] = []
    text = text.rstrip(f" \t\n{_GONE}")
    rest = text
    while match := _LISTED_SOURCE.search(rest):
        listed.insert(0, match["marks"])
        rest = rest[: match.start()].rstrip(f" \t\n{_GONE}")
    heading = _SOURCE_LINE.search(rest)
    if heading is None:
        # Lines that begin with a marker, under no such heading, are the answer itself.
        return text
    body = rest[: heading.start()].rstrip()
    if _MARK in body:
        return body
    return body + heading["marks"].replace(",", "").replace(";", "") + "".join(listed)


def _close_gaps(text: str) -> str:
    """Where something was removed no empty brackets, blanks or lines are left."""
    text = re.sub(rf"[(\[【]\s*{_GONE}\s*[)\]】]", _GONE, text)
    text = re.sub(rf"^[ \t]*(?:[-*+][ \t]+)?(?:{_GONE}[ \t]*)+\n", "", text, flags=re.MULTILINE)
    text = re.sub(rf"{_BLANKS}{_GONE}(?=[ \t]*(?:[.,;:!?)\]]|\n|\Z))", "", text)
    text = re.sub(rf"{_BLANKS}{_GONE}[ \t]*", " ", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


# --- Pieces ----------------------------------------------------------------------------------------------


def _split(text: str, reading: _Reading) -> tuple[Piece, ...]:
    """Cut the text behind each run of markers."""
    pieces: list[Piece] = []
    end = 0
    for run in re.finditer(
        f"(?:{_MARK_TOKEN.pattern}[ \\t]*,?(?=[ \\t]*{_MARK}))*{_MARK_TOKEN.pattern}", text
    ):
        positions = tuple(dict.fromkeys(int(token) for token in _MARK_TOKEN.findall(run.group())))
        pieces.append(Piece(_restore(text[end : run.start()], reading), positions))
        end = run.end()
    if rest := _restore(text[end:], reading):
        pieces.append(Piece(rest))
    return tuple(pieces)


def _restore(text: str, reading: _Reading) -> str:
    return _CODE_TOKEN.sub(lambda match: reading.code[int(match[1])], text)
