"""What is measured while the product works. Figures only: no text, no person, no page."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol


class Watch(Protocol):
    """Takes figures in; never waits, never raises."""

    def asked(self, platform: str) -> None:
        """A question came in."""

    def answered(self, platform: str, outcome: str, *, degraded: bool = False) -> None:
        """It came out so: ``answered``, ``failed``, or why there is no answer."""

    def took(self, stage: str, seconds: float) -> None:
        """A stage of one answer."""

    def retrieved(self, score: float) -> None:
        """The cosine of the passage nearest to a question."""

    def looked_up(self, level: str, *, hit: bool) -> None:
        """A look into the cache: ``vector``, ``answer`` or ``draft``."""

    def judged(self, verdict: str) -> None:
        """Somebody judged an answer."""

    def checked(self, findings: Mapping[str, int]) -> None:
        """How many sentences of a draft were ``supported``, ``moved`` elsewhere, or had which fault."""

    def generated(self, read: int, written: int) -> None:
        """Tokens of a chat model, estimated."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How the index and the rules stand at this moment.

    ``last_look`` is when the newest sync that reached its end began. ``interval`` is how many seconds lie
    between two syncs, 0 where none are scheduled.
    """

    generation: int
    last_look: datetime | None
    interval: float
    pages: Mapping[str, int] = field(default_factory=dict)
    rules_refused: bool = False
