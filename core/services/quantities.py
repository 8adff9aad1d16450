"""Numbers with what they count, in every way they can be read: ``1.200`` is 1,200 and may be 1.2. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from core.services.locale_words import Unit, decimal_mark, units
from core.services.stopwords import stop_words
from core.services.tokens import fold

LONGEST_GROUP = 3
"""Digits between two marks that part thousands."""

LOWEST_ORDER = 3
"""Up to "third" a word of order is style: "the second factor" counts nothing."""

SHORTEST_UNIT = 3
SHORTEST_COMPOUNDED = 4
LONGEST_ENDING = 2
"""Letters: of units that may be inflected ("Tagen") or stand at the end of a compound ("Kalendertage")."""

COMPOUNDING = frozenset(("de", "nl", "sv", "da", "no"))

_GLUED = re.compile(r"(?<![\w.,:])(?P<number>\d+(?:[.,]\d+)?)[-–]?(?P<word>[^\W\d_]{1,}|%)(?![\w])")
_ORDINAL = re.compile("st|nd|rd|th|er|ème|e|го|й|я|е|ых|м")
_NUMBER = re.compile(
    r"(?P<sign>[$€£¥₽₸₴₹]\s?)?(?<![\w.,])(?P<number>\d{1,3}(?:[ \u00a0\u202f'’]\d{3})+(?:[.,]\d+)?(?![\d])"
    r"|\d+(?:[.,]\d+)*)(?P<ordinal>-?(?:st|nd|rd|th|er|ème|e|го|й|я|е|ых|м)\b|º)?(?!\d)",
)
_UNIT = re.compile(
    r"\.?[ \u00a0\u202f]?(?P<first>%|[^\W\d_]+(?:[-/²³][^\W\d_]*)*|[€£¥₽₸₴₹$°])"
    r"(?:[ \u00a0](?P<second>[^\W\d_]+))?"
)
_PAIR = re.compile(
    r"\b(?:both|beiden?|оба|обе|обоих|обеих|les deux|ambos|ambas|entramb[ie]|obydwa|oba)\b", re.I
)
"""Two without a number; a source that says so has the two of a statement."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number in all the ways it can be read, and what it counts where that is said."""

    text: str
    readings: frozenset[Decimal]
    unit: Unit | None = None


def numbers_of(text: str, languages: Sequence[str], *, written: frozenset[str] | None) -> Iterator[Number]:
    """The numbers of a text whose number words are digits already.

    ``written`` are the digits that stood there before; what else is a small number claims nothing ("one",
    "the second"). Null reads generously: everything counts.
    """
    for match in _GLUED.finditer(text):
        # "14d", "100MB", "20-fache", "3-day"
        if _ORDINAL.fullmatch(match["word"]) or (written is not None and _is_bare_one(match, written)):
            continue
        yield Number(
            match.group(), _readings(match["number"], languages[0]), _unit_of(match["word"], tuple(languages))
        )
    if written is None and _PAIR.search(text):
        yield Number("2", frozenset((Decimal(2),)))
    rest = _GLUED.sub(_unless_ordinal, text)
    for match in _NUMBER.finditer(rest):
        if written is not None and match["number"] not in written and _claims_little(match, rest):
            continue
        unit = _unit_after(rest[match.end() :], languages)
        if match["sign"]:
            unit = _unit_of(match["sign"].strip(), tuple(languages)) or unit
        yield Number(match.group().strip(), _readings(match["number"], languages[0]), unit)


def digits_in(text: str) -> frozenset[str]:
    """The numbers of a text as they are written."""
    return frozenset(match["number"] for match in _NUMBER.finditer(text))


def is_glued(text: str) -> bool:
    """Whether the text is a number with its unit, without a blank between."""
    return _GLUED.fullmatch(text) is not None


def _unless_ordinal(match: re.Match[str]) -> str:
    return match.group() if _ORDINAL.fullmatch(match["word"]) else " " * len(match.group())


def _is_bare_one(match: re.Match[str], written: frozenset[str]) -> bool:
    return match["number"] == "1" and "1" not in written


def _claims_little(match: re.Match[str], text: str) -> bool:
    """Whether a number that was written as a word is an article or an order: "one", "the second"."""
    if match["number"] == "1":
        return True
    follows = text[match.end() : match.end() + 2]
    is_ordinal = match["ordinal"] is not None or (follows[:1] == "." and follows[1:2] == " ")
    return is_ordinal and match["number"].isdigit() and int(match["number"]) <= LOWEST_ORDER


def _readings(digits: str, language: str) -> frozenset[Decimal]:
    bare = re.sub(r"[ \u00a0\u202f'’]", "", digits)
    marks = [one for one in bare if one in ".,"]
    if not marks:
        return frozenset((Decimal(bare),))
    last = max(bare.rfind("."), bare.rfind(","))
    whole, rest = re.sub(r"[.,]", "", bare[:last]), bare[last + 1 :]
    fraction, grouped = Decimal(f"{whole}.{rest}"), Decimal(whole + rest)
    if len(set(marks)) > 1 or whole == "0":
        return frozenset((fraction,))
    if len(marks) > 1:
        return frozenset((grouped,))
    if len(rest) != LONGEST_GROUP:
        return frozenset((fraction,))
    is_surely_grouped = rest == "000" or marks[0] != decimal_mark(language)
    return frozenset((grouped,)) if is_surely_grouped else frozenset((grouped, fraction))


@lru_cache(maxsize=4096)
def _unit_of(word: str, languages: tuple[str, ...]) -> Unit | None:
    folded = fold(word)
    for language in languages:
        known = units(language)
        if (exact := known.get(folded)) is not None:
            return exact
        for name, unit in known.items():
            if _is_form_of(folded, name, is_compound=language in COMPOUNDING):
                return unit
    return None


def _is_form_of(word: str, name: str, *, is_compound: bool) -> bool:
    if len(name) < SHORTEST_UNIT:
        return False
    if word.startswith(name) and len(word) - len(name) <= LONGEST_ENDING:
        return True
    return is_compound and len(name) >= SHORTEST_COMPOUNDED and word.endswith((name, f"{name}n"))


def _unit_after(rest: str, languages: Sequence[str]) -> Unit | None:
    match = _UNIT.match(rest)
    if match is None:
        return None
    first, second = match["first"], match["second"]
    if second and (whole := _whole_unit(f"{first} {second}", languages)) is not None:
        return whole
    if (unit := _unit_of(first, tuple(languages))) is not None:
        return unit
    # "three working days": an adjective may stand between.
    if not second or any(first.lower() in stop_words(one) for one in languages):
        return None
    unit = _unit_of(second, tuple(languages))
    return unit if unit is not None and unit.base in ("time", "calendar") else None


def _whole_unit(words: str, languages: Sequence[str]) -> Unit | None:
    folded = fold(words)
    return next((units(one)[folded] for one in languages if folded in units(one)), None)
