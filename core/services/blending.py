"""A fusion for models whose cosines can be compared: similarity and words added, languages made equal.

Reciprocal ranks lose what they are given when a question and the pages that answer it differ in language: the
words then rank noise, and the noise gets as many points as the vectors. Here a passage's words count by how
much they say, and passages in another language than the question get back what the model takes from them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.domain.answers import Candidate
from core.services.ranking import Fusion, RankingSettings, Scored, reciprocal_rank


@dataclass(frozen=True, slots=True)
class CosineRange:
    """How a model's cosines are to be read.

    ``lowest`` is what unrelated texts reach, ``highest`` what the best answers reach. ``foreign`` is by how
    much a passage in another language falls short of one in the question's language, ``foreign_sentence`` by
    how much a single sentence does.
    """

    lowest: float
    highest: float
    foreign: float
    foreign_sentence: float


E5 = CosineRange(lowest=0.75, highest=0.90, foreign=0.02, foreign_sentence=0.04)
"""Measured with multilingual-e5-small: the first three on the sample workspace, the last on XQuAD.

A sentence that answers lies 0.055 further away in another language (English, German, Russian, all pairs), one
that does not 0.02 to 0.04. ``python -m tests.bench.quoting``: at 0.04 the first quote has the answer in .49
of the cases where the paragraph that answers is in another language than the question and its rival is not,
and in .74 where it is the other way round; at 0.02 in .40 and .75.
"""

SIMILARITY_SHARE = 0.8
LEXICAL_SHARE = 0.1
"""Of the score before boosts; the rest is left for boosts, so that the best do not all end at 1.0."""

UNKNOWN_COSINE = 0.25
"""Where on the range a passage lies that only the words found: beyond the nearest fifty, yet related."""


def range_of(model: str) -> CosineRange | None:
    """The range of a model's cosines, or null if it was not measured."""
    return E5 if "e5" in model.lower() else None


def blend(language: str, cosines: CosineRange) -> Fusion:
    """The fusion for questions in a language; empty if it is unknown."""

    def fuse(candidates: Sequence[Candidate], settings: RankingSettings) -> tuple[Scored, ...]:
        best = max((candidate.lexical or 0.0 for candidate in candidates), default=0.0)
        return tuple(
            Scored(
                candidate=candidate,
                rrf=reciprocal_rank(candidate.semantic_rank, candidate.lexical_rank, settings),
                base=SIMILARITY_SHARE * _similarity(candidate, language, cosines)
                + LEXICAL_SHARE * ((candidate.lexical or 0.0) / best if best else 0.0),
            )
            for candidate in candidates
        )

    return fuse


def calibrated(
    cosine: float,
    *,
    passage_language: str,
    language: str,
    cosines: CosineRange,
    is_sentence: bool = False,
) -> float:
    """The cosine that a passage in the question's own language would have, as far as both are known."""
    if not language or passage_language in ("", language):
        return cosine
    return cosine + (cosines.foreign_sentence if is_sentence else cosines.foreign)


def _similarity(candidate: Candidate, language: str, cosines: CosineRange) -> float:
    if candidate.cosine is None:
        return UNKNOWN_COSINE
    cosine = calibrated(
        candidate.cosine, passage_language=candidate.language, language=language, cosines=cosines
    )
    return min(max((cosine - cosines.lowest) / (cosines.highest - cosines.lowest), 0.0), 1.0)
