"""Whether the passages found answer the question, or the wiki should be said not to know. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from core.domain.answers import Passage, Retrieval
from core.services.tokens import fold, word_forms
from core.services.words import keywords


@dataclass(frozen=True, slots=True)
class RefusalSettings:
    """Figures of the interim rule; see docs/decisions for how they were chosen.

    ``confident_cosine``: a passage this near answers by itself. ``plausible_cosine``: nearer than this and
    enough of the question's words. ``coverage``: how many of the question's words a passage must hold,
    as a share.
    """

    confident_cosine: float = 0.86
    plausible_cosine: float = 0.80
    coverage: float = 0.5


@dataclass(frozen=True, slots=True)
class Evidence:
    """The nearest cosine, and the best share of the question's words in one passage."""

    cosine: float | None
    coverage: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether to answer, and whether surely enough for the answer to be kept in the cache (X1).

    ``confidence`` orders questions by how answerable they look, in no unit: for measuring refusals.
    """

    is_answerable: bool
    is_confident: bool = False
    confidence: float = 0.0


class Judge(Protocol):
    """Decides by what was retrieved. `decide` is one; a calibrated one may take its place."""

    def __call__(self, retrieval: Retrieval, /) -> Verdict:
        """Whether the passages answer the question."""


def decide(retrieval: Retrieval, settings: RefusalSettings | None = None) -> Verdict:
    """The interim rule: near enough by itself, or near and with enough of the question's words."""
    chosen = settings or RefusalSettings()
    seen = evidence(retrieval)
    cosine = seen.cosine if seen.cosine is not None else 0.0
    by_meaning = cosine >= chosen.confident_cosine
    by_words = seen.coverage >= chosen.coverage and (seen.cosine is None or cosine >= chosen.plausible_cosine)
    return Verdict(
        is_answerable=by_meaning or by_words,
        is_confident=by_meaning or by_words,
        confidence=cosine + seen.coverage,
    )


def evidence(retrieval: Retrieval) -> Evidence:
    """The figures that `decide` looks at."""
    wanted = frozenset(fold(word) for word in keywords(retrieval.query, retrieval.language))
    cosines = [one.candidate.cosine for one in retrieval.passages if one.candidate.cosine is not None]
    return Evidence(
        cosine=max(cosines, default=None),
        coverage=max((coverage(wanted, one) for one in retrieval.passages), default=0.0),
    )


def coverage(wanted: frozenset[str], passage: Passage) -> float:
    """The share of the words that stand in a passage, its headings or its breadcrumb."""
    if not wanted:
        return 0.0
    return len(wanted & words_of(passage)) / len(wanted)


def words_of(passage: Passage) -> frozenset[str]:
    """All words a reader of the passage sees: text, headings, title and ancestors."""
    candidate = passage.candidate
    headings: Sequence[str] = [heading.text for heading in candidate.heading_path]
    return word_forms(" ".join((candidate.breadcrumb, candidate.title, *headings, candidate.body)))
