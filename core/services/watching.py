"""Decorators that measure answers, judgements and the cache, each telling a `Watch`."""

from core.domain.answers import Answer, NoAnswer, Outcome, Retrieval
from core.domain.questions import Question
from core.ports import Answerer, Cache, Progress
from core.ports.chat import Feedback, Verdict
from core.ports.learning import ANSWERED, FAILED
from core.ports.watching import Watch

MILLISECONDS = 1000.0
LEVELS = frozenset({"vector", "answer", "draft"})


class WatchedAnswerer:
    """Tells of every question and of what became of it."""

    def __init__(self, answerer: Answerer, watch: Watch) -> None:
        self._answerer = answerer
        self._watch = watch

    async def answer(self, question: Question, progress: Progress | None = None) -> Outcome:
        """As the answerer behind.

        Raises:
            TemporaryError: as the answerer behind.
        """
        platform = question.conversation.platform
        self._watch.asked(platform)
        try:
            outcome = await self._answerer.answer(question, progress)
        except Exception:
            self._watch.answered(platform, FAILED)
            raise
        match outcome:
            case Answer():
                self._watch.answered(platform, ANSWERED, degraded=outcome.degraded)
            case NoAnswer():
                self._watch.answered(platform, outcome.reason.value)
        if outcome.retrieval is not None:
            self._measure(outcome.retrieval, is_cached=isinstance(outcome, Answer) and outcome.cached)
        return outcome

    def _measure(self, retrieval: Retrieval, *, is_cached: bool) -> None:
        for stage, milliseconds in retrieval.timings.items():
            self._watch.took(stage, milliseconds / MILLISECONDS)
        nearest = [one.candidate.cosine for one in retrieval.passages if one.candidate.cosine is not None]
        if nearest and not is_cached:
            # A cached answer was measured when it was made.
            self._watch.retrieved(max(nearest))


class WatchedFeedback:
    """Tells of every judgement that is kept."""

    def __init__(self, feedback: Feedback, watch: Watch) -> None:
        self._feedback = feedback
        self._watch = watch

    async def judge(self, *, question_id: str, person: str, verdict: Verdict, reason: str = "") -> None:
        """As `Feedback.judge`. A reason that follows a verdict is not counted once more."""
        await self._feedback.judge(question_id=question_id, person=person, verdict=verdict, reason=reason)
        if not reason:
            self._watch.judged(verdict.value)

    async def suggest(self, *, question_id: str, person: str, text: str) -> None:
        """As `Feedback.suggest`."""
        await self._feedback.suggest(question_id=question_id, person=person, text=text)


class WatchedCache:
    """Tells of every look into the cache, by level."""

    def __init__(self, cache: Cache, watch: Watch) -> None:
        self._cache = cache
        self._watch = watch

    async def get(self, key: str) -> bytes | None:
        """As `Cache.get`."""
        value = await self._cache.get(key)
        level = key.partition(":")[0]
        if level in LEVELS:
            self._watch.looked_up(level, hit=value is not None)
        return value

    async def put(self, key: str, value: bytes, *, seconds: int) -> None:
        """As `Cache.put`."""
        await self._cache.put(key, value, seconds=seconds)
