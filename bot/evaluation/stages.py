"""The stages of the ranking that `footnote eval --ablate` sets side by side."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from bot.evaluation.runner import METRIC_DEPTH
from core.domain.answers import Retrieval
from core.domain.audiences import Audience
from core.domain.models import Vector
from core.domain.questions import Question
from core.ports import Embedder, PassageIndex, SearchResult, WordQuery
from core.ports.neighbours import NeighbourIndex, Stretch
from core.services.calibrating import Calibrations
from core.services.ranking import RankingMode, RankingSettings
from core.services.reading import Reader
from core.services.reranking import Reranking
from core.services.retriever import Retriever, by_ranks
from core.services.surroundings import beside

PATIENCE = 600.0
"""Seconds that a measurement waits for a reranker, longer than people would."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What a retriever is made of."""

    index: PassageIndex
    embedder: Embedder
    calibrations: Calibrations
    settings: RankingSettings
    reranking: Reranking | None = None
    reader: Reader | None = None
    neighbours: NeighbourIndex | None = None


class Finding(Protocol):
    """What is measured."""

    async def retrieve(self, question: Question) -> Retrieval:
        """The passages for a question, best first."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One way to rank, and what it is called in tables."""

    name: str
    retriever: Callable[[Parts], Finding]


def for_figures(settings: RankingSettings) -> RankingSettings:
    """The same ranking with nothing cut off: no limit a page, as many passages as the figures look at."""
    return replace(
        settings, keep=METRIC_DEPTH, details_per_page=METRIC_DEPTH, summaries_per_page=METRIC_DEPTH
    )


def ranked_and_answering(parts: Parts) -> tuple[Retriever, Retriever]:
    """What `measure` asks: one where nothing is cut off and nothing read, and the product's own."""
    return _evidence(parts, reranking=parts.reranking), _retriever(parts)


def _retriever(parts: Parts) -> Retriever:
    return Retriever(
        index=parts.index,
        embedder=parts.embedder,
        settings=parts.settings,
        calibrations=parts.calibrations,
        reranking=parts.reranking,
        reader=parts.reader,
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


def _evidence(parts: Parts, *, reranking: Reranking | None = None, reader: Reader | None = None) -> Retriever:
    settings = for_figures(parts.settings)
    return _retriever(replace(parts, settings=settings, reranking=reranking, reader=reader))


def _boosted_evidence(parts: Parts) -> Retriever:
    return _evidence(replace(parts, settings=replace(parts.settings, boost_evidence=True)))


def _healed(parts: Parts) -> Retriever:
    return _evidence(replace(parts, settings=replace(parts.settings, heal=True)))


def _expanded(parts: Parts) -> Retriever:
    return _evidence(replace(parts, settings=replace(parts.settings, acronyms=True)))


class _WithNeighbours:
    """Finds as the product does, and puts each passage's neighbours right behind it."""

    def __init__(self, parts: Parts) -> None:
        self._retriever = _evidence(parts)
        self._neighbours = parts.neighbours

    async def retrieve(self, question: Question) -> Retrieval:
        """The passages that a model would be given, and then the others."""
        found = await self._retriever.retrieve(question)
        if self._neighbours is None:
            return found
        places = [one.candidate for one in found.passages if one.candidate.level > 0]
        stretches = [Stretch(one.page_id, max(one.index - 1, 0), one.index + 1) for one in places]
        near = await self._neighbours.around(stretches, audience=question.audience)
        return replace(found, passages=beside(found.passages, near, reach=1, most=3 * METRIC_DEPTH))


def _reranked(parts: Parts) -> Retriever:
    patient = None if parts.reranking is None else replace(parts.reranking, seconds=PATIENCE)
    return _evidence(parts, reranking=patient)


def _read(parts: Parts) -> Retriever:
    return _evidence(parts, reader=None if parts.reader is None else replace(parts.reader, seconds=PATIENCE))


READ = Stage("hybrid (evidence) + reader", _read)
"""Only where there is a reader: then answers rank so."""

RERANKED = Stage("hybrid (evidence) + rerank", _reranked)
"""Only where a reranker is configured."""

STAGES = (
    Stage("vector", _vector),
    Stage("lexical", _lexical),
    Stage("hybrid (ranks)", _hybrid),
    Stage("hybrid (ranks) + boosts", _boosted),
    Stage("hybrid (evidence)", _evidence),
    Stage("hybrid (evidence) + boosts", _boosted_evidence),
    Stage("hybrid (evidence) + neighbour context", _WithNeighbours),
    Stage("hybrid (evidence) + healed words", _healed),
    Stage("hybrid (evidence) + acronyms", _expanded),
)
"""The product ranks as `hybrid (evidence)` does, and then as `READ`."""


class LastSearch:
    """An index that is not asked twice in a row for the same: a question is ranked in two ways."""

    def __init__(self, index: PassageIndex) -> None:
        self._index = index
        self._asked: tuple[bytes | None, WordQuery, str, int] | None = None
        self._found: SearchResult | None = None

    async def search(
        self, *, vector: Vector | None, words: WordQuery, audience: Audience, limit: int
    ) -> SearchResult:
        """As the index behind."""
        asked = (None if vector is None else vector.tobytes(), words, audience.key, limit)
        if self._found is None or asked != self._asked:
            self._found = await self._index.search(vector=vector, words=words, audience=audience, limit=limit)
            self._asked = asked
        return self._found

    async def search_pages(self, *, words: WordQuery, audience: Audience, limit: int) -> SearchResult:
        """As the index behind."""
        return await self._index.search_pages(words=words, audience=audience, limit=limit)

    async def generation(self) -> int:
        """As the index behind."""
        return await self._index.generation()


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
        audience: Audience,  # noqa: ARG002 - the port's signature
        limit: int,  # noqa: ARG002 - the port's signature
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
