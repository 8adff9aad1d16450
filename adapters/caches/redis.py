"""The cache in Redis, shared by all processes. Away, full or damaged, it is a miss and nothing worse."""

from adapters.caches.connecting import RedisConnection
from adapters.caches.frames import framed, unframed
from core.errors import UnavailableError

PREFIX = "footnote:"
LARGEST_FRAME = 256 * 1024
"""Bytes; larger values are not kept. How much all of them may take is the server's ``maxmemory``, with an
eviction policy: every value has an expiry, so ``volatile-lru`` and ``allkeys-lru`` both serve."""


class RedisCache:
    """Bytes under keys, for a while."""

    def __init__(self, connection: RedisConnection | str, *, prefix: str = PREFIX) -> None:
        """A URL opens a connection that belongs to this cache; `close` ends it.

        Raises:
            ConfigurationError: the URL is none of Redis.
        """
        self._owns_connection = isinstance(connection, str)
        self._connection = RedisConnection(connection) if isinstance(connection, str) else connection
        self._prefix = prefix

    async def get(self, key: str) -> bytes | None:
        """The value, or null: unknown, expired, damaged or unreachable."""
        name = self._prefix + key
        try:
            frame = await self._connection.ask(lambda client: client.get(name))
        except UnavailableError:
            return None
        return unframed(key, frame) if isinstance(frame, bytes) else None

    async def put(self, key: str, value: bytes, *, seconds: int) -> None:
        """Keep a value for ``seconds``, or forget what is there where that is 0; nothing if Redis is away."""
        name = self._prefix + key
        frame = framed(key, value)
        try:
            if seconds <= 0 or len(frame) > LARGEST_FRAME:
                await self._connection.ask(lambda client: client.delete(name))
            else:
                await self._connection.ask(lambda client: client.set(name, frame, ex=seconds))
        except UnavailableError:
            return

    async def close(self) -> None:
        """Close the connection if it is this cache's own."""
        if self._owns_connection:
            await self._connection.close()
