"""From candidates to passages: threshold, fusion, boosts, order, duplicates, limit. All of it is pure."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from core.domain.answers import Candidate, Passage
from core.domain.ids import PageId
from core.services.tokens import fold, word_forms

SUMMARY_LEVEL = 0
HARD_LIMIT = 10
"""Passages given to an answer at most (inventory D5, X11)."""

FEWEST_CANDIDATES, MOST_CANDIDATES = 50, 200
"""The bounds of the over-fetch (inventory row 64, D6)."""

COSINE_PLACES = 6
"""In SQL a float4 0.30 reads 0.3000000119: the threshold compares rounded figures (D3)."""

SHOWN_PLACES = 4
"""Figures are shown with four decimals (D8)."""

_TIE_PLACES = 12
"""Scores that differ only by the order of float additions are equal (B18)."""


class RankingMode(StrEnum):
    """What a passage's score is based on before boosts (X2)."""

    VECTOR = "vector"
    """The cosine; what only the words found is left out."""
    HYBRID = "hybrid"
    """Reciprocal rank fusion divided by its maximum, so that boosts mean the same in both modes."""


@dataclass(frozen=True, slots=True)
class RankingSettings:
    """Every number of the ranking; the defaults are those of the inventory (rows 64-68, X2, X11).

    ``threshold_by_hand`` says that somebody set the threshold: then it decides alone what is a hit and
    whether the wiki answers, whatever was learned of the index. ``boost_evidence`` adds the boosts to what
    was weighed as well. ``heal`` also asks for the words nearest to those that no passage has, which
    is done anyway in languages that nobody can stem. ``acronyms``
    searches once more with what the passages found say that a short form means. ``keep`` lets more passages
    through than are ever shown, for measuring.
    """

    mode: RankingMode = RankingMode.HYBRID
    limit: int = 5
    threshold: float = 0.30
    threshold_by_hand: bool = False
    rrf_k: int = 60
    semantic_weight: float = 1.0
    lexical_weight: float = 1.0
    multi_hit_boost: float = 0.05
    summary_boost: float = 0.03
    title_boost: float = 0.15
    heading_boost: float = 0.08
    highest_score: float = 1.0
    summaries_per_page: int = 1
    details_per_page: int = 2
    boost_evidence: bool = False
    heal: bool = False
    acronyms: bool = False
    keep: int | None = None


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with its fused score before boosts: ``rrf`` as it is, ``base`` on the scale 0 to 1."""

    candidate: Candidate
    rrf: float
    base: float


Fusion = Callable[[Sequence[Candidate], RankingSettings], Sequence[Scored]]
"""How the two sides become one score. `fuse` is the reference's; another may be passed to `rank`."""


def candidate_count(limit: int) -> int:
    """How many candidates each side of the search is asked for: max(3N, clamp(5N, 50, 200)) (X9, D5, D6)."""
    return max(over_fetch(limit), min(max(5 * limit, FEWEST_CANDIDATES), MOST_CANDIDATES))


def over_fetch(limit: int) -> int:
    """Three times the passages wanted, of which there are ten at most (row 63, D5)."""
    return 3 * min(limit, HARD_LIMIT)


def reciprocal_rank(
    semantic_rank: int | None, lexical_rank: int | None, settings: RankingSettings | None = None
) -> float:
    """Reciprocal rank fusion of ranks that count from 1; a side that did not find it gives nothing (F47)."""
    chosen = settings or RankingSettings()
    score = 0.0
    if semantic_rank is not None:
        score += chosen.semantic_weight / (chosen.rrf_k + semantic_rank)
    if lexical_rank is not None:
        score += chosen.lexical_weight / (chosen.rrf_k + lexical_rank)
    return score


def highest_rrf(settings: RankingSettings) -> float:
    """The fusion score of what both sides rank first."""
    return reciprocal_rank(1, 1, settings)


def rank(
    candidates: Iterable[Candidate],
    *,
    keywords: Sequence[str],
    settings: RankingSettings | None = None,
    fusion: Fusion | None = None,
) -> tuple[Passage, ...]:
    """The best passages, best first, at most ``settings.limit`` of them."""
    chosen = settings or RankingSettings()
    return take(order(score_all(candidates, keywords=keywords, settings=chosen, fusion=fusion)), chosen)


def score_all(
    candidates: Iterable[Candidate],
    *,
    keywords: Sequence[str],
    settings: RankingSettings,
    fusion: Fusion | None = None,
) -> tuple[Passage, ...]:
    """Every admitted candidate as a passage, in no order: what a reranker would be given."""
    admitted = admit(merge(candidates), settings)
    return boost((fusion or fuse)(admitted, settings), keywords=keywords, settings=settings)


def merge(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """One entry for each chunk, with the best rank of either side (R11, F48)."""
    merged: dict[object, Candidate] = {}
    for candidate in candidates:
        known = merged.get(_identity(candidate))
        merged[_identity(candidate)] = candidate if known is None else _joined(known, candidate)
    return tuple(merged.values())


def admit(candidates: Iterable[Candidate], settings: RankingSettings) -> tuple[Candidate, ...]:
    """Drop semantic hits at or below the threshold, before any boost (D3, D4, X25).

    What the words found as well stays as a lexical hit: words are not judged by the cosine.
    """
    judged = (_judge(candidate, settings) for candidate in candidates)
    wanted = (RankingMode.VECTOR,) if settings.mode is RankingMode.VECTOR else tuple(RankingMode)
    return tuple(
        candidate
        for candidate in judged
        if candidate.semantic_rank is not None
        or (candidate.lexical_rank is not None and RankingMode.HYBRID in wanted)
    )


def fuse(candidates: Sequence[Candidate], settings: RankingSettings) -> tuple[Scored, ...]:
    """Weighted reciprocal rank fusion; the base is the cosine, or the fusion score scaled to 1 (X2)."""
    best = highest_rrf(settings)
    scored = []
    for candidate in candidates:
        rrf = reciprocal_rank(candidate.semantic_rank, candidate.lexical_rank, settings)
        cosine_decides = settings.mode is RankingMode.VECTOR and candidate.cosine is not None
        base = (candidate.cosine or 0.0) if cosine_decides else rrf / best
        scored.append(Scored(candidate=candidate, rrf=rrf, base=base))
    return tuple(scored)


def boost(
    scored: Sequence[Scored], *, keywords: Sequence[str], settings: RankingSettings
) -> tuple[Passage, ...]:
    """Add the boosts, at most up to the highest score (row 66).

    Hits of a page are counted over all that is given, before duplicates go (D7).
    """
    details = Counter(one.candidate.page_id for one in scored if one.candidate.level != SUMMARY_LEVEL)
    wanted = frozenset(fold(keyword) for keyword in keywords)
    return tuple(
        Passage(
            candidate=one.candidate,
            rrf=one.rrf,
            score=min(
                settings.highest_score,
                one.base
                + page_boost(one.candidate, details[one.candidate.page_id], settings)
                + keyword_boost(one.candidate, wanted, settings),
            ),
        )
        for one in scored
    )


def page_boost(candidate: Candidate, details: int, settings: RankingSettings) -> float:
    """For a page found more than once, and for a summary whose details were found too (B11-B13, X26)."""
    total = settings.multi_hit_boost if details > 1 else 0.0
    if candidate.level == SUMMARY_LEVEL and details:
        total += settings.summary_boost
    return total


def keyword_boost(candidate: Candidate, keywords: frozenset[str], settings: RankingSettings) -> float:
    """For keywords in the titles of page and ancestors, and in the headings: once each (U19)."""
    if not keywords:
        return 0.0
    total = 0.0
    if not keywords.isdisjoint(word_forms(f"{candidate.breadcrumb} {candidate.title}")):
        total += settings.title_boost
    if not keywords.isdisjoint(word_forms(" ".join(heading.text for heading in candidate.heading_path))):
        total += settings.heading_boost
    return total


def order(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    """Best first. Equal scores: the higher cosine, then page, level and place in it (B18, R4, U24).

    Chunk ids come last since they change whenever a page is indexed again.
    """
    return tuple(sorted(passages, key=_order_key))


def take(passages: Iterable[Passage], settings: RankingSettings) -> tuple[Passage, ...]:
    """The first of the ordered passages: so many a page (D1), so many in all (D2, D5)."""
    seen: Counter[tuple[PageId, bool]] = Counter()
    taken: list[Passage] = []
    for passage in passages:
        if len(taken) >= (settings.keep or min(settings.limit, HARD_LIMIT)):
            break
        is_summary = passage.candidate.level == SUMMARY_LEVEL
        allowed = settings.summaries_per_page if is_summary else settings.details_per_page
        kind = (passage.candidate.page_id, is_summary)
        if seen[kind] < allowed:
            seen[kind] += 1
            taken.append(passage)
    return tuple(taken)


def record(passage: Passage) -> dict[str, object]:
    """A passage as documented for ``--json``: these fields only, figures to four decimals (D8)."""
    candidate = passage.candidate
    return {
        "chunk_id": candidate.chunk_id,
        "page_id": candidate.page_id,
        "block_id": candidate.block_id,
        "text": candidate.body,
        "title": candidate.title,
        "heading_path": [heading.text for heading in candidate.heading_path],
        "url": passage.url,
        "level": candidate.level,
        "found_by": candidate.found_by.value,
        "cosine": _shown(candidate.cosine),
        "lexical": _shown(candidate.lexical),
        "rrf": _shown(passage.rrf),
        "score": _shown(passage.score),
        "last_edited": candidate.last_edited.isoformat() if candidate.last_edited else None,
    }


def _judge(candidate: Candidate, settings: RankingSettings) -> Candidate:
    if candidate.semantic_rank is None:
        return candidate
    passes = candidate.cosine is not None and round(candidate.cosine, COSINE_PLACES) > settings.threshold
    return candidate if passes else replace(candidate, semantic_rank=None)


def _identity(candidate: Candidate) -> object:
    # One side may name a chunk 7 and the other "7": both are the same row (F48).
    return int(candidate.chunk_id) if candidate.chunk_id is not None else candidate.page_id


def _joined(first: Candidate, second: Candidate) -> Candidate:
    return replace(
        first,
        semantic_rank=_better(first.semantic_rank, second.semantic_rank),
        lexical_rank=_better(first.lexical_rank, second.lexical_rank),
        cosine=first.cosine if first.cosine is not None else second.cosine,
        lexical=first.lexical if first.lexical is not None else second.lexical,
    )


def _better(first: int | None, second: int | None) -> int | None:
    known = [rank for rank in (first, second) if rank is not None]
    return min(known) if known else None


def _order_key(passage: Passage) -> tuple[float, float, str, int, int, int]:
    candidate = passage.candidate
    return (
        -round(passage.score, _TIE_PLACES),
        -(candidate.cosine if candidate.cosine is not None else -1.0),
        candidate.page_id,
        candidate.level,
        candidate.index,
        candidate.chunk_id or 0,
    )


def _shown(figure: float | None) -> float | None:
    return None if figure is None else round(figure, SHOWN_PLACES)
