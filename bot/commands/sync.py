"""``footnote sync``: bring the index up to date, alone or together with the run that is under way."""

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adapters.sources.notion_export import NotionExport
from bot import removal
from bot.notion import notion_source, notion_token, open_notion
from bot.operations import Operations, open_operations
from bot.servers import mark_workspace
from bot.settings import Settings
from bot.syncing import SILENT_SECONDS, RunBar, sync_here
from bot.terminal import note, output, print_json, progress_bar
from bot.wiring import open_app
from bot.wording import counted
from bot.work import FAILURES_KEPT, describe, report_json, report_of
from core.errors import TemporaryError
from core.ports import PageSource
from core.ports.chat import ResyncKind
from core.ports.jobs import EXPORT, RunView
from core.ports.ledger import Fate
from core.services.administration import progress_of

POLL_SECONDS = 0.2

DATABASE_AWAY_SECONDS = 60.0
"""How long the database may be away while a run is watched; a restart takes less."""


async def run_sync(
    settings: Settings, *, full: bool, export: Path | None, as_json: bool, confirm_removal: bool = False
) -> int:
    """0 if everything is indexed, 1 if pages failed, now or before, or an alarm was raised.

    Raises:
        TemporaryError: the run failed as a whole.
    """
    figures: Mapping[str, Any]
    # What cannot be read is told of before any server is started.
    exported = NotionExport(export) if export is not None else None
    if exported is None:
        notion_token(settings)
    async with (
        open_app(settings) as app,
        open_operations(app, poll_seconds=POLL_SECONDS) as operations,
    ):
        if exported is not None:
            figures = report_json(await sync_here(operations, exported, name=EXPORT))
            mark_workspace(settings.footnote_home)
        else:
            if confirm_removal:
                await removal.confirm_removal(app)
            async with open_notion(settings, app.redis) as api:
                source = notion_source(api, settings)
                figures = await _sync_with_all(operations, source, full=full)
                if confirm_removal and figures.get("withheld"):
                    # The run that was joined began before the confirmation.
                    figures = await _sync_with_all(operations, source, full=False)
        resting = (await operations.ledger.totals()).get(Fate.FAILED, 0)
    report = report_of(figures)
    if as_json:
        print_json(figures)
    else:
        output.print(describe(report, failures=FAILURES_KEPT), markup=False, soft_wrap=True)
    if resting and not report.failed:
        note(
            f"{counted(resting, 'page')} failed before and will be tried again: footnote status says why, "
            "footnote sync --full tries now."
        )
    return 0 if report.is_clean and not resting else 1


async def _sync_with_all(operations: Operations, source: PageSource, *, full: bool) -> Mapping[str, Any]:
    """Ask for a run and help with it: whichever worker takes it, this one stands by until it ended."""
    kind = ResyncKind.FULL if full else ResyncKind.CHANGES
    ticket = await operations.administrator.resync(kind, asked_by="console")
    if ticket.joined:
        note(
            f"Run {ticket.run_id} is under way already: joined it, and wait for its end."
            + (" It reads everything now." if ticket.upgraded else "")
        )
    stop = asyncio.Event()
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(operations.worker(source, is_scheduled=False).run(stop))
            try:
                run = await _watched(operations, ticket.run_id)
            except asyncio.CancelledError:
                note(f"Run {ticket.run_id} goes on with the next worker or footnote sync; what it did stays.")
                raise
            finally:
                stop.set()
    except ExceptionGroup as group:
        raise group.exceptions[0] from group
    if run.has_failed:
        raise TemporaryError(f"run {run.id} failed: {run.report['error']}")
    return run.report


async def _watched(operations: Operations, run_id: int) -> RunView:
    is_told = False
    away_since: float | None = None
    with progress_bar() as progress:
        bar = RunBar(progress)
        while True:
            try:
                run = await operations.jobs.runs.view(run_id)
            except TemporaryError as error:
                if away_since is None:
                    away_since = time.monotonic()
                    note(f"Waiting for the database: {error}")
                elif time.monotonic() - away_since > DATABASE_AWAY_SECONDS:
                    raise
                await asyncio.sleep(1.0)
                continue
            away_since = None
            if run is None:
                raise TemporaryError(f"run {run_id} is not known any more; try again")
            if run.ended_at is not None and run.has_failed:
                bar.failed()
                return run
            bar.show(progress_of(run))
            if run.ended_at is not None:
                return run
            is_silent = run.silent_seconds >= SILENT_SECONDS
            if is_silent and not is_told:
                note(f"Nothing was heard of the worker of run {run_id} lately: this process takes it over.")
            is_told = is_silent
            await asyncio.sleep(POLL_SECONDS)
