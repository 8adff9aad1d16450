"""What a worker of this process can do: sync Notion, look at pages, tell whether a run is due."""

import json
import re
import time
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, assert_never

from adapters.jobs.runs import PostgresRuns
from bot.clock import SystemClock
from bot.masking import must_read_all, note_masking, prepared
from bot.removal import forget_confirmation, is_removal_confirmed
from bot.settings import Settings
from bot.wiring import App
from bot.wording import counted
from core.domain.ids import PageId
from core.ports import PageSource
from core.ports.chat import ResyncKind
from core.ports.jobs import Note, RunProgress, Step, StepEnd
from core.ports.ledger import SyncLedger
from core.services.sync_report import Failure, Stage, SyncObserver, SyncReport
from core.services.syncing import Syncer, SyncSettings

FAILURES_KEPT = 200
"""In a run's report; the ledger has all of them."""

FAILURES_TOLD = 5
AGAIN_AFTER_FAILURE = timedelta(minutes=5)

STAGE_NAMES = {
    Stage.LISTING: "reading pages",
    Stage.REMOVING: "looking for removed pages",
    Stage.EMBEDDING: "embedding passages",
    Stage.DONE: "done",
}

EMBEDDING_SO_FAR = re.compile(r"(?P<stage>.+) of (?P<done>\d+) of (?P<total>\d+) pages")
"""How a run's message tells of a stage whose figures are not those of the whole run."""

_ALL = 2**31 - 1
"""More pages than there are: what is done is never shown as more than the total."""


class SyncWork:
    """`core.ports.jobs.Work` over one source."""

    def __init__(
        self,
        app: App,
        source: PageSource,
        *,
        name: str,
        ledger: SyncLedger,
        runs: PostgresRuns,
        observer: SyncObserver | None = None,
    ) -> None:
        self._app = app
        self._source = source
        self._name = name
        self._ledger = ledger
        self._runs = runs
        self._observer = observer

    async def sync(self, step: Step, note: Note) -> StepEnd:
        """As `Work.sync`."""
        syncer, observer = self._syncer(), _Observer(step.kind, note, self._observer)
        match step.kind:
            case ResyncKind.CHANGES | ResyncKind.FULL:
                full = step.kind is ResyncKind.FULL or await must_read_all(self._app)
                since = step.begun if step.is_resumed else None
                confirmed = await is_removal_confirmed(self._app)
                report = await syncer.run(
                    full=full,
                    confirm_removal=confirmed,
                    read_since=since,
                    on_begun=observer.note_begin,
                    observer=observer,
                )
                await note_masking(self._app, report, full=full and since is None)
                if confirmed and report.complete:
                    await forget_confirmation(self._app)
            case ResyncKind.REEMBED:
                report = await syncer.reembed(is_resumed=step.is_resumed, observer=observer)
            case _:
                assert_never(step.kind)
        return step_end(report)

    async def look_at(self, pages: frozenset[PageId]) -> frozenset[PageId]:
        """As `Work.look_at`; beside any run, since an edit should not wait until a long one ended."""
        report = await self._syncer().refresh(pages)
        return frozenset(failure.page_id for failure in report.failed) & pages

    async def is_due(self) -> bool:
        """As `Work.is_due`: an interval after the last run began, sooner if that one failed."""
        interval = timedelta(minutes=self._app.settings.notion_sync_interval)
        if not interval or await self._runs.open_run() is not None:
            return False
        runs = await self._runs.recent(limit=20)
        last = next((run for run in runs if run.wanted != {ResyncKind.REEMBED}), None)
        if last is None:
            return True
        pause = min(interval, AGAIN_AFTER_FAILURE) if last.has_failed else interval
        # A clock that was set back must not put the schedule off.
        return not 0 <= last.asked_seconds_ago < pause.total_seconds()

    async def known_pages(self) -> int:
        """As `Work.known_pages`."""
        return sum((await self._ledger.totals()).values())

    def _syncer(self) -> Syncer:
        """A new one for each piece of work, which takes up from what other workers noted."""
        settings = self._app.settings
        return Syncer(
            source=prepared(self._app, self._source),
            writer=self._app.writer,
            embedder=self._app.embedder,
            chunk_settings=self._app.chunk_settings,
            clock=SystemClock(),
            settings=SyncSettings(
                reconcile_every=timedelta(hours=settings.notion_reconcile_hours),
                read_hinted=settings.notion_comments != "off",
            ),
            ledger=self._ledger,
            source_name=self._name,
            calibrator=self._app.calibrator,
            enricher=self._app.enricher,
        )


class _Observer:
    """A step's figures as pages that are settled, of all that are known."""

    def __init__(self, kind: ResyncKind, note: Note, beside: SyncObserver | None) -> None:
        self._kind = kind
        self._note = note
        self._beside = beside
        self._began = time.monotonic()
        self._begun: datetime | None = None

    def note_begin(self, begun: datetime) -> None:
        """When the step began, by the source's time."""
        self._begun = begun

    def progress(self, stage: Stage, report: SyncReport) -> None:
        """As `SyncObserver.progress`."""
        if self._beside is not None:
            self._beside.progress(stage, report)
        to_embed = report.pages_embedded + report.pending
        if self._kind is ResyncKind.REEMBED:
            done, total = report.pages_embedded, to_embed
        else:
            # What a listing of changes does not show is as it was.
            done = report.unchanged + report.read if stage is Stage.LISTING else _ALL
            total = report.listed
        message = STAGE_NAMES[stage]
        if stage is Stage.EMBEDDING and to_embed:
            message = (
                f"{message} of {report.pages_embedded} of {to_embed} pages "
                f"({report.embedded} vectors made, {report.reused} reused)"
            )
        elif report.requests:
            rate = report.requests / max(time.monotonic() - self._began, 1.0)
            message = f"{message} ({report.requests} requests, {rate:.1f} a second)"
        failed = len(report.failed)
        self._note(
            RunProgress(done=done, total=total or None, failed=failed, message=message, begun=self._begun)
        )


def source_name(settings: Settings) -> str:
    """Names workspace and roots, so that another token or other roots are listed anew; tells neither."""
    token = settings.notion_token.get_secret_value() if settings.notion_token is not None else ""
    described = json.dumps([token, settings.notion_base_url, sorted(settings.root_pages)])
    return f"notion:{sha256(described.encode()).hexdigest()[:16]}"


def step_end(report: SyncReport) -> StepEnd:
    """A report as it is kept with its run."""
    return StepEnd(
        report=report_json(report),
        pages=max(report.listed, report.pages_embedded + report.pending),
        failed=len(report.failed),
        message=describe(report),
    )


def report_json(report: SyncReport) -> dict[str, Any]:
    """The totals of a sync as ``footnote sync --json`` prints them."""
    return {
        **asdict(report),
        "failed": [asdict(one) for one in report.failed[:FAILURES_KEPT]],
        "left_out": [asdict(one) for one in report.left_out[:FAILURES_KEPT]],
        "failed_pages": len(report.failed),
        "clean": report.is_clean,
    }


def report_of(figures: Mapping[str, Any]) -> SyncReport:
    """The report whose `report_json` this is; nothing but zeros where a run did not get so far."""
    failed = tuple(Failure(**one) for one in figures.get("failed", ()))
    left_out = tuple(Failure(**one) for one in figures.get("left_out", ()))
    known = {name: figures[name] for name in SyncReport.__dataclass_fields__ if name in figures}
    return SyncReport(**{**known, "failed": failed, "left_out": left_out})


def describe(report: SyncReport, *, failures: int = FAILURES_TOLD) -> str:
    """The totals as a few lines for people, and the first failures with title, link and reason.

    What did not happen is not told: no line holds zeros alone.
    """
    lines = [line for line in (_seen(report), _indexed(report)) if line] or ["There was nothing to do."]
    if report.pending:
        lines.append(f"Waiting for the next sync: {counted(report.pending, 'page')}.")
    lines += [line for line in (report.alarm, report.embedding_error) if line]
    told = report.failed[:failures]
    lines += [f"failed: {_named(failure)}: {failure.reason}" for failure in told]
    if len(report.failed) > len(told):
        lines.append(f"... and {counted(len(report.failed) - len(told), 'more page', 'more pages')} failed.")
    left_out = report.left_out[:failures]
    lines += [f"left out: {_named(one)}: {one.reason}" for one in left_out]
    if len(report.left_out) > len(left_out):
        lines.append(f"... and {len(report.left_out) - len(left_out)} more were left out.")
    return "\n".join(lines)


def _named(one: Failure) -> str:
    """Title and link; the id of what was never seen whole."""
    return f"{one.title or 'Untitled'} ({one.url})" if one.url else one.title or one.page_id


def _seen(report: SyncReport) -> str:
    if not (report.listed or report.removed):
        return ""
    # Read again and found to be the same is unchanged for people, whatever it cost.
    same = max(report.listed - report.changed - report.skipped - len(report.failed), 0)
    parts = [f"{report.changed} new or changed", f"{same} unchanged"]
    parts += [
        f"{count} {what}"
        for count, what in ((report.skipped, "skipped"), (report.removed, "removed"))
        if count
    ]
    requests = f" ({counted(report.requests, 'request')})" if report.requests else ""
    return f"{counted(report.listed, 'page')} seen: {', '.join(parts)}{requests}."


def _indexed(report: SyncReport) -> str:
    if not report.pages_embedded:
        return ""
    return (
        f"{counted(report.pages_embedded, 'page')} indexed as {counted(report.chunks, 'passage')}; "
        f"{counted(report.embedded, 'vector')} made, {report.reused} reused."
    )
