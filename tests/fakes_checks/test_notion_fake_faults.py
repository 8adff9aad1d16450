"""The stand-in goes wrong when told to: limits, gateways, connections, listings."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from json import JSONDecodeError
from typing import Any

import httpx
import pytest
from notion_client import AsyncClient
from notion_client.errors import APIResponseError, RequestTimeoutError, UnknownHTTPResponseError

from tests.fakes.notion import NotionServer, Workspace, blocks, faults, routes
from tests.fakes_checks.notion_client_for import client_for, code_of, names


class Seconds:
    """A clock for limits that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


async def _awaited(call: Any) -> Any:
    return await call


async def _statuses(call: Callable[[], Awaitable[Any]], times: int) -> list[int]:
    seen = []
    for _ in range(times):
        try:
            await call()
            seen.append(200)
        except (APIResponseError, UnknownHTTPResponseError) as error:
            seen.append(error.status)
    return seen


async def test_f27_every_fourth_call_is_429(server: NotionServer, notion: AsyncClient) -> None:
    """The refusal carries Retry-After and the reason; the other calls are answered."""
    rule = server.faults.add(faults.rate_limited(retry_after=2), every=4)
    assert await _statuses(notion.users.me, 8) == [200, 200, 200, 429, 200, 200, 200, 429]
    assert rule.fired == 2
    server.faults.clear()
    server.faults.add(faults.rate_limited(retry_after=300, reason="workspace"))
    with pytest.raises(APIResponseError) as raised:
        await notion.users.me()
    assert code_of(raised.value) == "rate_limited"
    assert raised.value.headers["retry-after"] == "300"
    assert raised.value.additional_data == {"rate_limit_reason": "workspace"}


async def test_a_fault_can_be_aimed(workspace: Workspace, server: NotionServer, notion: AsyncClient) -> None:
    """By endpoint, by object, after some requests, and so many times."""
    one, two = workspace.add_page("One"), workspace.add_page("Two")
    server.faults.add(
        faults.internal_error(),
        route=routes.PAGE,
        where=lambda request: two in request.path,
        after=1,
        times=2,
    )
    assert await _statuses(lambda: notion.pages.retrieve(one), 3) == [200, 200, 200]
    assert await _statuses(lambda: notion.blocks.retrieve(two), 2) == [200, 200]
    assert await _statuses(lambda: notion.pages.retrieve(two), 5) == [200, 500, 500, 200, 200]


async def test_529_is_no_error_the_client_knows(server: NotionServer, notion: AsyncClient) -> None:
    """NOT-2: an overloaded service answers 529 with Retry-After."""
    server.faults.add(faults.overloaded(retry_after=7))
    with pytest.raises(UnknownHTTPResponseError) as raised:
        await notion.users.me()
    assert raised.value.status == 529
    assert raised.value.headers["retry-after"] == "7"
    assert "service_overload" in raised.value.body


@pytest.mark.parametrize(
    ("fault", "status"), [(faults.bad_gateway(), 502), (faults.gateway_timeout(), 504)], ids=["502", "504"]
)
async def test_f28_gateway_errors_are_html(
    workspace: Workspace, server: NotionServer, notion: AsyncClient, fault: faults.Action, status: int
) -> None:
    """Twice a page of HTML, then the truth."""
    page = workspace.add_page("Page", blocks=[blocks.paragraph("x")])
    server.faults.add(fault, route=routes.CHILDREN, times=2)
    for _ in range(2):
        with pytest.raises(UnknownHTTPResponseError) as raised:
            await notion.blocks.children.list(page)
        assert raised.value.status == status
        assert raised.value.headers["content-type"] == "text/html"
        assert raised.value.body.startswith("<html>")
    assert len(names(await notion.blocks.children.list(page))) == 1


@pytest.mark.parametrize("fault", [faults.html_ok(), faults.not_json()], ids=["html", "half"])
async def test_200_without_json(server: NotionServer, notion: AsyncClient, fault: faults.Action) -> None:
    """NOT-3: a success that cannot be read raises no error of Notion's."""
    server.faults.add(fault, times=1)
    with pytest.raises(JSONDecodeError):
        await notion.users.me()
    assert (await notion.users.me())["object"] == "user"


@pytest.mark.parametrize("fault", [faults.drop(), faults.cut_short()], ids=["before", "within"])
async def test_connections_break(server: NotionServer, notion: AsyncClient, fault: faults.Action) -> None:
    """Before an answer or in the middle of one; the next request is fine."""
    server.faults.add(fault, times=1)
    with pytest.raises(httpx.RemoteProtocolError):
        await notion.users.me()
    assert (await notion.users.me())["object"] == "user"


async def test_sy21_a_slow_answer_times_out(workspace: Workspace, server: NotionServer) -> None:
    """The client gives up before the answer; other requests are not held up."""
    slow, quick = workspace.add_page("Slow"), workspace.add_page("Quick")
    server.faults.add(faults.slow(0.5), where=lambda request: slow in request.path)
    async with client_for(server, timeout_ms=150) as notion:
        late = asyncio.create_task(_awaited(notion.pages.retrieve(slow)))
        assert (await notion.pages.retrieve(quick))["id"] == quick
        with pytest.raises(RequestTimeoutError):
            await late


async def test_a_stopped_server_refuses_and_comes_back(server: NotionServer, notion: AsyncClient) -> None:
    """Connections are refused while it is down; it returns at the same address."""
    await server.stop()
    with pytest.raises(httpx.ConnectError):
        await notion.users.me()
    await server.start(server.port)
    assert (await notion.users.me())["object"] == "user"


@pytest.mark.parametrize(
    ("fault", "status", "code"),
    [
        (faults.unauthorized(), 401, "unauthorized"),
        (faults.restricted(), 403, "restricted_resource"),
        (faults.not_found(), 404, "object_not_found"),
        (faults.conflict(), 409, "conflict_error"),
        (faults.internal_error(), 500, "internal_server_error"),
        (faults.unavailable(), 503, "service_unavailable"),
    ],
    ids=lambda value: str(value) if isinstance(value, int | str) else "",
)
async def test_every_error_can_be_scripted(
    server: NotionServer, notion: AsyncClient, fault: faults.Action, status: int, code: str
) -> None:
    """SY14: each of Notion's error objects, whatever the request."""
    server.faults.add(fault)
    with pytest.raises(APIResponseError) as raised:
        await notion.search()
    assert (raised.value.status, code_of(raised.value)) == (status, code)


async def test_f25_a_cursor_that_never_moves(
    workspace: Workspace, server: NotionServer, notion: AsyncClient
) -> None:
    """The second page of results names the cursor that was sent."""
    for number in range(4):
        workspace.add_user(f"User {number}")
    server.faults.add(faults.repeated_cursor(), route=routes.USERS)
    first = await notion.users.list(page_size=2)
    second = await notion.users.list(page_size=2, start_cursor=first["next_cursor"])
    assert first["next_cursor"] is not None
    assert (second["has_more"], second["next_cursor"]) == (True, first["next_cursor"])


async def test_f26_a_cursor_becomes_invalid(
    workspace: Workspace, server: NotionServer, notion: AsyncClient
) -> None:
    """The third listing call is refused although its cursor was good; a new listing works."""
    for number in range(5):
        workspace.add_page(f"Page {number}")
    server.faults.add(faults.invalid_cursor(), route=routes.SEARCH, after=2, times=1)
    cursor = None
    for _ in range(2):
        cursor = (await notion.search(page_size=1, start_cursor=cursor))["next_cursor"]
    with pytest.raises(APIResponseError, match="start_cursor provided is invalid"):
        await notion.search(page_size=1, start_cursor=cursor)
    assert len(names(await notion.search())) == 5
    server.pager.cursors.forget()
    with pytest.raises(APIResponseError, match="start_cursor provided is invalid"):
        await notion.search(page_size=1, start_cursor=cursor)


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (faults.empty_listing(), {"results": [], "has_more": False, "next_cursor": None}),
        (faults.more_without_cursor(), {"has_more": True, "next_cursor": None}),
        (faults.incomplete(), {"has_more": True}),
        (faults.empty_page(), {"results": [], "has_more": True}),
    ],
    ids=["empty", "no-cursor", "incomplete", "empty-page"],
)
async def test_f22_listings_that_lie(
    workspace: Workspace,
    server: NotionServer,
    notion: AsyncClient,
    fault: faults.Action,
    expected: dict[str, Any],
) -> None:
    """Success with nothing in it, with more but no cursor, incomplete, or an empty page on the way."""
    for number in range(3):
        workspace.add_page(f"Page {number}")
    server.faults.add(fault)
    answer = await notion.search(page_size=2)
    assert {key: answer[key] for key in expected} == expected
    assert ("request_status" in answer) is (fault.change({}, {}).get("request_status") is not None)  # type: ignore[union-attr,arg-type]  # listed faults are changes


async def test_not4_has_more_may_be_missing(server: NotionServer, notion: AsyncClient) -> None:
    """A listing without the key is served as such."""
    server.faults.add(faults.no_has_more())
    assert "has_more" not in await notion.search()


async def test_not2_a_budget_refuses_what_exceeds_it(workspace: Workspace) -> None:
    """So many requests per window, at any pace; Retry-After is what is left of the window."""
    time = Seconds()
    async with NotionServer(workspace, time=time) as server, client_for(server) as notion:
        budget = server.limits.set(5, window=60)
        assert await _statuses(notion.users.me, 5) == [200] * 5
        time.now += 20.5
        with pytest.raises(APIResponseError) as raised:
            await notion.users.me()
        assert raised.value.headers["retry-after"] == "40"
        assert raised.value.additional_data == {"rate_limit_reason": "connection"}
        time.now += 39.5
        assert await _statuses(notion.users.me, 6) == [200] * 5 + [429]
        assert budget.refused == 2


async def test_not2_a_workspace_budget_may_ask_for_more_than_a_minute(workspace: Workspace) -> None:
    """Two budgets count side by side; the larger window asks for a longer pause."""
    time = Seconds()
    async with NotionServer(workspace, time=time) as server, client_for(server) as notion:
        server.limits.set(100, window=60)
        server.limits.set(3, window=600, reason="workspace")
        assert await _statuses(notion.users.me, 3) == [200] * 3
        with pytest.raises(APIResponseError) as raised:
            await notion.users.me()
        assert raised.value.headers["retry-after"] == "600"
        assert raised.value.additional_data == {"rate_limit_reason": "workspace"}


@pytest.mark.parametrize("fault", [faults.rate_limited(2), faults.overloaded(2)], ids=["429", "529"])
async def test_f27_calls_within_a_pause_are_noted(workspace: Workspace, fault: faults.Action) -> None:
    """A request before Retry-After is over is marked; those under way at once, or later, are not."""
    time = Seconds()
    async with NotionServer(workspace, time=time) as server, client_for(server) as notion:
        server.faults.add(fault, times=1)
        for wait in (0.0, 0.0, 1.9, 0.2):
            time.now += wait
            await _statuses(notion.users.me, 1)
        assert [request.early for request in server.requests] == [False, False, True, False]
        assert server.early == [server.requests[2]]


async def _date(server: NotionServer) -> str | None:
    async with httpx.AsyncClient(base_url=server.url) as client:
        date: str | None = (await client.get("/v1/users/me")).headers.get("Date")
        return date


async def test_answers_are_dated_by_the_clock_that_dates_edits(
    workspace: Workspace, server: NotionServer
) -> None:
    """Refusals too, in whole seconds."""
    assert await _date(server) == "Mon, 02 Nov 2026 09:00:00 GMT"
    workspace.clock.advance(seconds=61.9)
    server.faults.add(faults.bad_gateway(), times=1)
    assert await _date(server) == "Mon, 02 Nov 2026 09:01:01 GMT"
    assert await _date(server) == "Mon, 02 Nov 2026 09:01:01 GMT"


@pytest.mark.parametrize("header", [None, "", "soon"])
async def test_the_date_of_an_answer_may_be_missing_or_garbage(
    server: NotionServer, header: str | None
) -> None:
    """As some proxies make it."""
    server.behaviour.date_header = lambda _: header
    assert await _date(server) == header
