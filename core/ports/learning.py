"""What is kept of questions and answers, so that the wiki can get better where it failed people."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Protocol

from core.domain.audiences import Audience
from core.domain.ids import BlockId, PageId

ANSWERED = "answered"
FAILED = "failed"
"""Outcomes beside the values of `NoAnswerReason`."""


@dataclass(frozen=True, slots=True)
class PassageTrace:
    """A passage as an answer had it: where it stands and how well it fitted, not what it says."""

    page_id: PageId
    block_id: BlockId | None
    text_hash: str
    cosine: float | None
    score: float
    is_cited: bool


@dataclass(frozen=True, slots=True)
class Exchange:
    """One question and what became of it. ``person`` is the platform's id; stores keep a keyed hash of it.

    ``text`` is masked already, where masking is on. ``timings`` are milliseconds by stage.
    """

    event: str
    platform: str
    person: str
    audience: Audience
    asked_at: datetime
    text: str
    language: str
    outcome: str
    degraded: bool = False
    cached: bool = False
    generation: int = 0
    timings: Mapping[str, float] = field(default_factory=dict)
    passages: tuple[PassageTrace, ...] = ()

    @property
    def best_cosine(self) -> float | None:
        """Of the nearest passage by meaning."""
        return max((one.cosine for one in self.passages if one.cosine is not None), default=None)

    @property
    def best_score(self) -> float | None:
        """Of the passage ranked first."""
        return max((one.score for one in self.passages), default=None)


@dataclass(frozen=True, slots=True)
class WeakQuestion:
    """A question that was not answered, or whose answer more people judged bad than good.

    ``audience`` is who read the reply: nobody who may see less is shown the question's text.
    """

    event: str
    text: str
    language: str
    asked_at: datetime
    audience: Audience
    outcome: str
    bad: int = 0


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over a span of time; they tell nothing of anybody or any page."""

    questions: int
    answered: int
    good: int
    bad: int


class QuestionLog(Protocol):
    """Keeps exchanges for a while."""

    async def record(self, exchanges: Sequence[Exchange]) -> None:
        """Keep them; one whose event is known already is left as it is.

        Raises:
            TemporaryError, PermanentError: they could not be kept.
        """

    async def weak(self, *, since: datetime, limit: int) -> Sequence[WeakQuestion]:
        """What went badly since then, newest first."""

    async def totals(self, *, since: datetime) -> Totals:
        """How much was asked, answered and judged since then."""

    async def forget(self, person: str) -> int:
        """Delete everything that this person asked, judged or suggested; returns how many rows."""

    async def prune(self, *, before: datetime) -> int:
        """Delete everything older; returns how many questions."""

    async def is_digest_sent(self, *, platform: str, channel: str, week: date) -> bool:
        """Whether somebody has claimed this week's digest."""

    async def claim_digest(self, *, platform: str, channel: str, week: date) -> bool:
        """Whether the caller is the one to send this week's digest; true once for all processes."""

    async def unclaim_digest(self, *, platform: str, channel: str, week: date) -> None:
        """Give a claimed digest back: it was not sent, and somebody may claim it again."""
