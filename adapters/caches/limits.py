"""Limits over all processes: sliding windows and token budgets, decided by one atomic script in Redis."""

from collections.abc import Sequence
from hashlib import sha1
from importlib.resources import files
from typing import Any
from uuid import uuid4

from redis.exceptions import NoScriptError

from adapters.caches.connecting import Client, RedisConnection
from adapters.caches.limits_memory import MemoryLimits
from core.errors import UnavailableError
from core.ports.sharing import Admission, Budget, Window

_PREFIX = "footnote:limit:"
SLOTS = 24
"""A budget's time is kept in so many slots, and the one that has just begun."""
_MICROSECONDS = 1_000_000


class _Script:
    """A script that the server is sent once and then knows by its digest."""

    def __init__(self, name: str) -> None:
        self._text = files("adapters.caches").joinpath(name).read_text(encoding="utf-8")
        self._digest = sha1(self._text.encode(), usedforsecurity=False).hexdigest()

    async def run(self, client: Client, keys: Sequence[str], arguments: Sequence[str]) -> Any:
        """What the script returns; a server that does not know it, since it was restarted, learns it."""
        try:
            return await client.evalsha(self._digest, len(keys), *keys, *arguments)
        except NoScriptError:
            return await client.eval(self._text, len(keys), *keys, *arguments)


_ADMIT = _Script("limits.lua")
_SPEND = _Script("spend.lua")


class RedisLimits:
    """Counts in Redis; while it is away each of ``processes`` grants its share of every limit.

    Above its share a process still admits, but without the chat model: answers come, cost stays bounded. What
    was granted meanwhile counts against the limits once Redis is back.
    """

    def __init__(self, connection: RedisConnection, *, processes: int = 1) -> None:
        """``connection`` stays the caller's; ``processes`` is how many share the limits."""
        self._connection = connection
        self._share = MemoryLimits(processes=processes)

    async def admit(self, windows: Sequence[Window], *, budgets: Sequence[Budget] = ()) -> Admission:
        """Count a question against all windows at once, or against none if one is full or a budget spent."""
        keys = [_PREFIX + key for key in (*(one.key for one in windows), *(one.key for one in budgets))]
        arguments = [str(len(windows)), uuid4().hex]
        for window in windows:
            granted = self._share.count(window)
            arguments += [str(window.limit), _micros(window.seconds), str(granted)]
        for budget in budgets:
            arguments += [str(budget.tokens), _micros(budget.seconds / SLOTS), str(SLOTS + 1)]
        try:
            admitted, wait = await self._connection.ask(lambda client: _ADMIT.run(client, keys, arguments))
        except UnavailableError:
            granted_here = await self._share.admit(windows, budgets=budgets)
            return granted_here if granted_here.admitted else Admission(admitted=True, makeshift=True)
        return Admission(admitted=bool(admitted), wait=int(wait) / _MICROSECONDS)

    async def spend(self, budgets: Sequence[Budget], *, tokens: int) -> None:
        """Note what an answer has cost; while Redis is away, here."""
        if not budgets or tokens <= 0:
            return
        keys = [_PREFIX + budget.key for budget in budgets]
        arguments = [str(tokens)]
        for budget in budgets:
            arguments += [_micros(budget.seconds / SLOTS), str(SLOTS + 1)]
        try:
            await self._connection.ask(lambda client: _SPEND.run(client, keys, arguments))
        except UnavailableError:
            await self._share.spend(budgets, tokens=tokens)


def _micros(seconds: float) -> str:
    return str(max(1, round(seconds * _MICROSECONDS)))
