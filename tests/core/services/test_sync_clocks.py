"""Our clock may be wrong and may be set at any moment: syncs go by Notion's."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

import pytest

from core.domain.ids import PageId
from core.errors import RefusedError
from core.ports import StoredPage
from tests.core.services.sync_rig import SyncRig
from tests.core.services.test_sync_ledger import kept_rig
from tests.fakes.notion import blocks, faults, routes
from tests.fakes.notion.clock import to_http_date
from tests.fakes.notion.richtext import Json
from tests.fakes.notion.server import RequestRecord

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
SKEWS = [DAY, HOUR, timedelta(minutes=5), timedelta(minutes=2), timedelta(seconds=90), -HOUR, -DAY, 25 * DAY]


def edit(rig: SyncRig, page: str, text: str) -> None:
    """Other words in the page's only paragraph."""
    rig.workspace.edit_block(rig.workspace.block_ids(page)[0], text)


async def a_page(rig: SyncRig) -> str:
    """One page, read long ago."""
    page = rig.workspace.add_page("Page", blocks=[blocks.paragraph("first text")])
    await rig.settled()
    return page


async def edited_around_a_look(rig: SyncRig, page: str, *, new_process: bool = False) -> None:
    """An edit, a look, another edit: all within one minute of Notion's clock. Then the next look."""
    clock = rig.workspace.clock
    clock.set(clock.now().replace(second=10, microsecond=0))
    edit(rig, page, "second text")
    clock.advance(seconds=10)
    await rig.sync()
    assert rig.bodies(page) == ["second text"]
    clock.advance(seconds=20)
    edit(rig, page, "third text")
    clock.advance(minutes=30)
    if new_process:
        rig.restart()
    await rig.sync()


@pytest.mark.parametrize("new_process", [False, True], ids=["same process", "new process"])
@pytest.mark.parametrize("skew", SKEWS, ids=str)
async def test_sy4_an_edit_in_the_minute_of_a_look_is_seen_with_our_clock_a_day_ahead(
    skew: timedelta, new_process: bool
) -> None:
    """Or behind, or off by anything else: whether a look saw an edit is told by Notion's clock alone."""
    async with kept_rig() as (rig, _):
        page = await a_page(rig)
        rig.notion.clock.skew = skew
        rig.restart()

        await edited_around_a_look(rig, page, new_process=new_process)

        assert rig.bodies(page) == ["third text"]


@pytest.mark.parametrize("skew", SKEWS, ids=str)
async def test_sy4_a_page_made_in_the_minute_of_the_first_look_is_seen_whole(skew: timedelta) -> None:
    """The very first answer tells the time of the look that asked for it."""
    async with kept_rig() as (rig, _):
        rig.notion.clock.skew = skew
        rig.restart()
        rig.workspace.clock.advance(seconds=10)
        page = rig.workspace.add_page("Page", blocks=[blocks.paragraph("first text")])
        await rig.sync()
        rig.workspace.clock.advance(seconds=10)
        edit(rig, page, "second text")
        rig.later(minutes=30)

        await rig.sync()

        assert rig.bodies(page) == ["second text"]


@pytest.mark.parametrize("skew", SKEWS, ids=str)
async def test_sy1_a_wrong_clock_costs_no_request(skew: timedelta) -> None:
    """Where Notion's time is known an idle look is one request, before and after our clock is set."""
    async with kept_rig() as (rig, _):
        for number in range(5):
            rig.workspace.add_page(f"Page {number}", blocks=[blocks.paragraph("text")])
        rig.notion.clock.skew = skew
        rig.restart()
        await rig.settled()
        for jump in (timedelta(), skew, -skew, -2 * skew):
            rig.notion.clock.skew += jump
            rig.later(minutes=30)

            report = await rig.sync()

            assert (report.requests, report.read, report.complete) == (1, 0, False)


@pytest.mark.parametrize("skew", SKEWS, ids=str)
async def test_sy1_processes_with_a_wrong_clock_read_nothing_again(skew: timedelta) -> None:
    """Each is new and has heard no answer yet: at most it lists everything."""
    async with kept_rig() as (rig, _):
        for number in range(5):
            rig.workspace.add_page(f"Page {number}", blocks=[blocks.paragraph("text")])
        await rig.settled()
        for sign in (1, 1, -1, -1, 0, 1):
            rig.notion.clock.skew = sign * skew
            rig.restart()

            report = await rig.sync()

            assert (report.requests, report.read) == (1, 0)
            rig.later()


@pytest.mark.parametrize("jump", [DAY, -DAY, HOUR, timedelta(minutes=3)], ids=str)
@pytest.mark.parametrize("turns", [1, 10, 40, 80])
async def test_sy4_a_clock_that_is_set_within_a_run_hides_nothing(jump: timedelta, turns: int) -> None:
    """Wherever in the first run of a process it happens."""
    async with kept_rig() as (rig, _):
        page = await a_page(rig)
        rig.workspace.clock.advance(seconds=10)
        edit(rig, page, "second text")
        rig.workspace.clock.advance(seconds=10)
        rig.restart()
        run = asyncio.ensure_future(rig.sync())
        for _ in range(turns):
            await asyncio.sleep(0)
        rig.notion.clock.skew += jump
        await run
        rig.workspace.clock.advance(seconds=20)
        edit(rig, page, "third text")
        rig.later(minutes=30)

        await rig.sync()

        assert rig.bodies(page) == ["third text"]


HEADERS: dict[str, Callable[[datetime], str | None]] = {
    "missing": lambda _: None,
    "empty": lambda _: "",
    "garbage": lambda _: "soon",
    "a number": lambda now: str(now.timestamp()),
    "no such day": lambda _: "Mon, 32 Nov 2026 09:00:00 GMT",
    "1970": lambda _: "Thu, 01 Jan 1970 00:00:00 GMT",
    "9999": lambda _: "Fri, 31 Dec 9999 23:59:59 GMT",
    "two years ahead": lambda now: to_http_date(now + 730 * DAY),
}


@pytest.mark.parametrize("header", HEADERS)
async def test_sy4_without_a_date_that_can_be_believed_our_clock_counts(header: str) -> None:
    """Runs go on without it; with a clock of ours that is right nothing is missed or wasted."""
    async with kept_rig() as (rig, _):
        rig.notion.server.behaviour.date_header = HEADERS[header]
        rig.restart()
        page = await a_page(rig)

        await edited_around_a_look(rig, page)
        assert rig.bodies(page) == ["third text"]
        rig.later()
        report = await rig.sync()
        assert (report.requests, report.read) == (1, 0)


@pytest.mark.parametrize("ahead", [HOUR, DAY], ids=str)
async def test_sy4_looks_dated_by_a_clock_that_was_ahead_are_not_relied_on(ahead: timedelta) -> None:
    """No answer told the time and our clock was ahead; once either is right, those pages are read again."""
    async with kept_rig() as (rig, _):
        page = await a_page(rig)
        rig.notion.server.behaviour.date_header = lambda _: None
        rig.notion.clock.skew = ahead
        rig.restart()
        rig.workspace.clock.advance(seconds=10)
        edit(rig, page, "second text")
        await rig.sync()
        edit(rig, page, "third text")
        rig.later(minutes=30)
        rig.notion.server.behaviour.date_header = to_http_date
        rig.restart()

        for _ in range(2):
            await rig.sync(confirm_removal=True)
            rig.later(minutes=30)

        assert rig.bodies(page) == ["third text"]
        report = await rig.reconcile(confirm_removal=True)
        assert (report.read, report.complete) == (0, True)


async def test_sy4_an_edit_while_an_answer_is_on_its_way_is_seen() -> None:
    """An answer that left before the edit and came minutes later is as old as its request."""
    async with kept_rig() as (rig, _):
        page = await a_page(rig)
        clock = rig.workspace.clock
        clock.set(clock.now().replace(second=10, microsecond=0))
        edit(rig, page, "second text")

        def slowly(request: RequestRecord, answer: Json) -> Json:
            del request
            clock.advance(seconds=20)
            edit(rig, page, "third text")
            clock.advance(minutes=4)
            return answer

        rig.notion.server.faults.add(faults.Change(slowly), route=routes.CHILDREN, times=1)
        await rig.sync()
        assert rig.bodies(page) == ["second text"]
        clock.advance(minutes=30)

        await rig.sync()

        assert rig.bodies(page) == ["third text"]


@pytest.mark.parametrize("skew", [timedelta(), DAY, -DAY], ids=str)
async def test_sy4_an_answer_out_of_a_cache_is_as_old_as_its_date(skew: timedelta) -> None:
    """A proxy answers with blocks of half an hour ago: they are dated by what it says, and read again."""
    async with kept_rig() as (rig, _):
        page = await a_page(rig)
        rig.notion.clock.skew = skew
        rig.restart()
        await rig.sync()
        clock, behaviour = rig.workspace.clock, rig.notion.server.behaviour
        clock.set(clock.now().replace(second=10, microsecond=0) + timedelta(minutes=5))
        edit(rig, page, "second text")
        clock.advance(seconds=10)
        made = clock.now()
        cached = [block async for block in rig.notion.api.children(page)]
        clock.advance(seconds=20)
        edit(rig, page, "third text")
        clock.advance(minutes=30)

        def from_cache(request: RequestRecord, answer: Json) -> Json:
            del request
            behaviour.date_header = once
            return {**answer, "results": cached}

        def once(now: datetime) -> str:
            del now
            behaviour.date_header = to_http_date
            return to_http_date(made)

        rig.notion.server.faults.add(faults.Change(from_cache), route=routes.CHILDREN, times=1)
        await rig.sync()
        assert rig.bodies(page) == ["second text"]
        clock.advance(minutes=30)

        await rig.sync()

        assert rig.bodies(page) == ["third text"]
        rig.later()
        assert (await rig.sync()).read == 0


async def test_sy1_servers_that_disagree_by_a_second_or_two_cost_nothing_and_hide_nothing() -> None:
    """Each answer comes from another one."""
    async with kept_rig() as (rig, _):
        offs = [2, -2, 1, -1, 0]

        def header(now: datetime) -> str:
            offs.append(offs.pop(0))
            return to_http_date(now + timedelta(seconds=offs[-1]))

        rig.notion.server.behaviour.date_header = header
        rig.restart()
        page = await a_page(rig)
        await edited_around_a_look(rig, page)
        assert rig.bodies(page) == ["third text"]
        for _ in range(5):
            rig.later()
            report = await rig.sync()
            assert (report.requests, report.read, report.complete) == (1, 0, False)


@pytest.mark.parametrize("skew", [DAY, -DAY], ids=str)
async def test_f34_a_full_run_that_is_gone_on_with_knows_what_was_read_before_it(skew: timedelta) -> None:
    """Both are dated by Notion's clock: nothing that was read earlier the same day counts as read by it."""
    async with kept_rig() as (rig, _):
        for number in range(30):
            rig.workspace.add_page(f"Page {number}", blocks=[blocks.paragraph("text")])
        await rig.settled()
        rig.notion.clock.skew = skew
        rig.restart()
        begun: list[datetime] = []
        rule = rig.notion.server.faults.add(faults.unauthorized(), route=routes.CHILDREN, after=20)
        with pytest.raises(RefusedError):
            await rig.syncer.run(full=True, on_begun=begun.append)
        rig.notion.server.faults.remove(rule)
        assert begun == [pytest.approx(rig.workspace.clock.now(), abs=timedelta(seconds=1))]

        report = await rig.restart().run(full=True, read_since=begun[0])

        assert 8 <= report.unchanged <= 20
        assert report.read == 30 - report.unchanged


async def test_f34_what_was_stored_last_before_a_kill_is_dated_by_notion() -> None:
    """A page is stored together with the moment of its look, whatever clock the index goes by."""
    async with kept_rig() as (rig, _):
        page = await a_page(rig)
        rig.notion.clock.skew = DAY
        rig.restart()
        rig.workspace.clock.advance(seconds=10)
        edit(rig, page, "second text")
        put = rig.store.put_pages

        async def killed_behind_it(pages: Sequence[StoredPage]) -> None:
            await put(pages)
            raise asyncio.CancelledError

        rig.store.put_pages = killed_behind_it  # type: ignore[method-assign] # dies with its process
        with pytest.raises(asyncio.CancelledError):
            await rig.sync()

        state = (await rig.store.states([PageId(page)]))[PageId(page)]
        assert state.ref.last_edited == rig.workspace.clock.now().replace(second=0)
        assert abs(state.synced_at - rig.workspace.clock.now()) < timedelta(seconds=1)


async def test_sy6_a_page_that_went_within_the_moment_of_its_last_look_is_removed() -> None:
    """Every stored page that a listing does not show is looked at, whenever it was seen last."""
    async with kept_rig() as (rig, _):
        page = await a_page(rig)
        rig.workspace.add_page("Another", blocks=[blocks.paragraph("text")])
        await rig.reconcile()
        rig.workspace.unshare(page)

        report = await rig.reconcile(confirm_removal=True)

        assert report.removed == 1
        assert PageId(page) not in rig.pages()
