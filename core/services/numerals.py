"""Number words as digits: ``two hours``, ``zwei Stunden`` and ``двух часов`` all say 2. Pure."""

import re
from collections.abc import Mapping

from text_to_num import alpha2digit  # type: ignore[import-untyped]  # compiled, ships no types

_LIBRARY = frozenset(("en", "de", "fr", "es", "it", "pt", "nl"))

_STEMS: Mapping[str, Mapping[int, str]] = {
    "ru": {
        2: "два|две|двух|двум|двумя|двое|двоих|дважды|второго",
        3: "три|тр[её]х|тр[её]м|тремя|трое|троих|трижды",
        4: "четыре|четыр[её]х|четыр[её]м|четырьмя|четверо|четв[её]рт\\w+",
        5: "пят[ьи]|пятью|пятеро|пят(?:ый|ого|ому|ым|ом|ая|ой|ую)",
        6: "шест[ьи]|шестью|шестеро|шест(?:ой|ого|ому|ым|ом|ая|ую)",
        7: "сем[ьи]|семью|семеро|седьм\\w+",
        8: "восемь|восьми|восемью|восьм(?:ой|ого|ому|ым|ом|ая|ую)",
        9: "девят[ьи]|девятью|девят(?:ый|ого|ому|ым|ом|ая|ой|ую)",
        10: "десят[ьи]|десятью|десят(?:ый|ого|ому|ым|ом|ая|ой|ую)",
        11: "одиннадцат\\w+",
        12: "двенадцат\\w+",
        13: "тринадцат\\w+",
        14: "четырнадцат\\w+",
        15: "пятнадцат\\w+",
        16: "шестнадцат\\w+",
        17: "семнадцат\\w+",
        18: "восемнадцат\\w+",
        19: "девятнадцат\\w+",
        20: "двадцат\\w+",
        30: "тридцат\\w+",
        40: "сорок|сорока",
        50: "пятьдесят|пятидесяти",
        60: "шестьдесят|шестидесяти",
        70: "семьдесят|семидесяти",
        80: "восемьдесят|восьмидесяти",
        90: "девяносто|девяноста",
        100: "сто|ста",
        1000: "тысяч[аиу]?",
    },
    "uk": {
        2: "два|дві|двох|двом|двома",
        3: "три|трьох|трьом|трьома",
        4: "чотири|чотирьох|чотирма",
        5: "п['’]ять|п['’]яти",
        6: "шість|шести",
        7: "сім|семи",
        8: "вісім|восьми",
        9: "дев['’]ять|дев['’]яти",
        10: "десять|десяти",
        12: "дванадцят\\w+",
        14: "чотирнадцят\\w+",
        15: "п['’]ятнадцят\\w+",
        20: "двадцят\\w+",
        30: "тридцят\\w+",
        100: "сто|ста",
    },
    "pl": {
        2: "dwa|dwie|dwóch|dwu|dwom|dwoma",
        3: "trzy|trzech|trzem|trzema",
        4: "cztery|czterech",
        5: "pięć|pięciu",
        6: "sześć|sześciu",
        7: "siedem|siedmiu",
        8: "osiem|ośmiu",
        9: "dziewięć|dziewięciu",
        10: "dziesięć|dziesięciu",
        12: "dwanaście|dwunastu",
        14: "czternaście|czternastu",
        15: "piętnaście|piętnastu",
        20: "dwadzieścia|dwudziestu",
        30: "trzydzieści|trzydziestu",
        100: "sto|stu",
    },
}
"""Inflected number words of languages that the library does not read."""

_SHARES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "en": (
        (r"half an hour", "30 minutes"), (r"half a year", "6 months"), (r"quarter of an hour", "15 minutes"),
        (r"one and a half|an hour and a half", "1.5"), (r"a fortnight", "14 days"), (r"twice", "2 times"),
        (r"thrice", "3 times"), (r"a dozen", "12"),
    ),
    "de": (
        (r"halbe[nr]? stunde", "30 Minuten"), (r"halbe[ns]? jahr(?:es)?", "6 Monate"),
        (r"(?:einer?|die|der) viertelstunde|viertelstunde", "15 Minuten"), (r"anderthalb|eineinhalb", "1,5"),
        (r"zu zweit", "2"), (r"zu dritt", "3"), (r"zu viert", "4"),
    ),
    "ru": (
        (r"получаса|полчаса", "30 минут"), (r"полгода|полугода", "6 месяцев"),
        (r"четверт[ьи] часа", "15 минут"), (r"полтор[аы]", "1,5"),
    ),
    "fr": ((r"(?:une )?demi-heure", "30 minutes"), (r"quart d['’]heure", "15 minutes")),
    "es": ((r"media hora", "30 minutos"), (r"cuarto de hora", "15 minutos")),
    "it": ((r"mezz['’]ora|mezza ora", "30 minuti"), (r"quarto d['’]ora", "15 minuti")),
    "pt": ((r"meia hora", "30 minutos"), (r"quarto de hora", "15 minutos")),
    "nl": ((r"half uur", "30 minuten"), (r"kwartier", "15 minuten"), (r"anderhal(?:f|ve)", "1,5")),
    "pl": ((r"pół godziny", "30 minut"), (r"kwadrans", "15 minut")),
    "uk": ((r"півгодини", "30 хвилин"),),
}  # fmt: skip  # a table
"""Parts of an hour or year that have words of their own."""

_GERMAN_COMPOUND = re.compile(
    r"\b(?P<number>\w{3,}?)[- ]?(?P<rest>fache[nrsm]?|mal|tägig\w*|stündig\w*|minütig\w*|wöchig\w*|monatig\w*"
    r"|jährig\w*|köpfig\w*)\b",
    re.IGNORECASE,
)
_HYPHEN = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")
TEN, TWENTY = 10, 20
_SEPARATOR = "\ue010"


def with_digits(text: str, language: str) -> str:
    """The text with number words of that language, or of English where it is unknown, written in digits."""
    for pattern, digits in _shares(language):
        text = pattern.sub(digits, text)
    if language == "de":
        text = _GERMAN_COMPOUND.sub(_taken_apart, text)
    if language in _STEMS:
        return _by_stems(text, language)
    known = language if language in _LIBRARY else "en"
    return "\n".join(_by_library(line, known) for line in text.split("\n"))


def _by_library(line: str, language: str) -> str:
    if not any(character.isalpha() for character in line):
        return line
    # Once as it is ("twenty-five"), once without hyphens ("three-day").
    spaced: str = _HYPHEN.sub(f" {_SEPARATOR} ", alpha2digit(line, language, threshold=0))
    digits: str = alpha2digit(spaced, language, threshold=0)
    return digits.replace(f" {_SEPARATOR} ", "-")


def _taken_apart(match: re.Match[str]) -> str:
    number = alpha2digit(match["number"], "de", threshold=0)
    return f"{number}-{match['rest']}" if number.isdigit() else match.group()


def _shares(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple(
        (re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), digits)
        for pattern, digits in _SHARES.get(language, ())
    )


def _by_stems(text: str, language: str) -> str:
    words = _number_words(language)
    pieces: list[str] = []
    end = 0
    total = 0
    for match in re.finditer(r"[^\W\d_]+(?:['’][^\W\d_]+)?", text):
        number = next((value for pattern, value in words if pattern.fullmatch(match.group())), None)
        if number is None:
            continue
        gap = text[end : match.start()]
        if total >= TWENTY and number < TEN and total % TEN == 0 and gap == " " and pieces:
            total += number
            pieces[-1] = str(total)
        else:
            pieces += [gap, str(number)]
            total = number
        end = match.end()
    return "".join((*pieces, text[end:]))


def _number_words(language: str) -> tuple[tuple[re.Pattern[str], int], ...]:
    return tuple((re.compile(stem, re.IGNORECASE), number) for number, stem in _STEMS[language].items())
