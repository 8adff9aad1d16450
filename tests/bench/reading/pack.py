"""What was learned, as little as is worth keeping of it."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from adapters.readers.packed_model import PackedModel

RANK = 32
"""Of the change of each matrix its strongest directions are kept: on held-out groups 32 of 384 lose nothing
that can be told from chance."""

_HEADS = ("answer", "whole")
_EMBEDDINGS = {"pos": "emb.pos", "every": "emb.type"}
_KIND = {"weight": "w", "bias": "b"}


def pack(state: Mapping[str, Any], model: PackedModel) -> dict[str, Any]:
    """Arrays by the names that `adapters.readers.encoder` and `adapters.readers.e5_reader` look for."""
    return dict(_arrays({name: tensor.numpy() for name, tensor in state.items()}, model))


def _arrays(
    state: Mapping[str, npt.NDArray[np.float32]], model: PackedModel
) -> Iterator[tuple[str, npt.NDArray[np.generic]]]:
    for name, values in state.items():
        *path, last = name.split(".")
        if path and path[0] in _HEADS:
            yield name, values.T if path[0] == "answer" else values.squeeze()
        elif name in _EMBEDDINGS:
            yield _EMBEDDINGS[name], values.reshape(-1).astype(np.float16)
        elif path and path[0] != "word":
            place = "emb.ln" if path == ["ln"] else f"l{path[1]}.{path[2]}"
            if values.ndim > 1:
                change = values - model.tensor(f"{place}.w", *values.shape)
                yield from _product(place, change)
            else:
                yield f"{place}.{_KIND[last]}", values.astype(np.float16)


def _product(place: str, change: npt.NDArray[np.float32]) -> Iterator[tuple[str, npt.NDArray[np.generic]]]:
    """The two matrices whose product is nearest to the change (Eckart and Young, 1936)."""
    left, strengths, right = np.linalg.svd(change, full_matrices=False)
    root = np.sqrt(strengths[:RANK])
    yield f"{place}.up", (left[:, :RANK] * root).astype(np.float16)
    yield f"{place}.down", (root[:, None] * right[:RANK]).astype(np.float16)
