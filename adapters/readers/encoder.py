"""The transformer of multilingual-e5-small in numpy, for texts that are read together: a few at a time."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from adapters.readers.changes import unpacked
from adapters.readers.packed_model import Floats, PackedModel

_GELU, _CUBIC = math.sqrt(2 / math.pi), 0.044715
"""The usual approximation of GELU by a hyperbolic tangent (Hendrycks and Gimpel, 2016, arXiv:1606.08415)."""

Adapted = Mapping[str, npt.NDArray[Any]]
"""What was learned: ``l3.q.codes`` and ``l3.q.scales``, the change of a packed matrix (`changes`), and
whatever is put in place of the packed vectors (``l3.q.b``, ``l3.oln.w``, ``emb.pos``)."""


@dataclass(frozen=True, slots=True)
class _Norm:
    weight: Floats
    bias: Floats


@dataclass(frozen=True, slots=True)
class _Linear:
    """``weight`` is (inputs, outputs), so that rows of texts are multiplied as they lie."""

    weight: Floats
    bias: Floats

    def __call__(self, rows: Floats) -> Floats:
        return rows @ self.weight + self.bias


@dataclass(frozen=True, slots=True)
class _Layer:
    attended: _Linear
    mixed: _Linear
    after_attention: _Norm
    widened: _Linear
    narrowed: _Linear
    after_widening: _Norm


class Encoder:
    """Hidden states of texts."""

    def __init__(self, model: PackedModel, adapted: Adapted) -> None:
        """Unpack the weights: 85 MB."""
        self._model, self._shape = model, model.shape
        width = self._shape.width
        self._places = self._vector("emb.pos", adapted).reshape(-1, width)
        self._type = self._vector("emb.type", adapted)[:width]
        self._first = self._norm("emb.ln", adapted)
        self._layers = [self._layer(f"l{number}.", adapted) for number in range(self._shape.layers)]

    def states(self, texts: Sequence[npt.NDArray[np.int64]]) -> list[Floats]:
        """The last hidden states of each text, shape (tokens, width). Texts are numbers of pieces.

        Texts lie one after the other in one matrix, so that each weight is fetched once for all of them.
        """
        lengths = [len(text) for text in texts]
        ends = np.cumsum(lengths)
        stretches = [slice(int(end) - length, int(end)) for end, length in zip(ends, lengths, strict=True)]
        words = self._model.rows("emb.word", np.concatenate(texts), self._shape.width)
        places = np.concatenate([self._places[:length] for length in lengths])
        rows = self._normed(words + places + self._type, self._first)
        for layer in self._layers:
            rows = self._normed(
                rows + layer.mixed(self._attention(layer, rows, stretches)), layer.after_attention
            )
            rows = self._normed(rows + layer.narrowed(_gelu(layer.widened(rows))), layer.after_widening)
        return [rows[stretch] for stretch in stretches]

    def _attention(self, layer: _Layer, rows: Floats, stretches: Sequence[slice]) -> Floats:
        width, heads = self._shape.width, self._shape.heads
        size = width // heads
        all_three = layer.attended(rows).reshape(len(rows), 3, heads, size)
        seen = np.empty((len(rows), width), np.float32)
        for stretch in stretches:
            asked, keys, values = all_three[stretch].transpose(1, 2, 0, 3)
            weights = asked @ keys.transpose(0, 2, 1) / np.float32(math.sqrt(size))
            weights -= weights.max(axis=-1, keepdims=True)
            np.exp(weights, out=weights)
            weights /= weights.sum(axis=-1, keepdims=True)
            seen[stretch] = (weights @ values).transpose(1, 0, 2).reshape(-1, width)
        return seen

    def _normed(self, rows: Floats, norm: _Norm) -> Floats:
        rows = rows - rows.mean(axis=1, keepdims=True)
        spread = np.sqrt(np.einsum("ij,ij->i", rows, rows)[:, None] / rows.shape[1] + self._shape.epsilon)
        normed: Floats = rows / spread * norm.weight + norm.bias
        return normed

    def _layer(self, name: str, adapted: Adapted) -> _Layer:
        queries, keys, values = (self._linear(name + part, adapted) for part in ("q", "k", "v"))
        attended = _Linear(
            np.ascontiguousarray(np.concatenate([queries.weight, keys.weight, values.weight], axis=1)),
            np.concatenate([queries.bias, keys.bias, values.bias]),
        )
        return _Layer(
            attended=attended,
            mixed=self._linear(name + "ao", adapted),
            after_attention=self._norm(name + "aln", adapted),
            widened=self._linear(name + "fi", adapted),
            narrowed=self._linear(name + "fo", adapted),
            after_widening=self._norm(name + "oln", adapted),
        )

    def _linear(self, name: str, adapted: Adapted) -> _Linear:
        bias = self._vector(name + ".b", adapted)
        weight = self._model.tensor(name + ".w", len(bias), -1)
        if name + ".codes" in adapted:
            change = unpacked(adapted[name + ".codes"], adapted[name + ".scales"])
            weight = weight + change.reshape(weight.shape)
        return _Linear(np.ascontiguousarray(weight.T), bias)

    def _norm(self, name: str, adapted: Adapted) -> _Norm:
        return _Norm(self._vector(name + ".w", adapted), self._vector(name + ".b", adapted))

    def _vector(self, name: str, adapted: Adapted) -> Floats:
        return adapted[name].astype(np.float32) if name in adapted else self._model.tensor(name, -1)


def _gelu(rows: Floats) -> Floats:
    inner = np.float32(_CUBIC) * rows * rows
    inner += 1
    inner *= rows
    inner *= np.float32(_GELU)
    np.tanh(inner, out=inner)
    inner += 1
    inner *= rows
    inner *= np.float32(0.5)
    return inner
