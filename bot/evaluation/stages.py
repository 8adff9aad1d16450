"""The stages of the ranking that `footnote eval --ablate` sets side by side."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from bot.evaluation.runner import METRIC_DEPTH
from core.domain.audiences import Audience
from core.domain.models import Vector
from core.ports import Embedder, PassageIndex, SearchResult, WordQuery
from core.services.calibrating import Calibrations
from core.services.ranking import RankingMode, RankingSettings
from core.services.reranking import Reranking
from core.services.retriever import Retriever, by_ranks


@dataclass(frozen=True, slots=True)
class Parts:
    """What a retriever is made of."""

    index: PassageIndex
    embedder: Embedder
    calibrations: Calibrations
    settings: RankingSettings
    reranking: Reranking | None = None


@dataclass(frozen=True, slots=True)
class Stage:
    """One way to rank, and what it is called in tables."""

    name: str
    retriever: Callable[[Parts], Retriever]


def for_figures(settings: RankingSettings) -> RankingSettings:
    """The same ranking with nothing cut off: no limit a page, as many passages as the figures look at."""
    return replace(
        settings, keep=METRIC_DEPTH, details_per_page=METRIC_DEPTH, summaries_per_page=METRIC_DEPTH
    )


def _vector(parts: Parts) -> Retriever:
    settings = replace(_plain(parts.settings), mode=RankingMode.VECTOR)
    return Retriever(index=parts.index, embedder=parts.embedder, settings=settings, fuser=by_ranks)


def _lexical(parts: Parts) -> Retriever:
    settings = _plain(parts.settings)
    return Retriever(index=PassagesOnly(parts.index), embedder=None, settings=settings, fuser=by_ranks)


def _hybrid(parts: Parts) -> Retriever:
    settings = _plain(parts.settings)
    return Retriever(index=parts.index, embedder=parts.embedder, settings=settings, fuser=by_ranks)


def _boosted(parts: Parts) -> Retriever:
    settings = for_figures(replace(parts.settings, threshold=-1.0))
    return Retriever(index=parts.index, embedder=parts.embedder, settings=settings, fuser=by_ranks)


def _evidence(parts: Parts) -> Retriever:
    return Retriever(
        index=parts.index,
        embedder=parts.embedder,
        settings=for_figures(parts.settings),
        calibrations=parts.calibrations,
    )


def _boosted_evidence(parts: Parts) -> Retriever:
    return _evidence(replace(parts, settings=replace(parts.settings, boost_evidence=True)))


def _healed(parts: Parts) -> Retriever:
    return _evidence(replace(parts, settings=replace(parts.settings, heal=True)))


def _expanded(parts: Parts) -> Retriever:
    return _evidence(replace(parts, settings=replace(parts.settings, acronyms=True)))


def _reranked(parts: Parts) -> Retriever:
    return Retriever(
        index=parts.index,
        embedder=parts.embedder,
        settings=for_figures(parts.settings),
        calibrations=parts.calibrations,
        reranking=parts.reranking,
    )


RERANKED = Stage("hybrid (evidence) + rerank", _reranked)
"""Only where a reranker is configured."""

STAGES = (
    Stage("vector", _vector),
    Stage("lexical", _lexical),
    Stage("hybrid (ranks)", _hybrid),
    Stage("hybrid (ranks) + boosts", _boosted),
    Stage("hybrid (evidence)", _evidence),
    Stage("hybrid (evidence) + boosts", _boosted_evidence),
    Stage("hybrid (evidence) + healed words", _healed),
    Stage("hybrid (evidence) + acronyms", _expanded),
)
"""The product ranks as `hybrid (evidence)` does."""


class PassagesOnly:
    """An index that is never asked for whole pages, so that figures tell of passages alone."""

    def __init__(self, index: PassageIndex) -> None:
        self._index = index

    async def search(
        self, *, vector: Vector | None, words: WordQuery, audience: Audience, limit: int
    ) -> SearchResult:
        """As the index behind."""
        return await self._index.search(vector=vector, words=words, audience=audience, limit=limit)

    async def search_pages(
        self,
        *,
        words: WordQuery,  # noqa: ARG002 - the port's signature
        audience: Audience,  # noqa: ARG002
        limit: int,  # noqa: ARG002
    ) -> SearchResult:
        """Nothing."""
        return SearchResult(candidates=(), generation=await self._index.generation())

    async def generation(self) -> int:
        """As the index behind."""
        return await self._index.generation()


def _plain(settings: RankingSettings) -> RankingSettings:
    return for_figures(
        replace(
            settings,
            threshold=-1.0,
            multi_hit_boost=0.0,
            summary_boost=0.0,
            title_boost=0.0,
            heading_boost=0.0,
        )
    )
