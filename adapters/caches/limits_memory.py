"""Limits within one process: the contract in dictionaries, and the share of a process without Redis."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence

from core.ports.sharing import Admission, Budget, Window

_SLOTS = 24


class MemoryLimits:
    """Counts in this process; with several ``processes`` it grants its share of each limit, rounded down."""

    def __init__(self, *, processes: int = 1, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._processes = max(1, processes)
        self._monotonic = monotonic
        self._admissions: dict[str, deque[float]] = {}
        self._ledgers: dict[str, dict[int, int]] = {}

    async def admit(self, windows: Sequence[Window], *, budgets: Sequence[Budget] = ()) -> Admission:
        """Count a question against all windows at once, or against none if one is full or a budget spent."""
        now = self._monotonic()
        waits: Iterable[float] = (
            *(self._wait_for_window(window, now) for window in windows),
            *(self._wait_for_budget(budget, now) for budget in budgets),
        )
        wait = max(waits, default=0.0)
        if wait > 0:
            return Admission(admitted=False, wait=wait)
        for window in windows:
            self._admissions.setdefault(window.key, deque()).append(now)
        return Admission(admitted=True)

    async def spend(self, budgets: Sequence[Budget], *, tokens: int) -> None:
        """Note what an answer has cost."""
        now = self._monotonic()
        for budget in budgets:
            slot = int(now // (budget.seconds / _SLOTS))
            ledger = self._ledgers.setdefault(budget.key, {})
            ledger[slot] = ledger.get(slot, 0) + tokens

    def count(self, window: Window) -> int:
        """How many were admitted here within the window that ends now."""
        return len(self._current(window, self._monotonic()))

    def _current(self, window: Window, now: float) -> deque[float]:
        log = self._admissions.get(window.key)
        if log is None:
            return deque()
        while log and log[0] <= now - window.seconds:
            log.popleft()
        if not log:
            del self._admissions[window.key]
        return log

    def _wait_for_window(self, window: Window, now: float) -> float:
        log = self._current(window, now)
        room = window.limit // self._processes
        if room <= 0:
            return window.seconds
        return 0.0 if len(log) < room else log[len(log) - room] + window.seconds - now

    def _wait_for_budget(self, budget: Budget, now: float) -> float:
        length = budget.seconds / _SLOTS
        # With the slot that has just begun: spending is forgiven too late, never too early.
        oldest = int(now // length) - _SLOTS
        ledger = self._ledgers.get(budget.key, {})
        for slot in [slot for slot in ledger if slot < oldest]:
            del ledger[slot]
        spent, tokens = sum(ledger.values()), budget.tokens // self._processes
        if spent < tokens:
            return 0.0
        for slot in sorted(ledger):
            spent -= ledger[slot]
            if spent < tokens:
                return (slot + _SLOTS + 1) * length - now
        return budget.seconds
