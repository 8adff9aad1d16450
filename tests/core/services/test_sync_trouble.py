"""Whatever Notion answers for one object while everything is listed is that object's state, not the run's."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from adapters.sources.notion import NotionSource
from adapters.stores.ledger_memory import MemoryLedger
from core.domain.ids import PageId
from core.errors import PermanentError, UnavailableError
from core.ports import IndexedChunk, StoredPage
from core.ports.ledger import Fate
from tests.adapters.sources.notion_rig import notion_rig
from tests.core.services.sync_rig import SyncRig, YieldingStore, sync_rig
from tests.fakes.notion import Workspace, blocks, faults, properties, routes
from tests.fakes.notion.faults import Action

FOR_GOOD = [faults.restricted(), faults.not_found(), faults.error(400, "validation_error")]
FOR_NOW = [faults.internal_error(), faults.not_json()]


@dataclass(frozen=True)
class Spot:
    """An endpoint that is asked about one object while a workspace is listed, and a part of its address."""

    route: str
    object: str


def furnish(workspace: Workspace) -> dict[str, Spot]:
    """A workspace whose listing asks about single objects: parents, blocks, data sources, long properties."""
    private = workspace.add_page("Private", shared=False)
    workspace.add_page("Open", parent=private, shared=True, blocks=[blocks.paragraph("open text")])
    box = blocks.toggle("box", [blocks.child_page("Boxed")])
    outer = workspace.add_page("Outer", blocks=[box, blocks.paragraph("outer text")])
    base = workspace.add_database("Base")
    first = workspace.databases[base].sources[0]
    second = workspace.add_data_source(base, "Second")
    targets = [workspace.add_page(f"Target {number}") for number in range(30)]
    links = {"Links": properties.relation(*targets)}
    workspace.add_row(first, "Row", properties=links, blocks=[blocks.paragraph("row text")])
    workspace.add_row(second, "Other", blocks=[blocks.paragraph("other text")])
    return {
        "parent": Spot(routes.PAGE, private),
        "block": Spot(routes.BLOCK, workspace.find_block(outer, "box")),
        "database": Spot(routes.DATABASE, base),
        "rows": Spot(routes.QUERY, first),
        "property": Spot(routes.PROPERTY, ""),
    }


SPOTS = ["parent", "block", "database", "rows", "property"]
TEXTS = ["open", "outer", "row", "other"]


def strike(rig: SyncRig, action: Action, spot: Spot) -> None:
    """Answer so wherever this one object is asked for."""
    rig.notion.server.faults.add(action, route=spot.route, where=lambda request: spot.object in request.path)


@pytest.mark.parametrize("action", FOR_GOOD, ids=lambda one: str(one.status))
@pytest.mark.parametrize("where", SPOTS)
async def test_not6_what_is_refused_for_one_object_costs_the_run_nothing_else(
    where: str, action: Action
) -> None:
    """A 403, 404 or 400 for a parent, a block, a database, its rows or a property ends no listing."""
    async with sync_rig() as rig:
        spot = furnish(rig.workspace)[where]
        strike(rig, action, spot)

        report = await rig.sync()

        assert report.is_clean, report
        assert report.complete
        assert [word for word in TEXTS if not await rig.found(word)] == []


@pytest.mark.parametrize("action", FOR_NOW, ids=["500", "no JSON"])
@pytest.mark.parametrize("where", SPOTS)
async def test_sy6_sy21_what_fails_for_one_object_fails_alone_and_heals(where: str, action: Action) -> None:
    """The rest is listed and indexed, nothing is removed, the object is named, and the next run has it."""
    async with sync_rig() as rig:
        gone = rig.workspace.add_page("Gone", blocks=[blocks.paragraph("gone text")])
        spot = furnish(rig.workspace)[where]
        await rig.settled()
        rig.workspace.trash(gone)
        fresh = rig.workspace.add_page("Fresh", blocks=[blocks.paragraph("fresh text")])
        rig.notion.source = NotionSource(rig.notion.api)  # which has seen nothing yet
        strike(rig, action, spot)

        report = await rig.reconcile()

        assert report.failed
        assert "broke off" in report.alarm
        assert not report.complete
        assert [word for word in [*TEXTS, "fresh", "gone"] if not await rig.found(word)] == []
        assert rig.chunks(fresh)

        rig.notion.server.faults.clear()
        report = await rig.sync()
        assert report.is_clean, report
        assert report.complete
        assert not await rig.found("gone")


@pytest.mark.parametrize("is_stored", [True, False], ids=["stored", "new"])
async def test_not6_a_page_that_is_there_without_its_blocks_is_a_failure_and_no_silence(
    is_stored: bool,
) -> None:
    """Notion answers 404 for the blocks and 200 for the page: nothing is removed, and it is tried again."""
    async with sync_rig() as rig:
        rig.ledger = MemoryLedger(rig.store)
        rig.restart()
        rig.workspace.add_page("Another", blocks=[blocks.paragraph("another")])
        page = rig.workspace.add_page("Page", blocks=[blocks.paragraph("old")]) if is_stored else ""
        await rig.settled()
        page = page or rig.workspace.add_page("Page", blocks=[blocks.paragraph("old")])
        rig.workspace.append_blocks(page, [blocks.paragraph("more")])
        strike(rig, faults.not_found(), Spot(routes.CHILDREN, page))

        report = await rig.sync()

        assert [one.page_id for one in report.failed] == [page]
        assert report.removed == 0
        entry = await rig.ledger.entry(PageId(page))
        assert entry is not None
        assert entry.fate is Fate.FAILED
        assert bool(await rig.found("old")) is is_stored
        rig.notion.server.faults.clear()
        rig.later()
        assert (await rig.sync()).is_clean
        assert await rig.found("more")


async def test_a_page_that_is_gone_before_it_was_ever_read_is_no_failure() -> None:
    """It was listed, and both its blocks and itself are not there: the second look is proof."""
    async with sync_rig() as rig:
        page = rig.workspace.add_page("Page", blocks=[blocks.paragraph("old")])
        for route in (routes.CHILDREN, routes.PAGE, routes.DATABASE):
            strike(rig, faults.not_found(), Spot(route, page))
        report = await rig.sync()
        assert report.is_clean
        assert rig.pages() == set()


async def test_a_stored_page_that_is_forbidden_now_is_a_failure_and_not_skipped() -> None:
    """It goes on answering, so nobody may be told that nobody can read it; it counts once."""
    async with sync_rig() as rig:
        rig.ledger = MemoryLedger(rig.store)
        rig.restart()
        old = rig.workspace.add_page("Old")
        new = rig.workspace.add_page("New")
        page = rig.workspace.add_page("Page", parent=old, blocks=[blocks.paragraph("text")])
        await rig.settled()
        rig.workspace.move(page, new)
        rig.notion.server.behaviour.search_omits.add(page)
        for route in (routes.PAGE, routes.DATABASE):
            strike(rig, faults.restricted(), Spot(route, page))
        rig.later(minutes=5)

        report = await rig.sync()

        assert [one.page_id for one in report.failed] == [page]
        assert report.skipped == 0
        assert (await rig.ledger.totals()) == {Fate.INDEXED: 2, Fate.FAILED: 1}
        assert await rig.found("text")


async def test_f40_what_notion_says_of_a_refusal_can_be_stored_and_shown() -> None:
    """Its words may repeat anything: NUL, halves of surrogate pairs, or a whole page."""
    async with sync_rig() as rig:
        page = rig.workspace.add_page("Page", blocks=[blocks.paragraph("text")])
        strike(
            rig,
            faults.error(400, "validation_error", "bad \0 \ud800 " + "long " * 999),
            Spot(routes.CHILDREN, page),
        )
        [failure] = (await rig.sync()).failed
        assert "bad  \ufffd long" in failure.reason
        assert len(failure.reason) < 700


async def test_trouble_of_one_parent_is_waited_for_once_however_many_children_it_has() -> None:
    """All children are given with the parent that Notion names; the parent costs one round of tries."""
    async with sync_rig() as rig:
        parent = rig.workspace.add_page("Parent")
        children = [
            rig.workspace.add_page(f"Child {number}", parent=parent, blocks=[blocks.paragraph("child")])
            for number in range(30)
        ]
        rig.notion.server.behaviour.search_omits.add(parent)
        strike(rig, faults.internal_error(), Spot(routes.PAGE, parent))

        report = await rig.sync()

        assert rig.notion.server.counts[routes.PAGE] == 6
        assert report.changed == 30
        assert {rig.store._pages[PageId(child)].stored.page.ref.parent_id for child in children} == {parent}


async def test_sy6_a_search_that_breaks_off_half_way_leaves_what_it_had_shown() -> None:
    """The first hundred are indexed, nothing is removed, and the next run has the rest."""
    async with sync_rig() as rig:
        for number in range(150):
            rig.workspace.add_page(f"Page {number}", blocks=[blocks.paragraph("text")])
        rig.notion.server.faults.add(faults.internal_error(), route=routes.SEARCH, after=1)

        report = await rig.sync()

        assert (report.changed, report.complete) == (100, False)
        assert "broke off" in report.alarm
        rig.notion.server.faults.clear()
        assert (await rig.sync()).is_clean
        assert len(rig.pages()) == 150


async def test_a_search_that_is_refused_for_another_reason_blames_no_capability() -> None:
    """A 400 on search is no missing right: the listing broke off, and may work the next time."""
    async with sync_rig() as rig:
        rig.workspace.add_page("Page", blocks=[blocks.paragraph("text")])
        rig.notion.server.faults.add(faults.error(400, "validation_error"), route=routes.SEARCH)
        report = await rig.sync()
        assert "400" in report.alarm
        assert "capability" not in report.alarm


async def test_not6_a_page_below_something_forbidden_is_never_taken_for_one_outside_the_roots() -> None:
    """Where nobody can tell what a page hangs below, a look proves nothing, and it stays."""
    workspace = Workspace()
    root = workspace.add_page("Root")
    middle = workspace.add_page("Middle", parent=root)
    leaf = workspace.add_page("Leaf", parent=middle, blocks=[blocks.paragraph("leaf text")])
    async with sync_rig(workspace, roots=[root]) as rig:
        await rig.settled()
        rig.notion.server.behaviour.search_omits.add(middle)
        for action in (faults.restricted(), faults.internal_error()):
            rig.notion.server.faults.clear()
            strike(rig, action, Spot(routes.PAGE, middle))
            report = await rig.reconcile()
            assert report.removed == 0
            assert await rig.found("leaf")
        rig.notion.server.faults.clear()
        assert (await rig.reconcile()).is_clean
        assert rig.pages() == {root, middle, leaf}


async def test_not14_what_notion_gives_whole_is_not_asked_for_again() -> None:
    """Thirty tags and thirty files of a row are all shown: only references come in pages of 25."""
    async with notion_rig() as rig:
        tags = [f"tag{number}" for number in range(30)]
        files = [
            {"name": f"file{number}", "type": "external", "external": {"url": f"https://x.example/{number}"}}
            for number in range(30)
        ]
        base = rig.workspace.add_database("Base")
        row = rig.workspace.add_row(
            base,
            "Row",
            properties={"Tags": properties.multi_select(*tags), "Files": properties.files(*files)},
        )
        shown = dict((await rig.ref(row)).properties)
        assert shown["Tags"].split(", ") == tags
        assert len(shown["Files"].split(", ")) == 30
        assert rig.server.counts[routes.PROPERTY] == 0


class PickyStore(YieldingStore):
    """An index that refuses pages of one title, or is away for some of its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.refused = ""
        self.away_for = 0

    async def put_pages(self, pages: Sequence[StoredPage]) -> None:
        """As `PageWriter.put_pages`."""
        self._judge({stored.page.ref.title for stored in pages})
        await super().put_pages(pages)

    async def swap_chunks(self, page_id: PageId, *, revision: int, chunks: Sequence[IndexedChunk]) -> bool:
        """As `PageWriter.swap_chunks`."""
        self._judge({self._pages[page_id].stored.page.ref.title} if "swap" in self.refused else set())
        return await super().swap_chunks(page_id, revision=revision, chunks=chunks)

    def _judge(self, titles: set[str]) -> None:
        if self.away_for:
            self.away_for -= 1
            raise UnavailableError("the index is away")
        if self.refused in titles:
            raise PermanentError("the index refused a statement")


@asynccontextmanager
async def picky_rig() -> AsyncIterator[tuple[SyncRig, PickyStore]]:
    """Forty-five pages, and an index that can be told what to refuse."""
    async with sync_rig() as rig:
        store = PickyStore()
        rig.store, rig.ledger = store, MemoryLedger(store)
        rig.restart()
        for number in range(44):
            rig.workspace.add_page(f"Page {number}", blocks=[blocks.paragraph("text")])
        rig.workspace.add_page("swap poison", blocks=[blocks.paragraph("text")])
        yield rig, store


async def test_f34_an_index_that_is_away_for_one_write_loses_none_of_its_pages() -> None:
    """The run breaks off and says so; what was to be stored together is not taken for settled."""
    async with picky_rig() as (rig, store):
        await rig.sync()
        rig.later()
        for page in list(rig.workspace.pages):
            rig.workspace.append_blocks(page, [blocks.paragraph("more")])
        store.away_for = 1
        with pytest.raises(UnavailableError):
            await rig.sync()
        rig.later()
        assert (await rig.sync()).is_clean
        assert {body for page in rig.pages() for body in rig.bodies(page)} == {"text\nmore"}


async def test_f40_f44_a_page_that_the_index_does_not_take_fails_alone() -> None:
    """Of twenty pages stored together nineteen are, and the one is named; it is tried again."""
    async with picky_rig() as (rig, store):
        store.refused = "Page 7"
        report = await rig.sync()
        assert [one.title for one in report.failed] == ["Page 7"]
        assert "refused a statement" in report.failed[0].reason
        assert len(rig.pages()) == 44
        store.refused = ""
        rig.later()
        assert (await rig.sync()).is_clean
        assert len(rig.pages()) == 45


async def test_f44_passages_that_the_index_does_not_take_keep_nobody_else_waiting() -> None:
    """All pages behind it are embedded; the page itself stays pending and found by words."""
    async with picky_rig() as (rig, store):
        await rig.sync()
        store.refused = "swap poison"
        await store.mark_all_pending()
        report = await rig.syncer.reembed()
        assert [one.title for one in report.failed] == ["swap poison"]
        assert (report.pages_embedded, report.pending) == (44, 1)
