"""What chats show of use and syncs in pages of their own: the log of questions, and the runs beside it."""

from collections.abc import Sequence
from dataclasses import replace

from core.domain.audiences import Audience
from core.ports.chat import Insights, Usage
from core.ports.jobs import RunView, SyncRuns

RUNS_SHOWN = 5


class ChatInsights:
    """`core.ports.chat.Insights` with the last syncs."""

    def __init__(self, log: Insights, runs: SyncRuns) -> None:
        self._log = log
        self._runs = runs

    async def recent_questions(self, *, person: str, limit: int) -> Sequence[str]:
        """As the port says."""
        return await self._log.recent_questions(person=person, limit=limit)

    async def usage(self, *, days: int, viewer: Audience) -> Usage:
        """As the port says."""
        usage = await self._log.usage(days=days, viewer=viewer)
        runs = await self._runs.recent(limit=RUNS_SHOWN)
        return replace(usage, last_syncs=tuple(sync_line(run) for run in runs))


def sync_line(run: RunView) -> str:
    """``2026-03-01 09:30 (changes, done): 12 of 12 pages, 1 failed``."""
    count = f"{run.done}" if run.total is None else f"{run.done} of {run.total}"
    failed = f", {run.failed} failed" if run.failed else ""
    return f"{run.asked_at:%Y-%m-%d %H:%M} ({run.kind}, {run_state(run)}): {count} pages{failed}"


def run_state(run: RunView) -> str:
    """One word for people."""
    if run.ended_at is not None:
        return "failed" if run.has_failed else "stopped" if run.was_stopped else "done"
    return "running" if run.is_alive else "interrupted"
