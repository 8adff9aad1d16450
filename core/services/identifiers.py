"""Names that are written exactly, and how others write the same: ERR_42, ERR-42 and err42; v2.1 and 2.1."""

import re
from collections.abc import Collection
from functools import lru_cache
from itertools import pairwise

from core.services.tokens import UNSPACED, fold, is_identifier

MOST_RUNS = 4
"""Runs of letters and digits in a name that others might write together; an address is written one way."""

LONGEST_CODE = 6
"""Letters before a number that may belong to it: "ERR 42" is a code, "corridor 42" is not."""

_RUNS = re.compile(r"\d+|[^\W\d_]+|\+\+|#")
_VERSION = re.compile(r"v?\d+(?:\.\d+){1,2}")
_GROUPED = re.compile(r"\d{1,3}(?:[,'.\s]\d{3})+")
_LETTER = rf"[^\W_{UNSPACED}]"
"""What would make a name longer; scripts without spaces begin a word beside it."""
_THOUSAND = 3


def spellings(identifier: str) -> tuple[str, ...]:
    """Other ways to write a name, lower case, the given one left out; none for what is no identifier."""
    word = identifier.casefold()
    if not is_identifier(word) or not any(sign.isdigit() for sign in word):
        return ()
    if _VERSION.fullmatch(word):
        bare = word.removeprefix("v")
        return tuple(one for one in (bare, f"v{bare}") if one != word)
    runs = _RUNS.findall(word)
    if not 1 < len(runs) <= MOST_RUNS or "#" in runs or "++" in runs:
        return ()
    apart, together = " ".join(runs), "".join(runs)
    return tuple(one for one in (apart, together) if one != word)


def codes(words: tuple[str, ...]) -> tuple[str, ...]:
    """Codes that a question writes apart: ``err42`` for "ERR 42"."""
    return tuple(
        letters + digits
        for letters, digits in pairwise(word.casefold() for word in words)
        if digits.isdecimal() and letters.isalpha() and len(letters) <= LONGEST_CODE
    )


def is_named(identifier: str, text: str) -> bool:
    """Whether a text holds the identifier, however it is written there.

    ``v2.1`` is not in ``v2.10`` nor in ``v2.1.3``, ``ERR_4`` not in ``ERR_42``; ``db-03`` is in
    ``db-03.example.net``. A bare number is not in a code, a date or an address: 12 is not in ``INV-12``.
    """
    pattern = _pattern(fold(identifier))
    return pattern is not None and pattern.search(fold(text)) is not None


def is_number_of_code(number: str, words: Collection[str], text: str) -> bool:
    """Whether a code in the text has this number, and letters that a word of the question begins with.

    "Error 42" asks for ``ERR_42``, and so does "err 42"; "room 42" does not.
    """
    if not number.isdecimal():
        return False
    codes_ = re.finditer(
        rf"(?<!{_LETTER})([^\W\d_]{{2,}})[-_]?{number}(?![-.,:]?\d)(?!{_LETTER})", fold(text)
    )
    letters = {match.group(1) for match in codes_}
    return any(fold(word).startswith(start) for word in words for start in letters)


@lru_cache(maxsize=1024)
def _pattern(identifier: str) -> re.Pattern[str] | None:
    runs = _RUNS.findall(identifier)
    if not runs:
        return None
    is_version = _VERSION.fullmatch(identifier) is not None
    if is_version and runs[0] == "v":
        del runs[0]
    parts = [_digits(runs[0])]
    for before, after in pairwise(runs):
        parts += [_between(before, after), _digits(after)]
    lead = f"(?<!{_LETTER})"
    if runs[0].isdigit():
        lead += r"(?<!\d[.,])"
    if is_version:
        lead += r"(?:v(?:ersion)?[\s.]?)?"
    if len(runs) == 1 and runs[0].isdigit() and not is_version:
        return re.compile(rf"{lead}(?<![^\W_][-_.:]){parts[0]}(?![-.,:]\d)(?!_)(?!{_LETTER})")
    tail = rf"(?![.,]?\d)(?!{_LETTER})" if runs[-1].isdigit() else f"(?!{_LETTER})"
    return re.compile(lead + "".join(parts) + tail)


def _digits(run: str) -> str:
    """The run; a long number may be grouped by thousands."""
    if not run.isdecimal() or len(run) <= _THOUSAND:
        return re.escape(run)
    head = len(run) % _THOUSAND
    groups = [run[:head]] * bool(head) + [run[at : at + _THOUSAND] for at in range(head, len(run), _THOUSAND)]
    return r"[.,'\s]?".join(groups)


def _between(before: str, after: str) -> str:
    if not (before[-1].isdigit() and after[0].isdigit()):
        return r"(?:::|[\s._\-/:@])?" if "#" not in (before, after) and "++" not in (before, after) else ""
    return r"[.,'\s]?" if len(after) == _THOUSAND else r"[._\-/:,]"


def ungrouped(number: str) -> str:
    """A number without the signs between its thousands; anything else as it is."""
    return re.sub(r"[,'.\s]", "", number) if _GROUPED.fullmatch(number) else number
