"""Redis that goes away, comes back, is full, slow or holds something else."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import redis.asyncio

from adapters.caches.connecting import CALL_SECONDS, RedisConnection
from adapters.caches.redis import LARGEST_FRAME, PREFIX, RedisCache
from bot.embedded import embedded_redis
from core.errors import ConfigurationError, UnavailableError


class Stopwatch:
    """A monotonic clock that the test moves."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


@contextlib.asynccontextmanager
async def cache_at(url: str, clock: Stopwatch | None = None) -> AsyncIterator[RedisCache]:
    """A cache over a connection whose clock the test moves."""
    connection = RedisConnection(url, rest=2.0, monotonic=clock or Stopwatch())
    try:
        yield RedisCache(connection)
    finally:
        await connection.close()


@contextlib.asynccontextmanager
async def client_at(url: str) -> AsyncIterator[redis.asyncio.Redis]:
    """A client of the test's own, to look behind the cache."""
    client = redis.asyncio.Redis.from_url(url)
    try:
        yield client
    finally:
        await client.aclose()
        await client.connection_pool.disconnect()


@contextlib.asynccontextmanager
async def tarpit() -> AsyncIterator[tuple[str, list[str]]]:
    """A port that accepts connections and never says a word; the list grows with each one."""
    accepted: list[str] = []
    over = asyncio.Event()

    async def accept(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted.append("connection")
        await over.wait()
        writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()[:2]
    try:
        yield f"redis://{host}:{port}/0", accepted
    finally:
        over.set()
        server.close()
        await server.wait_closed()


async def test_f67_stop_redis_ask_start_redis_ask(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Away is a miss, back is a cache again without a restart of ours; each is logged once."""
    clock = Stopwatch()
    caplog.set_level(logging.INFO, "adapters.caches")
    with embedded_redis(tmp_path) as url:
        async with cache_at(url, clock) as cache:
            await cache.put("key", b"value", seconds=60)
            before = await cache.get("key")
    async with cache_at(url, clock) as cache:
        while_away = [await cache.get("key") for _ in range(3)]
        await cache.put("key", b"lost", seconds=60)
        with embedded_redis(tmp_path):
            clock.time += 2.0
            await cache.put("key", b"again", seconds=60)
            after = await cache.get("key")

    assert (before, while_away, after) == (b"value", [None] * 3, b"again")
    assert [line.split(" (")[0] for line in caplog.messages] == ["Redis is away", "Redis is back"]


async def test_f67_a_silent_redis_is_asked_once_and_then_left_alone() -> None:
    """No command is queued: the first fails within its limits, those behind it do not even connect."""
    clock = Stopwatch()
    async with tarpit() as (url, accepted), cache_at(url, clock) as cache:
        async with asyncio.timeout(20):
            assert await cache.get("key") is None
        attempts = len(accepted)
        for _ in range(50):
            assert await cache.get("key") is None
            await cache.put("key", b"value", seconds=60)
        left_alone = len(accepted)

        clock.time += 2.0
        results = await asyncio.gather(*(cache.get("key") for _ in range(20)))

    assert 1 <= attempts <= 2
    assert left_alone == attempts
    assert results == [None] * 20
    # One of the twenty looked; the others kept to the open circuit.
    assert left_alone < len(accepted) <= left_alone + 2


def test_f67_the_first_failure_costs_less_than_a_second() -> None:
    """That is the limit of one call, whatever Redis does and however often we connect."""
    assert CALL_SECONDS < 1.0


async def test_f67_connections_killed_by_a_restart_are_not_noticed(tmp_path: Path) -> None:
    """The pool's dead sockets are replaced within the same call."""
    with embedded_redis(tmp_path) as url:
        async with cache_at(url) as cache:
            await cache.put("key", b"value", seconds=60)
            async with client_at(url) as client:
                await client.client_kill_filter(_type="normal", skipme=True)

            assert await cache.get("key") == b"value"


async def test_f67_a_connection_that_dies_under_a_command_is_replaced() -> None:
    """As when a server restarts between our look at the socket and our writing: the second try is enough."""
    deaths = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal deaths
        while data := await reader.read(65_536):
            if b"GET" in data and not deaths:
                deaths += 1
                break
            writer.write(b"+OK\r\n" * data.count(b"SETINFO") + b"$-1\r\n" * data.count(b"GET"))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()[:2]
    connection = RedisConnection(f"redis://{host}:{port}/0")

    assert await connection.ask(lambda client: client.get("key")) is None

    assert deaths == 1
    await connection.close()
    server.close()
    await server.wait_closed()


async def test_a15_a_full_redis_forgets_and_keeps_answering(tmp_path: Path) -> None:
    """A write that is refused for want of memory is lost; it does not take reading down with it."""
    with embedded_redis(tmp_path) as url:
        async with cache_at(url) as cache, client_at(url) as client:
            await cache.put("before", b"value", seconds=60)
            await client.config_set("maxmemory-policy", "noeviction")
            await client.config_set("maxmemory", "1")

            await cache.put("after", b"value", seconds=60)

            assert await cache.get("after") is None
            assert await cache.get("before") == b"value"


@pytest.mark.parametrize("damage", [b"", b"garbage", b"F1p12345678value"])
async def test_a_damaged_value_is_a_miss(redis_url: str, damage: bytes) -> None:
    """And is replaced by the next one."""
    async with cache_at(redis_url) as cache, client_at(redis_url) as client:
        await client.set(f"{PREFIX}key", damage)
        assert await cache.get("key") is None

        await cache.put("key", b"value", seconds=60)

        assert await cache.get("key") == b"value"


async def test_a_key_of_another_type_is_a_miss(redis_url: str) -> None:
    """Somebody else's list under our name breaks nothing, and does not count as Redis being away."""
    async with cache_at(redis_url) as cache, client_at(redis_url) as client:
        await client.rpush(f"{PREFIX}key", "element")
        await cache.put("other", b"value", seconds=60)

        assert await cache.get("key") is None
        assert await cache.get("other") == b"value"


async def test_every_value_expires(redis_url: str) -> None:
    """Nothing is kept for ever, so that Redis can evict whatever it likes."""
    async with cache_at(redis_url) as cache, client_at(redis_url) as client:
        await cache.put("key", b"value", seconds=3600)

        assert 3590 < await client.ttl(f"{PREFIX}key") <= 3600


async def test_a_huge_value_is_not_kept_and_the_old_one_is_forgotten(redis_url: str) -> None:
    """The budget is not spent on one answer, and nothing stale stays behind."""
    async with cache_at(redis_url) as cache:
        await cache.put("key", b"old", seconds=60)
        # Numbers that zlib cannot shrink enough.
        await cache.put("key", b"".join(str(n**3).encode() for n in range(10**5)), seconds=60)

        assert await cache.get("key") is None
    assert LARGEST_FRAME == 256 * 1024


async def test_a_cancelled_read_does_not_hand_its_value_to_the_next(redis_url: str) -> None:
    """A connection with an answer still on its way is never used again."""
    async with cache_at(redis_url) as cache, client_at(redis_url) as client:
        await cache.put("mine", b"mine", seconds=60)
        await cache.put("yours", b"yours", seconds=60)
        for _ in range(5):
            await client.client_pause(60, all=True)
            reading = asyncio.create_task(cache.get("mine"))
            await asyncio.sleep(0.02)
            reading.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await reading

            assert await cache.get("yours") == b"yours"


async def test_a_hundred_reads_at_once_share_the_pool(redis_url: str) -> None:
    """More callers than connections wait for one, briefly."""
    async with cache_at(redis_url) as cache:
        for number in range(100):
            await cache.put(str(number), str(number).encode(), seconds=60)

        values = await asyncio.gather(*(cache.get(str(number)) for number in range(100)))

    assert values == [str(number).encode() for number in range(100)]


@pytest.mark.parametrize(
    "url",
    [
        *("", "localhost:6379", "http://localhost", "redis://localhost:port/0"),
        *("redis://localhost?unknown=1", "unix:///tmp/r.sock?unknown=1", "redis://localhost?db=first"),
        *("rediss://localhost?ssl_cert_reqs=perhaps", "redis://localhost/first", "redis://localhost/-1"),
    ],
)
def test_a_url_that_is_none_is_refused_at_once(url: str) -> None:
    """With the forms that work; the URL may hold a password and is not shown."""
    with pytest.raises(ConfigurationError, match="REDIS_URL"):
        RedisCache(url)


async def test_the_doctor_asks_past_the_circuit(redis_url: str) -> None:
    """It learns the version, or why there is none."""
    connection = RedisConnection(redis_url)
    try:
        assert (await connection.ping())[0].isdigit()
    finally:
        await connection.close()
    async with tarpit() as (url, _):
        silent = RedisConnection(url)
        with pytest.raises(UnavailableError, match="does not answer"):
            await silent.ping()
        await silent.close()


async def test_a_cache_closes_the_connection_it_opened(redis_url: str) -> None:
    """And only that one."""
    own = RedisCache(redis_url)
    await own.put("key", b"value", seconds=60)
    await own.close()
    async with cache_at(redis_url) as shared:
        await shared.close()

        assert await shared.get("key") == b"value"
