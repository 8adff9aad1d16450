"""Rate limits: budgets per fixed window, and whether a caller kept away when told to.

The real numbers depend on the plan and are not published in full; nothing here is a default.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from tests.fakes.notion.errors import ApiError


@dataclass(slots=True)
class Budget:
    """So many requests per window, of one connection or of the whole workspace.

    The window opens with the first request and the budget may be spent at once.
    """

    requests: int
    window: float = 60.0
    reason: str = "connection"
    opened: float | None = None
    used: int = 0
    refused: int = 0

    def take(self, now: float) -> float | None:
        """Spend one request; the seconds to wait if there is none left."""
        if self.opened is None or now >= self.opened + self.window:
            self.opened, self.used = now, 0
        if self.used < self.requests:
            self.used += 1
            return None
        self.refused += 1
        return self.opened + self.window - now


def rate_limit_error(wait: float, reason: str) -> ApiError:
    """429 with a whole number of seconds, rounded up."""
    return ApiError(
        429,
        "rate_limited",
        "You have been rate limited. Please try again in a few minutes.",
        headers={"Retry-After": str(max(1, math.ceil(wait)))},
        additional={"rate_limit_reason": reason},
    )


class Limits:
    """Budgets by name, and the pauses that refusals asked for.

    ``grace``: requests under way when a refusal was sent are no offence; so many seconds later
    they are.
    """

    def __init__(self, time: Callable[[], float], grace: float = 0.1) -> None:
        self._time = time
        self.grace = grace
        self.budgets: list[Budget] = []
        self._told_at: float | None = None
        self._until = 0.0

    def set(self, requests: int, *, window: float = 60.0, reason: str = "connection") -> Budget:
        """Limit the requests per window from now on; several budgets count side by side."""
        budget = Budget(requests, window, reason)
        self.budgets.append(budget)
        return budget

    def spend(self) -> None:
        """Count a request. ApiError 429 if a budget is used up."""
        now = self._time()
        for budget in self.budgets:
            wait = budget.take(now)
            if wait is not None:
                raise rate_limit_error(wait, budget.reason)

    def told_to_wait(self, retry_after: str | None) -> None:
        """Remember that a 429 or 529 asked for a pause."""
        try:
            seconds = float(retry_after or "")
        except ValueError:
            return
        now = self._time()
        if now + seconds > self._until:
            self._told_at, self._until = now, now + seconds

    def too_early(self) -> bool:
        """Whether a request that comes now ignores a pause asked for."""
        now = self._time()
        return self._told_at is not None and self._told_at + self.grace < now < self._until
