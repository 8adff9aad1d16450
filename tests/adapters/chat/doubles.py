"""What chat adapters ask of the core, played for tests of either platform."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from core.domain.audiences import Audience
from core.errors import InvalidInputError
from core.ports.chat import (
    Gap,
    IndexStatus,
    ResyncKind,
    ResyncTicket,
    StatusCheck,
    SyncProgress,
    Verdict,
)


@dataclass
class RecordedFeedback:
    """Keeps what it is told."""

    judged: list[tuple[str, str, Verdict, str]] = field(default_factory=list)
    suggested: list[tuple[str, str, str]] = field(default_factory=list)
    error: Exception | None = None

    async def judge(self, *, question_id: str, person: str, verdict: Verdict, reason: str = "") -> None:
        """Note it."""
        if self.error is not None:
            raise self.error
        self.judged.append((question_id, person, verdict, reason))

    async def suggest(self, *, question_id: str, person: str, text: str) -> None:
        """Note it."""
        self.suggested.append((question_id, person, text))


class ScriptedAdministration:
    """One run at a time; a second request joins it. ``before_step`` is told of each step."""

    def __init__(self, *, steps: int = 4, step_seconds: float = 0.05) -> None:
        self.requests: list[tuple[ResyncKind, str]] = []
        self.gap_viewers: list[Audience] = []
        self.steps = steps
        self.step_seconds = step_seconds
        self.running = 0
        self.before_step: Callable[[int], None] = lambda _: None
        self.error: Exception | None = None
        self.explanation = "**{link}** was seen today."
        self.example = "Where is @everyone the VPN?"

    async def resync(self, kind: ResyncKind, *, asked_by: str) -> ResyncTicket:
        """Begin or join."""
        if self.error is not None:
            raise self.error
        self.requests.append((kind, asked_by))
        if self.running:
            return ResyncTicket(run_id=self.running, joined=True, upgraded=kind is ResyncKind.FULL)
        self.running = len(self.requests)
        return ResyncTicket(run_id=self.running)

    async def follow(self, run_id: int) -> AsyncIterator[SyncProgress]:
        """A few steps and the end."""
        kind = self.requests[run_id - 1][0]
        for done in range(self.steps):
            self.before_step(done)
            yield SyncProgress(run_id=run_id, kind=kind, done=done, total=self.steps)
            await asyncio.sleep(self.step_seconds)
        self.running = 0
        yield SyncProgress(run_id=run_id, kind=kind, done=self.steps, total=self.steps, finished=True)

    async def status(self) -> IndexStatus:
        """Healthy but for one thing."""
        if self.error is not None:
            raise self.error
        return IndexStatus(
            checks=(
                StatusCheck(name="database", ok=True, detail="PostgreSQL 18"),
                StatusCheck(name="notion", ok=False, detail="token <refused>", remedy="set NOTION_TOKEN"),
            ),
            ledger={"indexed": 30, "pending": 3, "removed": 1},
            pages=34,
            chunks=90,
            pending=3,
            generation=7,
            last_sync=datetime(2026, 3, 1, 9, 30, tzinfo=UTC),
        )

    async def gaps(self, *, viewer: Audience, limit: int) -> Sequence[Gap]:
        """One."""
        self.gap_viewers.append(viewer)
        del limit
        return (Gap(count=4, examples=(self.example,), nearest_pages=(("Network", "u"),)),)

    async def why(self, link: str) -> str:
        """Repeats the link."""
        if "notion" not in link:
            raise InvalidInputError(f"no page id in {link!r}")
        return self.explanation.format(link=link)
