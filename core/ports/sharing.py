"""What several processes agree on through Redis: who does a piece of work, how much may be asked, and how
fast a service is called.

None of it is needed for a right answer. Without Redis work is done twice, limits are shared out, and each
process finds its own pace.
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


# --- The pace of calls to a service ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Learning:
    """How a rate is learned from refusals, the same in every process.

    ``growth`` is the share by which the rate exceeds the learned one after a cycle as long as the last. The
    exponent grows with the square of the time, so that a budget that grew is found within a few cycles while
    a steady one is hardly exceeded. After ``most_cycles`` the learned rate is no longer of interest. A cycle
    of fewer than ``least_calls`` says nothing about the rate. Time in which nobody wanted to call for longer
    than ``idle`` seconds is no part of a cycle; after a whole cycle of it all begins anew.
    """

    growth: float = 0.05
    most_cycles: float = 20.0
    least_calls: int = 3
    idle: float = 5.0


LEARNING = Learning()


@dataclass(frozen=True, slots=True)
class Start:
    """``wait`` is 0 if a call starts now, which is counted; else the seconds until one may. ``rate`` is how
    many calls a second all may start together; null while nothing was refused yet."""

    wait: float
    rate: float | None = None


class SharedPace(Protocol):
    """When calls may start, agreed on by all processes that share one account of a service."""

    async def claim(self, *, accepted: int = 0) -> Start:
        """Start a call, or learn when one may.

        ``accepted`` calls of this process were answered since it last told.

        Raises:
            UnavailableError: the processes cannot agree; nothing was counted.
        """

    async def refused(self, wait: float, *, accepted: int = 0) -> None:
        """The service asked for a pause: nobody starts a call for ``wait`` seconds.

        Raises:
            UnavailableError: the processes cannot agree.
        """
