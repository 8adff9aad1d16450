"""From a question to the passages that may answer it."""

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from core.domain.answers import Candidate, Passage, Retrieval
from core.domain.audiences import Audience
from core.domain.models import Vector
from core.domain.questions import Question
from core.errors import FootnoteError
from core.ports import Embedder, PassageIndex, SearchResult, WordQuery
from core.services.excerpts import best_excerpt
from core.services.followups import language_of, standalone
from core.services.ranking import Fusion, RankingSettings, candidate_count, rank
from core.services.words import contains_any, keywords, read_operators, word_query

logger = logging.getLogger(__name__)

PAGE_HITS = 10
"""Whole pages looked at when only words can be searched."""


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question made ready to be searched."""

    question: Question
    text: str
    language: str
    words: WordQuery
    keywords: tuple[str, ...]
    excluded: tuple[str, ...]


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
    inventory's numbers with the threshold of the embedder's model.
    """

    def __init__(
        self,
        *,
        index: PassageIndex,
        embedder: Embedder | None,
        settings: RankingSettings | None = None,
        fusion: Fusion | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._index = index
        self._embedder = embedder
        self._settings = settings or _settings_for(embedder)
        self._fusion = fusion
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
        passages = self._rank(inquiry, found.candidates)
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
        )
        if vector is None or not passages:
            return await self._with_pages(inquiry, retrieval, watch)
        return retrieval

    async def retrieve_pages(self, retrieval: Retrieval) -> Retrieval:
        """The same question again, asked of whole pages by their words: for when the passages do not answer.

        Returns the retrieval it was given if no page is found.

        Raises:
            TemporaryError: the index could not be searched.
        """
        if retrieval.question.audience.is_empty:
            return retrieval
        watch = Stopwatch(self._clock)
        watch.timings.update(retrieval.timings)
        inquiry = prepare(retrieval.question)
        found = await self._with_pages(inquiry, replace(retrieval, passages=()), watch)
        return found if found.passages else retrieval

    async def _embed(self, inquiry: Inquiry) -> Vector | None:
        """The question's vector, or null: without one the words still find what they can."""
        if self._embedder is None or not inquiry.text.strip():
            return None
        try:
            return await self._embedder.embed_query(inquiry.text)
        except FootnoteError as error:
            logger.warning("searching by words only: the embedding model failed: %s", error)
            return None

    async def _search(self, inquiry: Inquiry, vector: Vector | None) -> SearchResult:
        if vector is None and inquiry.words.is_empty:
            return SearchResult(candidates=(), generation=await self._index.generation())
        return await self._index.search(
            vector=vector,
            words=inquiry.words,
            audience=inquiry.question.audience,
            limit=candidate_count(self._settings.limit),
        )

    async def _with_pages(self, inquiry: Inquiry, retrieval: Retrieval, watch: Stopwatch) -> Retrieval:
        """Passages of whole pages, behind the chunks already found of others (rows 55, 71, 72)."""
        if inquiry.words.is_empty:
            return retrieval
        found = await self._index.search_pages(
            words=inquiry.words, audience=inquiry.question.audience, limit=PAGE_HITS
        )
        watch.lap("search")
        known = {passage.candidate.page_id for passage in retrieval.passages}
        pages = [_excerpted(one, inquiry) for one in found.candidates if one.page_id not in known]
        ranked = self._rank(inquiry, pages)
        watch.lap("rank")
        if not ranked:
            return retrieval
        return replace(
            retrieval,
            passages=(*retrieval.passages, *ranked)[: self._settings.limit],
            degraded=True,
            timings=watch.timings,
        )

    def _rank(self, inquiry: Inquiry, candidates: Iterable[Candidate]) -> tuple[Passage, ...]:
        visible = _visible(candidates, inquiry.question.audience)
        wanted = (one for one in visible if not _is_excluded(one, inquiry))
        return rank(wanted, keywords=inquiry.keywords, settings=self._settings, fusion=self._fusion)


def prepare(question: Question) -> Inquiry:
    """Language, words and operators of a question; earlier questions lend words to a short follow-up."""
    text = " ".join(standalone(question).replace("\x00", " ").split())
    language = language_of(question)
    return Inquiry(
        question=question,
        text=text,
        language=language,
        words=word_query(text, language),
        keywords=keywords(text, language),
        excluded=read_operators(text).excluded,
    )


def _settings_for(embedder: Embedder | None) -> RankingSettings:
    return RankingSettings() if embedder is None else RankingSettings(threshold=embedder.profile.threshold)


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
