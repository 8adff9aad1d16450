"""Running a sync from a command: which source, with a progress bar, and what to say afterwards."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.progress import Progress, TaskID

from adapters.sources.notion import NotionSource
from adapters.sources.notion_api import NotionApi
from adapters.sources.notion_export import NotionExport
from bot.clock import SystemClock
from bot.masking import masked_source, must_read_all, note_masking
from bot.settings import Settings
from bot.terminal import progress_bar
from bot.wiring import App
from core.errors import ConfigurationError
from core.ports import PageSource
from core.services.sync_report import Stage, SyncReport
from core.services.syncing import Syncer

STAGE_NAMES = {
    Stage.LISTING: "reading pages",
    Stage.REMOVING: "looking for removed pages",
    Stage.EMBEDDING: "embedding passages",
    Stage.DONE: "done",
}


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


async def sync_with_progress(app: App, source: PageSource, *, full: bool) -> SyncReport:
    """Run one sync under a progress bar.

    Raises:
        RefusedError, TemporaryError: as `Syncer.run`.
    """
    full = full or await must_read_all(app)
    syncer = Syncer(
        source=await masked_source(app, source),
        writer=app.writer,
        embedder=app.embedder,
        chunk_settings=app.chunk_settings,
        clock=SystemClock(),
    )
    with progress_bar() as progress:
        report = await syncer.run(full=full, observer=ProgressBar(progress))
    await note_masking(app, report, full=full)
    return report


@asynccontextmanager
async def open_source(settings: Settings, export: Path | None) -> AsyncIterator[PageSource]:
    """The export, or the Notion API.

    Raises:
        ConfigurationError: neither is given.
        InvalidInputError: the export cannot be used.
    """
    if export is not None:
        yield NotionExport(export)
        return
    if settings.notion_token is None:
        raise ConfigurationError(
            "NOTION_TOKEN is not set: put the token of an internal integration into .env, "
            "or sync an export with: footnote sync --export PATH"
        )
    async with NotionApi(
        settings.notion_token.get_secret_value(),
        base_url=settings.notion_base_url,
        notion_version=settings.notion_version,
    ) as api:
        yield NotionSource(api, roots=settings.root_pages)


def report_json(report: SyncReport) -> dict[str, Any]:
    """The totals of a sync as ``footnote sync --json`` prints them."""
    return {**asdict(report), "clean": report.is_clean}


def describe(report: SyncReport) -> str:
    """The totals as two or three lines for people."""
    lines = [
        f"{report.listed} pages seen, {report.unchanged} unchanged, {report.changed} changed, "
        f"{report.removed} removed.",
        f"{report.pages_embedded} pages indexed as {report.chunks} passages; "
        f"{report.embedded} vectors made, {report.reused} reused; {report.requests} requests.",
    ]
    if report.pending:
        lines.append(f"{report.pending} pages wait for the next sync.")
    lines += [line for line in (report.alarm, report.embedding_error) if line]
    lines += [f"failed: {failure.title} ({failure.url}): {failure.reason}" for failure in report.failed]
    return "\n".join(lines)
