"""From a question to the passages that may answer it."""

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from core.domain.answers import Candidate, Passage, Retrieval
from core.domain.audiences import Audience
from core.domain.models import Vector
from core.domain.questions import Question
from core.errors import FootnoteError
from core.ports import Embedder, PassageIndex, SearchResult
from core.services.acronyms import added, definitions
from core.services.blending import blend, range_of
from core.services.calibrating import Calibrations
from core.services.excerpts import best_excerpt
from core.services.inquiries import Inquiry, prepare
from core.services.languages import STEMMED
from core.services.ranking import (
    Fusion,
    RankingMode,
    RankingSettings,
    candidate_count,
    order,
    rank,
    score_all,
    take,
)
from core.services.reading import Reader
from core.services.reranking import Reranking
from core.services.weighing import by_weight, text_of, weigh
from core.services.words import contains_any

logger = logging.getLogger(__name__)

Fuser = Callable[[Inquiry], Fusion | None]
"""Chooses the fusion for a question; null is reciprocal rank fusion."""

PAGE_HITS = 10
"""Whole pages looked at when only words can be searched."""


class Stopwatch:
    """Milliseconds by stage, read from the clock it is given (seconds, monotonic)."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._last = clock()
        self.timings: dict[str, float] = {}

    def lap(self, stage: str) -> None:
        """Add what passed since the last lap to a stage."""
        now = self._clock()
        self.timings[stage] = self.timings.get(stage, 0.0) + (now - self._last) * 1000
        self._last = now


class Retriever:
    """Searches by vector and by words, ranks, and falls back to whole pages when that gives nothing.

    ``embedder`` is null where none is configured: then only words are searched. ``settings`` default to the
    inventory's numbers with the threshold of the embedder's model. Without ``fuser`` similarity and words
    are blended if the model's cosines are known, else ranks are fused; `by_ranks` fuses ranks always.
    With ``calibrations`` candidates are weighed by what was learned of the index as soon as something was.
    ``reranking`` puts the best of them into another order before duplicates go. ``reader`` reads the best to
    tell more surely whether they answer.
    """

    def __init__(
        self,
        *,
        index: PassageIndex,
        embedder: Embedder | None,
        settings: RankingSettings | None = None,
        fuser: Fuser | None = None,
        calibrations: Calibrations | None = None,
        reranking: Reranking | None = None,
        reader: Reader | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._index = index
        self._embedder = embedder
        self._settings = settings or _settings_for(embedder)
        self._fuser = fuser or _fuser_for(embedder, self._settings)
        self._calibrations = calibrations
        self._reranking = reranking
        self._reader = reader
        self._clock = clock

    async def generation(self) -> int:
        """The index generation, for keys of cached answers."""
        return await self._index.generation()

    async def retrieve(self, question: Question) -> Retrieval:
        """The best passages that the question's audience may see.

        An empty audience sees nothing, and nothing is asked of anybody (R20). ``degraded`` says that no
        vector could be had, or that only the search for whole pages found something.

        Raises:
            TemporaryError: the index could not be searched.
        """
        inquiry = prepare(question)
        if question.audience.is_empty:
            return _nothing(inquiry)
        watch = Stopwatch(self._clock)
        vector = await self._embed(inquiry)
        watch.lap("embed")
        found = await self._search(inquiry, vector)
        watch.lap("search")
        if (wider := self._with_other_forms(inquiry, found)) is not None:
            inquiry, vector = wider, await self._embed(wider)
            watch.lap("embed")
            found = await self._search(inquiry, vector)
            watch.lap("search")
        passages, probability = await self._weigh(inquiry, vector, found)
        watch.lap("rank")
        retrieval = Retrieval(
            question=question,
            query=inquiry.text,
            language=inquiry.language,
            passages=passages,
            degraded=vector is None,
            generation=found.generation,
            timings=watch.timings,
            index_is_empty=not found.has_chunks,
            probability=probability,
        )
        if vector is not None and passages:
            return retrieval
        pages = await self._pages(inquiry, passages, watch)
        return replace(
            retrieval,
            passages=(*passages, *pages)[: self._settings.limit],
            degraded=retrieval.degraded or bool(pages),
            timings=watch.timings,
        )

    async def retrieve_pages(self, retrieval: Retrieval) -> Retrieval:
        """The same question asked of whole other pages by their words: for when the passages do not answer.

        Returns the retrieval it was given if there is no such page.

        Raises:
            TemporaryError: the index could not be searched.
        """
        if retrieval.question.audience.is_empty:
            return retrieval
        watch = Stopwatch(self._clock)
        watch.timings.update(retrieval.timings)
        pages = await self._pages(prepare(retrieval.question), retrieval.passages, watch)
        if not pages:
            return retrieval
        return replace(retrieval, passages=pages, degraded=True, probability=None, timings=watch.timings)

    async def _embed(self, inquiry: Inquiry) -> Vector | None:
        """The question's vector, or null: without one the words still find what they can."""
        if self._embedder is None or not inquiry.text.strip():
            return None
        try:
            return await self._embedder.embed_query(inquiry.text)
        except FootnoteError as error:
            logger.warning("searching by words only: the embedding model failed: %s", error)
            return None

    def _with_other_forms(self, inquiry: Inquiry, found: SearchResult) -> Inquiry | None:
        """The question with what its short forms mean, as far as what was found defines them; else null."""
        if not self._settings.acronyms:
            return None
        visible = _visible(found.candidates, inquiry.question.audience)
        forms = added(inquiry.text, definitions(text_of(one) for one in visible))
        if not forms:
            return None
        text = f"{inquiry.text} ({', '.join(forms)})"
        return replace(prepare(replace(inquiry.question, text=text, turns=())), question=inquiry.question)

    async def _search(self, inquiry: Inquiry, vector: Vector | None) -> SearchResult:
        if vector is None and inquiry.words.is_empty:
            return SearchResult(candidates=(), generation=await self._index.generation())
        return await self._index.search(
            vector=vector,
            words=replace(inquiry.words, heal=self._settings.heal or inquiry.language not in STEMMED),
            audience=inquiry.question.audience,
            limit=candidate_count(self._settings.limit),
        )

    async def _pages(
        self, inquiry: Inquiry, known: Sequence[Passage], watch: Stopwatch
    ) -> tuple[Passage, ...]:
        """Passages of whole pages by their words, without the pages known already (rows 55, 71, 72)."""
        if inquiry.words.is_empty:
            return ()
        found = await self._index.search_pages(
            words=inquiry.words, audience=inquiry.question.audience, limit=PAGE_HITS
        )
        watch.lap("search")
        pages = {passage.candidate.page_id for passage in known}
        fresh = [_excerpted(one, inquiry) for one in found.candidates if one.page_id not in pages]
        ranked = self._rank(inquiry, fresh)
        watch.lap("rank")
        return ranked

    async def _weigh(
        self, inquiry: Inquiry, vector: Vector | None, found: SearchResult
    ) -> tuple[tuple[Passage, ...], float | None]:
        """The ranked passages, and how probable an answer is where something was learned of the index."""
        calibration = None
        if (
            vector is not None
            and self._calibrations is not None
            and self._settings.mode is RankingMode.HYBRID
        ):
            calibration = await self._calibrations.at(found.background)
        candidates = self._admitted(inquiry, found.candidates)
        if vector is None or calibration is None:
            found_by_ranks = await self._ordered(inquiry, candidates, self._settings, self._fuser(inquiry))
            return take(found_by_ranks, self._settings), None
        weighed = weigh(inquiry, vector, candidates, found, calibration)
        by_hand = self._settings.threshold_by_hand
        settings = self._settings if by_hand else _by_evidence(self._settings)
        ordered = await self._ordered(inquiry, candidates, settings, by_weight(weighed))
        if self._reader is None or inquiry.is_name:
            return take(ordered, settings), None if by_hand else weighed.probability
        most = max(self._reader.most, settings.keep or settings.limit)
        shortlist = take(ordered, replace(settings, keep=most))
        read, probability = await self._reader.read(
            inquiry.text, shortlist, weighed.probability, found=weighed.found
        )
        return take(read, settings), None if by_hand else probability

    async def _ordered(
        self,
        inquiry: Inquiry,
        candidates: Sequence[Candidate],
        settings: RankingSettings,
        fusion: Fusion | None,
    ) -> tuple[Passage, ...]:
        ordered = order(score_all(candidates, keywords=inquiry.keywords, settings=settings, fusion=fusion))
        if self._reranking is not None:
            ordered = await self._reranking.order(inquiry.text, ordered)
        return ordered

    def _rank(self, inquiry: Inquiry, candidates: Iterable[Candidate]) -> tuple[Passage, ...]:
        return rank(
            self._admitted(inquiry, candidates),
            keywords=inquiry.keywords,
            settings=self._settings,
            fusion=self._fuser(inquiry),
        )

    @staticmethod
    def _admitted(inquiry: Inquiry, candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
        visible = _visible(candidates, inquiry.question.audience)
        return tuple(one for one in visible if not _is_excluded(one, inquiry))


def _settings_for(embedder: Embedder | None) -> RankingSettings:
    return RankingSettings() if embedder is None else RankingSettings(threshold=embedder.profile.threshold)


def _by_evidence(settings: RankingSettings) -> RankingSettings:
    """Where evidence is weighed, no cosine is too low by itself; titles and headings are weighed already."""
    if settings.boost_evidence:
        return replace(settings, threshold=-1.0)
    return replace(
        settings, threshold=-1.0, multi_hit_boost=0.0, summary_boost=0.0, title_boost=0.0, heading_boost=0.0
    )


def by_ranks(_inquiry: Inquiry) -> None:
    """The `Fuser` of the reference: reciprocal rank fusion, or the cosine in vector mode."""


def _fuser_for(embedder: Embedder | None, settings: RankingSettings) -> Fuser:
    cosines = None if embedder is None else range_of(embedder.profile.name)
    if cosines is None or settings.mode is RankingMode.VECTOR:
        return by_ranks
    known = cosines
    return lambda inquiry: blend(inquiry.language, known)


def _nothing(inquiry: Inquiry) -> Retrieval:
    return Retrieval(question=inquiry.question, query=inquiry.text, language=inquiry.language, passages=())


def _visible(candidates: Iterable[Candidate], audience: Audience) -> Iterable[Candidate]:
    """The index was asked for the audience's pages only; what it returns is checked all the same (row 73)."""
    return (candidate for candidate in candidates if audience.admits(candidate.path))


def _is_excluded(candidate: Candidate, inquiry: Inquiry) -> bool:
    """Whether a word that the question excludes stands in the passage, its headings or its title."""
    if not inquiry.excluded:
        return False
    headings = " ".join(heading.text for heading in candidate.heading_path)
    return contains_any(f"{candidate.title} {headings} {candidate.body}", inquiry.excluded)


def _excerpted(candidate: Candidate, inquiry: Inquiry) -> Candidate:
    """A page found as a whole, reduced to the part the words point at. It has no block to link to."""
    return replace(candidate, body=best_excerpt(candidate.body, inquiry.words.terms), block_id=None)
