"""Figures of ranked retrieval, computed by ir-measures; and how well refusals tell the two kinds apart."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bot.evaluation.golden import GoldenQuestion, Section
from core.errors import ConfigurationError

REPORTED = (
    "hit@1",
    "hit@5",
    "hit@10",
    "precision@3",
    "recall@3",
    "recall@10",
    "mrr@3",
    "mrr@10",
    "ndcg@10",
)
"""The names in the report, in this order."""


RESAMPLES = 1000
BOOTSTRAP_SEED = 0
"""Equal measurements give equal intervals."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """What was found for one question: distinct sections in final order."""

    question: GoldenQuestion
    sections: tuple[Section, ...]


def score_rankings(rankings: Sequence[Ranking]) -> dict[str, dict[str, float]]:
    """Every reported figure for each question, by question id.

    A relevant entry is found at the first section that matches it; further sections matching the same
    entry count as not relevant, so that repeating a page cannot raise precision.

    Raises:
        ConfigurationError: ir-measures is not installed.
    """
    try:
        import ir_measures
        from ir_measures import RR, P, R, Success, nDCG
    except ImportError as error:
        raise ConfigurationError("measuring needs ir-measures: pip install 'footnote-bot[eval]'") from error

    measures = {
        "hit@1": Success @ 1,
        "hit@5": Success @ 5,
        "hit@10": Success @ 10,
        "precision@3": P @ 3,
        "recall@3": R @ 3,
        "recall@10": R @ 10,
        "mrr@3": RR @ 3,
        "mrr@10": RR @ 10,
        "ndcg@10": nDCG @ 10,
    }
    names = {str(measure): name for name, measure in measures.items()}
    qrels, run = [], []
    for ranking in rankings:
        identifier = ranking.question.id
        qrels += [
            ir_measures.Qrel(identifier, f"relevant-{place}", 1)
            for place in range(len(ranking.question.relevant))
        ]
        labels = label_sections(ranking)
        # pytrec_eval breaks ties by name, so the order is spelled out in strictly falling scores.
        run += [
            ir_measures.ScoredDoc(identifier, label, float(len(labels) - place))
            for place, label in enumerate(labels)
        ]
    scores = {ranking.question.id: dict.fromkeys(REPORTED, 0.0) for ranking in rankings}
    for metric in ir_measures.iter_calc(list(measures.values()), qrels, run):
        scores[metric.query_id][names[str(metric.measure)]] = float(metric.value)
    return scores


def label_sections(ranking: Ranking) -> tuple[str, ...]:
    """A name for every section: ``relevant-n`` where it is the first to match entry n, else unique."""
    missing = dict(enumerate(ranking.question.relevant))
    labels = []
    for place, section in enumerate(ranking.sections):
        found = next((number for number, entry in missing.items() if entry.matches(section)), None)
        if found is None:
            labels.append(f"other-{place}")
        else:
            del missing[found]
            labels.append(f"relevant-{found}")
    return tuple(labels)


def mean(scores: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The average of each figure over the questions; empty for no questions."""
    if not scores:
        return {}
    return {name: sum(score[name] for score in scores) / len(scores) for name in REPORTED}


def intervals(scores: Sequence[Mapping[str, float]]) -> dict[str, tuple[float, float]]:
    """Where each average lies with 95 % confidence, by resampling the questions (percentile bootstrap)."""
    if not scores:
        return {}
    figures = np.array([[score[name] for name in REPORTED] for score in scores])
    draws = np.random.default_rng(BOOTSTRAP_SEED).integers(0, len(figures), (RESAMPLES, len(figures)))
    low, high = np.quantile(np.stack([figures[draw].mean(axis=0) for draw in draws]), (0.025, 0.975), axis=0)
    return {
        name: (round(float(low[place]), 4), round(float(high[place]), 4))
        for place, name in enumerate(REPORTED)
    }


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was decided for one question: answered or not, and how sure (higher is more answerable)."""

    answerable: bool
    answered: bool
    confidence: float


def score_refusals(judgements: Sequence[Judgement]) -> dict[str, float | None]:
    """``right``: share of unanswerable questions refused; ``false``: share of answerable ones refused.

    ``auc``: probability that an answerable question is judged more answerable than an unanswerable one,
    ties counting half (Mann-Whitney). Null where the set lacks one of the kinds.
    """
    unanswerable = [one for one in judgements if not one.answerable]
    answerable = [one for one in judgements if one.answerable]
    return {
        "right": _share(not one.answered for one in unanswerable) if unanswerable else None,
        "false": _share(not one.answered for one in answerable) if answerable else None,
        "auc": _auc(answerable, unanswerable) if answerable and unanswerable else None,
    }


def _share(flags: Iterable[bool]) -> float:
    values = list(flags)
    return sum(values) / len(values)


def _auc(higher: Sequence[Judgement], lower: Sequence[Judgement]) -> float:
    wins = sum(
        (up.confidence > low.confidence) + 0.5 * (up.confidence == low.confidence)
        for up in higher
        for low in lower
    )
    return wins / (len(higher) * len(lower))
