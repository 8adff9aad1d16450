"""Whether a statement names somebody or something else than its source does. Pure.

Three signs: a name that the source does not have; a sentence of the source with one word exchanged; and a row
or list item whose figure was given to another row's name.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache

from babel import Locale, UnknownLocaleError

from core.services.locale_words import inflected, months, weekdays
from core.services.overlap import SHORTEST_PART, content_words, coverage, likeness, sounds_alike, words_of
from core.services.polarity import clauses
from core.services.stopwords import stop_words
from core.services.tokens import fold, is_identifier, same_root, tokens

NOUNS_HAVE_CAPITALS = frozenset(("de", "lb"))
"""Where every noun is written like a name, only quotation marks tell names apart."""

_QUOTED = re.compile(r"[„“\"«»‚‘]([^„“”\"«»‚‘’\n]{2,40})[“”\"»«‘’]")
_WORD = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")
_SENTENCE_START = re.compile(r"(?:\A|[.!?:;\n]\s*|[•\-*]\s+|\d+[.)]\s+)[\"„“«(\[]*$")
_LOOK_BACK = 40
"""Characters before a word in which its sentence would begin."""

STRANGE = 0.34
"""A clause of which a statement has less than this share of the words is not the one it repeats."""

FLANK = 2
"""Equal words in a row beside an exchanged one, from which it stands in the same place."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A fact or a name of a statement, and in which of the rows it stands."""

    held: tuple[bool, ...]
    word: str = ""


def foreign_names(statement: str, source: str, language: str) -> tuple[str, ...]:
    """Names in the statement that the source does not have, however it spells or inflects them."""
    said = words_of(source).all
    missing = [
        name for name in names(statement, language) if not all(_is_said(word, said) for word in tokens(name))
    ]
    if not missing:
        return ()
    regions = _region_codes(source)
    return tuple(name for name in missing if not _is_region(name, regions, language))


def names(statement: str, language: str) -> tuple[str, ...]:
    """What looks like a name: capitals inside a sentence where those mean names, and quoted words."""
    found = [match[1] for match in _QUOTED.finditer(statement)]
    if language not in NOUNS_HAVE_CAPITALS:
        for match in _WORD.finditer(statement):
            word = match.group()
            if word[0].isupper() and not _SENTENCE_START.search(
                statement, max(0, match.start() - _LOOK_BACK), match.start()
            ):
                found.append(word)
    return tuple(dict.fromkeys(name for name in found if not _is_ordinary(name, language)))


def exchanged(statement: str, sentence: str, language: str) -> tuple[str, str] | None:
    """The word of a source's sentence, and the one that the statement has in its place.

    It counts where both are names, or where the new word was taken from another clause of the sentence, of
    which the statement says nothing else.
    """
    mine, theirs = _spoken(statement), _spoken(sentence)
    for at, beside in _exchanged_pairs([fold(one) for one in mine], [fold(one) for one in theirs]):
        new, old = mine[at], theirs[beside]
        if _means_the_same(new, old) or any(one.lower() in stop_words(language) for one in (new, old)):
            continue
        if any(_means_the_same(old, word) for word in mine):
            continue
        home = next((one for one in clauses(sentence) if fold(new) in words_of(one).all), None)
        if home is None and new[0].isupper() and old[0].isupper():
            return old, new
        if home is not None and _is_strange(home, new, old, statement, language):
            return old, new
    return None


def _is_strange(home: str, new: str, old: str, statement: str, language: str) -> bool:
    """Whether the clause where the new word stands is not what the statement is about."""
    if fold(old) in words_of(home).all:
        return False
    others = tuple(word for word in content_words(home, language) if word != fold(new))
    return bool(others) and coverage(others, words_of(statement).all) < STRANGE


def _exchanged_pairs(mine: Sequence[str], theirs: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Positions of words that stand before or behind the same run of words in both."""
    matcher = SequenceMatcher(None, mine, theirs, autojunk=False)
    for first, second, length in matcher.get_matching_blocks():
        if length < FLANK:
            continue
        if first and second:
            yield first - 1, second - 1
        if first + length < len(mine) and second + length < len(theirs):
            yield first + length, second + length


def misplaced(figures: Sequence[Figure], words: Sequence[str], items: Sequence[str]) -> bool:
    """Whether something in a statement stands in one row while the statement's words name another.

    ``words`` are the statement's content words, ``items`` the rows or list items of one table or list.
    """
    own = _distinct(items)
    return any(_is_misplaced(figure, words, own) for figure in figures)


def _is_misplaced(figure: Figure, words: Sequence[str], own: Sequence[frozenset[str]]) -> bool:
    if not any(figure.held):
        return False
    named = [any(word != figure.word and _among(word, mine) for word in words) for mine in own]
    pairs = tuple(zip(figure.held, named, strict=True))
    return not any(holds and name for holds, name in pairs) and any(name for _holds, name in pairs)


def _distinct(items: Sequence[str]) -> list[frozenset[str]]:
    """The words, numbers left out, that each item alone has."""
    sets = [
        frozenset(one for one in words_of(item).all if not one.replace(".", "").isdigit()) for item in items
    ]
    return [
        own - frozenset[str]().union(*(other for at, other in enumerate(sets) if at != place))
        for place, own in enumerate(sets)
    ]


def _among(word: str, own: frozenset[str]) -> bool:
    return word in own or any(same_root(word, other) for other in own)


def _spoken(text: str) -> list[str]:
    return [match.group() for match in _WORD.finditer(text)]


def _means_the_same(first: str, second: str) -> bool:
    one, other = fold(first), fold(second)
    if is_identifier(one) or is_identifier(other):
        return one == other or one.isdigit() or other.isdigit()
    return likeness(one, frozenset((other,))) > 0


def _is_said(word: str, said: frozenset[str]) -> bool:
    folded = fold(word)
    if folded in said or any(same_root(folded, other) or sounds_alike(folded, other) for other in said):
        return True
    return len(folded) > SHORTEST_PART - 1 and any(
        folded in other or (len(other) >= SHORTEST_PART and other in folded) for other in said
    )


def _is_region(name: str, regions: frozenset[str], language: str) -> bool:
    code = _regions(language).get(fold(name)) or _by_root(fold(name), language)
    return code is not None and code in regions


def _is_ordinary(name: str, language: str) -> bool:
    word = fold(name)
    if word in stop_words(language) or any(one.isdigit() for one in name):
        return True
    return any(
        inflected(word, known) is not None
        for spoken in (language, "en")
        for known in (months(spoken), weekdays(spoken))
    )


def _region_codes(text: str) -> frozenset[str]:
    """Countries and languages that a text names, in any of a few common languages."""
    words = words_of(text).all
    return frozenset(
        code
        for language in ("en", "de", "ru", "fr", "es")
        for word in words
        if (code := _regions(language).get(word) or _by_root(word, language)) is not None
    )


def _by_root(word: str, language: str) -> str | None:
    if len(word) < 5:  # noqa: PLR2004 - shorter ones share a root with anything
        return None
    return next((code for name, code in _regions(language).items() if same_root(word, name)), None)


@cache
def _regions(language: str) -> dict[str, str]:
    try:
        locale = Locale.parse(language or "en")
    except (UnknownLocaleError, ValueError):
        return {}
    return {word: code for code, word in _single_words(locale)}


def _single_words(locale: Locale) -> Iterator[tuple[str, str]]:
    for code, name in locale.territories.items():
        if code.isalpha() and " " not in name:
            yield code, fold(name)
    yield (
        "EU",
        {"ru": "ес", "uk": "єс", "fr": "ue", "es": "ue", "it": "ue", "pt": "ue"}.get(locale.language, "eu"),
    )
