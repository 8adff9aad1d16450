"""The index follows the workspace: list, compare, read what changed, remove what is provably gone, embed."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict, replace
from datetime import datetime

from core.domain.documents import PageRef
from core.domain.ids import PageId
from core.errors import FootnoteError
from core.ports import (
    Clock,
    Embedder,
    IncrementalSource,
    PageSource,
    PageWriter,
)
from core.ports.ledger import Looks, RunRecord, SyncLedger, Trouble
from core.ports.source_time import Mark, SourceTime
from core.services.calibrating import Calibrator
from core.services.chunking import ChunkSettings
from core.services.comparing import HARMLESS, moment_to_ask_from
from core.services.enriching import Enricher
from core.services.indexing import Indexer
from core.services.own_time import OwnTime
from core.services.removing import Removal
from core.services.sync_report import Failure, Stage, SyncObserver, SyncReport, Tally
from core.services.sync_run import SyncRun
from core.services.sync_settings import Plan, SyncSettings

__all__ = ["Failure", "Stage", "SyncObserver", "SyncReport", "SyncSettings", "Syncer"]

_logger = logging.getLogger("footnote.sync")


class Syncer:
    """Brings the index up to date. Runs may be cut off anywhere: the next one takes up what is left (F34).

    Without an embedder pages are stored and found by words, and stay pending until there is one. With a
    ledger a new process asks for changes from where the last one over the same ``source_name`` looked: name
    workspace and roots in it, so that other roots are listed anew.
    Moments are told by the source's time where it tells one, else by ``clock``.
    ``calibrator`` learns from the index when enough of it has changed; ``enricher`` has a chat model write
    about what is embedded.
    """

    def __init__(  # noqa: PLR0913 - collaborators, each named where it is passed
        self,
        *,
        source: PageSource,
        writer: PageWriter,
        embedder: Embedder | None,
        clock: Clock,
        chunk_settings: ChunkSettings | None = None,
        settings: SyncSettings | None = None,
        ledger: SyncLedger | None = None,
        source_name: str = "",
        calibrator: Calibrator | None = None,
        enricher: Enricher | None = None,
    ) -> None:
        self._calibrator = calibrator
        self._enricher = enricher
        self._source = source
        self._writer = writer
        self._embedder = embedder
        self._time: SourceTime = source.time if isinstance(source, IncrementalSource) else OwnTime(clock)
        self._chunk_settings = chunk_settings or ChunkSettings()
        self._settings = settings or SyncSettings()
        self._ledger = ledger
        self._source_name = source_name
        self._looks: Looks | None = None
        self._retry: frozenset[PageId] = frozenset()
        self._running = asyncio.Lock()

    async def run(
        self,
        *,
        full: bool = False,
        confirm_removal: bool = False,
        also: frozenset[PageId] = frozenset(),
        read_since: datetime | None = None,
        on_begun: Callable[[datetime], None] = lambda _: None,
        observer: SyncObserver | None = None,
    ) -> SyncReport:
        """One sync: changes only, or everything if it is time for that; with ``full`` every page is read.

        ``confirm_removal`` lets any number of pages be removed that are provably gone. ``also`` are pages to
        look at whether they are listed or not. ``on_begun`` is told when this run began, by the source's
        time, before anything is read. ``read_since`` is what a full run told that was cut off: what it read
        is not read again (F34). Runs of one `Syncer` follow one another.

        Raises:
            RefusedError: the source or the embedder refused our credentials.
            TemporaryError: the index itself cannot be reached.
        """
        async with self._running:
            return await self._run(full, confirm_removal, also, read_since, on_begun, observer)

    async def _run(
        self,
        full: bool,
        confirm_removal: bool,
        also: frozenset[PageId],
        read_since: datetime | None,
        on_begun: Callable[[datetime], None],
        observer: SyncObserver | None,
    ) -> SyncReport:
        tally = self._tally(observer)
        began, now = self._time.mark(), self._time.now()
        if self._looks is None:
            await self._remember()
        # A clock that was set back makes what was noted before look new: nothing of it is relied on.
        everything = full or confirm_removal or self._is_behind(now) or self._is_listing_due(now)
        due, waiting = await self._in_trouble(now, everything=everything)
        run = self._new_run(tally, read_all=full, changes_only=not everything, read_since=read_since)
        listed = False
        try:
            owed, unread_parts = await run.owing.take()
            listed = await run.read(
                self._telling(on_begun, self._refs(everything, now)),
                look_at=also | owed,
                retry=due | unread_parts,
            )
            tally.set(complete=everything and listed)
            tally.enter(Stage.REMOVING)
            removal = Removal(run, self._source, self._writer, self._settings, confirmed=confirm_removal)
            if everything and listed:
                await removal.remove_absent()
            else:
                await removal.remove_suspects()
        except FootnoteError as error:
            # What was read so far is stored; the ledger must not tell of a better state than that.
            await self._keep_broken(run, began, due, error)
            raise
        unread = tally.failed_pages()
        # A page that rests and was not read may still lack a part, however unchanged it looks.
        healed = (run.settled() | (due - unread)) - (waiting - run.was_read())
        try:
            await self._embed(tally)
        except FootnoteError as error:
            tally.set(embedding_error=str(error))
            raise
        finally:
            await self._keep(run, began, unread, healed, reached_end=listed)
            await self._settle(run)
        return tally.report

    async def refresh(self, pages: frozenset[PageId], *, observer: SyncObserver | None = None) -> SyncReport:
        """Look at these pages alone, as a webhook asks for: read what changed, remove what is gone.

        Raises:
            RefusedError, TemporaryError: as in `run`.
        """
        async with self._running:
            tally = self._tally(observer)
            run = self._new_run(tally, read_all=False, changes_only=True)
            due, waiting = await self._in_trouble(self._time.now(), everything=True)
            forced = pages if self._settings.read_hinted else (due | waiting) & pages
            await run.read(_nothing(), look_at=pages, retry=forced)
            tally.enter(Stage.REMOVING)
            await Removal(run, self._source, self._writer, self._settings, confirmed=False).remove_suspects()
            unread = tally.failed_pages()
            self._retry = (self._retry - run.settled()) | unread
            try:
                await self._embed(tally)
            finally:
                if self._ledger is not None:
                    await self._ledger.note_pages(
                        at=self._time.now(),
                        troubles=_troubles(run),
                        healed=run.settled() | (forced - unread),
                    )
                await self._settle(run)
            return tally.report

    def _new_run(
        self, tally: Tally, *, read_all: bool, changes_only: bool, read_since: datetime | None = None
    ) -> SyncRun:
        return SyncRun(
            self._source,
            self._writer,
            self._time,
            self._settings,
            tally,
            Plan(read_all, changes_only, read_since, self._source_name),
        )

    async def _settle(self, run: SyncRun) -> None:
        """All that was owed was looked at; what failed is in the ledger, or stays owed if there is none."""
        await run.owing.settle(but=() if self._ledger is not None else run.tally.failed_pages())

    async def _remember(self) -> None:
        """Take up where the last process left off."""
        if self._ledger is None:
            self._looks = Looks()
            return
        self._looks = await self._ledger.looks(self._source_name)

    async def _in_trouble(
        self, now: datetime, *, everything: bool
    ) -> tuple[frozenset[PageId], frozenset[PageId]]:
        """Pages that failed before: those to be tried again now, and those that rest a while longer.

        Where everything is listed nothing rests.
        """
        if self._ledger is None:
            return self._retry, frozenset()
        failed = frozenset(await self._ledger.in_trouble())
        due = failed if everything else frozenset(await self._ledger.in_trouble(due_by=now))
        return due, failed - due

    async def _keep_broken(
        self, run: SyncRun, began: Mark, due: frozenset[PageId], error: FootnoteError
    ) -> None:
        """Note a run that was refused or broke off; what cannot be noted must not hide why."""
        unread = run.tally.failed_pages()
        run.tally.set(alarm=run.tally.report.alarm or str(error))
        self._retry = (due | unread) - run.settled()
        try:
            await self._keep(run, began, self._retry, run.settled(), reached_end=False)
        except FootnoteError as second:
            _logger.warning("A run that broke off could not be noted: %s", second)

    async def _keep(
        self,
        run: SyncRun,
        began: Mark,
        unread: frozenset[PageId],
        healed: frozenset[PageId],
        *,
        reached_end: bool,
    ) -> None:
        """Note how far this run came, here and for whoever comes after."""
        report, before = run.tally.report, self._looks or Looks()
        started = self._time.earliest(began)
        if reached_end:
            self._looks = Looks(started, started if report.complete else before.listing)
        self._retry = unread
        if self._ledger is None:
            return
        figures: dict[str, int | str] = {
            name: value
            for name, value in asdict(replace(report, failed=(), left_out=())).items()
            if isinstance(value, int | str)
        }
        record = RunRecord(
            started,
            max(started, self._time.now()),
            reached_end,
            report.complete,
            {**figures, "failed": len(report.failed), "left_out": len(report.left_out)},
            self._source_name,
        )
        await self._ledger.keep_run(record, troubles=_troubles(run), healed=healed)

    async def reembed(self, *, is_resumed: bool = False, observer: SyncObserver | None = None) -> SyncReport:
        """Cut and embed every stored page anew, without a request to the source (row 9, SY16).

        ``is_resumed``: what a run that was cut off has embedded already stays as it is (F34).

        Raises:
            RefusedError, TemporaryError: as in `run`.
        """
        tally = self._tally(observer)
        if not is_resumed:
            await self._writer.mark_all_pending()
        await self._embed(tally)
        return tally.report

    def _tally(self, observer: SyncObserver | None) -> Tally:
        if not isinstance(self._source, IncrementalSource):
            return Tally(observer)
        source, before = self._source, self._source.requests_sent
        return Tally(observer, lambda: source.requests_sent - before)

    def _is_behind(self, now: datetime) -> bool:
        last = self._looks.changes if self._looks is not None else None
        return last is not None and last > now + HARMLESS

    def _is_listing_due(self, now: datetime) -> bool:
        last = self._looks.listing if self._looks is not None else None
        if last is None or not isinstance(self._source, IncrementalSource):
            return True
        return now - last >= self._settings.reconcile_every

    def _refs(self, everything: bool, now: datetime) -> AsyncIterator[PageRef]:
        if everything or not isinstance(self._source, IncrementalSource):
            return self._source.list_pages()
        last = self._looks.changes if self._looks is not None else None
        return self._source.changed_since(moment_to_ask_from(last or now))

    async def _telling(
        self, on_begun: Callable[[datetime], None], refs: AsyncIterator[PageRef]
    ) -> AsyncIterator[PageRef]:
        """The listing; that the run has begun is told once an answer has shown the source's time."""
        is_told = False
        async for ref in refs:
            if not is_told:
                on_begun(self._time.now())
                is_told = True
            yield ref

    async def _embed(self, tally: Tally) -> None:
        tally.enter(Stage.EMBEDDING)
        if self._embedder is not None:
            indexer = Indexer(
                writer=self._writer,
                embedder=self._embedder,
                chunk_settings=self._chunk_settings,
                enricher=self._enricher,
            )
            tally.set(pending=await self._writer.count_pending())
            await indexer.run(tally)
        tally.set(pending=await self._writer.count_pending())
        if self._calibrator is not None:
            await self._calibrator.run()
        tally.enter(Stage.DONE)


def _troubles(run: SyncRun) -> list[Trouble]:
    """One of each object: what cannot be read by anybody may have failed as well, if it is stored."""
    failed = {
        one.page_id: Trouble(one.page_id, one.title, one.url, one.reason) for one in run.tally.report.failed
    }
    return list({**run.skipped, **failed}.values())


async def _nothing() -> AsyncIterator[PageRef]:
    """A listing without entries."""
    entries: tuple[PageRef, ...] = ()
    for ref in entries:
        yield ref
