"""The token that signs a webhook's events, kept where every process finds it and no log shows it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime

import asyncpg

from adapters.stores.connecting import Connection, translated
from adapters.stores.pool import ACQUIRE_SECONDS

TRUSTED, OFFERED = "trusted", "offered"

_READ = "SELECT role, token, received_at, used_at FROM webhook_tokens"

# A token by which no event was ever signed gives way to a newer one: the subscription was made again.
_TRUST = """
INSERT INTO webhook_tokens AS known (role, token) VALUES ('trusted', $1)
ON CONFLICT (role) DO UPDATE SET token = excluded.token, received_at = now()
    WHERE known.used_at IS NULL
RETURNING role
"""

_OFFER = """
INSERT INTO webhook_tokens (role, token) VALUES ('offered', $1)
ON CONFLICT (role) DO UPDATE SET token = excluded.token, received_at = now()
"""

_USED = "UPDATE webhook_tokens SET used_at = now() WHERE role = 'trusted' AND token = $1 AND used_at IS NULL"


@dataclass(frozen=True, slots=True)
class StoredToken:
    """A token with when it came, and when the first event was signed by it."""

    token: str = field(repr=False)
    received_at: datetime
    used_at: datetime | None


@dataclass(frozen=True, slots=True)
class StoredTokens:
    """``trusted`` checks events. ``offered`` came later, from nobody knows whom."""

    trusted: StoredToken | None = None
    offered: StoredToken | None = None


class PostgresTokens:
    """Webhook tokens in PostgreSQL."""

    def __init__(self, url: str, pool: asyncpg.Pool) -> None:
        self._url = url
        self._pool = pool

    async def read(self) -> StoredTokens:
        """What is stored."""
        async with self._connection() as connection:
            rows = await connection.fetch(_READ)
        known = {row["role"]: StoredToken(row["token"], row["received_at"], row["used_at"]) for row in rows}
        return StoredTokens(known.get(TRUSTED), known.get(OFFERED))

    async def shake_hands(self, token: str) -> bool:
        """Take a token; false if another one is in use, beside which this one is only kept to be shown."""
        async with self._connection() as connection:
            if await connection.fetchval(_TRUST, token) is not None:
                return True
            await connection.execute(_OFFER, token)
            return False

    async def used(self, token: str) -> None:
        """An event was signed by it: it is Notion's."""
        async with self._connection() as connection:
            await connection.execute(_USED, token)

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Connection]:
        with translated(self._url):
            async with self._pool.acquire(timeout=ACQUIRE_SECONDS) as connection:
                yield connection
