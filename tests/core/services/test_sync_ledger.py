"""What is remembered of runs that go wrong, and whose pages a run may remove."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import pairwise

import pytest

from adapters.stores.ledger_memory import MemoryLedger
from core.domain.ids import PageId
from core.errors import RefusedError
from core.ports.ledger import Fate
from core.services.chunking import ChunkSettings
from core.services.syncing import Syncer
from tests.core.services.sync_rig import SyncRig, sync_rig
from tests.fakes.notion import Workspace, blocks, faults, routes


@asynccontextmanager
async def kept_rig() -> AsyncIterator[tuple[SyncRig, MemoryLedger]]:
    """A rig whose runs are kept."""
    async with sync_rig() as rig:
        ledger = MemoryLedger(rig.store)
        rig.ledger = ledger
        rig.restart()
        yield rig, ledger


def syncer_of(rig: SyncRig, other: SyncRig, name: str) -> Syncer:
    """A syncer that brings another workspace into the index of the first."""
    return Syncer(
        source=other.notion.source,
        writer=rig.store,
        embedder=rig.embedder,
        clock=rig.workspace.clock,
        chunk_settings=ChunkSettings(),
        source_name=name,
    )


async def test_a_new_process_asks_for_changes_of_the_source_that_it_names() -> None:
    """A run is kept under the name of its source, and found under it by the next process."""
    async with sync_rig() as rig:
        ledger = MemoryLedger(rig.store)
        rig.workspace.add_page("One", blocks=[blocks.paragraph("Text.")])
        for number in range(2):
            syncer = Syncer(
                source=rig.notion.source,
                writer=rig.store,
                embedder=rig.embedder,
                clock=rig.workspace.clock,
                ledger=ledger,
                source_name="notion:abc",
            )
            report = await syncer.run()
            assert report.complete is (number == 0)
            rig.later()
        assert {run.source for run in ledger.runs} == {"notion:abc"}


async def test_a_run_that_is_refused_is_kept_with_its_reason_and_heals_nothing() -> None:
    """What failed before is still in the ledger, and the next process lists everything."""
    async with kept_rig() as (rig, ledger):
        page = rig.workspace.add_page("Broken", blocks=[blocks.paragraph("Text.")])
        rig.notion.server.faults.add(faults.internal_error(), route=routes.CHILDREN, times=6)
        report = await rig.sync()
        assert [one.page_id for one in report.failed] == [page]
        rig.later()
        rig.restart()
        rig.notion.server.faults.add(faults.unauthorized(), route=routes.CHILDREN, every=1)

        with pytest.raises(RefusedError):
            await rig.sync()

        last = ledger.runs[-1]
        assert (last.reached_end, last.complete) == (False, False)
        assert "Notion refused the token" in str(last.figures["alarm"])
        assert await ledger.in_trouble() == [page]
        assert (await ledger.totals())[Fate.FAILED] == 1


async def test_sy20_a_run_whose_embedder_refuses_is_kept_with_its_reason() -> None:
    """The pages were listed and stored, and wait; why they do stands beside the figures."""
    async with kept_rig() as (rig, ledger):
        rig.workspace.add_page("Page", blocks=[blocks.paragraph("Text.")])
        rig.embedder.error = RefusedError("the embedding model answered 401: check EMBEDDING_API_KEY")
        with pytest.raises(RefusedError):
            await rig.sync()
        assert "EMBEDDING_API_KEY" in str(ledger.runs[-1].figures["embedding_error"])
        assert ledger.runs[-1].reached_end
        assert await ledger.totals() == {Fate.PENDING: 1}


async def test_a_look_on_a_hint_is_noted_in_the_ledger() -> None:
    """A failure as well as the recovery."""
    async with kept_rig() as (rig, ledger):
        page = PageId(rig.workspace.add_page("Desk", blocks=[blocks.paragraph("Oak.")]))
        await rig.settled()
        rig.workspace.append_blocks(page, [blocks.paragraph("Pine.")])
        fault = rig.notion.server.faults.add(faults.internal_error(), route=routes.CHILDREN, every=1)
        await rig.syncer.refresh(frozenset({page}))
        entry = await ledger.entry(page)
        assert entry is not None
        assert (entry.fate, entry.next_try) == (
            Fate.FAILED,
            rig.workspace.clock.now() + timedelta(minutes=1),
        )
        rig.notion.server.faults.remove(fault)
        await rig.syncer.refresh(frozenset({page}))
        entry = await ledger.entry(page)
        assert entry is not None
        assert (entry.fate, entry.next_try) == (Fate.INDEXED, None)


async def test_a_failing_page_is_tried_less_and_less_often() -> None:
    """Polls in between leave it alone; a listing of everything does not."""
    async with kept_rig() as (rig, ledger):
        page = rig.workspace.add_page("Desk", blocks=[blocks.paragraph("Oak.")])
        await rig.settled()
        rig.workspace.append_blocks(page, [blocks.paragraph("Pine.")])
        rig.notion.server.faults.add(faults.internal_error(), route=routes.CHILDREN, every=1)
        tried = []
        for minute in range(40):
            report = await rig.sync()
            if report.read:
                tried.append(minute)
            rig.later(1)
        # While the edit is recent, listings of changes show the page; then the pauses alone decide.
        assert [later - earlier for earlier, later in pairwise(tried)] == [1, 1, 1, 8, 16]
        assert await ledger.in_trouble() == [page]


async def test_u3_a_source_never_removes_pages_of_another() -> None:
    """An export beside the API, in both directions; each still removes its own."""
    async with sync_rig() as rig, sync_rig(Workspace(clock=rig.workspace.clock)) as other:
        kept = rig.workspace.add_page("From the API", blocks=[blocks.paragraph("Oak.")])
        theirs = other.workspace.add_page(
            "From the export", uid="ab" * 16, blocks=[blocks.paragraph("Pine.")]
        )
        api, export = syncer_of(rig, rig, "notion:abc"), syncer_of(rig, other, "export")
        for _ in range(2):
            rig.later()
            assert (await api.run(full=True)).removed == 0
            assert (await export.run(full=True)).removed == 0
        assert rig.pages() == {kept, theirs}

        other.workspace.trash(theirs)
        rig.later()
        assert (await api.run(full=True)).removed == 0
        assert (await export.run(full=True)).removed == 1
        assert rig.pages() == {kept}


async def test_not6_a_confirmation_removes_what_was_withheld_without_reading_everything() -> None:
    """One listing and one look at each page."""
    async with sync_rig() as rig:
        pages = [
            rig.workspace.add_page(f"Page {number}", blocks=[blocks.paragraph(f"Text {number}.")])
            for number in range(50)
        ]
        await rig.settled()
        for page in pages[:40]:
            rig.workspace.trash(page)
        report = await rig.reconcile()
        assert (report.removed, report.withheld) == (0, 40)
        assert "footnote sync --confirm-removal" in report.alarm
        rig.later()

        report = await rig.sync(confirm_removal=True)

        assert (report.removed, report.withheld, report.read) == (40, 0, 0)
        assert len(rig.pages()) == 10
