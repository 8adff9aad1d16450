"""Keeping a claim for as long as its work goes on."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from core.errors import FootnoteError
from core.ports.chat import ClaimKey, Claims

logger = logging.getLogger(__name__)


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
