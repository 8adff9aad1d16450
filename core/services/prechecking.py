"""A quick look whether a question was claimed already, before the database is asked."""

from collections.abc import Mapping, Sequence

from core.ports import Cache
from core.ports.chat import AbandonedClaim, ClaimKey, Claims, ClaimState

REMEMBERED_SECONDS = 3600
"""Platforms deliver again within minutes."""


class PrecheckedClaims:
    """Claims with the answer "somebody has it" out of a cache that all processes share.

    The cache is told only of what the database holds, so it can say no more than the database would. It
    never gives a question away: what it does not know, has lost or cannot tell is the database's to decide.
    """

    def __init__(self, claims: Claims, cache: Cache) -> None:
        self._claims = claims
        self._cache = cache

    async def claim(
        self, key: ClaimKey, *, payload: Mapping[str, str], lease_seconds: float, thread: str = ""
    ) -> ClaimState:
        """As the port says; ``HELD`` also where the cache knows that it is claimed."""
        names = _names(key)
        for name in names:
            if await self._cache.get(name) is not None:
                return ClaimState.HELD
        state = await self._claims.claim(key, payload=payload, lease_seconds=lease_seconds, thread=thread)
        for name in names:
            await self._cache.put(name, b"1", seconds=REMEMBERED_SECONDS)
        return state

    async def extend(self, key: ClaimKey, *, lease_seconds: float, reply: str = "") -> bool:
        """As the port says."""
        return await self._claims.extend(key, lease_seconds=lease_seconds, reply=reply)

    async def done(self, key: ClaimKey, *, reply: str) -> None:
        """As the port says."""
        await self._claims.done(key, reply=reply)

    async def take_over(self, platform: str, *, lease_seconds: float, limit: int) -> Sequence[AbandonedClaim]:
        """As the port says."""
        return await self._claims.take_over(platform, lease_seconds=lease_seconds, limit=limit)

    async def was_answered(self, platform: str, thread: str) -> bool:
        """As the port says."""
        return await self._claims.was_answered(platform, thread)


def _names(key: ClaimKey) -> tuple[str, ...]:
    names = [f"claim:{key.platform}:event:{key.event}"]
    return (*names, f"claim:{key.platform}:place:{key.place}") if key.place else tuple(names)
