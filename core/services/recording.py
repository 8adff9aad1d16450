"""Keeps what was asked and how it went, beside the answer and never in its way."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from hashlib import sha256

from core.domain.answers import Answer, NoAnswer, NoAnswerReason, Outcome, Passage
from core.domain.questions import MAX_QUESTION_LENGTH, Question
from core.errors import FootnoteError
from core.ports import Answerer, Progress
from core.ports.chat import Feedback, Verdict
from core.ports.learning import ANSWERED, FAILED, Exchange, PassageTrace, QuestionLog

logger = logging.getLogger(__name__)

WAITING = 1000
"""Exchanges kept in memory while the database is slow; more are dropped, since answers matter more."""

TOGETHER = 50
"""Exchanges written in one transaction."""

GATHER_SECONDS = 0.05
"""How long the first exchange of a batch waits for others: one transaction costs as much as ten answers out
of the cache."""

NOT_KEPT = frozenset({NoAnswerReason.EMPTY_QUESTION, NoAnswerReason.LIMIT_REACHED})
"""They tell nothing about the wiki."""

Scrub = Callable[[str], str]


class Recorder:
    """Writes exchanges in the background, in order, some at a time."""

    def __init__(self, log: QuestionLog, *, gather: float = GATHER_SECONDS) -> None:
        self._log = log
        self._gather = gather
        self._queue: asyncio.Queue[Exchange] = asyncio.Queue(maxsize=WAITING)
        self._is_full = False

    def keep(self, exchange: Exchange) -> None:
        """Take it in; never waits, never raises."""
        try:
            self._queue.put_nowait(exchange)
        except asyncio.QueueFull:
            if not self._is_full:
                logger.warning("questions are asked faster than they can be recorded; some are not kept")
            self._is_full = True
        else:
            self._is_full = False

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Write for as long as the block runs, and what is left at its end."""
        task = asyncio.create_task(self._write())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            while (batch := self._batch()) and await self._record(batch):
                continue

    async def written(self) -> None:
        """Wait until everything taken in so far is written or given up."""
        await self._queue.join()

    async def _write(self) -> None:
        while True:
            batch = [await self._queue.get()]
            try:
                await asyncio.sleep(self._gather)
                batch += self._batch(TOGETHER - 1)
                await self._record(batch)
            except asyncio.CancelledError:
                # Not known to be written: once more at the end; known events are not written twice.
                for one in batch:
                    self.keep(one)
                raise
            finally:
                for _ in batch:
                    self._queue.task_done()

    def _batch(self, most: int = TOGETHER) -> list[Exchange]:
        batch: list[Exchange] = []
        while len(batch) < most and not self._queue.empty():
            batch.append(self._queue.get_nowait())
        return batch

    async def _record(self, batch: list[Exchange]) -> bool:
        """Whether the batch is written. Whatever one batch fails with, the next one is tried."""
        try:
            await self._log.record(batch)
        except FootnoteError as error:
            logger.warning("%d questions could not be recorded: %s", len(batch), error)
            return False
        except Exception as error:  # noqa: BLE001 - its message may quote a question
            logger.error("%d questions could not be recorded (%s)", len(batch), type(error).__name__)
            return False
        return True


class RecordingAnswerer:
    """Answers as the one behind it does, and has every exchange kept; ``scrub`` masks the question's text."""

    def __init__(self, answerer: Answerer, recorder: Recorder, *, scrub: Scrub) -> None:
        self._answerer = answerer
        self._recorder = recorder
        self._scrub = scrub

    async def answer(self, question: Question, progress: Progress | None = None) -> Outcome:
        """As the answerer behind.

        Raises:
            TemporaryError: as the answerer behind; recorded as a failure.
        """
        try:
            outcome = await self._answerer.answer(question, progress)
        except FootnoteError:
            self._recorder.keep(exchange_of(question, None, scrub=self._scrub))
            raise
        if not (isinstance(outcome, NoAnswer) and outcome.reason in NOT_KEPT):
            self._recorder.keep(exchange_of(question, outcome, scrub=self._scrub))
        return outcome


class ScrubbedFeedback:
    """Judgements with masked texts."""

    def __init__(self, feedback: Feedback, *, scrub: Scrub) -> None:
        self._feedback = feedback
        self._scrub = scrub

    async def judge(self, *, question_id: str, person: str, verdict: Verdict, reason: str = "") -> None:
        """As `Feedback.judge`."""
        await self._feedback.judge(
            question_id=question_id, person=person, verdict=verdict, reason=self._scrub(reason)
        )

    async def suggest(self, *, question_id: str, person: str, text: str) -> None:
        """As `Feedback.suggest`."""
        await self._feedback.suggest(question_id=question_id, person=person, text=self._scrub(text))


class NoFeedback:
    """Where recording is off nothing is kept of anybody."""

    async def judge(self, *, question_id: str, person: str, verdict: Verdict, reason: str = "") -> None:
        """Forget it at once."""

    async def suggest(self, *, question_id: str, person: str, text: str) -> None:
        """Forget it at once."""


def exchange_of(question: Question, outcome: Outcome | None, *, scrub: Scrub) -> Exchange:
    """What is kept of a question and its outcome; null stands for a failure."""
    retrieval = outcome.retrieval if outcome is not None else None
    cited = {one.passage for one in outcome.citations} if isinstance(outcome, Answer) else set()
    return Exchange(
        event=question.id,
        platform=question.conversation.platform,
        person=question.asker,
        audience=question.audience,
        asked_at=question.asked_at,
        text=scrub(question.text[:MAX_QUESTION_LENGTH]),
        language=outcome.language if outcome is not None else "",
        outcome=_name(outcome),
        degraded=isinstance(outcome, Answer) and outcome.degraded,
        cached=isinstance(outcome, Answer) and outcome.cached,
        generation=retrieval.generation if retrieval is not None else 0,
        timings=dict(retrieval.timings) if retrieval is not None else {},
        passages=tuple(
            _trace(passage, is_cited=passage in cited)
            for passage in (retrieval.passages if retrieval is not None else ())
        ),
    )


def text_hash(body: str) -> str:
    """Of a passage's text, to tell whether it has changed since it was cited."""
    return sha256(body.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _name(outcome: Outcome | None) -> str:
    if outcome is None:
        return FAILED
    return ANSWERED if isinstance(outcome, Answer) else outcome.reason.value


def _trace(passage: Passage, *, is_cited: bool) -> PassageTrace:
    candidate = passage.candidate
    return PassageTrace(
        page_id=candidate.page_id,
        block_id=candidate.block_id,
        text_hash=text_hash(candidate.body),
        cosine=candidate.cosine,
        score=passage.score,
        is_cited=is_cited,
    )
