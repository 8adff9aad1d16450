"""Words for months, weekdays, units and currencies, by language, from the Unicode CLDR (Babel). Pure data."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from types import MappingProxyType
from typing import Any

from babel import Locale, UnknownLocaleError

from core.services.tokens import fold

SHORTEST_NAME = 3
SHORTEST_STEM = 4
"""Letters; shorter abbreviations and stems begin too many other words."""

ENDINGS = frozenset(
    ("", "а", "у", "ы", "е", "я", "ю", "ь", "и", "ам", "ям", "ом", "ем", "s", "es", "en", "n", "e", "a", "u")
)
"""What an inflected name of a month or weekday may end in, beyond its stem: ``вторникам``, ``dienstags``."""

_FAMILIES = (
    "area", "concentr-percent", "concentr-permille", "digital", "duration", "electric", "energy", "frequency",
    "length", "mass", "power", "pressure", "speed", "temperature", "torque", "volume",
)  # fmt: skip  # a table
_UNUSED = (
    "-person",
    "light-year",
    "solar",
    "earth",
    "point",
    "century",
    "quarter",
    "dalton",
    "drop",
    "pinch",
)

_BASES: Mapping[str, tuple[str, str]] = {
    "duration-millisecond": ("time", "0.001"),
    "duration-second": ("time", "1"),
    "duration-minute": ("time", "60"),
    "duration-hour": ("time", "3600"),
    "duration-day": ("time", "86400"),
    "duration-week": ("time", "604800"),
    "duration-month": ("calendar", "1"),
    "duration-year": ("calendar", "12"),
    "duration-decade": ("calendar", "120"),
    "digital-byte": ("bytes", "1"),
    "digital-kilobyte": ("bytes", "1e3"),
    "digital-megabyte": ("bytes", "1e6"),
    "digital-gigabyte": ("bytes", "1e9"),
    "digital-terabyte": ("bytes", "1e12"),
    "length-millimeter": ("metres", "0.001"),
    "length-centimeter": ("metres", "0.01"),
    "length-meter": ("metres", "1"),
    "length-kilometer": ("metres", "1000"),
    "mass-gram": ("grams", "1"),
    "mass-kilogram": ("grams", "1000"),
    "mass-tonne": ("grams", "1e6"),
    "volume-milliliter": ("litres", "0.001"),
    "volume-liter": ("litres", "1"),
}
"""Units that are told in one another: a month is no number of days, a year is twelve months."""

_CURRENCIES = (  # names of the ISO, by blanks
    "EUR USD GBP JPY CNY CHF RUB KZT UAH PLN SEK NOK DKK CZK HUF TRY INR BRL CAD AUD NZD MXN KRW ILS RON BGN "
    "ISK GEL AMD AZN UZS BYN RSD ZAR SGD HKD THB VND IDR AED SAR EGP ARS CLP COP"
)
# in order
"""The first one that a word may mean wins: a dollar is American."""

_NOUN_FIRST = frozenset(("fr", "es", "it", "pt", "ca", "ro", "gl"))
_MINOR = frozenset(
    ("cent", "cents", "цент", "цента", "центов", "копеек", "копеики", "pence", "rappen", "ct", "centimes",
     "centimos", "centesimi", "centavos", "groszy", "тиын")
)  # fmt: skip  # a table
_SINGLE_LETTERS = frozenset("hmgl%°ч")
"""Letters alone are units only where they are no words: Russian "в" is a preposition before it is a volt."""

_EXTRA_UNITS: Mapping[str, str] = {
    "%": "concentr-percent",
    "prozent": "concentr-percent",
    "percent": "concentr-percent",
    "процент": "concentr-percent",
    "сутки": "duration-day",
    "суток": "duration-day",
    "h": "duration-hour",
    "std": "duration-hour",
    "hrs": "duration-hour",
    "min": "duration-minute",
    "mins": "duration-minute",
    "sec": "duration-second",
    "kb": "digital-kilobyte",
    "mb": "digital-megabyte",
    "gb": "digital-gigabyte",
    "tb": "digital-terabyte",
    "кг": "mass-kilogram",
    "kilo": "mass-kilogram",
    "kilos": "mass-kilogram",
    "кило": "mass-kilogram",
    "nm": "torque-newton-meter",
    "newton metre": "torque-newton-meter",
    "newton metres": "torque-newton-meter",
    "ньютон-метр": "torque-newton-meter",
    "kwh": "energy-kilowatt-hour",
}
"""Ways to write a unit that the CLDR does not list."""


@dataclass(frozen=True, slots=True)
class Unit:
    """What a number counts: ``base`` is comparable, ``factor`` how many of it one is."""

    base: str
    factor: Decimal = Decimal(1)


MINOR_MONEY = Unit("money", Decimal("0.01"))
"""A hundredth of whatever currency."""


@cache
def decimal_mark(language: str) -> str:
    """What parts whole numbers from fractions; a point where the language is unknown."""
    locale = _locale(language)
    symbols = {} if locale is None else locale.number_symbols
    return str(symbols.get("latn", symbols).get("decimal", "."))


@cache
def months(language: str) -> Mapping[str, int]:
    """Folded names of months, whole and shortened, with their numbers from 1."""
    found: dict[str, int] = {}
    for number, name in _names(language, "months"):
        if len(name) >= SHORTEST_NAME:
            found.setdefault(name, number)
    if "маи" in found:
        # Too short for stems; "й" is folded to "и".
        found["мае"] = found["маи"]
    return MappingProxyType(found)


@cache
def weekdays(language: str) -> Mapping[str, int]:
    """Folded whole names of weekdays with their numbers, Monday 0."""
    locale = _locale(language)
    if locale is None:
        return MappingProxyType({})
    wide = locale.days["format"]["wide"], locale.days["stand-alone"]["wide"]
    return MappingProxyType({fold(str(name)): int(day) for names in wide for day, name in names.items()})


@cache
def units(language: str) -> Mapping[str, Unit]:
    """Folded words and signs that stand behind (or, for currencies, before) a number."""
    found: dict[str, Unit] = {word: _unit(name) for word, name in _EXTRA_UNITS.items()}
    found.update(dict.fromkeys(_MINOR, MINOR_MONEY))
    for word, code in _currency_words(language):
        found.setdefault(word, Unit(f"money:{code}"))
    for word, name in _unit_words(language):
        found.setdefault(word, _unit(name))
    return MappingProxyType(found)


def inflected(word: str, names: Mapping[str, int]) -> int | None:
    """The number of the month or weekday that a folded word is a form of."""
    if (exact := names.get(word)) is not None:
        return exact
    for name, number in names.items():
        for stem in {name, name.rstrip("аеиоуыэюяьaeiouy")}:
            if len(stem) >= SHORTEST_STEM and word.startswith(stem) and word[len(stem) :] in ENDINGS:
                return number
    return None


def _unit(name: str) -> Unit:
    base, factor = _BASES.get(name, (name, "1"))
    return Unit(base, Decimal(factor))


def _locale(language: str) -> Locale | None:
    try:
        return Locale.parse(language) if language else None
    except (UnknownLocaleError, ValueError):
        return None


def _names(language: str, kind: str) -> Iterator[tuple[int, str]]:
    locale = _locale(language)
    if locale is None:
        return
    table: Any = getattr(locale, kind)
    for context in ("format", "stand-alone"):
        for width in ("wide", "abbreviated"):
            for number, name in table.get(context, {}).get(width, {}).items():
                yield int(number), fold(str(name)).rstrip(".")


def _unit_words(language: str) -> Iterator[tuple[str, str]]:
    locale = _locale(language)
    if locale is None:
        return
    # Babel reads these itself (babel.units) and has no public list of them.
    for name, widths in locale._data["unit_patterns"].items():
        if not name.startswith(_FAMILIES) or any(part in name for part in _UNUSED):
            continue
        for width in ("long", "short"):
            patterns = widths.get(width, {})
            for plural in ("one", "two", "few", "many", "other"):
                pattern = patterns.get(plural) if hasattr(patterns, "get") else None
                if isinstance(pattern, str) and "{0}" in pattern:
                    word = fold(pattern.replace("{0}", "").replace("\xa0", " ").strip()).rstrip(".")
                    if len(word) > 1 or word in _SINGLE_LETTERS:
                        yield word, name


def _currency_words(language: str) -> Iterator[tuple[str, str]]:
    locale = _locale(language)
    if locale is None:
        return
    for code in _CURRENCIES.split():
        yield fold(code), code
        symbol = str(locale.currency_symbols.get(code, ""))
        if symbol and not symbol.isalpha():
            yield fold(symbol), code
        plurals = locale._data["currency_names_plural"].get(code, {})  # as babel.numbers does
        for name in (locale.currencies.get(code, ""), *plurals.values()):
            words = str(name).split()
            if words:
                noun_first = language in _NOUN_FIRST or words[-1].isupper()
                yield fold(words[0 if noun_first else -1]), code
