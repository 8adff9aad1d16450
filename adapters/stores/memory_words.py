"""How the index in dictionaries compares words: as they stand, accents and case folded."""

import re
import unicodedata
from collections.abc import Collection, Sequence

from adapters.stores.search_sql import ALIKE, MOST_ALIKE, SHORTEST_HEALED
from core.ports import WordQuery

_WORD = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff]|[^\W\u2e80-\u9fff\uf900-\ufaff]+")
"""Chinese and Japanese signs are words of their own."""
_WEB = re.compile(r'(-?)(?:"([^"]*)"|(\S+))')
TITLE_WEIGHT, HEADING_WEIGHT, BODY_WEIGHT = 1.0, 0.4, 0.1
"""PostgreSQL's weights of the labels A, B and D."""


def score(words: WordQuery, fields: Collection[tuple[str, float]]) -> float:
    """How much of what is asked stands in the fields; 0 where nothing does or something excluded does."""
    wanted, excluded = _asked(words)
    found = [(fold(text), weight) for text, weight in fields]
    if any(_holds(tokens, phrase) for tokens, _ in found for phrase in excluded):
        return 0.0
    return sum(weight for tokens, weight in found for phrase in wanted if _holds(tokens, phrase))


def _asked(words: WordQuery) -> tuple[list[list[str]], list[list[str]]]:
    if not words.web_syntax:
        return [tokens for term in (*words.terms, *words.spellings) if (tokens := fold(term))], []
    wanted: list[list[str]] = []
    excluded: list[list[str]] = []
    for minus, phrase, word in _WEB.findall(words.text):
        tokens = fold(phrase or word)
        if tokens and tokens != ["or"]:
            (excluded if minus else wanted).append(tokens)
    return wanted, excluded


def is_healable(word: str) -> bool:
    """Whether a word is long enough to resemble others for a reason, and no number or code."""
    return len(word) >= SHORTEST_HEALED and word.isalpha()


def nearest(word: str, known: Collection[str]) -> list[str]:
    """The words of the index that resemble it most, as many as PostgreSQL is asked for."""
    alike = {one: _alike(word, one) for one in known}
    return [
        one for one in sorted(alike, key=lambda one: (-alike[one], one))[:MOST_ALIKE] if alike[one] >= ALIKE
    ]


def _alike(one: str, other: str) -> float:
    """The share of letter triples in common, as pg_trgm counts them."""
    first, second = _triples(one), _triples(other)
    return len(first & second) / len(first | second)


def _triples(word: str) -> set[str]:
    padded = f"  {word} "
    return {padded[at : at + 3] for at in range(len(padded) - 2)}


def _holds(tokens: Sequence[str], phrase: Sequence[str]) -> bool:
    size = len(phrase)
    return any(list(tokens[start : start + size]) == phrase for start in range(len(tokens) - size + 1))


def fold(text: str) -> list[str]:
    """The words of a text in lower case, without accents."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(sign for sign in decomposed if not unicodedata.combining(sign))
    return _WORD.findall(plain.replace("_", " "))
