"""What is kept of use, opened: the log, judgements, gaps and digests; or nothing of it, where that is off."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import structlog

from adapters.stores.learning import PostgresLearning, open_learning
from bot.clock import SystemClock
from bot.scopes.watching import LiveAudiences
from bot.settings import Settings
from core.errors import FootnoteError
from core.ports import Answerer, Embedder, PageStates, PassageIndex
from core.ports.chat import Feedback
from core.ports.watching import Watch
from core.services.digests import WeeklyDigests
from core.services.gaps import Gaps
from core.services.recording import NoFeedback, Recorder, RecordingAnswerer, ScrubbedFeedback
from core.services.scrubbing import scrubbed
from core.services.watching import WatchedFeedback

log = structlog.get_logger()

PRUNE_EVERY = 60 * 60.0
"""Seconds between two looks for what is old enough to be forgotten."""


@dataclass(frozen=True, slots=True)
class Learning:
    """``log`` is also the `Insights` that chats show. ``recorder`` is null where recording is off."""

    log: PostgresLearning
    feedback: Feedback
    gaps: Gaps
    digests: WeeklyDigests
    recorder: Recorder | None
    audiences: LiveAudiences

    def listening(self, answerer: Answerer) -> Answerer:
        """The answerer with every exchange recorded, or as it is."""
        if self.recorder is None:
            return answerer
        return RecordingAnswerer(answerer, self.recorder, scrub=self.scrub)

    def scrub(self, text: str) -> str:
        """A question as it may be kept, by the rules in force."""
        return scrubbed(text, self.audiences.file.scrub_questions)


@asynccontextmanager
async def open_learning_from_use(
    settings: Settings,
    *,
    url: str,
    audiences: LiveAudiences,
    embedder: Embedder,
    index: PassageIndex,
    pages: PageStates,
    watch: Watch,
) -> AsyncIterator[Learning]:
    """Everything about learning from use; what is still to be written is written at the end.

    Raises:
        UnavailableError, RefusedError, ConfigurationError: the database cannot be used.
    """
    async with AsyncExitStack() as stack:
        kept = await stack.enter_async_context(open_learning(url))
        recorder = None
        feedback: Feedback = NoFeedback()
        if settings.footnote_record == "on":
            recorder = Recorder(kept)
            await stack.enter_async_context(recorder.running())
            feedback = ScrubbedFeedback(
                kept, scrub=lambda text: scrubbed(text, audiences.file.scrub_questions)
            )
        gaps = Gaps(log=kept, embedder=embedder, index=index, pages=pages)
        yield Learning(
            log=kept,
            feedback=WatchedFeedback(feedback, watch),
            gaps=gaps,
            digests=WeeklyDigests(gaps=gaps, log=kept, rules=lambda: audiences.rules, clock=SystemClock()),
            recorder=recorder,
            audiences=audiences,
        )


async def keep_the_log_short(settings: Settings, learning: Learning, stop: asyncio.Event) -> None:
    """Forget what is older than it may be, now and every hour, until ``stop`` is set."""
    while not stop.is_set():
        before = datetime.now(UTC) - timedelta(days=settings.footnote_record_days)
        try:
            if removed := await learning.log.prune(before=before):
                log.info("old questions are forgotten", questions=removed)
        except FootnoteError as error:
            log.warning("old questions cannot be forgotten now", reason=str(error))
        try:
            async with asyncio.timeout(PRUNE_EVERY):
                await stop.wait()
        except TimeoutError:
            continue
