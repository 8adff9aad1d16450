"""Whether the wiki holds an answer at all: one probability out of what the best passage shows."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from core.services.identifiers import is_named, is_number_of_code
from core.services.tokens import is_identifier

MOST_MARGIN = 4.0
"""A margin above this says no more."""

ANSWER_FROM = 0.15
"""Below this probability the wiki is taken not to answer.

Set on the sample set so that about 5 % of questions with an answer are refused. The refusals that remain to
be made are left to who reads the passages: a near miss resembles its passage as an answered question does.
"""

_STANDS_OUT, _MARGIN, _MISSING, _BIAS = 0.66, 0.50, -3.0, -1.39
"""First and last of a logistic regression on one half of XQuAD: questions against their index, without their
paragraph, and without their article. Its margin (0.90) and missing identifiers (-0.76) were set anew on the
sample: few questions of XQuAD name anything exactly, and at work a code that no page has is answered by none.
"""


_WHEN_READ, _READ_BIAS = (0.71, -0.47, 0.45, 0.63), 1.92
"""What `signs_when_read` are weighed with, by a logistic regression on the sample and tuning questions
(``python -m tests.bench.reading.weights``), and a constant: set so that at most 5 % of the sample's questions
with an answer lie below `ANSWER_FROM`, in each language and across languages.

The mean reading tells whether the question is of a kind that such passages answer at all. The best passage's
score counts against an answer since the odds before hold it already, beside how far it stands out: passages
on the subject are found for a near miss as well, and standing out is what remains to tell them apart.
"""

_LEAST = 1e-4
"""A probability nearer to 0 or 1 says no more."""


@dataclass(frozen=True, slots=True)
class Signs:
    """What the best passage shows.

    ``stands_out``: how far its raw cosine lies above the best that chance gives, in standard deviations.
    ``margin``: how far its fused score lies above that of the best other section. ``missing``: whether the
    question names an identifier or number that the passage does not have.
    """

    stands_out: float
    margin: float
    missing: bool


def answerable(signs: Signs) -> float:
    """The probability that the wiki answers, 0 to 1."""
    return probability_of(
        _STANDS_OUT * signs.stands_out
        + _MARGIN * min(max(signs.margin, 0.0), MOST_MARGIN)
        + _MISSING * signs.missing
        + _BIAS
    )


def answerable_when_read(before: float, found: float, odds: Sequence[float]) -> float:
    """The probability once passages were read: from that before, the best passage's score and their odds.

    ``found`` is the score, 0 to 1, that the best passage was found with. With nothing read the probability
    stays as it was.
    """
    if not odds:
        return before
    signs = signs_when_read(before, found, odds)
    return probability_of(sum(w * sign for w, sign in zip(_WHEN_READ, signs, strict=True)) + _READ_BIAS)


def signs_when_read(before: float, found: float, odds: Sequence[float]) -> tuple[float, ...]:
    """What the probability is made of: odds before, odds of the score, the best reading and the mean one."""
    return log_odds(before), log_odds(found), max(odds), sum(odds) / len(odds)


def margin(scores: Sequence[float], sections: Sequence[object]) -> float:
    """How far the best score lies above the best of any other section; 0 where there is none to compare.

    ``sections`` name the section of each passage: overlapping chunks of one section do not compete.
    """
    if not scores:
        return 0.0
    best = max(range(len(scores)), key=lambda place: (scores[place], -place))
    others = [score for score, one in zip(scores, sections, strict=True) if one != sections[best]]
    return min(scores[best] - max(others), MOST_MARGIN) if others else 0.0


def missing_identifiers(keywords: Collection[str], passage: str) -> tuple[str, ...]:
    """Identifiers and numbers of the question that the passage lacks: ``ERR_63``, ``v2.3``, ``Q6``."""
    return tuple(
        word
        for word in keywords
        if is_identifier(word)
        and not is_named(word, passage)
        and not is_number_of_code(word, keywords, passage)
    )


def log_odds(probability: float) -> float:
    """Its odds as natural logarithm, within what can be told apart."""
    return math.log(max(probability, _LEAST) / max(1 - probability, _LEAST))


def probability_of(odds: float) -> float:
    """That of odds given as natural logarithm, 0 to 1."""
    return 1 / (1 + math.exp(-odds)) if odds >= 0 else math.exp(odds) / (1 + math.exp(odds))
