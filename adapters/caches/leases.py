"""Claims on work: in Redis for all processes, in a dictionary for one."""

import time
from collections.abc import Callable
from uuid import uuid4

from adapters.caches.connecting import RedisConnection
from core.errors import UnavailableError

_PREFIX = "footnote:lease:"

# A claim that ran out may be another's by now: only its holder's token may touch it.
_EXTEND = """
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0
"""
_GIVE_BACK = """
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
"""


class RedisLeases:
    """Claims that every process sees."""

    def __init__(self, connection: RedisConnection) -> None:
        """``connection`` stays the caller's."""
        self._connection = connection

    async def take(self, key: str, *, seconds: float) -> str | None:
        """A token; null while somebody else holds the claim. While Redis is away everybody gets one."""
        token = uuid4().hex
        milliseconds = _milliseconds(seconds)
        try:
            taken = await self._connection.ask(
                lambda client: client.set(_PREFIX + key, token, nx=True, px=milliseconds)
            )
        except UnavailableError:
            return token
        return token if taken else None

    async def extend(self, key: str, token: str, *, seconds: float) -> None:
        """Keep a claim; nothing happens if it was lost meanwhile."""
        await self._run(_EXTEND, key, token, str(_milliseconds(seconds)))

    async def give_back(self, key: str, token: str) -> None:
        """End a claim; nothing happens if it was lost meanwhile, or if Redis is: claims end by themselves."""
        await self._run(_GIVE_BACK, key, token)

    async def _run(self, script: str, key: str, *arguments: str) -> None:
        try:
            await self._connection.ask(lambda client: client.eval(script, 1, _PREFIX + key, *arguments))
        except UnavailableError:
            return


class MemoryLeases:
    """Claims within one process: the same contract in a dictionary."""

    def __init__(self, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._claims: dict[str, tuple[str, float]] = {}

    async def take(self, key: str, *, seconds: float) -> str | None:
        """A token; null while somebody else holds the claim."""
        if self._holder(key) is not None:
            return None
        token = uuid4().hex
        self._claims[key] = (token, self._monotonic() + seconds)
        return token

    async def extend(self, key: str, token: str, *, seconds: float) -> None:
        """Keep a claim; nothing happens if it was lost meanwhile."""
        if self._holder(key) == token:
            self._claims[key] = (token, self._monotonic() + seconds)

    async def give_back(self, key: str, token: str) -> None:
        """End a claim; nothing happens if it was lost meanwhile."""
        if self._holder(key) == token:
            del self._claims[key]

    def _holder(self, key: str) -> str | None:
        token, until = self._claims.get(key, ("", 0.0))
        if not token or until > self._monotonic():
            return token or None
        del self._claims[key]
        return None


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))
