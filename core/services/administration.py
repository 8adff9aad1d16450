"""What administrators may do, whichever platform they use: resync, follow it, status, gaps, why."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from core.domain.audiences import Audience
from core.domain.ids import InvalidIdError, PageId, parse_page_id
from core.errors import InvalidInputError
from core.ports import Clock, PageStates
from core.ports.chat import Gap, IndexStatus, ResyncKind, ResyncTicket, StatusCheck, SyncProgress
from core.ports.jobs import RunView, SyncRuns
from core.ports.ledger import SyncLedger
from core.services.audiences import NamedScope
from core.services.explaining import PageExplanation, explain_page

POLL_SECONDS = 1.0
GAP_DAYS = 30


@dataclass(frozen=True, slots=True)
class Health:
    """The index as it stands: its checks and totals."""

    checks: tuple[StatusCheck, ...]
    pages: int
    chunks: int
    pending: int
    generation: int


class FindGaps(Protocol):
    """Finds what was asked and not answered well: a part of `core.services.gaps.Gaps`."""

    async def __call__(self, *, viewer: Audience, since: datetime, limit: int) -> Sequence[Gap]:
        """The largest gaps since then that this viewer may see."""


class Administrator:
    """Implements `core.ports.chat.Administration`."""

    def __init__(  # noqa: PLR0913 - one port each, given by name at one place
        self,
        *,
        runs: SyncRuns,
        ledger: SyncLedger,
        pages: PageStates,
        health: Callable[[], Awaitable[Health]],
        gaps: FindGaps,
        scopes: Callable[[], Mapping[str, NamedScope]],
        roots: frozenset[PageId],
        source_name: str,
        clock: Clock,
        poll_seconds: float = POLL_SECONDS,
    ) -> None:
        self._runs = runs
        self._ledger = ledger
        self._pages = pages
        self._health = health
        self._gaps = gaps
        self._scopes = scopes
        self._roots = roots
        self._source_name = source_name
        self._clock = clock
        self._poll_seconds = poll_seconds

    async def resync(self, kind: ResyncKind, *, asked_by: str) -> ResyncTicket:
        """As `Administration.resync`.

        Raises:
            UnavailableError: the queue cannot be reached, or a run is open that cannot do this.
        """
        known = sum((await self._ledger.totals()).values())
        return await self._runs.request(kind, asked_by=asked_by, known_pages=known or None)

    async def follow(self, run_id: int) -> AsyncIterator[SyncProgress]:
        """As `Administration.follow`; ends also where nothing is heard of the run any more (SY22)."""
        last: SyncProgress | None = None
        while (run := await self._runs.view(run_id)) is not None:
            progress = progress_of(run)
            if progress != last:
                yield progress
                last = progress
            if progress.finished:
                return
            await asyncio.sleep(self._poll_seconds)

    async def status(self) -> IndexStatus:
        """As `Administration.status`; the ledger's counts add up to every object ever seen."""
        health = await self._health()
        looks = await self._ledger.looks(self._source_name)
        totals = await self._ledger.totals()
        last = max((one for one in (looks.changes, await self._last_run()) if one is not None), default=None)
        return IndexStatus(
            checks=health.checks,
            ledger={fate.value: count for fate, count in sorted(totals.items())},
            pages=health.pages,
            chunks=health.chunks,
            pending=health.pending,
            generation=health.generation,
            last_sync=last,
        )

    async def _last_run(self) -> datetime | None:
        """When the newest run that got to its end was asked for; an export's counts too."""
        runs = await self._runs.recent(limit=20)
        ended = (run for run in runs if run.ended_at and not (run.has_failed or run.was_stopped))
        return next((run.asked_at for run in ended if run.wanted != {ResyncKind.REEMBED}), None)

    async def gaps(self, *, viewer: Audience, limit: int) -> Sequence[Gap]:
        """As `Administration.gaps`, of the last thirty days."""
        since = self._clock.now() - timedelta(days=GAP_DAYS)
        return await self._gaps(viewer=viewer, since=since, limit=limit)

    async def why(self, link: str) -> str:
        """As `Administration.why`."""
        return (await self.explain(link)).as_text()

    async def explain(self, link: str) -> PageExplanation:
        """What `why` says, as a value.

        Raises:
            InvalidInputError: the text holds no page id.
        """
        try:
            page_id = parse_page_id(link)
        except InvalidIdError as error:
            raise InvalidInputError(str(error)) from error
        return await explain_page(
            page_id, ledger=self._ledger, pages=self._pages, scopes=self._scopes(), roots=self._roots
        )


def progress_of(run: RunView) -> SyncProgress:
    """A run as chats show it; one that nobody works on any more is shown as finished, and why."""
    message = run.message
    if run.ended_at is None and not run.is_alive:
        message = "Nothing is heard of this run any more; it goes on as soon as a worker is there."
    return SyncProgress(
        run_id=run.id,
        kind=run.kind,
        done=run.done,
        total=run.total,
        finished=run.ended_at is not None or not run.is_alive,
        failed=run.failed,
        message=message,
    )
