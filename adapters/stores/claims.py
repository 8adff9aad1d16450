"""Claims in PostgreSQL: one row per question, answered once, by whichever process of several."""

import json
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

from adapters.stores.small_pool import SmallPool, small_pool
from adapters.stores.texts import storable
from core.ports.chat import AbandonedClaim, ClaimKey, ClaimState

KEEP_DAYS = 30
"""How long answered questions are remembered: platforms redeliver for hours, threads go on for weeks."""

_STATEMENT_SECONDS = 5.0

_CLAIM = """
INSERT INTO chat_claims (platform, event, place, thread, payload, holder, lease_until)
VALUES ($1, $2, $3, $4, $5, $6, now() + $7)
ON CONFLICT DO NOTHING
RETURNING id
"""

_IS_DONE = """
SELECT bool_or(done_at IS NOT NULL)
FROM chat_claims
WHERE platform = $1 AND (event = $2 OR place = $3)
"""

_EXTEND = """
UPDATE chat_claims
SET lease_until = now() + $4,
    reply       = coalesce($5, reply)
WHERE platform = $1 AND event = $2 AND holder = $3 AND done_at IS NULL
RETURNING id
"""

_DONE = """
UPDATE chat_claims
SET done_at = now(),
    reply   = $3,
    payload = NULL
WHERE platform = $1 AND event = $2
"""

# Skips rows that another process is taking at this moment: each is handed to one caller.
_TAKE_OVER = """
UPDATE chat_claims
SET holder      = $2,
    lease_until = now() + $3,
    attempts    = attempts + 1
WHERE id IN (
    SELECT id
    FROM chat_claims
    WHERE platform = $1 AND done_at IS NULL AND lease_until <= now()
    ORDER BY id
    LIMIT $4
    FOR UPDATE SKIP LOCKED
)
RETURNING event, place, payload, attempts, reply
"""

_WAS_ANSWERED = """
SELECT EXISTS (
    SELECT FROM chat_claims
    WHERE platform = $1 AND thread = $2 AND done_at IS NOT NULL
)
"""

_FORGET = """
DELETE FROM chat_claims
WHERE platform = $1 AND done_at < now() - $2::interval
"""


class PostgresClaims:
    """The claims port over a pool. ``holder`` names this process, so that a lost claim is noticed."""

    def __init__(self, pool: SmallPool) -> None:
        self._pool = pool
        self._holder = secrets.token_hex(8)

    async def claim(
        self, key: ClaimKey, *, payload: Mapping[str, str], lease_seconds: float, thread: str = ""
    ) -> ClaimState:
        """As the port says.

        Raises:
            UnavailableError: the database cannot be asked; the platform should deliver again.
        """
        taken = await self._pool.fetchval(
            _CLAIM,
            key.platform,
            key.event,
            key.place or None,
            thread or None,
            json.dumps({name: storable(text) for name, text in payload.items()}),
            self._holder,
            timedelta(seconds=lease_seconds),
        )
        if taken is not None:
            return ClaimState.TAKEN
        done = await self._pool.fetchval(_IS_DONE, key.platform, key.event, key.place or None)
        return ClaimState.DONE if done else ClaimState.HELD

    async def extend(self, key: ClaimKey, *, lease_seconds: float, reply: str = "") -> bool:
        """As the port says."""
        kept = await self._pool.fetchval(
            _EXTEND,
            key.platform,
            key.event,
            self._holder,
            timedelta(seconds=lease_seconds),
            reply or None,
        )
        return kept is not None

    async def done(self, key: ClaimKey, *, reply: str) -> None:
        """As the port says."""
        await self._pool.execute(_DONE, key.platform, key.event, reply)

    async def take_over(self, platform: str, *, lease_seconds: float, limit: int) -> Sequence[AbandonedClaim]:
        """As the port says; also forgets what was answered long ago."""
        await self._pool.execute(_FORGET, platform, timedelta(days=KEEP_DAYS))
        rows = await self._pool.fetch(
            _TAKE_OVER, platform, self._holder, timedelta(seconds=lease_seconds), limit
        )
        return tuple(
            AbandonedClaim(
                key=ClaimKey(platform=platform, event=row["event"], place=row["place"] or ""),
                payload=json.loads(row["payload"]),
                attempts=row["attempts"],
                reply=row["reply"] or "",
            )
            for row in rows
        )

    async def was_answered(self, platform: str, thread: str) -> bool:
        """As the port says."""
        return bool(await self._pool.fetchval(_WAS_ANSWERED, platform, thread))


@asynccontextmanager
async def open_claims(url: str) -> AsyncIterator[PostgresClaims]:
    """Claims with a small pool of their own, so that a busy index never delays an acknowledgement.

    Raises:
        UnavailableError, RefusedError, ConfigurationError: as `adapters.stores.connecting.translated`.
    """
    async with small_pool(url, seconds=_STATEMENT_SECONDS, size=4, least=1) as pool:
        yield PostgresClaims(pool)
