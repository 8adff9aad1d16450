"""What several processes agree on through Redis: who does a piece of work, and how much may be asked.

None of it is needed for a right answer. Without Redis work is done twice and limits are shared out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

# --- Doing expensive work once -------------------------------------------------------------------------


class Leases(Protocol):
    """Short claims on a piece of work, so that processes do not do it at the same time."""

    async def take(self, key: str, *, seconds: float) -> str | None:
        """A token for the claim; null while somebody else holds it. Without Redis everybody gets one."""

    async def extend(self, key: str, token: str, *, seconds: float) -> None:
        """Keep a claim; nothing happens if it was lost meanwhile."""

    async def give_back(self, key: str, token: str) -> None:
        """End a claim; nothing happens if it was lost meanwhile."""


# --- Limits --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Window:
    """At most ``limit`` questions in any ``seconds``, whatever window of that length one looks at (A17)."""

    key: str
    limit: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Budget:
    """At most about ``tokens`` of a chat model in any ``seconds``: the last answer may go beyond it.

    Old spending is forgiven by twenty-fourths of the time: by the hour for a daily budget.
    """

    key: str
    tokens: int
    seconds: float = 24 * 60 * 60


@dataclass(frozen=True, slots=True)
class Admission:
    """Whether a question may be answered now.

    ``wait`` is how many seconds until it may, where it may not. ``makeshift`` admits it without the chat
    model: Redis is away and this process has granted its share, so only what costs nothing is left (A15).
    """

    admitted: bool
    wait: float = 0.0
    makeshift: bool = False


class RateLimits(Protocol):
    """Counts questions and tokens of people, channels and workspaces, over all processes."""

    async def admit(self, windows: Sequence[Window], *, budgets: Sequence[Budget] = ()) -> Admission:
        """Count a question against all windows at once, or against none if one is full or a budget spent."""

    async def spend(self, budgets: Sequence[Budget], *, tokens: int) -> None:
        """Note what an answer has cost; known only once it is written."""
