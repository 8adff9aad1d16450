"""BM25: how much a passage says of a question's terms, given how rare each term is in the index."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

K1 = 1.2
"""How soon repeating a term stops to count (Robertson and Zaragoza 2009; Lucene's default)."""

B = 0.75
"""How far a passage's length counts, 0 to 1 (the same sources)."""


@dataclass(frozen=True, slots=True)
class TermStatistics:
    """What the index knows of its terms; a sync can keep it in one table.

    ``passages`` is their number, ``average_length`` the mean number of terms in one, ``containing`` says of
    each term how many passages hold it.
    """

    passages: int
    average_length: float
    containing: Mapping[str, int]

    def idf(self, term: str) -> float:
        """Inverse document frequency, always positive; highest for a term that no passage holds."""
        return inverse_document_frequency(self.passages, self.containing.get(term, 0))


def statistics(passages: Iterable[Mapping[str, int]]) -> TermStatistics:
    """Count the terms of all passages; each is given as term to number of occurrences."""
    containing: Counter[str] = Counter()
    number = total = 0
    for terms in passages:
        containing.update(terms.keys())
        number += 1
        total += sum(terms.values())
    return TermStatistics(number, total / number if number else 0.0, containing)


def inverse_document_frequency(passages: int, containing: int) -> float:
    """``ln(1 + (N - n + 0.5) / (n + 0.5))``: the form that never turns negative for common terms."""
    return math.log1p((passages - containing + 0.5) / (containing + 0.5))


def saturation(occurrences: int, length: int, average_length: float) -> float:
    """What ``occurrences`` of a term are worth in a passage of ``length`` terms: 0 to ``K1 + 1``."""
    relative = length / average_length if average_length else 1.0
    return occurrences * (K1 + 1) / (occurrences + K1 * (1 - B + B * relative))


def score(
    question: Collection[str],
    passage: Mapping[str, int],
    known: TermStatistics,
    *,
    length: int | None = None,
) -> float:
    """The BM25 score of a passage; a term counts once however often the question says it.

    ``length`` is the number of terms in the passage, needed where not all of them are given.
    """
    if length is None:
        length = sum(passage.values())
    return sum(
        known.idf(term) * saturation(passage[term], length, known.average_length)
        for term in set(question)
        if term in passage
    )


def attainable(question: Collection[str], known: TermStatistics) -> float:
    """The score no passage can exceed: every term, those that the index lacks included, without end."""
    return (K1 + 1) * sum(known.idf(term) for term in set(question))


def share(
    question: Collection[str],
    passage: Mapping[str, int],
    known: TermStatistics,
    *,
    length: int | None = None,
) -> float:
    """The score as a share of the attainable, 0 to 1.

    Unlike the score it can be compared between questions: it falls towards 0 by itself where the index is
    written in another language than the question, since most of the question's terms are then unknown.
    """
    most = attainable(question, known)
    return score(question, passage, known, length=length) / most if most else 0.0
