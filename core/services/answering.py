"""From a question to an answer with its sources, or to the reason why there is none."""

import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from core.domain.answers import Answer, Draft, NoAnswer, NoAnswerReason, Outcome, Retrieval
from core.domain.questions import MAX_QUESTION_LENGTH, Question
from core.domain.smalltalk import asks_nothing
from core.errors import FootnoteError
from core.ports import Embedder, Generator, Progress
from core.ports.sharing import Leases
from core.services import languages
from core.services.ageing import with_age
from core.services.caching import AnswerCache, readdressed
from core.services.citing import (
    Cited,
    EmptyDraftError,
    UngroundedDraftError,
    checked,
    number,
    preview,
    says_something,
)
from core.services.declining import admits_not_knowing, says_not_in_wiki
from core.services.draft_markup import Piece
from core.services.extractive import ExtractiveWriter
from core.services.flights import SharedFlight, SingleFlight
from core.services.followups import compact, language_of
from core.services.grounding import Grounder
from core.services.prompting import Brief, Style, write_prompt
from core.services.rambling import cut_loop
from core.services.refusals import Judge, judge_for
from core.services.retriever import Retriever, Stopwatch
from core.services.rewriting import Rewriter
from core.services.seeking import Seeking
from core.services.surroundings import Surroundings

logger = logging.getLogger(__name__)

ATTEMPTS = 2
"""A model that writes nothing is asked once more (F68)."""

TELLING_LENGTH = 60
"""Characters from which a draft's own language is looked at; models do not always answer in the asker's."""

PREVIEW_EVERY = 80
"""Characters written between two previews; platforms limit how often a message may be edited anyway."""


class NotInWikiError(Exception):
    """The model, having read the passages, says that they do not answer."""


def _unobserved(_counts: Mapping[str, int]) -> None:
    """Nobody watches."""


@dataclass(frozen=True, slots=True)
class Checking:
    """How a draft is held against its sources.

    Cited pages not edited for ``outdated_after_days`` are called out; 0 never does. ``observe`` is told how
    many sentences of a draft were supported, moved to another source, or had which `Fault`.
    """

    grounder: Grounder
    outdated_after_days: int = 0
    observe: Callable[[Mapping[str, int]], None] = _unobserved


@dataclass(frozen=True, slots=True)
class Looking:
    """What is done beyond one search: a second one in other words, and looking around passages."""

    rewriter: Rewriter | None = None
    surroundings: Surroundings | None = None


class Answering:
    """Answers questions: retrieve, judge, write, cite.

    Without ``generator`` the extractive writer answers. When a generator fails, it answers too and the answer
    is marked as degraded; nothing of the failed draft is shown. ``cache`` may be null or away: slower, never
    wrong. ``embedder`` helps the extractive writer to pick sentences and the grounder to compare them, and
    its profile the default judge. ``checking`` is how drafts are held against their sources; all of them are.
    """

    def __init__(  # noqa: PLR0913  # the parts of the service, by name
        self,
        *,
        retriever: Retriever,
        generator: Generator | None = None,
        embedder: Embedder | None = None,
        cache: AnswerCache | None = None,
        leases: Leases | None = None,
        judge: Judge | None = None,
        style: Style = Style.GUIDED,
        checking: Checking | None = None,
        looking: Looking = Looking(),
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._retriever = retriever
        self._generator = generator
        self._writer = ExtractiveWriter(embedder)
        self._cache = cache
        self._seeking = Seeking(
            retriever=retriever,
            judge=judge or judge_for(None if embedder is None else embedder.profile),
            rewriter=looking.rewriter,
            surroundings=looking.surroundings,
        )
        self._style = style
        self._checking = checking or Checking(Grounder(embedder))
        self._clock = clock
        self._flights: SingleFlight[Outcome] = SingleFlight()
        self._shared: SharedFlight[Outcome] | None = SharedFlight(leases) if leases is not None else None

    async def answer(self, question: Question, progress: Progress | None = None) -> Outcome:
        """Answer, or say why not.

        Raises:
            TemporaryError: neither vectors nor words could be searched.
        """
        question = compact(question)
        if reason := _refused_at_once(question):
            return NoAnswer(reason=reason, language=language_of(question))
        if self._cache is None:
            return await self._make(question, progress)
        watch = Stopwatch(self._clock)
        generation = await self._retriever.generation()
        if (known := await self._cache.find(question, generation=generation)) is not None:
            watch.lap("total")
            return replace(known, retrieval=replace(known.retrieval, timings=watch.timings))
        return readdressed(await self._make_once(self._cache, question, generation, progress), question)

    async def _make_once(
        self, cache: AnswerCache, question: Question, generation: int, progress: Progress | None
    ) -> Outcome:
        key = cache.key(question, generation=generation)
        if self._shared is None:
            return await self._flights.run(key, lambda: self._make(question, progress))

        async def find() -> Outcome | None:
            return await cache.find(question, generation=generation)

        return await self._shared.run(key, lambda: self._make(question, progress), find=find)

    async def _make(self, question: Question, progress: Progress | None) -> Outcome:
        started = self._clock()
        await _tell(progress, "search")
        retrieval, verdict = await self._seeking.seek(question)
        if not verdict.is_answerable:
            return _unanswered(_timed(retrieval, total=self._clock() - started))
        if self._generator is not None:
            retrieval = await self._seeking.completed(retrieval)
        await _tell(progress, "write")
        writing = self._clock()
        try:
            cited, degraded = await self._write(retrieval, progress)
        except NotInWikiError:
            return _unanswered(_timed(retrieval, total=self._clock() - started))
        days = self._checking.outdated_after_days
        cited = with_age(cited, now=question.asked_at, days=days, language=retrieval.language)
        now = self._clock()
        answer = Answer(
            spans=cited.spans,
            citations=cited.citations,
            retrieval=_timed(retrieval, generate=now - writing, total=now - started),
            language=retrieval.language,
            degraded=degraded or retrieval.degraded,
        )
        if self._cache is not None and verdict.is_confident and not answer.degraded:
            await self._cache.keep(answer)
        return answer

    async def _write(self, retrieval: Retrieval, progress: Progress | None) -> tuple[Cited, bool]:
        """Spans and citations, and whether they are a makeshift for what a model failed to write."""
        if self._generator is None:
            return await self._writer.write(retrieval), False
        try:
            return await self._generate(self._generator, retrieval, progress), False
        except (FootnoteError, EmptyDraftError) as error:
            logger.warning("quoting instead of writing: the chat model failed: %s", error)
            return await self._writer.write(retrieval), True

    async def _generate(self, generator: Generator, retrieval: Retrieval, progress: Progress | None) -> Cited:
        brief = write_prompt(retrieval, context_tokens=generator.context_tokens, style=self._style)
        if self._cache is not None:
            kept = await self._cache.find_draft(retrieval.question, brief.sources)
            if kept is not None:
                return await self._check(kept.text, brief, retrieval.language)
        for attempt in range(1, ATTEMPTS + 1):
            text = await _stream(generator, brief, progress)
            draft = Draft(text=text, model=generator.model, degraded=retrieval.degraded)
            try:
                cited = await self._check(text, brief, retrieval.language)
            except EmptyDraftError:
                if attempt == ATTEMPTS:
                    raise
                logger.info("the chat model wrote nothing; asking once more")
                continue
            except NotInWikiError:
                if self._cache is not None:
                    await self._cache.keep_draft(retrieval.question, brief.sources, draft, is_refusal=True)
                raise
            if self._cache is not None:
                await self._cache.keep_draft(retrieval.question, brief.sources, draft)
            return cited
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def _check(self, text: str, brief: Brief, language: str) -> Cited:
        """The draft with its citations checked, sentence by sentence.

        Raises:
            EmptyDraftError: nothing to show.
            UngroundedDraftError: nothing that rests on a source.
            NotInWikiError: the model says that the sources do not answer.
        """
        if says_not_in_wiki(text):
            raise NotInWikiError
        pieces = checked(text, brief.sources)
        if not says_something(pieces):
            raise EmptyDraftError("the model wrote no text")
        result = await self._checking.grounder.check(pieces, brief.sources, _language_of(pieces, language))
        self._checking.observe(result.counts)
        cited = number(result.pieces, brief.sources)
        if not cited.citations and admits_not_knowing(text):
            raise NotInWikiError
        if not cited.citations:
            raise UngroundedDraftError("the model wrote nothing that rests on a source")
        return cited


def _refused_at_once(question: Question) -> NoAnswerReason | None:
    """What needs no search to be refused (A7); readers without any scope cost no query (R20)."""
    if asks_nothing(question.text):
        return NoAnswerReason.EMPTY_QUESTION
    if len(question.text) > MAX_QUESTION_LENGTH:
        return NoAnswerReason.QUESTION_TOO_LONG
    if question.audience.is_empty:
        return NoAnswerReason.NOTHING_VISIBLE
    return None


def _unanswered(retrieval: Retrieval) -> NoAnswer:
    is_empty = retrieval.index_is_empty and not retrieval.passages
    reason = NoAnswerReason.EMPTY_INDEX if is_empty else NoAnswerReason.NO_RELEVANT_PAGES
    return NoAnswer(reason=reason, language=retrieval.language, retrieval=retrieval)


def _timed(retrieval: Retrieval, **seconds: float) -> Retrieval:
    timings = {**retrieval.timings, **{stage: value * 1000 for stage, value in seconds.items()}}
    return replace(retrieval, timings=timings)


def _language_of(pieces: Sequence[Piece], asked: str) -> str:
    """What the model wrote in; a few words tell less than the language of the question."""
    text = "".join(piece.text for piece in pieces)
    return (languages.detect(text) if len(text) >= TELLING_LENGTH else "") or asked


async def _stream(generator: Generator, brief: Brief, progress: Progress | None) -> str:
    """All that the model writes, up to where it starts to repeat itself or says that it found no answer."""
    text = ""
    shown = 0
    async with _closing(generator.write(brief.prompt)) as pieces:
        async for piece in pieces:
            text += piece
            if len(text) - shown < PREVIEW_EVERY:
                continue
            shown = len(text)
            if len(cut_loop(text)) < len(text.rstrip()) or says_not_in_wiki(text):
                break
            if progress is not None and (so_far := preview(text, brief.sources)):
                await progress.text(so_far)
    return text


@asynccontextmanager
async def _closing(pieces: AsyncIterator[str]) -> AsyncIterator[AsyncIterator[str]]:
    """Close a stream that is left early, so that the model stops writing."""
    try:
        yield pieces
    finally:
        if (close := getattr(pieces, "aclose", None)) is not None:
            await close()


async def _tell(progress: Progress | None, stage: str) -> None:
    if progress is not None:
        await progress.stage(stage)
