"""The cache in a dictionary: for tests, for one process without Redis, and to show what a cache is."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

DEFAULT_BUDGET = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Entry:
    value: bytes
    expires: float


class MemoryCache:
    """Keeps values until they expire, or until ``budget`` bytes are full: then the least recently used go."""

    def __init__(
        self, *, budget: int = DEFAULT_BUDGET, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._budget = budget
        self._monotonic = monotonic
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._size = 0

    async def get(self, key: str) -> bytes | None:
        """The value, or null once it expired."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        if entry.expires <= self._monotonic():
            self._drop(key)
            return None
        self._entries.move_to_end(key)
        return entry.value

    async def put(self, key: str, value: bytes, *, seconds: int) -> None:
        """Keep a value for ``seconds``; one larger than the whole budget is not kept."""
        self._drop(key)
        if seconds <= 0 or _cost(key, value) > self._budget:
            return
        self._entries[key] = _Entry(value, self._monotonic() + seconds)
        self._size += _cost(key, value)
        while self._size > self._budget:
            self._drop(next(iter(self._entries)))

    @property
    def size(self) -> int:
        """Bytes of keys and values held."""
        return self._size

    def _drop(self, key: str) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._size -= _cost(key, entry.value)


def _cost(key: str, value: bytes) -> int:
    return len(key) + len(value)
