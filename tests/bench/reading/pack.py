"""What was learned, as little as is worth keeping of it."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from adapters.e5.changes import packed
from adapters.e5.packed_model import PackedModel

_HEADS = ("answer", "whole")
_EMBEDDINGS = {"pos": "emb.pos", "every": "emb.type"}
_KIND = {"weight": "w", "bias": "b"}


def pack(state: Mapping[str, Any], model: PackedModel) -> dict[str, Any]:
    """Arrays by the names that `adapters.e5.weights` and `adapters.readers.e5_reader` look for."""
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
                codes, scales = packed(values - model.tensor(f"{place}.w", *values.shape))
                yield f"{place}.codes", codes
                yield f"{place}.scales", scales
            else:
                yield f"{place}.{_KIND[last]}", values.astype(np.float16)
