"""Whether the passages found answer the question, or the wiki should be said not to know. Pure.

The interim rule: `docs/decisions` tells how its numbers were chosen and what it cannot do.
"""

from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from core.domain.answers import Passage, Retrieval
from core.domain.models import ModelProfile
from core.services.blending import CosineRange, calibrated, range_of
from core.services.ranking import COSINE_PLACES
from core.services.relevance import ANSWER_FROM
from core.services.tokens import fold, is_identifier, same_root, word_forms
from core.services.words import keywords

MOST_MARGIN = 0.3
"""A lead over the next section beyond this says no more."""


@dataclass(frozen=True, slots=True)
class RefusalSettings:
    """The rule's numbers.

    ``cosines`` is how the model's cosines are to be read, or null where they were not measured; then a hit
    above ``threshold`` answers. The weights are those of a logistic regression; ``answer_from`` is the sum
    from which a question is answered. ``word_coverage`` is the share of the question's words that a passage
    must hold where there is no cosine at all. ``answer_confidence``: below this cosine nothing is cached.
    """

    cosines: CosineRange | None = None
    threshold: float = 0.30
    answer_confidence: float = 0.30
    similarity_weight: float = 6.4
    coverage_weight: float = 0.9
    margin_weight: float = 3.8
    missing_weight: float = -3.4
    answer_from: float = 3.7
    word_coverage: float = 0.5


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for an answer and against it.

    ``cosine`` is the highest, made comparable between languages; null if only words were searched.
    ``coverage`` is the best share of the question's words in one passage, inflections included, and
    ``all_words`` that there are several and one passage has them all. ``margin`` is
    by how much the best passage leads over the best of any other section. ``missing`` names identifiers of
    the question that no passage holds: the surest sign of a near miss.
    """

    cosine: float | None
    raw_cosine: float | None
    coverage: float
    all_words: bool
    margin: float
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether to answer, and whether surely enough for the answer to be kept in the cache (X1).

    ``confidence`` orders questions by how answerable they look, in no unit: for measuring refusals.
    """

    is_answerable: bool
    is_confident: bool = False
    confidence: float = field(default=0.0, compare=False)


class Judge(Protocol):
    """Decides by what was retrieved. `decide` is one; a calibrated one may take its place."""

    def __call__(self, retrieval: Retrieval, /) -> Verdict:
        """Whether the passages answer the question."""


def judge_for(profile: ModelProfile | None, *, threshold: float | None = None) -> Judge:
    """The rule with the numbers of an embedding model; null where only words are searched.

    ``threshold`` is a cosine set by hand: a passage above it answers, and nothing else does.
    """
    if profile is None:
        return partial(decide, settings=RefusalSettings())
    if threshold is not None:
        by_hand = RefusalSettings(threshold=threshold, answer_confidence=profile.answer_confidence)
        return partial(decide_by_hand, settings=by_hand)
    settings = RefusalSettings(
        cosines=range_of(profile.name),
        threshold=profile.threshold,
        answer_confidence=profile.answer_confidence,
    )
    return partial(decide, settings=settings)


def decide(retrieval: Retrieval, /, settings: RefusalSettings) -> Verdict:
    """By the probability where something was learned of the index.

    Else similarity, coverage and lead add up, and a missing identifier weighs against.
    """
    if not retrieval.passages:
        return Verdict(is_answerable=False)
    seen = evidence(retrieval, settings.cosines)
    if retrieval.probability is not None:
        return Verdict(
            is_answerable=retrieval.probability >= ANSWER_FROM,
            is_confident=seen.raw_cosine is not None and seen.raw_cosine >= settings.answer_confidence,
            confidence=retrieval.probability,
        )
    if seen.cosine is None or seen.raw_cosine is None:
        is_answerable = seen.coverage >= settings.word_coverage and not seen.missing
        return Verdict(
            is_answerable=is_answerable,
            is_confident=is_answerable and seen.all_words,
            confidence=seen.coverage,
        )
    is_confident = seen.raw_cosine >= settings.answer_confidence
    if settings.cosines is None:
        return Verdict(
            is_answerable=seen.cosine > settings.threshold or seen.coverage >= settings.word_coverage,
            is_confident=is_confident,
            confidence=seen.cosine + seen.coverage,
        )
    total = _total(seen, settings.cosines, settings)
    return Verdict(is_answerable=total >= settings.answer_from, is_confident=is_confident, confidence=total)


def decide_by_hand(retrieval: Retrieval, /, settings: RefusalSettings) -> Verdict:
    """Whether a passage lies above the threshold. Where only words were searched, by words as always."""
    seen = evidence(retrieval, None)
    if seen.raw_cosine is None or retrieval.degraded:
        return decide(retrieval, settings)
    return Verdict(
        is_answerable=round(seen.raw_cosine, COSINE_PLACES) > settings.threshold,
        is_confident=seen.raw_cosine >= settings.answer_confidence,
        confidence=seen.raw_cosine,
    )


def evidence(retrieval: Retrieval, cosines: CosineRange | None) -> Evidence:
    """The figures that `decide` looks at."""
    wanted = tuple(fold(word) for word in keywords(retrieval.query, retrieval.language))
    words = [words_of(passage) for passage in retrieval.passages]
    known = frozenset[str]().union(*words)
    covered = max((coverage(wanted, said) for said in words), default=0.0)
    raw = [one.candidate.cosine for one in retrieval.passages if one.candidate.cosine is not None]
    return Evidence(
        cosine=max((_comparable(one, retrieval, cosines) for one in _measured(retrieval)), default=None),
        raw_cosine=max(raw, default=None),
        coverage=covered,
        all_words=len(wanted) > 1 and covered == 1.0,
        margin=_margin(retrieval),
        missing=tuple(word for word in wanted if is_identifier(word) and word not in known),
    )


def coverage(wanted: tuple[str, ...], said: frozenset[str]) -> float:
    """The share of the words that are said, in whatever inflection."""
    if not wanted:
        return 0.0
    covered = sum(word in said or any(same_root(word, other) for other in said) for word in wanted)
    return covered / len(wanted)


def words_of(passage: Passage) -> frozenset[str]:
    """All words a reader of the passage sees: text, headings, title and ancestors."""
    candidate = passage.candidate
    headings = [heading.text for heading in candidate.heading_path]
    return word_forms(" ".join((candidate.breadcrumb, candidate.title, *headings, candidate.body)))


def _total(seen: Evidence, cosines: CosineRange, settings: RefusalSettings) -> float:
    similarity = 0.0 if seen.cosine is None else seen.cosine
    return (
        settings.similarity_weight * (similarity - cosines.lowest) / (cosines.highest - cosines.lowest)
        + settings.coverage_weight * seen.coverage
        + settings.margin_weight * seen.margin
        + settings.missing_weight * bool(seen.missing)
    )


def _measured(retrieval: Retrieval) -> list[Passage]:
    return [one for one in retrieval.passages if one.candidate.cosine is not None]


def _comparable(passage: Passage, retrieval: Retrieval, cosines: CosineRange | None) -> float:
    cosine = passage.candidate.cosine or 0.0
    if cosines is None:
        return cosine
    return calibrated(
        cosine, passage_language=passage.candidate.language, language=retrieval.language, cosines=cosines
    )


def _margin(retrieval: Retrieval) -> float:
    """Overlapping chunks of one section do not compete."""
    best, *others = retrieval.passages
    rest = [one.score for one in others if _section(one) != _section(best)]
    return min(best.score - max(rest), MOST_MARGIN) if rest else MOST_MARGIN


def _section(passage: Passage) -> tuple[object, ...]:
    return (passage.candidate.page_id, passage.candidate.heading_path)
