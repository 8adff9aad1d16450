"""Claims while they are worked on: kept, asked for once more before a post, recorded at the end."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from core.errors import FootnoteError
from core.ports.chat import ClaimKey, Claims

logger = logging.getLogger(__name__)


class LostClaimError(Exception):
    """Another process took the question over, since this one did not extend its claim in time."""


@asynccontextmanager
async def held(claims: Claims, key: ClaimKey, *, lease_seconds: float) -> AsyncIterator[None]:
    """Extend the claim thrice a lease while the block runs; a database that is away ends nothing."""

    async def extend() -> None:
        while True:
            await asyncio.sleep(lease_seconds / 3)
            try:
                await claims.extend(key, lease_seconds=lease_seconds)
            except FootnoteError as error:
                logger.warning("a claim cannot be extended: %s", error)

    task = asyncio.create_task(extend())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def require(claims: Claims, key: ClaimKey, *, lease_seconds: float, reply: str = "") -> None:
    """Post only what is still ours to post; a database that is away is no reason to keep silent.

    Raises:
        LostClaimError: it is another process's by now.
    """
    try:
        is_ours = await claims.extend(key, lease_seconds=lease_seconds, reply=reply)
    except FootnoteError as error:
        logger.warning("a claim cannot be extended: %s", error)
        return
    if not is_ours:
        raise LostClaimError


async def record(claims: Claims, key: ClaimKey, *, reply: str) -> None:
    """Note that it was answered; if that fails, whoever takes over finds the answer where it was posted."""
    try:
        await claims.done(key, reply=reply)
    except FootnoteError as error:
        logger.warning("question %s is answered, but that cannot be recorded: %s", key.event, error)
