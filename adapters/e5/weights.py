"""The weights of multilingual-e5-small as its graph takes them: unpacked, with what was learned."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from adapters.e5.changes import unpacked
from adapters.e5.packed_model import Floats, PackedModel

Adapted = Mapping[str, npt.NDArray[Any]]
"""What was learned: ``l3.q.codes`` and ``l3.q.scales``, the change of a packed matrix (`changes`), and
whatever is put in place of the packed vectors (``l3.q.b``, ``l3.oln.w``, ``emb.pos``)."""

_MATRICES, _NORMS = ("ao", "fi", "fo"), ("aln", "oln")


def vector(model: PackedModel, adapted: Adapted, name: str) -> Floats:
    """What is not packed, in one row."""
    return adapted[name].astype(np.float32) if name in adapted else model.tensor(name, -1)


def weights(model: PackedModel, adapted: Adapted) -> Iterator[tuple[str, Floats]]:
    """By their names in the graph: ``l3.fi.w``, ``l3.fi.b``. Matrices are (inputs, outputs).

    Those of queries, keys and values stand side by side, as ``l3.qkv``: they are multiplied at once.
    """
    yield from _vectors(model, adapted, "emb.ln")
    for number in range(model.shape.layers):
        layer = f"l{number}."
        asked, keys, values = (_linear(model, adapted, layer + part) for part in "qkv")
        yield f"{layer}qkv.w", np.ascontiguousarray(np.hstack([asked[0], keys[0], values[0]]))
        yield f"{layer}qkv.b", np.concatenate([asked[1], keys[1], values[1]])
        for part in _MATRICES:
            weight, bias = _linear(model, adapted, layer + part)
            yield f"{layer}{part}.w", np.ascontiguousarray(weight)
            yield f"{layer}{part}.b", bias
        for part in _NORMS:
            yield from _vectors(model, adapted, layer + part)


def _vectors(model: PackedModel, adapted: Adapted, name: str) -> Iterator[tuple[str, Floats]]:
    for one in (f"{name}.w", f"{name}.b"):
        yield one, vector(model, adapted, one)


def _linear(model: PackedModel, adapted: Adapted, name: str) -> tuple[Floats, Floats]:
    bias = vector(model, adapted, f"{name}.b")
    weight = model.tensor(f"{name}.w", len(bias), -1)
    if f"{name}.codes" in adapted:
        change = unpacked(adapted[f"{name}.codes"], adapted[f"{name}.scales"])
        weight = weight + change.reshape(weight.shape)
    return weight.T, bias
