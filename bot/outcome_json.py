"""An outcome as the JSON object of ``footnote ask --json``: a contract, described in docs/cli.md."""

from collections.abc import Mapping
from typing import Any

from adapters.chat.markdown import render
from core.domain.answers import Answer, Citation, NoAnswer, Outcome, Retrieval
from core.services.ranking import record

STAGES = ("embed", "search", "rank", "generate", "total")


def outcome_json(outcome: Outcome, *, total_ms: float) -> dict[str, Any]:
    """The object: every key is always there."""
    match outcome:
        case Answer():
            return {
                "answered": True,
                "reason": None,
                "language": outcome.language,
                "text": render(outcome),
                "citations": [_citation(citation) for citation in outcome.citations],
                "passages": _passages(outcome.retrieval),
                "cached": outcome.cached,
                "degraded": outcome.degraded,
                "timings_ms": _timings(outcome.retrieval.timings, total_ms),
            }
        case NoAnswer():
            retrieval = outcome.retrieval
            return {
                "answered": False,
                "reason": outcome.reason.value,
                "language": outcome.language,
                "text": render(outcome),
                "citations": [],
                "passages": _passages(retrieval),
                "cached": False,
                "degraded": retrieval.degraded if retrieval else False,
                "timings_ms": _timings(retrieval.timings if retrieval else {}, total_ms),
            }


def _citation(citation: Citation) -> dict[str, Any]:
    return {
        "number": citation.number,
        "title": citation.title,
        "heading": citation.heading,
        "url": citation.url,
        "quote": citation.quote,
    }


def _passages(retrieval: Retrieval | None) -> list[dict[str, Any]]:
    return [record(passage) for passage in retrieval.passages] if retrieval else []


def _timings(timings: Mapping[str, float], total_ms: float) -> dict[str, float]:
    known = {stage: round(timings.get(stage, 0.0), 1) for stage in STAGES}
    return {**known, "total": round(total_ms, 1)}
