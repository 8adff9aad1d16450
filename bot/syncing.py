"""Running a sync from a command: which source, and its progress as a bar."""

from rich.progress import Progress, TaskID

from bot.clock import SystemClock
from bot.masking import masked_source, must_read_all, note_masking
from bot.terminal import progress_bar
from bot.wiring import App
from bot.work import STAGE_NAMES, describe, report_json
from core.ports import PageSource
from core.ports.chat import SyncProgress
from core.services.sync_report import Stage, SyncReport
from core.services.syncing import Syncer

__all__ = ["ProgressBar", "RunBar", "describe", "report_json", "sync_with_progress"]


SAMPLE = "sample"
"""Names the source of the demo: its runs remove nothing that another source gave."""


class ProgressBar:
    """A `SyncObserver` that draws."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task: TaskID = progress.add_task("listing pages", total=None)

    def progress(self, stage: Stage, report: SyncReport) -> None:
        """The figures so far."""
        done, total = (
            (report.read, report.to_read)
            if stage is Stage.LISTING
            else (report.pages_embedded, report.pages_embedded + report.pending)
        )
        self._progress.update(
            self._task, description=STAGE_NAMES[stage], completed=done, total=max(total, done) or None
        )


class RunBar:
    """Draws a run that may be under way in another process."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task: TaskID = progress.add_task("waiting for a worker", total=None)

    def show(self, seen: SyncProgress) -> None:
        """The figures so far."""
        stage = "done" if seen.finished else seen.message.splitlines()[0] if seen.message else "begins"
        self._progress.update(self._task, description=stage, completed=seen.done, total=seen.total)


async def sync_with_progress(app: App, source: PageSource, *, full: bool) -> SyncReport:
    """Run one sync under a progress bar, in this process and without the lock of the deployment.

    Raises:
        RefusedError, TemporaryError: as `Syncer.run`.
    """
    full = await must_read_all(app) or full
    syncer = Syncer(
        source=await masked_source(app, source),
        writer=app.writer,
        embedder=app.embedder,
        chunk_settings=app.chunk_settings,
        clock=SystemClock(),
        calibrator=app.calibrator,
        enricher=app.enricher,
        source_name=SAMPLE,
    )
    with progress_bar() as progress:
        report = await syncer.run(full=full, observer=ProgressBar(progress))
    await note_masking(app, report, full=full)
    return report
