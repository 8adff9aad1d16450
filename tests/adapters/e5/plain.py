"""The transformer written out in numpy, plainly: what ONNX Runtime's states are compared with."""

import math

import numpy as np
import numpy.typing as npt

from adapters.e5.packed_model import Floats, PackedModel
from adapters.e5.weights import Adapted, vector, weights


def plain_states(model: PackedModel, adapted: Adapted, text: npt.NDArray[np.int64]) -> Floats:
    """The last hidden states, (tokens, width), of one text."""
    given, shape = dict(weights(model, adapted)), model.shape

    def linear(rows: Floats, name: str) -> Floats:
        product: Floats = rows @ given[f"{name}.w"] + given[f"{name}.b"]
        return product

    def norm(rows: Floats, name: str) -> Floats:
        middle, spread = rows.mean(axis=1, keepdims=True), rows.var(axis=1, keepdims=True)
        normed: Floats = (rows - middle) / np.sqrt(spread + shape.epsilon)
        return normed * given[f"{name}.w"] + given[f"{name}.b"]

    places = vector(model, adapted, "emb.pos").reshape(-1, shape.width)[: len(text)]
    every = vector(model, adapted, "emb.type")[: shape.width]
    rows = norm(model.rows("emb.word", text, shape.width) + places + every, "emb.ln")
    for number in range(shape.layers):
        layer = f"l{number}."
        seen = _attention(linear(rows, f"{layer}qkv"), shape.heads)
        rows = norm(rows + linear(seen, f"{layer}ao"), f"{layer}aln")
        rows = norm(rows + linear(_gelu(linear(rows, f"{layer}fi")), f"{layer}fo"), f"{layer}oln")
    return rows


def _attention(all_three: Floats, heads: int) -> Floats:
    tokens = len(all_three)
    asked, keys, values = all_three.reshape(tokens, 3, heads, -1).transpose(1, 2, 0, 3)
    weighed = np.exp(asked @ keys.transpose(0, 2, 1) / math.sqrt(asked.shape[-1]))
    weighed /= weighed.sum(axis=-1, keepdims=True)
    seen: Floats = (weighed @ values).transpose(1, 0, 2).reshape(tokens, -1)
    return seen


def _gelu(rows: Floats) -> Floats:
    """By a hyperbolic tangent, as usual (Hendrycks and Gimpel, 2016, arXiv:1606.08415)."""
    bent: Floats = rows * (1 + np.tanh(math.sqrt(2 / math.pi) * (rows + 0.044715 * rows**3))) / 2
    return bent
