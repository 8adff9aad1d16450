"""The cache in a dictionary: budget and expiry."""

from adapters.caches.memory import MemoryCache


class Stopwatch:
    """A monotonic clock that the test moves."""

    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


async def test_a_value_expires_and_gives_its_room_back() -> None:
    """From its last second on it is a miss."""
    clock = Stopwatch()
    cache = MemoryCache(monotonic=clock)
    await cache.put("key", b"value", seconds=10)

    clock.time += 9.9
    before = await cache.get("key")
    clock.time += 0.1
    after = await cache.get("key")

    assert (before, after) == (b"value", None)
    assert cache.size == 0


async def test_the_least_recently_used_value_makes_room() -> None:
    """Size never passes the budget, and what is read often stays."""
    cache = MemoryCache(budget=3 * 101)
    for key in "abc":
        await cache.put(key, bytes(100), seconds=60)
    await cache.get("a")

    await cache.put("d", bytes(100), seconds=60)

    assert [key for key in "abcd" if await cache.get(key)] == ["a", "c", "d"]
    assert cache.size == 303


async def test_a_value_larger_than_the_budget_is_not_kept_and_evicts_nothing() -> None:
    """One huge answer does not empty the cache."""
    cache = MemoryCache(budget=1000)
    await cache.put("small", b"value", seconds=60)

    await cache.put("huge", bytes(2000), seconds=60)

    assert await cache.get("huge") is None
    assert await cache.get("small") == b"value"
