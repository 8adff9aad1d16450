"""What kind of thing a question asks for, as far as its words tell."""

import re
from collections.abc import Mapping

_FIGURES: Mapping[str, re.Pattern[str]] = {
    "en": re.compile(
        r"\bhow (?:many|much|long|old|often|far|fast|high|large|big|tall|soon|early|late|heavy|deep|wide)\b"
        r"|\bwhen\b|\b(?:what|which) (?:year|date|day|month|percentage|number|age|amount|price|port)\b"
        r"|\bwhat (?:time|does\b.*\bcost)\b|\bwhat is the (?:number|amount|price|cost|size|length)\b",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"\bwie ?viele?[nmrs]?\b|\bwie (?:lang|oft|alt|hoch|weit|schnell|groß|gross|schwer|tief|breit|teuer"
        r"|spät|früh)e?\b|\bwann\b|\bwelche[mnrs]? (?:jahr|datum|tag|monat|uhrzeit|alter|zeitpunkt|betrag)"
        r"|\b(?:was|wieviel) kostet\b",
        re.IGNORECASE,
    ),
    "ru": re.compile(
        r"\bсколь(?:ко|ким|кими|ких)\b|\bкогда\b|\bкак (?:долго|часто|давно|далеко|быстро)\b"
        r"|\bкак(?:ом|ого|ой|ое|им|ую|ая|ова) (?:год|числ|дат|возраст|день|месяц|процент|количеств|сумм"
        r"|размер|цен|стоимост)",
        re.IGNORECASE,
    ),
}


def asks_for_figure(question: str, language: str) -> bool:
    """Whether a number or a date would answer: "how many", "wann", "сколько".

    Known for English, German and Russian; false for what is not known. ``language`` is empty if unknown: then
    the words of any of them count.
    """
    known = _FIGURES.values() if not language else (_FIGURES[language],) if language in _FIGURES else ()
    return any(pattern.search(question) for pattern in known)
