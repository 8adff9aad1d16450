"""Retries, pauses, pace and errors of the Notion client."""

import asyncio
import logging

import httpx
import pytest

from adapters.sources.notion_api import NotionApi, Patience
from adapters.sources.notion_pace import Pace
from core.errors import NotFoundError, RateLimitedError, RefusedError, UnavailableError, UnreadableError
from tests.adapters.sources.notion_rig import Rig, SleepersTime, notion_rig
from tests.fakes.notion import blocks, faults, generate, routes
from tests.fakes.notion.faults import Action


async def page_of(rig: Rig) -> str:
    """A page to ask for."""
    return rig.workspace.add_page("Page", blocks=[blocks.paragraph("text")])


@pytest.mark.parametrize(
    "trouble",
    [
        faults.internal_error(),
        faults.bad_gateway(),
        faults.unavailable(),
        faults.gateway_timeout(),
        faults.conflict(),
        faults.html_ok(),
        faults.not_json(),
        faults.drop(),
        faults.cut_short(),
        faults.rate_limited(retry_after=1),
        faults.overloaded(retry_after=1),
        faults.rate_limited(retry_after=None),
    ],
    ids=["500", "502", "503", "504", "409", "html", "no json", "drop", "cut", "429", "529", "no header"],
)
@pytest.mark.parametrize("route", [routes.PAGE, routes.SEARCH, routes.QUERY, routes.CHILDREN])
async def test_not3_f28_whatever_passes_is_retried_on_every_endpoint(trouble: Action, route: str) -> None:
    """Two failures, then the truth; POST search and query are reads and retried as well."""
    async with notion_rig() as rig:
        page = await page_of(rig)
        base = rig.workspace.add_database("Base")
        rig.workspace.add_row(base, "Row")
        source = rig.workspace.databases[base].sources[0]
        rule = rig.server.faults.add(trouble, route=route, times=2)

        if route == routes.PAGE:
            assert (await rig.api.page(page))["id"] == page
        elif route == routes.SEARCH:
            assert len([one async for one in rig.api.search()]) == 3
        elif route == routes.QUERY:
            assert len([one async for one in rig.api.rows(source)]) == 1
        else:
            assert len([one async for one in rig.api.children(page)]) == 1

        assert rule.fired == 2
        assert rig.server.counts[route] == 3


async def test_not3_a_refused_connection_is_retried() -> None:
    """A server that comes back in time is asked again; nothing of httpx gets out."""
    async with notion_rig(patience=Patience(attempts=3)) as rig:
        page = await page_of(rig)
        await rig.server.stop()

        with pytest.raises(UnavailableError, match="3 attempts"):
            await rig.api.page(page)

        await rig.server.start(port=rig.server.port)
        assert (await rig.api.page(page))["id"] == page


async def test_not3_a_silent_server_is_given_up() -> None:
    """An answer that does not come in time counts as a failure, a bounded number of times."""
    async with notion_rig(patience=Patience(timeout=0.05, attempts=2)) as rig:
        page = await page_of(rig)
        rig.server.faults.add(faults.slow(0.5), route=routes.PAGE)

        with pytest.raises(UnavailableError, match="2 attempts"):
            await rig.api.page(page)

        assert rig.server.counts[routes.PAGE] == 2


async def test_not3_trouble_that_never_ends_is_bounded() -> None:
    """After so many attempts the call fails with a clear sentence."""
    async with notion_rig(patience=Patience(attempts=4, refusals=5)) as rig:
        page = await page_of(rig)
        rule = rig.server.faults.add(faults.bad_gateway(), route=routes.PAGE)

        with pytest.raises(UnavailableError, match="HTTP 502"):
            await rig.api.page(page)
        assert rule.fired == 4

        rig.server.faults.clear()
        rule = rig.server.faults.add(faults.rate_limited(retry_after=7), route=routes.PAGE)
        with pytest.raises(RateLimitedError) as caught:
            await rig.api.page(page)
        assert rule.fired == 5
        assert caught.value.retry_after == 7


@pytest.mark.parametrize("seconds", [2, 61, 300])
async def test_not2_u25_sy14_a_pause_is_as_long_as_asked_and_binds_everybody(seconds: int) -> None:
    """However long Retry-After is, no call of any kind comes earlier."""
    async with notion_rig() as rig:
        page = await page_of(rig)
        rig.server.faults.add(faults.overloaded(retry_after=seconds), route=routes.SEARCH, times=1)

        async def search() -> int:
            return len([one async for one in rig.api.search()])

        found, *pages = await asyncio.gather(search(), *(rig.api.page(page) for _ in range(20)))

        assert found == 1
        assert len(pages) == 20
        assert rig.server.early == []
        refused_at = rig.server.calls(routes.SEARCH)[0].at
        assert rig.server.calls(routes.SEARCH)[1].at >= refused_at + seconds


async def test_f27_every_fourth_call_refused_and_everything_arrives() -> None:
    """Eight readers, all pages, and nobody calls during a pause."""
    async with notion_rig() as rig:
        pages = [await page_of(rig) for _ in range(60)]
        rig.server.faults.add(faults.rate_limited(retry_after=2), every=4)

        got = await asyncio.gather(*(rig.api.page(page) for page in pages))

        assert [one["id"] for one in got] == pages
        assert rig.server.early == []


async def test_rate_the_budget_is_used_without_a_storm() -> None:
    """Of an unknown budget per minute over 90 % are used, with few refusals."""
    async with notion_rig() as rig:
        page = await page_of(rig)
        budget = rig.server.limits.set(60, window=60.0)
        start = rig.time()

        async def work(calls: int) -> None:
            for _ in range(calls):
                await rig.api.page(page)

        await asyncio.gather(*(work(75) for _ in range(8)))

        minutes = (rig.time() - start) / 60
        assert 600 / (60 * minutes) > 0.9
        assert budget.refused <= 8 + 2 * minutes
        assert rig.server.early == []


async def test_rate_more_is_noticed_when_more_is_allowed() -> None:
    """A pace learned under a small budget grows again once the budget does."""
    async with notion_rig() as rig:
        page = await page_of(rig)
        budget = rig.server.limits.set(20, window=10.0)
        for _ in range(60):
            await rig.api.page(page)
        learned = rig.api.pace.rate
        budget.requests = 10_000
        for _ in range(300):
            await rig.api.page(page)

        assert learned is not None
        assert (rig.api.pace.rate or 0) > 1.2 * learned


async def test_refusals_of_calls_under_way_teach_only_once() -> None:
    """Eight calls refused together are one pause, not eight."""
    time = SleepersTime()
    pace = Pace(monotonic=time, sleep=time.sleep, jitter=lambda: 0.0)
    for _ in range(30):
        pace.accepted()
    time.now += 10

    for _ in range(8):
        await pace.refused(5.0)

    assert pace.rate == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("trouble", "expected"),
    [
        (faults.unauthorized(), RefusedError),
        (faults.not_found(), NotFoundError),
        (faults.restricted(), UnreadableError),
        (faults.error(400, "validation_error"), UnreadableError),
        (faults.error(410, "gone"), UnreadableError),
    ],
    ids=["401", "404", "403", "400", "410"],
)
async def test_f29_f30_what_will_not_pass_is_never_retried(
    trouble: Action, expected: type[Exception]
) -> None:
    """One call, one error of ours, the library's chained behind it."""
    async with notion_rig() as rig:
        page = await page_of(rig)
        rig.server.faults.add(trouble)

        with pytest.raises(expected) as caught:
            await rig.api.page(page)

        assert rig.server.total == 1
        assert caught.value.__cause__ is not None
        assert rig.time.slept == []


async def test_an_id_that_is_no_id_never_reaches_the_network() -> None:
    """Path traversal is refused."""
    async with notion_rig() as rig:
        with pytest.raises(UnreadableError):
            await rig.api.page("../users")

        assert rig.server.total == 0


async def test_not1_every_request_names_the_api_version() -> None:
    """The version is explicit and can be configured."""
    async with notion_rig() as rig:
        await rig.api.page(await page_of(rig))
        older = NotionApi(rig.server.token, base_url=rig.server.url, notion_version="2025-09-03")
        async with older:
            await older.me()

        assert [request.headers["notion-version"] for request in rig.server.requests] == [
            "2026-03-11",
            "2025-09-03",
        ]


async def test_not1_the_older_version_lists_and_reads_as_well() -> None:
    """With archived in place of in_trash everything comes out the same."""
    from adapters.sources.notion import NotionSource

    async with notion_rig() as rig:
        base = rig.workspace.add_database("Base")
        rig.workspace.add_row(base, "Row", blocks=[blocks.paragraph("text")])
        gone = rig.workspace.add_page("Gone")
        rig.workspace.trash(gone)
        new = await rig.listed()
        async with NotionApi(rig.server.token, base_url=rig.server.url, notion_version="2025-09-03") as older:
            source = NotionSource(older)
            assert [ref async for ref in source.list_pages()] == new


async def test_not16_the_log_holds_neither_token_nor_page_text(caplog: pytest.LogCaptureFixture) -> None:
    """Even with failures, at the level the client logs at."""
    async with notion_rig(patience=Patience(attempts=2)) as rig:
        page = rig.workspace.add_page("Secret title", blocks=[blocks.paragraph("secret text")])
        rig.server.faults.add(faults.bad_gateway(), every=2)
        with caplog.at_level(logging.DEBUG, logger="footnote"):
            for _ in range(2):
                _ = [one async for one in rig.api.children(page)]

        assert rig.server.token not in caplog.text
        assert "ecret" not in caplog.text


async def test_not16_no_handler_is_added_to_anybodys_logger() -> None:
    """However many clients are made, the log has no line twice."""
    before = list(logging.getLogger("notion_client").handlers)
    for _ in range(3):
        async with NotionApi("token"):
            pass

    assert logging.getLogger("notion_client").handlers == before
    assert logging.getLogger("footnote.notion.http").handlers == []


async def test_a_date_in_retry_after_is_understood() -> None:
    """The header may hold a date; a past one means now."""
    calls = 0

    def answer(request: httpx.Request) -> httpx.Response:
        nonlocal calls
        calls += 1
        if calls == 1:
            return httpx.Response(429, headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, json={})
        return httpx.Response(200, json={"object": "user", "id": str(request.url)})

    time = SleepersTime()
    http = httpx.AsyncClient(transport=httpx.MockTransport(answer))
    async with NotionApi("t", http=http, pace=Pace(monotonic=time, sleep=time.sleep)) as api:
        assert (await api.me())["id"].endswith("/v1/users/me")

    assert calls == 2
    assert sum(time.slept) == 0


async def test_requests_are_counted_by_endpoint() -> None:
    """Requests are what a sync costs, retries included."""
    async with notion_rig() as rig:
        generate(rig.workspace, pages=120)
        rig.server.faults.add(faults.bad_gateway(), route=routes.SEARCH, times=1)
        _ = [one async for one in rig.api.search()]

        assert rig.api.requests == {"search": 3}
        assert rig.source.requests_sent == rig.server.total == 3
