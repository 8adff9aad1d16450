"""How much may be asked: windows for people, channels and workspaces, and a daily budget of tokens."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from core.domain.answers import Answer, NoAnswer, NoAnswerReason, Outcome
from core.domain.questions import Question
from core.ports import Answerer, Progress
from core.ports.sharing import Budget, RateLimits, Window
from core.services.followups import language_of
from core.services.metering import metered

UNLIMITED = frozenset({"console"})
"""Platforms whose only user is whoever pays for the model."""

_RATE = re.compile(r"(\d{1,9})\s*/\s*(\d{0,6})\s*([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 60 * 60, "d": 24 * 60 * 60}


@dataclass(frozen=True, slots=True)
class Rate:
    """At most ``limit`` questions in any ``seconds``."""

    limit: int
    seconds: float


class WrongRateError(ValueError):
    """The text is no rate."""


def parse_rates(text: str) -> tuple[Rate, ...]:
    """``20/10m, 100/d`` as rates; empty for no limit.

    Raises:
        WrongRateError: says what is expected.
    """
    rates = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = _RATE.fullmatch(part)
        if match is None or int(match[1]) < 1 or match[2] == "0":
            raise WrongRateError(
                f"{part!r} is no limit: expected questions and a time, such as 20/10m or 100/d (s, m, h, d)"
            )
        rates.append(Rate(int(match[1]), int(match[2] or 1) * _SECONDS[match[3]]))
    return tuple(rates)


@dataclass(frozen=True, slots=True)
class Limits:
    """Rates for each kind of asker; ``daily_tokens`` of a chat model for each workspace, null for any."""

    person: tuple[Rate, ...] = ()
    channel: tuple[Rate, ...] = ()
    workspace: tuple[Rate, ...] = ()
    daily_tokens: int | None = None

    def windows(self, question: Question) -> tuple[Window, ...]:
        """The windows that a question counts in. Keys tell nobody's id."""
        place = question.conversation
        kinds = (
            ("person", self.person, (place.platform, place.workspace, question.asker)),
            ("channel", self.channel, (place.platform, place.workspace, place.channel)),
            ("workspace", self.workspace, (place.platform, place.workspace)),
        )
        return tuple(
            Window(key=f"{kind}:{rate.seconds:g}:{_digest(ids)}", limit=rate.limit, seconds=rate.seconds)
            for kind, rates, ids in kinds
            if all(ids[2:])
            for rate in rates
        )

    def budgets(self, question: Question) -> tuple[Budget, ...]:
        """The budgets that an answer is paid from."""
        if self.daily_tokens is None:
            return ()
        place = question.conversation
        return (Budget(key=f"tokens:{_digest((place.platform, place.workspace))}", tokens=self.daily_tokens),)


class LimitedAnswerer:
    """Answers what is within the limits; beyond them says how long to wait.

    While Redis is away each process grants its share, and above it ``makeshift`` answers without a chat
    model, marked as degraded: answers still come, cost stays bounded (A15, A17).
    """

    def __init__(
        self, answerer: Answerer, *, makeshift: Answerer, counter: RateLimits, limits: Limits
    ) -> None:
        self._answerer = answerer
        self._makeshift = makeshift
        self._counter = counter
        self._limits = limits

    async def answer(self, question: Question, progress: Progress | None = None) -> Outcome:
        """Answer, say why not, or say when to ask again.

        Raises:
            TemporaryError: as the answerer behind.
        """
        if question.conversation.platform in UNLIMITED:
            return await self._answerer.answer(question, progress)
        budgets = self._limits.budgets(question)
        admission = await self._counter.admit(self._limits.windows(question), budgets=budgets)
        if not admission.admitted:
            return NoAnswer(
                reason=NoAnswerReason.LIMIT_REACHED, language=language_of(question), wait=admission.wait
            )
        if admission.makeshift:
            return _degraded(await self._makeshift.answer(question, progress))
        return await self._answer_and_pay(question, progress, budgets)

    async def _answer_and_pay(
        self, question: Question, progress: Progress | None, budgets: Sequence[Budget]
    ) -> Outcome:
        with metered() as spent:
            try:
                return await self._answerer.answer(question, progress)
            finally:
                # What a failed answer has cost is paid too.
                if spent.total:
                    await self._counter.spend(budgets, tokens=spent.total)


def _degraded(outcome: Outcome) -> Outcome:
    return replace(outcome, degraded=True) if isinstance(outcome, Answer) else outcome


def _digest(ids: Sequence[str]) -> str:
    return sha256("\0".join(ids).encode("utf-8", "surrogatepass")).hexdigest()[:20]
