"""The pace of calls to a service over all processes: one atomic script in Redis for each call."""

from hashlib import sha256
from importlib.resources import files

from adapters.caches.connecting import RedisConnection
from core.ports.sharing import LEARNING, Learning, Start

_SCRIPT = files("adapters.caches").joinpath("pace.lua").read_text(encoding="utf-8")
_MICROSECONDS = 1_000_000
FORGET_SECONDS = 24 * 60 * 60


class RedisPace:
    """A `core.ports.sharing.SharedPace`.

    ``account`` tells whose rate it is, such as the service's address and the token; only its digest is kept.
    """

    def __init__(self, connection: RedisConnection, account: str, *, learning: Learning = LEARNING) -> None:
        """``connection`` stays the caller's."""
        self._connection = connection
        self._key = f"footnote:pace:{sha256(account.encode()).hexdigest()[:32]}"
        self._learning = learning

    async def claim(self, *, accepted: int = 0, now: float | None = None) -> Start:
        """As `SharedPace.claim`; ``now`` in seconds is for tests, else the server's clock counts."""
        return await self._run("claim", accepted, 0.0, now)

    async def refused(self, wait: float, *, accepted: int = 0, now: float | None = None) -> None:
        """As `SharedPace.refused`."""
        await self._run("refused", accepted, wait, now)

    async def _run(self, what: str, accepted: int, wait: float, now: float | None) -> Start:
        learning = self._learning
        values = (
            *(what, str(accepted), repr(wait * _MICROSECONDS), repr(learning.growth)),
            *(repr(learning.most_cycles), str(learning.least_calls), repr(learning.idle * _MICROSECONDS)),
            str(FORGET_SECONDS),
            "" if now is None else repr(now * _MICROSECONDS),
        )
        until, rate = await self._connection.ask(lambda client: client.eval(_SCRIPT, 1, self._key, *values))
        return Start(float(until) / _MICROSECONDS, float(rate) if rate else None)
