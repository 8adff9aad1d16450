"""The way to Redis: one pool, short waits, and a circuit that stays open while Redis is away.

Commands are never queued until Redis is back (F67): the first one that fails costs less than a second, the
next ones cost nothing, and every ``rest`` seconds one of them looks whether Redis has returned.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar
from urllib.parse import urlsplit

import redis.asyncio
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError, ResponseError

from core.errors import ConfigurationError, UnavailableError

CALL_SECONDS = 0.8
"""For one command with everything around it: waiting for a connection, connecting, connecting again."""
CONNECT_SECONDS = 0.3
ANSWER_SECONDS = 0.5
"""A Redis that takes longer than this for one key is slower than answering without it."""
REST_SECONDS = 2.0
CONNECTIONS = 10

_UNUSABLE = (
    "REDIS_URL is not usable: expected redis://host:6379/0, rediss://... or unix:///path, "
    "and behind a question mark only options that the client knows, such as ?db=1"
)

Client = redis.asyncio.Redis
T = TypeVar("T")
_log = logging.getLogger(__name__)


class RedisConnection:
    """Shared by everything in this process that uses Redis; close it when the process ends."""

    def __init__(
        self, url: str, *, rest: float = REST_SECONDS, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        """Opens nothing yet.

        Raises:
            ConfigurationError: the URL is none of Redis.
        """
        try:
            pool = redis.asyncio.BlockingConnectionPool.from_url(
                url,
                max_connections=CONNECTIONS,
                timeout=CALL_SECONDS,
                socket_connect_timeout=CONNECT_SECONDS,
                socket_timeout=ANSWER_SECONDS,
                # The old protocol needs no greeting: a new connection costs one round trip less.
                protocol=2,
                # Once more at once, so that connections that a restart has killed are not noticed.
                retry=Retry(NoBackoff(), 1, supported_errors=(RedisConnectionError,)),
            )
            # Options in the link are looked at by the first connection only, and then as a TypeError.
            pool.make_connection()  # type: ignore[no-untyped-call] # the library types it only in part
        except (ValueError, TypeError, RedisError) as error:
            raise ConfigurationError(_UNUSABLE) from error
        if not _names_a_database(url):
            raise ConfigurationError(_UNUSABLE)
        self._client: Client = redis.asyncio.Redis.from_pool(pool)
        self._rest = rest
        self._monotonic = monotonic
        self._is_away = False
        self._next_try = 0.0

    async def ask(self, work: Callable[[Client], Awaitable[T]]) -> T:
        """The result of one command.

        Raises:
            UnavailableError: Redis is away, was away a moment ago, or refuses the command.
        """
        if self._is_away:
            if self._monotonic() < self._next_try:
                raise UnavailableError("Redis is away")
            # This call looks for it; the others keep to the open circuit meanwhile.
            self._next_try = self._monotonic() + self._rest
        try:
            async with asyncio.timeout(CALL_SECONDS):
                result = await work(self._client)
        except ResponseError as error:
            # It is there and says no: out of memory, another type under this key, a read-only replica.
            self._came_back()
            raise UnavailableError(f"Redis refuses: {error}") from error
        except (RedisError, OSError, TimeoutError) as error:
            self._went_away(error)
            raise UnavailableError(f"Redis is away: {type(error).__name__}") from error
        self._came_back()
        return result

    async def ping(self) -> str:
        """Ask past the circuit; returns the server's version, for the doctor.

        Raises:
            UnavailableError: Redis does not answer; says why.
        """
        try:
            async with asyncio.timeout(CALL_SECONDS):
                info: dict[str, Any] = await self._client.info("server")
        except (RedisError, OSError, TimeoutError) as error:
            raise UnavailableError(f"Redis does not answer: {str(error) or type(error).__name__}") from error
        self._came_back()
        return str(info.get("valkey_version") or info.get("redis_version") or "unknown")

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()
        await self._client.connection_pool.disconnect()

    def _went_away(self, error: Exception) -> None:
        if not self._is_away:
            _log.warning("Redis is away (%s): answers come without it, slower", type(error).__name__)
        self._is_away = True
        self._next_try = self._monotonic() + self._rest

    def _came_back(self) -> None:
        if self._is_away:
            _log.info("Redis is back")
        self._is_away = False


def _names_a_database(url: str) -> bool:
    """Whether the path is a number: the client takes any other one for database 0, which may be in use."""
    parts = urlsplit(url)
    return parts.scheme == "unix" or parts.path in ("", "/") or parts.path[1:].isdecimal()
