"""What in a text can be checked word for word: numbers, dates, times, weekdays, identifiers, addresses. Pure.

Two spellings of one fact are equal: ``1.000`` and ``1,000``, ``3. Mai`` and ``May 3`` and ``03.05.``, "zwei
Stunden" and "2 hours" and "120 minutes", ``9 a.m.`` and ``09:00``.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from core.services.locale_words import inflected, months, weekdays
from core.services.numerals import with_digits
from core.services.quantities import Number, digits_in, is_glued, numbers_of
from core.services.tokens import fold

SHORT_FORM = 3
SHORT_MONTHS = frozenset(("may", "mai", "маи", "мая", "мае"))
"""Names of months that are whole in three letters; others as short only count beside a day."""

JANUARY, DECEMBER, LAST_DAY = 1, 12, 31
NOON, MIDNIGHT, HOUR = 12, 24, 60
YEARS_OF_TWO_DIGITS = 99
CENTURY = 2000
"""What a year of two digits is taken to be in."""


@dataclass(frozen=True, slots=True)
class Date:
    """A day of a month, with its year where one is named; ``03.05.`` may be read either way round."""

    text: str
    days: frozenset[tuple[int, int]]
    """(month, day) pairs."""
    year: int | None = None


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day in minutes since midnight."""

    text: str
    minutes: int


@dataclass(frozen=True, slots=True)
class Named:
    """A month or a weekday by its name."""

    text: str
    kind: str
    number: int


@dataclass(frozen=True, slots=True)
class Literal:
    """Something that must be said exactly so: an identifier, a version, an address, code."""

    text: str
    key: str


Fact = Number | Date | Clock | Named | Literal


@dataclass(slots=True)
class _Scan:
    """One text while its facts are taken out of it, what was understood being blanked."""

    text: str
    languages: tuple[str, ...]
    facts: list[Fact] = field(default_factory=list)

    def take(self, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """All matches; those for which the caller adds a fact are blanked."""
        for match in list(pattern.finditer(self.text)):
            before = len(self.facts)
            yield match
            if len(self.facts) > before:
                start, end = match.span()
                self.text = f"{self.text[:start]}{' ' * (end - start)}{self.text[end:]}"


_CODE = re.compile(r"(?<!`)(?P<ticks>`++)(?P<code>.+?)(?P=ticks)", re.DOTALL)
_ADDRESS = re.compile(
    r"[a-z][a-z0-9+.\-]{0,30}://[^\s<>|`\"']+|\bwww\.[^\s<>|`\"']+|[\w.+\-]{1,64}@[\w\-]+(?:\.[\w\-]+)+"
    r"|\b(?:[a-z0-9\-]{1,63}\.){1,9}[a-z]{2,10}/[^\s<>|`\"']+",
    re.IGNORECASE,
)
_DOTTED_NAME = re.compile(
    # A name of one letter is a part of a name, as in "e.g.": two labels at least, or a longer one.
    r"(?<![\w.@])(?:[a-z0-9\-]{2,100}+\.|[a-z0-9\-]{1,100}+\.[a-z0-9\-]{1,100}+\.)(?:[a-z0-9\-]{1,100}+\.)*"
    r"[a-z]{2,10}(?!\.*+\w)"
)
"""A host or a file by its name; lower case only, since a forgotten blank joins sentences."""

_ISO_DATE = re.compile(r"\b(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)(?:T[\d:.]+Z?)?\b")
_DOTTED_DATE = re.compile(r"(?<![\d.])(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4}|\d\d)?(?!\d|\.\d)")
_SLASHED_DATE = re.compile(r"(?<![\d/])(?P<day>\d{1,2})/(?P<month>\d{1,2})/(?P<year>\d{4})(?![\d/])")
_DAY_MONTH = re.compile(
    r"(?<![\d.,:])(?P<day>\d{1,2})(?:st|nd|rd|th|er|º|°|-?го|-?е)?\.?\s+(?:(?:of|de|del|di)\s+)?"
    r"(?P<month>[^\W\d_]{3,})\.?(?:,?\s+(?:de\s+|del\s+)?(?P<year>\d{4})\b)?",
    re.IGNORECASE,
)
_MONTH_DAY = re.compile(
    r"\b(?P<month>[^\W\d_]{3,})\.?\s+(?P<day>\d{1,2})(?:st|nd|rd|th)?(?![\d:.,]\d|\d)(?:,?\s+(?P<year>\d{4})\b)?"
)
_CLOCK = re.compile(
    r"(?<![\d:.])(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::\d\d)?(?![\d:])\s*(?P<half>[ap]\.?\s?m\b\.?)?", re.I
)
_HOUR = re.compile(
    r"(?<![\d:.,])(?P<hour>\d{1,2})(?:[.h](?P<minute>\d\d))?\s*(?:(?P<half>[ap]\.?\s?m\b\.?)|uhr\b|o['’]clock\b)",
    re.I,
)
_IDENTIFIER = re.compile(
    r"(?<![\w/.\-])(?=[^\W\d])(?=[\w./:\-]{0,200}\d)[^\W\d]\w*(?:[-_./:][\w]+)*|(?<![\w.])\d+(?:\.\d+){2,}(?!\w|\.\d)"
    r"|(?<![\w.])\d\w*(?:[-_]\w+)+|(?<!\w)[#@][\w\-]+"
)
_WORD = re.compile(r"[^\W\d_]+")
_SQUEEZED = re.compile(r"[\W_]+")


def facts_of(text: str, languages: Sequence[str], *, is_source: bool = False) -> tuple[Fact, ...]:
    """The facts of a text that is written in (some of) these languages.

    A statement is read strictly: "one", "first" and "second" claim nothing. A source (``is_source``) is read
    generously: whatever it may be read to say counts as said.
    """
    known = tuple(dict.fromkeys((*(one for one in languages if one), "en")))
    scan = _Scan(text=text, languages=known)
    _take_literals(scan)
    written = digits_in(scan.text)
    scan.text = with_digits(scan.text, known[0])
    _take_dates(scan)
    _take_clocks(scan)
    _take_names(scan)
    assumed = None if is_source else written
    return (*scan.facts, *numbers_of(scan.text, known, written=assumed))


def squeezed(text: str) -> str:
    """Letters and digits only, folded: ``SEV-1``, ``sev 1`` and ``SEV_1`` are one."""
    return _SQUEEZED.sub("", fold(text))


def _take_literals(scan: _Scan) -> None:
    for match in scan.take(_CODE):
        if key := squeezed(match["code"]):
            scan.facts.append(Literal(match["code"], key))
    for match in scan.take(_ADDRESS):
        scan.facts.append(Literal(match.group(), squeezed(match.group().rstrip(".,;:!?)"))))
    for match in scan.take(_DOTTED_NAME):
        scan.facts.append(Literal(match.group(), squeezed(match.group())))
    for match in scan.take(_IDENTIFIER):
        text = match.group().rstrip(".:/-")
        if not _ISO_DATE.fullmatch(text) and not is_glued(text) and not _is_date(text):
            scan.facts.append(Literal(text, squeezed(text)))


def _is_date(text: str) -> bool:
    return _DOTTED_DATE.fullmatch(text) is not None or _SLASHED_DATE.fullmatch(text) is not None


def _take_dates(scan: _Scan) -> None:
    for pattern in (_ISO_DATE, _DOTTED_DATE, _SLASHED_DATE):
        for match in scan.take(pattern):
            day, month = int(match["day"]), int(match["month"])
            orders = ((month, day), (day, month)) if pattern is _SLASHED_DATE else ((month, day),)
            days = frozenset((m, d) for m, d in orders if JANUARY <= m <= DECEMBER and 1 <= d <= LAST_DAY)
            if days:
                scan.facts.append(Date(match.group(), days, _year(match["year"])))
    for pattern in (_DAY_MONTH, _MONTH_DAY):
        for match in scan.take(pattern):
            named = _month(match["month"], scan.languages)
            if named is not None and 1 <= int(match["day"]) <= LAST_DAY:
                days = frozenset(((named, int(match["day"])),))
                scan.facts.append(Date(match.group(), days, _year(match["year"])))


def _year(text: str | None) -> int | None:
    if text is None:
        return None
    year = int(text)
    return year if year > YEARS_OF_TWO_DIGITS else CENTURY + year


def _month(word: str, languages: Sequence[str]) -> int | None:
    for language in languages:
        # "the two may go" names no day; English months have capitals.
        number = inflected(fold(word), months(language))
        if number is not None and (language != "en" or word[0].isupper()):
            return number
    return None


def _take_clocks(scan: _Scan) -> None:
    for pattern in (_CLOCK, _HOUR):
        for match in scan.take(pattern):
            hour, minute = int(match["hour"]), int(match["minute"] or 0)
            half = (match["half"] or "").lower()[:1]
            if half == "p" and hour < NOON:
                hour += NOON
            elif half == "a" and hour == NOON:
                hour = 0
            if hour <= MIDNIGHT and minute < HOUR:
                scan.facts.append(Clock(match.group(), hour * HOUR + minute))


def _take_names(scan: _Scan) -> None:
    for match in scan.take(_WORD):
        word = fold(match.group())
        for language in scan.languages:
            if (day := inflected(word, weekdays(language))) is not None:
                scan.facts.append(Named(match.group(), "weekday", day))
                break
            month = inflected(word, months(language))
            if month is not None and _is_month(match, language):
                scan.facts.append(Named(match.group(), "month", month))
                break


def _is_month(match: re.Match[str], language: str) -> bool:
    """Whether a word that may be a month is one: not the verbs "may" and "march", nor a short form."""
    word = match.group()
    if len(word) <= SHORT_FORM and fold(word) not in SHORT_MONTHS:
        return False
    # "May I" begins with a verb more often than with a month.
    return language != "en" or (word[0].isupper() and (fold(word) != "may" or match.start() > 0))
