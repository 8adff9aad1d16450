"""Running a sync from a command: in this process, as a run of the deployment, with its progress in sight."""

from rich.progress import Progress, TaskID

from adapters.jobs.here import run_here
from bot.operations import Operations, open_operations
from bot.terminal import Milestones, note, progress_bar
from bot.wiring import App
from bot.work import EMBEDDING_SO_FAR, STAGE_NAMES, describe, report_json, report_of
from core.ports import PageSource
from core.ports.chat import ResyncKind, SyncProgress
from core.ports.jobs import RunView
from core.services.sync_report import Stage, SyncReport

__all__ = ["RunBar", "WaitingNote", "describe", "report_json", "sync_here", "sync_with_progress"]


SILENT_SECONDS = 5.0
"""A worker says twice a second that it is there."""

SAMPLE = "sample"
"""Names the source of the demo: its runs remove nothing that another source gave."""


class RunBar:
    """Draws a run, whichever process does it: as a bar in a terminal, as a few lines elsewhere."""

    def __init__(self, progress: Progress, begins: str = "waiting for a worker") -> None:
        self._progress = progress
        self._milestones = Milestones()
        self._task: TaskID = progress.add_task(begins, total=None)

    def show(self, seen: SyncProgress) -> None:
        """The figures so far, of a run that is watched."""
        message = "done" if seen.finished else next(iter(seen.message.splitlines()), "begins")
        if (stage := EMBEDDING_SO_FAR.match(message)) is not None:
            self._draw(stage["stage"], int(stage["done"]), int(stage["total"]))
        else:
            self._draw(message, seen.done, seen.total)

    def progress(self, stage: Stage, report: SyncReport) -> None:
        """The figures so far, of a run in this process: each stage begins anew; a `SyncObserver`."""
        if stage is Stage.LISTING:
            done, total = report.unchanged + report.read, report.listed
        else:
            done, total = report.pages_embedded, report.pages_embedded + report.pending
        self._draw(STAGE_NAMES[stage], done, max(total, done) or None)

    def failed(self) -> None:
        """The run broke off; why is told elsewhere."""
        self._progress.update(self._task, description="failed")

    def _draw(self, stage: str, done: int, total: int | None) -> None:
        self._progress.update(self._task, description=stage, completed=done, total=total)
        self._milestones.tell(stage.partition(" (")[0], done, total)


class WaitingNote:
    """Tells of each run that has to end first: once, and once more when nothing is heard of it."""

    def __init__(self) -> None:
        self._told: set[tuple[int, bool]] = set()

    def __call__(self, run: RunView) -> None:
        is_silent = run.silent_seconds >= SILENT_SECONDS
        if (run.id, is_silent) in self._told:
            return
        self._told.add((run.id, is_silent))
        if is_silent:
            note(
                f"Nothing was heard of the worker of run {run.id} for {run.silent_seconds:.0f} s: waiting "
                "until another one takes it over, or until it counts as cut off (a minute)."
            )
        else:
            note(f"Waiting for the end of run {run.id} ({run.kind}, asked for by {run.asked_by}) ...")


async def sync_here(operations: Operations, source: PageSource, *, name: str) -> SyncReport:
    """Read all of a source that only this process has, under the lock of the deployment.

    Raises:
        FootnoteError: as the source, the embedder and the store raise.
    """
    with progress_bar() as progress:
        bar = RunBar(progress, "reading pages")
        try:
            end = await run_here(
                operations.jobs.runs,
                source=name,
                kind=ResyncKind.FULL,
                work=operations.work(source, name=name, observer=bar),
                on_wait=WaitingNote(),
            )
        except BaseException:
            bar.failed()
            raise
    return report_of(end.report)


async def sync_with_progress(app: App, source: PageSource) -> SyncReport:
    """Bring the sample workspace up to date under a progress bar.

    Raises:
        FootnoteError: as `sync_here`.
    """
    async with open_operations(app) as operations:
        return await sync_here(operations, source, name=SAMPLE)
