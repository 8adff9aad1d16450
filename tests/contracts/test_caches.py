"""What holds for every cache."""

from collections.abc import AsyncIterator

import pytest

from adapters.caches.memory import MemoryCache
from adapters.caches.redis import RedisCache
from core.ports import Cache


@pytest.fixture(params=["memory", "redis"])
async def cache(request: pytest.FixtureRequest, redis_url: str) -> AsyncIterator[Cache]:
    """Each adapter in turn, empty."""
    if request.param == "memory":
        yield MemoryCache()
        return
    shared = RedisCache(redis_url)
    yield shared
    await shared.close()


async def test_what_was_put_is_got(cache: Cache) -> None:
    """Any bytes, small or large, compressible or not, come back as they were."""
    values = {"empty": b"", "zeros": bytes(100_000), "binary": bytes(range(256)) * 10, "text": b"answer"}
    for key, value in values.items():
        await cache.put(key, value, seconds=60)

    assert {key: await cache.get(key) for key in values} == values


async def test_an_unknown_key_is_a_miss(cache: Cache) -> None:
    """Null, not an error."""
    assert await cache.get("never put") is None


async def test_the_last_value_wins(cache: Cache) -> None:
    """Putting again replaces."""
    await cache.put("key", b"old", seconds=60)
    await cache.put("key", b"new", seconds=60)

    assert await cache.get("key") == b"new"


async def test_a_value_for_no_time_is_gone(cache: Cache) -> None:
    """Zero seconds mean: forget it, also what was there before."""
    await cache.put("key", b"old", seconds=60)
    await cache.put("key", b"new", seconds=0)

    assert await cache.get("key") is None
