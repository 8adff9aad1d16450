"""``footnote reembed``: all vectors anew, the old ones answering until the new are complete."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict

from adapters.jobs.here import run_here
from adapters.stores.vector_index import drop_vector_index, ensure_vector_index
from bot.operations import open_operations
from bot.servers import only_sample_exists
from bot.settings import Settings
from bot.syncing import RunBar, WaitingNote
from bot.terminal import note, output, print_json, progress_bar
from bot.wiring import App, open_app
from bot.work import FAILURES_KEPT, describe, report_of, step_end
from core.domain.ids import PageId
from core.ports.chat import ResyncKind
from core.ports.jobs import REEMBED, Note, RunProgress, RunView, Step, StepEnd
from core.services.indexing import Indexer
from core.services.sync_report import Stage, SyncReport, Tally

_LOOKED_BACK = 100
"""Runs among which the last re-embedding is looked for."""


async def run_reembed(settings: Settings, *, as_json: bool) -> int:
    """Fill the configured model's vectors beside the old, switch when complete, drop the old.

    For the model in use already, every page is embedded again in place. Broken off, it goes on where it was.
    No sync runs meanwhile: this waits for one that is under way.
    """
    async with _opened(settings) as app, open_operations(app) as operations:
        runs = operations.jobs.runs
        seen = await runs.recent(limit=_LOOKED_BACK)
        goes_on = _was_broken_off(next((run for run in seen if run.source == REEMBED), None))
        with progress_bar() as progress:
            work = _Reembedding(app, RunBar(progress, "begins"), goes_on=goes_on)
            end = await run_here(
                runs,
                source=REEMBED,
                kind=ResyncKind.REEMBED,
                work=work,
                on_wait=WaitingNote(),
            )
    report = report_of(end.report)
    if as_json:
        print_json(end.report)
    else:
        output.print(describe(report, failures=FAILURES_KEPT), markup=False, soft_wrap=True)
    if not report.is_clean:
        note("The vectors are not complete: those from before go on answering. Run footnote reembed again.")
    return 0 if report.is_clean else 1


async def run_cost(settings: Settings, *, as_json: bool) -> int:
    """What `footnote reembed` would ask of the chat model, without asking it or changing anything."""
    async with _opened(settings) as app:
        cost = await _indexer(app).cost()
    if as_json:
        print_json(asdict(cost))
    elif app.enricher is None:
        output.print("No chat model is asked: NOTION_SUMMARIES and NOTION_CONTEXTS are off.")
    else:
        output.print(f"footnote reembed would ask {settings.llm_model}: {cost}", markup=False)
    return 0


@asynccontextmanager
async def _opened(settings: Settings) -> AsyncIterator[App]:
    """The index that `footnote ask` would ask: the sample workspace's where there is no other."""
    sample = only_sample_exists(settings)
    if sample:
        note("Re-embedding the sample workspace: no NOTION_TOKEN is set and no export was synced.")
    async with open_app(settings, sample=sample, beside=True) as app:
        yield app


def _was_broken_off(run: RunView | None) -> bool:
    return run is not None and (run.ended_at is None or run.has_failed or run.was_stopped)


class _Reembedding:
    """`core.ports.jobs.Work` that needs no source. ``goes_on``: the last one was broken off."""

    def __init__(self, app: App, bar: RunBar, *, goes_on: bool) -> None:
        self._app = app
        self._bar = bar
        self._goes_on = goes_on

    async def sync(self, step: Step, note: Note) -> StepEnd:
        """As `Work.sync`, whatever kind of step it is."""
        app = self._app
        active = (await app.store.counts()).active
        if active == app.fingerprint and not (self._goes_on or step.is_resumed):
            await app.store.mark_all_pending()
        tally = Tally(_Both(self._bar, note))
        tally.enter(Stage.EMBEDDING)
        indexer = _indexer(app)
        await indexer.run(tally)
        if tally.report.is_clean:
            await self._switch()
        tally.enter(Stage.DONE)
        return step_end(tally.report)

    async def _switch(self) -> None:
        app = self._app
        url = app.servers.database_url
        await ensure_vector_index(url, app.embedder.profile, app.fingerprint)
        await app.calibrator.run()
        await app.store.activate()
        # Not the last one alone: a process may have died before it had dropped an earlier one.
        for other in await app.store.others():
            await app.store.drop(other)
            await drop_vector_index(url, other)

    async def look_at(self, pages: frozenset[PageId]) -> frozenset[PageId]:
        """Without a source no page can be looked at."""
        return pages

    async def is_due(self) -> bool:
        """Never by itself."""
        return False

    async def known_pages(self) -> int:
        """How many pages are stored."""
        return (await self._app.store.counts()).pages


def _indexer(app: App) -> Indexer:
    return Indexer(
        writer=app.writer,
        embedder=app.embedder,
        chunk_settings=app.chunk_settings,
        enricher=app.enricher,
    )


class _Both:
    """Shows the figures here, and to whoever watches the run from elsewhere."""

    def __init__(self, bar: RunBar, note: Note) -> None:
        self._bar = bar
        self._note = note

    def progress(self, stage: Stage, report: SyncReport) -> None:
        """As `SyncObserver.progress`."""
        self._bar.progress(stage, report)
        done = report.pages_embedded
        self._note(
            RunProgress(
                done=done,
                total=done + report.pending or None,
                failed=len(report.failed),
                message=f"embedding passages of {done} of {done + report.pending} pages",
            )
        )
