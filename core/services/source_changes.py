"""Whether a page still says what an answer rested on. Pure; only digests of the passage are kept, no text."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import assert_never

from core.domain.ids import PageId
from core.ports.replies import PassageDigest
from core.services.facts import Clock, Date, Fact, Literal, Named, facts_of
from core.services.overlap import content_words
from core.services.polarity import denials
from core.services.quantities import Number

STILL_THERE = 0.8
"""Share of a passage's words that must be left; fewer is another text, more is a corrected spelling."""

DIGEST_BYTES = 6
"""Of each word; chance collisions among the words of a page do no harm."""


def digest_of(page_id: PageId, text: str, language: str) -> PassageDigest:
    """What is to be remembered of a passage that an answer rests on."""
    return PassageDigest(
        page_id=page_id,
        language=language,
        figures=frozenset(_hash(_key(fact)) for fact in facts_of(text, (language,), is_source=True)),
        words=frozenset(_hash(word) for word in content_words(text, language)),
        denials=len(denials(text, language)),
    )


def has_changed(before: PassageDigest, now: Sequence[str]) -> bool:
    """Whether a page, given as its passages now, says materially something else; without any it is gone.

    A figure that is gone or new, a negation more or less, or a fifth of the words lost is material. Format,
    spelling, order, and text in other passages of the page are not.
    """
    today = [digest_of(before.page_id, text, before.language) for text in now]
    return not any(_says_the_same(before, one) for one in today)


def _says_the_same(before: PassageDigest, now: PassageDigest) -> bool:
    if before.figures != now.figures or before.denials != now.denials:
        return False
    return len(before.words & now.words) >= STILL_THERE * len(before.words)


def _key(fact: Fact) -> str:
    match fact:
        case Number(readings=readings, unit=None):
            return f"number {sorted(str(one.normalize()) for one in readings)}"
        case Number(readings=readings, unit=unit) if unit is not None:
            return f"{unit.base} {sorted(str((one * unit.factor).normalize()) for one in readings)}"
        case Date(days=days, year=year):
            return f"date {sorted(days)} {year}"
        case Clock(minutes=minutes):
            return f"clock {minutes}"
        case Named(kind=kind, number=number):
            return f"{kind} {number}"
        case Literal(key=key):
            return f"literal {key}"
        case _:
            assert_never(fact)  # type: ignore[arg-type]  # mypy does not narrow by guards


def _hash(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).hexdigest()
