"""Which language a text is written in, questions of three words included."""

import math
from collections.abc import Mapping
from functools import cache

import numpy as np
import stopwordsiso
from py3langid.langid import MODEL_FILE, LanguageIdentifier  # type: ignore[import-untyped]  # ships no types

from core.services.tokens import tokens

_RARER = (
    "ar bg bn ca cs da el et eu fa fi ga gl gu he hi hr hu hy id ka kk lt lv mk ms no ro sk sl sq sr sv "
    "ta te th tl ur vi yi"
)
_COMMON = "fr es it pt nl pl uk tr zh ja ko"
PRIORS: Mapping[str, float] = {
    **dict.fromkeys(_RARER.split(), 1.0),
    **dict.fromkeys(_COMMON.split(), 2.0),
    "de": 3.0,
    "ru": 3.0,
    "en": 4.0,
}
"""Languages told apart, and how much likelier each is at a company wiki before a word was read.

Rare relatives (Pidgin for English, Luxembourgish for German, Asturian for Spanish) would otherwise take the
probability of a short question away from the language it is written in.
"""

ALIASES: Mapping[str, str] = {"nn": "no", "nb": "no", "yue": "zh", "wuu": "zh"}
"""Labels of the model that name a written form of one of our languages."""

_STEMMED = "ar ca da de el en es et eu fi fr ga hi hu hy id it lt ne nl no pt ro ru sr sv ta tr yi"
STEMMED = frozenset(_STEMMED.split())
"""Languages whose words PostgreSQL reduces to stems; those of others are also compared by their letters."""

UNSURE_BELOW = 0.5
"""A best guess below this is no guess: a wrong stemmer is worse than none."""

MOST_TEXT = 2000
"""Characters looked at; more change no decision and cost time."""

MOST_VOTES = 6
"""Stop words counted at most: they settle a short question, a long text settles itself."""

VOTE = 1.2
"""Log-odds that one stop word of a language adds; about a third of all words a person types are such."""


def detect(text: str) -> str:
    """The ISO 639-1 code of the text's language, or empty when it cannot be told."""
    likeliest = probabilities(text)
    if not likeliest:
        return ""
    best = max(likeliest, key=lambda code: (likeliest[code], code))
    return best if likeliest[best] >= UNSURE_BELOW else ""


def probabilities(text: str) -> Mapping[str, float]:
    """The probability of each language; empty where the text has no letters to judge by."""
    sample = text[:MOST_TEXT]
    words = [token for token in tokens(sample) if any(character.isalpha() for character in token)]
    if not words:
        return {}
    prose = " ".join(words)
    scores = _letter_scores(prose)
    votes = _votes(words)
    combined = {
        code: scores.get(code, -math.inf) + math.log(PRIORS[code]) + votes.get(code, 0.0) for code in PRIORS
    }
    highest = max(combined.values())
    weights = {code: math.exp(score - highest) for code, score in combined.items()}
    total = sum(weights.values())
    return {code: weight / total for code, weight in weights.items()}


def _letter_scores(prose: str) -> dict[str, float]:
    """Log-probabilities by the model's character n-grams, aliases folded."""
    folded: dict[str, float] = {}
    for label, probability in _identifier().rank(prose):
        code = ALIASES.get(label, label)
        folded[code] = folded.get(code, 0.0) + float(probability)
    tiny = float(np.finfo(np.float32).tiny)
    return {code: math.log(max(probability, tiny)) for code, probability in folded.items()}


def _votes(words: list[str]) -> dict[str, float]:
    """How far the stop words among the words speak for each language."""
    voting = list(dict.fromkeys(word.lower() for word in words))[: MOST_VOTES * 2]
    votes: dict[str, float] = {}
    for word in voting:
        for code in _languages_of_stop_word().get(word, ()):
            votes[code] = min(votes.get(code, 0.0) + VOTE, VOTE * MOST_VOTES)
    return votes


@cache
def _identifier() -> LanguageIdentifier:
    """The model is loaded on first use (half a second), never on import."""
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


@cache
def _languages_of_stop_word() -> Mapping[str, tuple[str, ...]]:
    spoken: dict[str, list[str]] = {}
    for code in sorted(stopwordsiso.langs() & PRIORS.keys()):
        for word in stopwordsiso.stopwords(code):
            spoken.setdefault(word, []).append(code)
    return {word: tuple(codes) for word, codes in spoken.items()}
