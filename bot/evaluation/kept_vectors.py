"""Vectors of passages kept by text hash in one file, so that only the first measurement pays for them."""

import sqlite3
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from core.domain.models import ModelProfile, Vector
from core.ports import Embedder


class KeptVectors:
    """An embedder with a memory on disk; ``made`` counts what it had to ask the model for."""

    def __init__(self, embedder: Embedder, path: Path) -> None:
        """``path`` is created with its folder where it is missing."""
        self._embedder = embedder
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = sqlite3.connect(path)
        self._file.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL)")
        self.made = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    @property
    def profile(self) -> ModelProfile:
        """The space of the embedder behind."""
        return self._embedder.profile

    async def embed_query(self, text: str) -> Vector:
        """As the embedder behind."""
        return await self._embedder.embed_query(text)

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """The vectors of passages, remembered or new; what the model refuses is not remembered.

        Raises:
            TemporaryError, RefusedError, ConfigurationError: as the embedder behind.
        """
        keys = [self._key(text) for text in texts]
        vectors = {key: vector for key in keys if (vector := self._look_up(key)) is not None}
        unknown = {key: text for key, text in zip(keys, texts, strict=True) if key not in vectors}
        if unknown:
            made = await self._embedder.embed_passages(list(unknown.values()))
            new = {key: vector for key, vector in zip(unknown, made, strict=True) if vector is not None}
            self._file.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                [(key, np.asarray(vector, dtype="<f4").tobytes()) for key, vector in new.items()],
            )
            self._file.commit()
            self.made += len(new)
            vectors |= new
        return [vectors.get(key) for key in keys]

    def _key(self, text: str) -> bytes:
        profile = self.profile
        parts = (profile.name, str(profile.dimensions), profile.passage_prefix, text)
        return sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).digest()

    def _look_up(self, key: bytes) -> Vector | None:
        row = self._file.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
        return None if row is None else np.frombuffer(row[0], dtype="<f4").astype(np.float32)
