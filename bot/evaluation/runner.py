"""Asks every golden question and measures what came back."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bot.evaluation.golden import GoldenQuestion, Section
from bot.evaluation.metrics import Judgement, Ranking, intervals, mean, score_rankings, score_refusals
from core.domain.answers import Passage, Retrieval
from core.domain.questions import Question
from core.services.refusals import Judge
from core.services.retriever import Retriever

METRIC_DEPTH = 50
"""Passages ranked for the figures: several may lie in one section, and ten sections count."""

LIMITED = ("hit@1", "hit@5", "precision@3", "recall@3", "mrr@3")
"""Figures that are also reported with the limits in force under which people get passages."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One question as it went."""

    golden: GoldenQuestion
    sections: tuple[Section, ...]
    shown: tuple[Section, ...]
    answered: bool
    confidence: float


async def measure(
    questions: Sequence[GoldenQuestion],
    *,
    ranked: Retriever,
    answering: Retriever,
    judge: Judge,
    ask: Callable[[str], Question],
    on_done: Callable[[], None],
) -> tuple[Measured, ...]:
    """Ask everything, one at a time.

    ``ranked`` ranks without per-page limit, for the figures; ``answering`` is the retriever that answers
    use, and decides with ``judge`` whether there would be an answer.
    """
    measured = []
    for golden in questions:
        question = ask(golden.question)
        ranking = await ranked.retrieve(question)
        decisive = await answering.retrieve(question)
        verdict = judge(decisive)
        measured.append(
            Measured(
                golden=golden,
                sections=distinct_sections(ranking),
                shown=distinct_sections(decisive),
                answered=verdict.is_answerable,
                confidence=verdict.confidence,
            )
        )
        on_done()
    return tuple(measured)


def distinct_sections(retrieval: Retrieval) -> tuple[Section, ...]:
    """The (page, heading) places in final order, each at its best rank."""
    places: dict[tuple[str, str], Section] = {}
    for passage in retrieval.passages:
        section = _section(passage)
        places.setdefault((section.page_id, section.heading), section)
    return tuple(places.values())


def _section(passage: Passage) -> Section:
    candidate = passage.candidate
    path = candidate.heading_path
    return Section(
        page_id=candidate.page_id,
        page_title=candidate.title,
        heading=path[-1].text if path else "",
        chunk_id="" if candidate.chunk_id is None else str(candidate.chunk_id),
    )


def score_all(measured: Sequence[Measured]) -> dict[str, dict[str, float]]:
    """Every figure of each answerable question, by its id.

    Raises:
        ConfigurationError: ir-measures is not installed.
    """
    answerable = [one for one in measured if one.golden.answerable]
    return score_rankings([Ranking(question=one.golden, sections=one.sections) for one in answerable])


def report(measured: Sequence[Measured]) -> dict[str, Any]:
    """The document of ``footnote eval --json``."""
    answerable = [one for one in measured if one.golden.answerable]
    scores = score_all(measured)
    limited = score_rankings([Ranking(question=one.golden, sections=one.shown) for one in answerable])
    by_language: dict[str, list[Measured]] = defaultdict(list)
    for one in measured:
        by_language[one.golden.lang or "unknown"].append(one)
    return {
        "metrics": _summary(measured, scores),
        "intervals": intervals([scores[one.golden.id] for one in answerable]),
        "with_page_limit": {
            name: round(value, 4)
            for name, value in mean([limited[one.golden.id] for one in answerable]).items()
            if name in LIMITED
        },
        "by_language": {lang: _summary(by_language[lang], scores) for lang in sorted(by_language)},
        "by_language_pair": {
            pair: _summary(group, scores) for pair, group in sorted(_pairs(answerable).items())
        },
        "questions": [_question(one, scores.get(one.golden.id)) for one in measured],
    }


def _summary(measured: Sequence[Measured], scores: dict[str, dict[str, float]]) -> dict[str, Any]:
    figures = mean([scores[one.golden.id] for one in measured if one.golden.answerable])
    refusals = score_refusals(
        [
            Judgement(answerable=one.golden.answerable, answered=one.answered, confidence=one.confidence)
            for one in measured
        ]
    )
    return {
        "questions": len(measured),
        **{name: round(value, 4) for name, value in figures.items()},
        "refusals": {name: None if value is None else round(value, 4) for name, value in refusals.items()},
    }


def _pairs(measured: Sequence[Measured]) -> dict[str, list[Measured]]:
    pairs: dict[str, list[Measured]] = defaultdict(list)
    for one in measured:
        if one.golden.page_lang:
            pairs[f"{one.golden.lang}>{one.golden.page_lang}"].append(one)
    return pairs


def _question(one: Measured, scores: dict[str, float] | None) -> dict[str, Any]:
    return {
        "id": one.golden.id,
        "lang": one.golden.lang,
        "answerable": one.golden.answerable,
        "answered": one.answered,
        "confidence": round(one.confidence, 4),
        "scores": {name: round(value, 4) for name, value in (scores or {}).items()},
        "found": [
            {"page_id": section.page_id, "page_title": section.page_title, "heading": section.heading}
            for section in one.sections
        ],
    }
