"""A draft's pieces as sentences that can be kept, moved to another source or left out one by one. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.services.draft_markup import Piece
from core.services.markdown_text import plain, segments
from core.services.splitting import sentences

_FENCE = re.compile(r"\A\s*(?:`{3,}|~{3,})")
_LINE_MARK = re.compile(r"[ \t]*(?:(?:[-*+•>]|\d+[.)]|\[[ xX]\])[ \t]+)*")
_TABLE_RULE = re.compile(r"^\s*+\|?\s*+:?-{2,}:?\s*+(?:\|\s*+:?-+:?\s*+)*\|?\s*$")
_HEADING = re.compile(r"^[ \t]*#{1,6}[ \t]")
_INTRODUCES = (":", "：")


@dataclass(frozen=True, slots=True)
class Sentence:
    """Characters ``start`` to ``end`` of the whole text, and the sources that the draft names for them.

    ``line`` numbers the lines; ``is_frame`` marks what says nothing itself: list marks, headings, lead-ins,
    blanks. ``is_code`` marks a fenced block.
    """

    start: int
    end: int
    text: str
    sources: tuple[int, ...]
    line: int
    is_frame: bool = False
    is_code: bool = False


@dataclass(frozen=True, slots=True)
class Ruling:
    """What becomes of a sentence: left out, or given these sources and a note."""

    is_dropped: bool = False
    sources: tuple[int, ...] = ()
    note: str = ""


def split(pieces: Sequence[Piece]) -> tuple[Sentence, ...]:
    """The sentences of a draft in order; together they are its whole text."""
    whole = "".join(piece.text for piece in pieces)
    found: list[Sentence] = []
    line = 0
    for start, end, is_code in _stretches(whole):
        if is_code:
            line += 1
            found.append(_sentence(pieces, whole, start, end, line, is_code=True))
            line += 1
            continue
        at = start
        for row in whole[start:end].splitlines(keepends=True):
            found.extend(_in_line(pieces, whole, at, at + len(row), line))
            at += len(row)
            line += row.endswith("\n")
    return tuple(found)


def rule(
    pieces: Sequence[Piece], sentences: Sequence[Sentence], rulings: Mapping[int, Ruling]
) -> tuple[Piece, ...]:
    """The pieces with the rulings, by the sentences' places, carried out; without any, as they were."""
    if not rulings:
        return tuple(pieces)
    dropped = {place for place, ruling in rulings.items() if ruling.is_dropped}
    dropped |= _left_alone(sentences, dropped)
    found: list[tuple[int, Piece]] = []
    for place, sentence in enumerate(sentences):
        if place in dropped:
            continue
        ruling = rulings.get(place)
        fragments = _fragments(pieces, sentence)
        # Origins below zero belong to no piece, so that nothing is joined to them.
        found.extend(
            fragments if ruling is None else ((-1 - place, one) for one in _changed(fragments, ruling))
        )
    return _tidy(found)


def _stretches(whole: str) -> list[tuple[int, int, bool]]:
    """Fenced blocks, and the text between them."""
    found: list[tuple[int, int, bool]] = []
    at = 0
    for segment in segments(whole):
        is_block = segment.is_code and _FENCE.match(segment.text) is not None and "\n" in segment.text
        end = at + len(segment.text)
        if is_block or not found or found[-1][2]:
            found.append((at, end, is_block))
        else:
            found[-1] = (found[-1][0], end, False)
        at = end
    return found


def _in_line(pieces: Sequence[Piece], whole: str, start: int, end: int, line: int) -> list[Sentence]:
    row = whole[start:end]
    bare = row.strip()
    if not bare or _TABLE_RULE.match(row) or _HEADING.match(row) or _is_table_head(whole, end, row):
        return [_sentence(pieces, whole, start, end, line, is_frame=True)]
    mark = _LINE_MARK.match(row)
    begin = start + (mark.end() if mark else 0)
    found = [_sentence(pieces, whole, start, begin, line, is_frame=True)] if begin > start else []
    # Code inside a line must not end a sentence: "run `a.sh. Then`".
    text = "".join(
        re.sub(r"\S", "x", segment.text) if segment.is_code else segment.text
        for segment in segments(whole[begin:end])
    )
    at = begin
    for sentence, blank in sentences(text) if not row.lstrip().startswith("|") else [(text, "")]:
        stop = at + len(sentence)
        is_frame = not any(one.isalnum() for one in sentence) or sentence.rstrip(" *_").endswith(_INTRODUCES)
        found.append(_sentence(pieces, whole, at, stop, line, is_frame=is_frame))
        if blank:
            found.append(_sentence(pieces, whole, stop, stop + len(blank), line, is_frame=True))
        at = stop + len(blank)
    if at < end:
        found.append(_sentence(pieces, whole, at, end, line, is_frame=True))
    return found


def _is_table_head(whole: str, end: int, row: str) -> bool:
    following = whole[end:].split("\n", 1)[0]
    return row.lstrip().startswith("|") and _TABLE_RULE.match(following) is not None


def _sentence(
    pieces: Sequence[Piece],
    whole: str,
    start: int,
    end: int,
    line: int,
    *,
    is_frame: bool = False,
    is_code: bool = False,
) -> Sentence:
    named: dict[int, None] = {}
    at = 0
    for piece in pieces:
        inside = whole[max(at, start) : min(at + len(piece.text), end)] if at < end else ""
        if any(one.isalnum() for one in inside):
            named.update(dict.fromkeys(piece.sources))
        at += len(piece.text)
    text = (
        whole[start:end] if is_code else plain(whole[start:end]) if is_frame else _readable(whole[start:end])
    )
    return Sentence(start, end, text, tuple(named), line, is_frame=is_frame, is_code=is_code)


def _readable(text: str) -> str:
    """On one line, without emphasis; code keeps its ticks, by which it is known."""
    return " ".join(text.replace("**", "").replace("__", "").replace("|", " ").split())


def _fragments(pieces: Sequence[Piece], sentence: Sentence) -> list[tuple[int, Piece]]:
    """The stretches of a sentence, each with the place of the piece it is from."""
    found: list[tuple[int, Piece]] = []
    at = 0
    for place, piece in enumerate(pieces):
        stop = at + len(piece.text)
        start, end = max(at, sentence.start), min(stop, sentence.end)
        if start < end:
            found.append((place, Piece(piece.text[start - at : end - at], piece.sources)))
        at = stop
    return found


def _changed(fragments: Sequence[tuple[int, Piece]], ruling: Ruling) -> list[Piece]:
    """The sentence with other sources behind it, and its note."""
    text = "".join(piece.text for _place, piece in fragments)
    bare = text.rstrip()
    return [Piece(bare, ruling.sources), Piece(f"{ruling.note}{text[len(bare) :]}")]


def _left_alone(sentences: Sequence[Sentence], dropped: set[int]) -> set[int]:
    """Frames around what is gone: the mark and the end of its line, and a lead-in with nothing behind it."""
    gone: set[int] = set()
    for line in {sentences[place].line for place in dropped}:
        places = [place for place, one in enumerate(sentences) if one.line == line]
        if not any(place not in dropped and not sentences[place].is_frame for place in places):
            gone.update(place for place in places if sentences[place].is_frame)
    lost = dropped | gone
    last_said = max((p for p, one in enumerate(sentences) if p not in lost and not one.is_frame), default=-1)
    if lost:
        gone.update(
            place
            for place, one in enumerate(sentences)
            if place > last_said and one.is_frame and any(character.isalnum() for character in one.text)
        )
    for place in dropped:
        if place + 1 < len(sentences) and sentences[place + 1].is_frame and not sentences[place + 1].text:
            gone.add(place + 1)
    return gone


def _tidy(found: Sequence[tuple[int, Piece]]) -> tuple[Piece, ...]:
    """What is left of a piece joined again; no blank ends, no runs of empty lines."""
    joined: list[tuple[int, Piece]] = []
    for origin, piece in found:
        if not piece.text:
            continue
        if joined and joined[-1][0] == origin and joined[-1][1].sources == piece.sources:
            joined[-1] = (origin, Piece(joined[-1][1].text + piece.text, piece.sources))
        else:
            joined.append((origin, piece))
    left = [_without_marker_on_blank(piece) for _origin, piece in joined]
    left = [Piece(re.sub(r"\n{3,}", "\n\n", piece.text), piece.sources) for piece in left]
    while left and not left[-1].text.strip():
        left.pop()
    if left:
        left[0] = Piece(left[0].text.lstrip("\n"), left[0].sources)
        left[-1] = Piece(left[-1].text.rstrip(), left[-1].sources)
    return tuple(left)


def _without_marker_on_blank(piece: Piece) -> Piece:
    """Blanks and list marks that are left of a piece rest on nothing."""
    return piece if any(one.isalnum() for one in piece.text) else Piece(piece.text)
