"""Frequent questions, answered anew in the background once the index has changed, before somebody asks."""

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from core.domain.answers import Answer, Outcome
from core.domain.questions import Conversation, Question
from core.errors import FootnoteError
from core.ports import Answerer, Clock, Progress
from core.services.caching import normalised

logger = logging.getLogger(__name__)

HALF_LIFE = timedelta(days=2)
"""In which a question's count halves: what was asked a lot last month is not asked today."""

ENOUGH = 2.5
"""Decayed count from which on a question is worth an answer that nobody waits for."""

REMEMBERED = 500
ANSWERED_ANEW = 20
"""After each change of the index, most frequent first: what it may cost is bounded."""

_NOBODY = Conversation(platform="")


@dataclass(slots=True)
class _Count:
    question: Question
    value: float
    at: datetime

    def now(self, moment: datetime) -> float:
        return self.value * math.pow(0.5, (moment - self.at) / HALF_LIFE)


class Frequencies:
    """How often questions are asked, in this process alone, forgotten by halves.

    Follow-ups are not counted: they mean something within their thread only. Nobody's name is kept.
    """

    def __init__(self, *, clock: Clock) -> None:
        self._clock = clock
        self._counts: dict[tuple[str, str], _Count] = {}

    def count(self, question: Question) -> None:
        """It was asked and answered."""
        if question.turns:
            return
        now = self._clock.now()
        key = _key(question)
        known = self._counts.get(key)
        anonymous = replace(question, id="", asker="", conversation=_NOBODY)
        self._counts[key] = _Count(anonymous, 1.0 + (known.now(now) if known else 0.0), now)
        if len(self._counts) > REMEMBERED:
            del self._counts[min(self._counts, key=lambda one: self._counts[one].now(now))]

    def is_frequent(self, question: Question) -> bool:
        """Whether it is asked often enough to be kept longer and answered anew."""
        known = None if question.turns else self._counts.get(_key(question))
        return known is not None and known.now(self._clock.now()) >= ENOUGH

    def frequent(self) -> tuple[Question, ...]:
        """What is asked often enough, most frequent first, as if asked now."""
        now = self._clock.now()
        counted = sorted(((one.now(now), one.question) for one in self._counts.values()), key=_by_count)
        often = (question for value, question in counted[:ANSWERED_ANEW] if value >= ENOUGH)
        return tuple(replace(question, asked_at=now) for question in often)


class PopularQuestions:
    """Answers as the one behind it does, counts what is answered, and answers it anew when asked to."""

    def __init__(self, answerer: Answerer, *, clock: Clock, frequencies: Frequencies | None = None) -> None:
        self._answerer = answerer
        self._frequencies = frequencies or Frequencies(clock=clock)

    async def answer(self, question: Question, progress: Progress | None = None) -> Outcome:
        """As the answerer behind.

        Raises:
            TemporaryError: as the answerer behind.
        """
        outcome = await self._answerer.answer(question, progress)
        if isinstance(outcome, Answer):
            self._frequencies.count(question)
        return outcome

    def frequent(self) -> tuple[Question, ...]:
        """As `Frequencies.frequent`."""
        return self._frequencies.frequent()

    async def answer_anew(self) -> int:
        """Answer the frequent questions, one after the other; returns how many have an answer now."""
        answered = 0
        for question in self.frequent():
            try:
                outcome = await self._answerer.answer(question)
            except FootnoteError as error:
                logger.info("frequent questions are not answered anew now: %s", error)
                break
            answered += isinstance(outcome, Answer)
        return answered


async def keep_answered(
    popular: PopularQuestions,
    generation: Callable[[], Awaitable[int]],
    stop: asyncio.Event,
    *,
    every: float = 30.0,
) -> None:
    """Answer frequent questions anew whenever the index has changed and then rested for ``every`` seconds."""
    done = seen = await _read(generation)
    while not stop.is_set():
        try:
            async with asyncio.timeout(every):
                await stop.wait()
        except TimeoutError:
            current = await _read(generation)
            if current is not None and current == seen and current != done:
                await popular.answer_anew()
                done = current
            seen = current if current is not None else seen


async def _read(generation: Callable[[], Awaitable[int]]) -> int | None:
    try:
        return await generation()
    except FootnoteError:
        return None


def _by_count(counted: tuple[float, Question]) -> float:
    return -counted[0]


def _key(question: Question) -> tuple[str, str]:
    return question.audience.key, normalised(question.text)
