"""One pace over several processes: the whole rate is used, pauses bind all, and nobody depends on Redis."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from uuid import uuid4

import httpx
import pytest
import redis.asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.caches.connecting import Client, RedisConnection, T
from adapters.caches.pace import RedisPace
from adapters.sources.notion_api import NotionApi, Patience
from adapters.sources.notion_pace import Pace, Rhythm
from core.errors import UnavailableError
from core.ports.sharing import Start
from tests.adapters.sources.notion_rig import SleepersTime, WatchedPace
from tests.fakes.notion import NotionServer, Workspace, blocks, faults, routes

START = 1_000.0


class PatientConnection(RedisConnection):
    """A way to Redis that waits however busy the machine is: what happens without Redis is told by a test."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._client = redis.asyncio.Redis.from_url(url)

    async def ask(self, work: Callable[[Client], Awaitable[T]]) -> T:
        """The result of one command."""
        return await work(self._client)


class RedisInTestTime:
    """The real script in a real Redis, by a clock that a test moves."""

    def __init__(self, pace: RedisPace, time: SleepersTime) -> None:
        self._pace = pace
        self._time = time
        self.is_away = False
        self.asked = 0

    async def claim(self, *, accepted: int = 0) -> Start:
        """As `SharedPace.claim`."""
        self.asked += 1
        if self.is_away:
            raise UnavailableError("Redis is away")
        self._time.under_way += 1
        try:
            return await self._pace.claim(accepted=accepted, now=self._time())
        finally:
            self._time.under_way -= 1

    async def refused(self, wait: float, *, accepted: int = 0) -> None:
        """As `SharedPace.refused`."""
        if self.is_away:
            raise UnavailableError("Redis is away")
        # Else the time of the test would run while the pause is told, which takes no time at all.
        self._time.under_way += 1
        try:
            await self._pace.refused(wait, accepted=accepted, now=self._time())
        finally:
            self._time.under_way -= 1


@dataclass
class Processes:
    """Clients that know nothing of each other but what lies in Redis."""

    server: NotionServer
    time: SleepersTime
    shared: list[RedisInTestTime]
    apis: list[NotionApi]
    page: str

    async def work(self, calls: int) -> None:
        """Eight readers in each process."""

        async def read(api: NotionApi) -> None:
            for _ in range(calls):
                await api.page(self.page)

        await asyncio.gather(*(read(api) for api in self.apis for _ in range(8)))


@asynccontextmanager
async def processes(redis_url: str, count: int) -> AsyncIterator[Processes]:
    """That many, each with its own connection to Redis."""
    time, workspace = SleepersTime(), Workspace()
    page = workspace.add_page("Page", blocks=[blocks.paragraph("text")])
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(NotionServer(workspace, time=time))
        shared, apis = [], []
        for _ in range(count):
            connection = PatientConnection(redis_url)
            stack.push_async_callback(connection.close)
            shared.append(RedisInTestTime(RedisPace(connection, "account"), time))
            pace = WatchedPace(time, 8, shared[-1])
            api = NotionApi(
                server.token,
                base_url=server.url,
                pace=pace,
                patience=Patience(timeout=20.0),
                sleep=time.sleep,
            )
            apis.append(await stack.enter_async_context(api))
        yield Processes(server, time, shared, apis, page)


@pytest.mark.parametrize(("requests", "window"), [(60, 60.0), (30, 10.0)])
async def test_not2_several_processes_use_one_budget_whole_and_without_a_storm(
    redis_url: str, requests: int, window: float
) -> None:
    """Three of them, over 90 % of a rate that nobody told them, few refusals, no call during a pause."""
    async with processes(redis_url, 3) as rig:
        budget = rig.server.limits.set(requests, window=window)
        start = rig.time()

        await rig.work(requests * 10 // 24)

        windows = (rig.time() - start) / window
        assert rig.server.total - budget.refused >= requests * 10 - 24
        assert (rig.server.total - budget.refused) / (requests * windows) > 0.9
        # What is in flight when the unknown budget is met for the first time, then two at most each time.
        assert budget.refused <= 24 + 2 * windows
        assert rig.server.early == []


async def test_not2_a_pause_that_one_process_is_told_binds_the_others(redis_url: str) -> None:
    """Longer than a minute, and from another kind of call."""
    async with processes(redis_url, 2) as rig:
        rig.server.faults.add(faults.overloaded(retry_after=90), route=routes.SEARCH, times=1)
        first, second = rig.apis

        searching = asyncio.create_task(_all(first))
        while not rig.server.calls(routes.SEARCH):  # noqa: ASYNC110 - the stand-in has no event for it
            await asyncio.sleep(0.001)
        refused_at = rig.server.calls(routes.SEARCH)[0].at
        await asyncio.sleep(0.05)
        await second.page(rig.page)
        await searching

        assert rig.server.calls(routes.PAGE)[0].at >= refused_at + 90
        assert rig.server.early == []


async def _all(api: NotionApi) -> int:
    return len([one async for one in api.search()])


async def test_not2_without_redis_each_process_keeps_its_own_pace(redis_url: str) -> None:
    """Redis goes away in the middle: every call is answered, pauses are still kept; it comes back."""
    async with processes(redis_url, 2) as rig:
        rig.server.limits.set(40, window=10.0)
        await rig.work(20)
        for shared in rig.shared:
            shared.is_away = True
        await rig.work(20)
        for shared in rig.shared:
            shared.is_away = False
        await rig.work(5)

        assert rig.server.calls(routes.PAGE)[-1].status == 200
        # Two processes that cannot agree are told to wait each for itself: the second has at most eight calls
        # under way in each of the eight windows. Without a pace all of its calls would come too early.
        assert len(rig.server.early) <= 32


async def test_not2_answers_that_redis_was_not_told_of_are_told_later(redis_url: str) -> None:
    """Else all processes would learn too low a rate from the next refusal."""
    async with processes(redis_url, 1) as rig:
        [shared] = rig.shared
        rig.server.limits.set(40, window=10.0)
        shared.is_away = True
        for _ in range(30):
            await rig.apis[0].page(rig.page)
        shared.is_away = False
        for _ in range(11):
            await rig.apis[0].page(rig.page)

        assert (await shared.claim()).rate == pytest.approx(4.0, rel=0.2)


async def test_not2_a_pause_that_redis_was_not_told_of_is_told_as_soon_as_it_is_back(redis_url: str) -> None:
    """With all that was answered before it: the rate of all is learned as if Redis had been there."""
    async with processes(redis_url, 2) as rig:
        first, second = rig.apis
        rig.server.limits.set(40, window=60.0)
        for _ in range(5):
            await second.page(rig.page)
        rig.shared[0].is_away = True
        for _ in range(35):
            await first.page(rig.page)
        refused = asyncio.create_task(first.page(rig.page))
        while not rig.server.limits.budgets[0].refused:  # noqa: ASYNC110 - the stand-in has no event for it
            await asyncio.sleep(0.001)
        rig.shared[0].is_away = False
        await refused
        await second.page(rig.page)

        assert (await rig.shared[1].claim()).rate == pytest.approx(40 / 60, rel=0.1)
        assert rig.server.early == []


async def test_not2_without_redis_a_process_that_learned_nothing_keeps_to_the_rate_of_all(
    redis_url: str,
) -> None:
    """The other one met the limit; this one was never refused and does not begin a storm."""
    async with processes(redis_url, 2) as rig:
        first, second = rig.apis
        rig.server.limits.set(40, window=10.0)
        for _ in range(50):
            await first.page(rig.page)
        await second.page(rig.page)
        assert second.pace.rate is None

        rig.shared[1].is_away = True
        await second.page(rig.page)

        assert second.pace.rate == pytest.approx(4.0, rel=0.3)


@pytest.mark.parametrize("idle", [7.0, 1800.0, 20_000.0])
async def test_not2_time_in_which_nobody_calls_teaches_no_slow_rate(redis_url: str, idle: float) -> None:
    """A sync after a quiet time meets the limit: its calls tell the rate, not the silence before."""
    async with processes(redis_url, 1) as rig:
        [api], [shared] = rig.apis, rig.shared
        rig.server.limits.set(40, window=10.0)
        for _ in range(90):
            await api.page(rig.page)
        rig.time.now += idle
        start = rig.time()

        for _ in range(160):
            await api.page(rig.page)

        assert (await shared.claim()).rate == pytest.approx(4.0, rel=0.4)
        assert 160 / (rig.time() - start) > 0.85 * 4


async def test_not2_a_call_asks_redis_once_unless_it_has_to_wait(redis_url: str) -> None:
    """The price of agreeing is one short question for each call."""
    async with processes(redis_url, 1) as rig:
        for _ in range(50):
            await rig.apis[0].page(rig.page)

        assert rig.shared[0].asked == 50


# In eighths of a second, which floats hold exactly: else the two may disagree whether a pause has just ended.
step = st.tuples(
    st.sampled_from(["claim", "claim", "claim", "refused"]),
    st.integers(0, 90 * 8).map(lambda eighths: eighths / 8),
    st.integers(0, 30),
    st.integers(0, 120 * 8).map(lambda eighths: eighths / 8),
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(step, min_size=1, max_size=25))
async def test_the_script_in_redis_keeps_the_rhythm_of_a_single_process(
    redis_url: str, steps: list[tuple[str, float, int, float]]
) -> None:
    """Whatever is claimed and refused when, both say the same waits."""
    connection = PatientConnection(redis_url)
    pace, now = RedisPace(connection, uuid4().hex), START
    rhythm = Rhythm(now)
    await pace.claim(now=now)
    rhythm.claim(now)
    try:
        for what, later, accepted, pause in steps:
            now += later
            if what == "refused":
                rhythm.refused(now, pause, accepted=accepted)
                await pace.refused(pause, accepted=accepted, now=now)
            else:
                wait, rate = rhythm.claim(now, accepted=accepted), rhythm.rate(now)
                start = await pace.claim(accepted=accepted, now=now)
                assert start.wait == pytest.approx(wait, abs=1e-5)
                assert (start.rate or 0.0) == pytest.approx(rate or 0.0, rel=1e-9)
    finally:
        await connection.close()


async def test_the_pace_of_one_token_is_not_that_of_another(redis_url: str) -> None:
    """Redis holds neither token, and a pause of one account leaves the other alone."""
    connection = PatientConnection(redis_url)
    one, other = RedisPace(connection, "secret-one"), RedisPace(connection, "secret-two")
    try:
        await one.refused(60.0)
        keys = await connection.ask(lambda client: client.keys("*"))
        assert (await one.claim()).wait > 50
        assert (await other.claim()).wait == 0
    finally:
        await connection.close()
    assert not any(b"secret" in key for key in keys)


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [
        ("2", 2.0, 2.2),
        ("2.5", 2.5, 2.7),
        ("-5", 5.0, 5.3),
        ("soon", 5.0, 5.3),
        ("", 5.0, 5.3),
        ("0", 0.0, 0.1),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0, 0.1),
    ],
)
async def test_sy14_a_retry_after_of_any_form_is_waited_for(header: str, least: float, most: float) -> None:
    """Whole, broken, negative, wordy, missing, a date: never earlier than asked, never for ever."""
    time, calls = SleepersTime(), 0

    def answer(request: httpx.Request) -> httpx.Response:
        nonlocal calls
        calls += 1
        if calls == 1:
            return httpx.Response(429, headers={"Retry-After": header}, json={})
        return httpx.Response(200, json={"object": "user", "id": str(request.url)})

    http = httpx.AsyncClient(transport=httpx.MockTransport(answer))
    async with NotionApi("t", http=http, pace=Pace(monotonic=time, sleep=time.sleep)) as api:
        await api.me()

    assert calls == 2
    assert least <= time.now - START <= most
