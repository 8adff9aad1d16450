"""Candidates weighed by all that is known of them: scores to rank by, and whether the wiki answers."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.domain.answers import Candidate
from core.domain.documents import heading_context
from core.domain.ids import ChunkId
from core.domain.models import Vector
from core.ports import SearchResult
from core.services.background import unit_rows
from core.services.calibrating import Calibration
from core.services.evidence import Asked, Found, gather
from core.services.fusion import fuse
from core.services.inquiries import Inquiry
from core.services.ranking import Fusion, RankingSettings, Scored, reciprocal_rank
from core.services.relevance import Signs, answerable, margin, missing_identifiers

EVEN_SCORE, SCORE_SPREAD = 7.0, 2.0
"""People are shown scores from 0 to 1: half at so many standard deviations, and how gradually they change."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """Scores by passage in standard deviations, and the probability that the best of them answers."""

    scores: Mapping[ChunkId, float]
    probability: float

    @property
    def found(self) -> float:
        """The best score as people are shown it, 0 to 1."""
        return _shown(max(self.scores.values(), default=0.0))


def weigh(
    inquiry: Inquiry,
    vector: Vector,
    candidates: Sequence[Candidate],
    found: SearchResult,
    calibration: Calibration,
) -> Weighed:
    """Weigh what was found; candidates without vector (whole pages) are left out."""
    known = [
        (one, one.chunk_id, found.vectors[one.chunk_id])
        for one in candidates
        if one.chunk_id is not None and one.chunk_id in found.vectors
    ]
    if not known:
        return Weighed(scores={}, probability=0.0)
    rows = unit_rows(np.stack([vector, *(own for _, _, own in known)]))
    asked = Asked(text=inquiry.text, language=inquiry.language, vector=rows[0])
    background = calibration.background
    evidence = gather(
        asked,
        [
            Found(
                text=text_of(candidate),
                language=candidate.language,
                vector=row,
                stems=found.shares.get(chunk_id),
            )
            for (candidate, chunk_id, _), row in zip(known, rows[1:], strict=True)
        ],
        background=background,
        runs=calibration.runs,
    )
    scores = fuse(evidence, question_language=inquiry.language, spread=background.spread)
    best = max(range(len(scores)), key=lambda place: (scores[place], -place))
    top = known[best][0]
    signs = Signs(
        stands_out=background.stands_out(
            float(rows[best + 1] @ rows[0]),
            question_language=inquiry.language,
            passage_language=top.language,
        ),
        margin=margin(scores, [(one.page_id, one.heading_path) for one, _, _ in known]),
        missing=bool(missing_identifiers(inquiry.keywords, text_of(top))),
    )
    return Weighed(
        scores={chunk_id: score for (_, chunk_id, _), score in zip(known, scores, strict=True)},
        probability=answerable(signs),
    )


def by_weight(weighed: Weighed) -> Fusion:
    """The fusion that ranks by what was weighed."""

    def fused(candidates: Sequence[Candidate], settings: RankingSettings) -> tuple[Scored, ...]:
        return tuple(
            Scored(
                candidate=one,
                rrf=reciprocal_rank(one.semantic_rank, one.lexical_rank, settings),
                base=_shown(weighed.scores.get(one.chunk_id, 0.0)) if one.chunk_id is not None else 0.0,
            )
            for one in candidates
        )

    return fused


def text_of(candidate: Candidate) -> str:
    """The passage as it is embedded: title and headings in brackets before it."""
    parts = (candidate.breadcrumb, heading_context(candidate.heading_path))
    prefix = " > ".join(part for part in parts if part)
    return f"[{prefix}] {candidate.body}" if prefix else candidate.body


def _shown(score: float) -> float:
    return 1 / (1 + math.exp(-(score - EVEN_SCORE) / SCORE_SPREAD))
