"""Cases of the inventory that others fell into, each from Notion to the index."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from adapters.sources.notion_api import Patience
from bot.settings import Settings
from core.domain.ids import PageId, parse_page_id
from core.ports.ledger import Fate
from core.services.sync_report import Stage, SyncReport
from tests.core.services.sync_rig import sync_rig
from tests.core.services.test_sync_ledger import kept_rig
from tests.fakes.notion import blocks, faults, generate, properties, routes
from tests.fakes.notion.faults import Action


async def test_sy9_children_databases_and_linked_views_stand_only_under_themselves() -> None:
    """The parent links to them; their text is found once, under the child, with the child's own link."""
    async with sync_rig() as rig:
        pages = rig.workspace
        parent = pages.add_page("Parent", blocks=[blocks.paragraph("parent words")])
        child = pages.add_page("Child", parent=parent, blocks=[blocks.paragraph("child words")])
        base = pages.add_database("Tools", parent=parent, description="Everything we own")
        row = pages.add_row(base, "Drill", properties={"Place": properties.rich_text("shelf seven")})
        elsewhere = pages.add_page("Elsewhere", blocks=[blocks.paragraph("other words")])
        pages.add_linked_view(elsewhere, base, title="Our tools")

        assert (await rig.sync()).is_clean

        assert {hit.page_id for hit in await rig.found("child") if "child words" in hit.body} == {child}
        assert {hit.page_id for hit in await rig.found("shelf")} == {row}
        assert not any("child words" in body or "shelf seven" in body for body in rig.bodies(parent))
        assert not any("shelf seven" in body for body in rig.bodies(elsewhere))
        # A link to the child stands in the parent, so that it is found by the child's title too.
        assert any("[Child](" in body for body in rig.bodies(parent))


@pytest.mark.parametrize(
    ("trouble", "wait"),
    [
        (faults.rate_limited(retry_after=2), 2.0),
        (faults.overloaded(retry_after=2), 2.0),
        (faults.bad_gateway(), 0.0),
        (faults.error(520, "unknown"), 0.0),
        (faults.error(522, "timed_out"), 0.0),
        (faults.error(408, "request_timeout"), 0.0),
    ],
    ids=["429", "529", "502", "520", "522", "408"],
)
async def test_sy14_u25_trouble_that_passes_is_waited_for_and_retried(trouble: Action, wait: float) -> None:
    """Two refusals in the middle of a sync: nobody calls before the time is over, and every page arrives."""
    async with sync_rig() as rig:
        for number in range(20):
            rig.workspace.add_page(f"Page {number}", blocks=[blocks.paragraph(f"Text {number}.")])
        rule = rig.notion.server.faults.add(trouble, route=routes.CHILDREN, after=5, times=2)
        start = rig.notion.time()

        report = await rig.sync()

        assert report.is_clean
        assert report.pages_embedded == 20
        assert rule.fired == 2
        assert rig.notion.time() - start >= wait
        assert rig.notion.server.early == []


@pytest.mark.parametrize(
    "trouble", [faults.overloaded(retry_after=2), faults.bad_gateway(), faults.error(520, "unknown")]
)
async def test_sy14_trouble_that_does_not_pass_is_bounded(trouble: Action) -> None:
    """The page fails with a reason after so many tries, the others are done, the next run heals it."""
    patience = Patience(timeout=20.0, attempts=4, refusals=4)
    async with sync_rig(patience=patience) as rig:
        pages = [
            rig.workspace.add_page(f"Page {number}", blocks=[blocks.paragraph(f"Text {number}.")])
            for number in range(5)
        ]
        rig.notion.server.faults.add(trouble, where=lambda request: pages[2] in request.path)

        report = await rig.sync()

        assert [failure.page_id for failure in report.failed] == [pages[2]]
        assert len([one for one in rig.notion.server.requests if pages[2] in one.path]) == 4
        rig.notion.server.faults.clear()
        assert (await rig.sync()).is_clean


async def test_u25_a_sync_lives_with_refusals_all_the_time() -> None:
    """Every third call is refused; the sync has its own pauses and loses nothing."""
    async with sync_rig() as rig:
        generate(rig.workspace, pages=60)
        rule = rig.notion.server.faults.add(faults.rate_limited(retry_after=1), every=3)

        report = await rig.sync()

        assert report.is_clean
        assert report.pages_embedded == 60
        assert rule.fired > 20
        assert rig.notion.server.early == []


class Coverage:
    """What is said of a run while it goes on."""

    def __init__(self) -> None:
        self.seen: list[tuple[Stage, SyncReport]] = []

    def progress(self, stage: Stage, report: SyncReport) -> None:
        """Keep it."""
        self.seen.append((stage, report))


async def test_sy23_coverage_never_exceeds_the_pages_reaches_them_and_leaves_empty_ones_out() -> None:
    """One predicate decides what counts: a page of one equation does, one without title and text does not."""
    async with kept_rig() as (rig, ledger):
        for number in range(45):
            rig.workspace.add_page(f"Page {number}", blocks=[blocks.paragraph(f"Text {number}.")])
        rig.workspace.add_page("", blocks=[blocks.equation("E = mc^2")])
        for _ in range(5):
            rig.workspace.add_page("", blocks=[])
        coverage = Coverage()

        await rig.syncer.run(observer=coverage)

        embedding = [report for stage, report in coverage.seen if stage is Stage.EMBEDDING]
        assert {report.pages_embedded + report.pending for report in embedding[1:]} == {46}
        done = [report.pages_embedded for report in embedding]
        assert done == sorted(done)
        assert (done[0], done[-1]) == (0, 46)
        assert all(report.unchanged + report.read <= report.listed for _, report in coverage.seen)
        assert await ledger.totals() == {Fate.INDEXED: 46, Fate.EMPTY: 5}
        assert await rig.store.count_pending() == 0


async def test_sy25_more_than_2000_pages_are_all_listed() -> None:
    """No cap of ours: 2,050 pages, 21 pages of search."""
    async with sync_rig() as rig:
        for number in range(2050):
            rig.workspace.add_page(f"Page {number}")

        assert len(await rig.notion.titles()) == 2050
        assert rig.notion.server.counts == {routes.SEARCH: 21}


@pytest.mark.parametrize("said_on", ["every", "first", "last"])
async def test_u26_not5_what_a_capped_search_cuts_off_at_one_end_is_found_from_the_other(
    said_on: str,
) -> None:
    """Notion stops after 150 of 250, on whichever page it says so: the oldest come from the other end."""
    async with sync_rig() as rig:
        rig.notion.server.behaviour.request_status_on = said_on
        for number in range(250):
            rig.workspace.clock.advance(minutes=1)
            rig.workspace.add_page(f"Page {number}", blocks=[blocks.paragraph(f"Text {number}.")])
        rig.notion.server.behaviour.search_cap = 150

        report = await rig.sync()

        assert report.is_clean
        assert report.listed == report.pages_embedded == 250


async def test_u26_sy25_a_cap_that_cannot_be_passed_is_loud_and_removes_nothing() -> None:
    """Neither end reaches the middle: an alarm says what to do; with roots named it does not matter."""
    async with sync_rig() as rig:
        top = rig.workspace.add_page("Top")
        for number in range(250):
            rig.workspace.clock.advance(minutes=1)
            rig.workspace.add_page(f"Page {number}", parent=top)
        assert (await rig.sync()).is_clean
        rig.notion.server.behaviour.search_cap = 100
        rig.later()

        report = await rig.reconcile()

        assert not report.is_clean
        assert "search stopped after 200 results" in report.alarm
        assert "NOTION_ROOT_PAGES" in report.alarm
        assert (report.removed, len(rig.pages())) == (0, 251)
        assert not report.complete

    async with sync_rig(rig.workspace, roots=[top]) as rooted:
        rooted.notion.server.behaviour.search_cap = 100
        report = await rooted.sync()
        assert report.is_clean
        assert len(rooted.pages()) == 251


def forms_of(page: str) -> Sequence[str]:
    """What people paste for one page."""
    plain = page.replace("-", "")
    return (
        page,
        plain,
        plain.upper(),
        page.upper(),
        f"https://www.notion.so/Team-Wiki-{plain}?pvs=4",
        f"https://app.notion.com/p/{plain.upper()}#{'0' * 32}",
    )


async def test_sy26_every_form_of_an_id_is_the_same_page() -> None:
    """As a root, in a link to a page, and when one is asked for: one page, listed once."""
    async with sync_rig() as rig:
        root = rig.workspace.add_page("Root", blocks=[blocks.paragraph("root words")])
        rig.workspace.add_page("Outside")
        forms = forms_of(root)

        settings = Settings.from_mapping({"NOTION_ROOT_PAGES": ",".join(forms)})

        assert settings.root_pages == (PageId(root),)
        assert {parse_page_id(form) for form in forms} == {root}
    async with sync_rig(rig.workspace, roots=settings.root_pages) as rooted:
        assert (await rooted.sync()).listed == 1
        assert rooted.pages() == {root}


async def test_f23_the_second_edit_of_one_minute_is_picked_up() -> None:
    """Edited at 10:05:10, synced at 10:05:30, edited at 10:05:50: both edits carry 10:05."""
    async with kept_rig() as (rig, _):
        clock = rig.workspace.clock
        page = rig.workspace.add_page("Page", blocks=[blocks.paragraph("untouched")])
        await rig.settled()
        clock.set(clock.now().replace(hour=10, minute=5, second=10, microsecond=0))
        rig.workspace.edit_block(rig.workspace.block_ids(page)[0], "first edit")
        clock.advance(seconds=20)
        await rig.sync()
        assert rig.bodies(page) == ["first edit"]
        clock.advance(seconds=20)
        rig.workspace.edit_block(rig.workspace.block_ids(page)[0], "second edit")
        clock.advance(minutes=30)

        report = await rig.sync()

        assert rig.bodies(page) == ["second edit"]
        assert report.requests <= 4
        clock.advance(minutes=30)
        assert (await rig.sync()).read == 0


async def test_u2_a_page_whose_time_is_as_stored_is_not_taken_for_unchanged_too_soon() -> None:
    """A listing of everything compares times too: it reads what was edited within two minutes of a look."""
    async with sync_rig() as rig:
        page = rig.workspace.add_page("Page", blocks=[blocks.paragraph("first")])
        await rig.sync()
        rig.workspace.edit_block(rig.workspace.block_ids(page)[0], "second")
        before = (await rig.store.states([PageId(page)]))[PageId(page)].ref.last_edited

        report = await rig.reconcile()

        assert (await rig.notion.ref(page)).last_edited == before
        assert (report.read, rig.bodies(page)) == (1, ["second"])


async def test_u8_forcing_embeds_every_page_at_once_however_many_wait() -> None:
    """More than two hundred pages and no schedule that would come back for the rest."""
    async with sync_rig() as rig:
        for number in range(230):
            rig.workspace.add_page(f"Page {number}", blocks=[blocks.paragraph(f"Text {number}.")])
        await rig.sync()
        assert await rig.store.mark_all_pending() == 230

        report = await rig.syncer.reembed()

        assert (report.pages_embedded, report.pending) == (230, 0)
        assert await rig.store.count_pending() == 0


async def test_t19_a_page_that_comes_back_is_not_wiped_by_its_earlier_removal() -> None:
    """In the trash, removed, restored: later runs and late hints leave the new passages alone."""
    async with kept_rig() as (rig, ledger):
        for number in range(3):
            rig.workspace.add_page(f"Page {number}", blocks=[blocks.paragraph(f"Text {number}.")])
        page = PageId(rig.workspace.add_page("Back", blocks=[blocks.paragraph("I am back.")]))
        await rig.settled()
        rig.workspace.trash(page)
        await rig.syncer.refresh(frozenset({page}))
        assert (await ledger.totals())[Fate.GONE] == 1
        rig.workspace.restore(page)
        await rig.syncer.refresh(frozenset({page}))

        for _ in range(2):
            rig.later()
            await rig.syncer.refresh(frozenset({page}))
            assert (await rig.reconcile()).removed == 0

        assert rig.bodies(page) == ["I am back."]
        assert await ledger.totals() == {Fate.INDEXED: 4}


@pytest.mark.parametrize("ahead_by", [timedelta(minutes=5), timedelta(days=3)])
async def test_a_clock_that_was_ahead_and_is_set_right_hides_nothing(ahead_by: timedelta) -> None:
    """The next run lists everything: edits and removals do not wait until time has caught up."""
    async with kept_rig() as (rig, ledger):
        edited = rig.workspace.add_page("Edited", blocks=[blocks.paragraph("before")])
        gone = rig.workspace.add_page("Gone", blocks=[blocks.paragraph("Text.")])
        await rig.settled()
        rig.notion.server.behaviour.date_header = lambda _: None
        rig.notion.clock.skew = ahead_by
        rig.restart()
        await rig.syncer.run(full=True)
        rig.notion.clock.skew = timedelta()
        rig.workspace.edit_block(rig.workspace.block_ids(edited)[0], "after")
        rig.workspace.trash(gone)
        rig.workspace.clock.advance(minutes=1)

        report = await rig.syncer.run()

        assert (report.complete, report.removed) == (True, 1)
        assert rig.bodies(edited) == ["after"]
        rig.later()
        rig.restart()
        assert not (await rig.syncer.run()).complete
        assert await ledger.in_trouble() == []
