"""How much of a statement's words a text has, inflections, compounds and other scripts included. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.services.grams import fold_sounds
from core.services.stopwords import stop_words
from core.services.tokens import fold, is_identifier, parts, same_root, tokens

SHORTEST_PART = 4
"""Letters of a compound's part that count as having been said: "Urlaub" in "Urlaubstage"."""

ALIKE = 0.5
"""Share of common runs of three letters from which two words are taken for forms of one."""

PARTLY = 0.7
"""What a word counts that only resembles one in the text."""


@dataclass(frozen=True, slots=True)
class Words:
    """The folded words of a text, in order and as a set."""

    ordered: tuple[str, ...]
    all: frozenset[str]


@lru_cache(maxsize=4096)
def words_of(text: str) -> Words:
    """Every word of a text; compounds written with hyphens also by their parts."""
    found: list[str] = []
    for token in tokens(text):
        found += [fold(piece) for piece in (parts(token) or (token,))]
    return Words(ordered=tuple(found), all=frozenset(found))


@lru_cache(maxsize=4096)
def content_words(text: str, language: str) -> tuple[str, ...]:
    """The folded words that carry the meaning: no stop words, no bare numbers; each once."""
    stop = stop_words(language)
    kept: list[str] = []
    for token in tokens(text):
        if token.replace(".", "").replace(",", "").isdigit() or token.lower() in stop:
            continue
        pieces = parts(token) or (token,)
        kept += [
            fold(piece)
            for piece in pieces
            if piece.lower() not in stop and (len(piece) > 1 or not piece.isascii())
        ]
    return tuple(dict.fromkeys(kept))


def coverage(statement: Sequence[str], text: Iterable[str]) -> float:
    """The share, 0 to 1, of the statement's content words that the text has; 1 where there are none."""
    if not statement:
        return 1.0
    said = frozenset(text)
    return sum(likeness(word, said) for word in statement) / len(statement)


def likeness(word: str, said: frozenset[str]) -> float:
    """1 where the text has the word or a form of it, `PARTLY` where it has something like it, else 0."""
    if word in said:
        return 1.0
    return max((_likeness(word, other) for other in said), default=0.0)


@lru_cache(maxsize=65536)
def _likeness(word: str, other: str) -> float:
    if same_root(word, other):
        return 1.0
    if is_identifier(word) or is_identifier(other):
        return 0.0
    short, long = sorted((word, other), key=len)
    if len(short) >= SHORTEST_PART and short in long:
        return PARTLY
    if len(short) > SHORTEST_PART and short[:-1] in long and len(short[:-1]) >= SHORTEST_PART:
        return PARTLY
    return PARTLY if sounds_alike(word, other) else 0.0


@lru_cache(maxsize=65536)
def sounds_alike(word: str, other: str) -> bool:
    """Whether two words share most of their runs of letters, whatever script they are written in."""
    if word.isascii() != other.isascii() and _common_start(word, other) >= SHORTEST_PART:
        # "Leipzig" and "Лейпциге" begin alike and end as their languages want.
        return True
    mine, theirs = _trigrams(word), _trigrams(other)
    if not mine or not theirs:
        return False
    return 2 * len(mine & theirs) / (len(mine) + len(theirs)) >= ALIKE


def _common_start(word: str, other: str) -> int:
    pairs = enumerate(zip(fold_sounds(word), fold_sounds(other), strict=False))
    return next((at for at, (one, two) in pairs if one != two), min(len(word), len(other)))


@lru_cache(maxsize=16384)
def _trigrams(word: str) -> frozenset[str]:
    spelled = f"_{fold_sounds(word)}_"
    return frozenset(spelled[at : at + 3] for at in range(len(spelled) - 2))
