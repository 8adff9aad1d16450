"""Where a text may be cut: between sentences, lines, words, never inside what is seen as one character."""

import re

import sentencex  # type: ignore[import-untyped] # compiled, ships no types; used through one function
from grapheme import graphemes, safe_split_index  # type: ignore[import-untyped] # pure Python, ships no types

SENTENCE_LANGUAGES = ("en", "de", "fr", "es", "ru")
"""A sentence ends where the rules of all these agree, so that no abbreviation of any of them ends one.

Pages mix languages, and a sentence end missed costs little. All of them know full-width punctuation.
"""

_WINDOW = 4_000
"""Characters looked at together; the segmenter's time grows with the square on texts without blanks."""

_LONGEST_CHARACTER = 128
"""Code points; what is joined for longer is no character but an attempt to break readers."""

_PLAIN = re.compile(r"[ -~](?=[ -~])")
_BOUNDARY = re.compile(r"(?<=\s)(?=\S)|(?<=[。！？；，、：…।])(?=\S)")
_LINE_BREAK = re.compile(r"\n\s*")
_SHORT_WORD_AND_STOP = re.compile(r"(?:^|[\s(\[„“\"'])[^\W\d_]{1,4}\.\s*$")
_SURROGATE = re.compile("[\ud800-\udfff]")


def mend(text: str) -> str:
    """Join surrogate pairs and replace lone ones: no database and no model takes them."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def sentences(text: str) -> list[tuple[str, str]]:
    """The sentences with the blanks behind each; put together they are ``text`` again."""
    found = []
    start = 0
    for end in _sentence_ends(text):
        sentence = text[start:end]
        bare = sentence.rstrip()
        if bare:
            found.append((bare, sentence[len(bare) :]))
        elif found:
            found[-1] = (found[-1][0], found[-1][1] + sentence)
        start = end
    return found


def cut_point(text: str, most: int) -> int:
    """Where to cut ``text`` into a first part of at most ``most`` characters, at least one.

    Prefers the last line break, then the last blank or full-width mark, each in the second half; else cuts
    between two characters as a reader sees them.
    """
    if most >= len(text):
        return len(text)
    half = most // 2
    for pattern in (_LINE_BREAK, _BOUNDARY):
        ends = [match.end() for match in pattern.finditer(text, half, most + 1) if half < match.end() <= most]
        if ends:
            return ends[-1]
    if half and text[most].isspace():
        return most
    return _character_end(text, most) or max(most, 1)


def is_boundary(text: str, at: int) -> bool:
    """Whether a word or a full-width clause begins at this place."""
    return at == 0 or _BOUNDARY.match(text, at) is not None


def word_start(text: str, at: int) -> int:
    """The first word start at or behind ``at``, if it is near; else the first character start."""
    if at <= 0:
        return 0
    nearest = next((match.start() for match in _BOUNDARY.finditer(text, at)), len(text))
    if nearest - at <= (len(text) - at) // 2:
        return nearest
    start = _character_end(text, at)
    if start == at:
        return at
    return start + len(next(graphemes(text[start : start + _LONGEST_CHARACTER])))


def _character_end(text: str, most: int) -> int:
    """The last place up to ``most`` between two characters as a reader sees them, never far back."""
    start = max(0, most - _LONGEST_CHARACTER)
    # Where flags or joined pictures stand in a row, only their beginning tells where one ends.
    plain = [match.start() for match in _PLAIN.finditer(text, start, most)]
    start = plain[-1] if plain else start
    return start + int(safe_split_index(text[start : most + 1], most - start))


def _sentence_ends(text: str) -> list[int]:
    ends: list[int] = []
    start = 0
    while start < len(text):
        window = text[start : start + _WINDOW]
        found = _ends_in_window(window)
        if start + len(window) == len(text):
            return [*ends, *(start + end for end in found)]
        whole = found[:-1]
        ends.extend(start + end for end in whole)
        start += whole[-1] if whole else len(window)
    return ends


def _ends_in_window(window: str) -> list[int]:
    """Offsets behind each sentence, the end of the window last."""
    agreed = set.intersection(*(_ends_by(language, window) for language in SENTENCE_LANGUAGES))
    ends = [end for end in sorted(agreed) if end < len(window) and not _is_abbreviation(window, end)]
    return [*ends, len(window)]


def _ends_by(language: str, window: str) -> set[int]:
    ends = set()
    at = 0
    for sentence in sentencex.segment(language, window):
        at += len(sentence)
        ends.add(at)
    return ends


def _is_abbreviation(window: str, end: int) -> bool:
    """Whether a short word with a full stop is followed by what no sentence starts with."""
    following = window[end]
    return (following.islower() or following.isdigit()) and bool(
        _SHORT_WORD_AND_STOP.search(window, max(0, end - 20), end)
    )
