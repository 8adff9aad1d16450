"""A packed model is read as it was written, and anything else is refused in one line."""

from pathlib import Path

import numpy as np
import pytest

from adapters.e5.packed_model import PackedModel, open_packed
from adapters.e5.tokenizing import Tokenizer
from core.errors import ConfigurationError
from tests.adapters.e5.packed import PIECES, WIDTH, rounded, tensors, write_packed

VALUES = tensors()


@pytest.fixture
def packed(tmp_path: Path) -> PackedModel:
    """The tiny model, opened."""
    write_packed(tmp_path / "tiny.bin", VALUES)
    return open_packed(tmp_path / "tiny.bin")


@pytest.mark.parametrize("name", VALUES)
def test_each_tensor_is_read_as_four_bits_keep_it(packed: PackedModel, name: str) -> None:
    """Low halves come before high ones, each block with its own scale; vectors are kept whole."""
    values = VALUES[name]
    assert np.allclose(packed.tensor(name, *values.shape), rounded(name, values), atol=1e-6)


def test_rows_are_those_of_the_whole(packed: PackedModel) -> None:
    """Words are unpacked one by one, in the order asked for."""
    whole = packed.tensor("emb.word", len(PIECES), WIDTH)
    assert np.array_equal(packed.rows("emb.word", np.array([7, 0, 7, 8]), WIDTH), whole[[7, 0, 7, 8]])


def test_pieces_cover_the_text_they_came_from(packed: PackedModel) -> None:
    """Also where a letter is written as two, spaces are drawn together and a line break is a space."""
    text = "a  ﬁ\nb"
    cut = Tokenizer(packed.vocabulary).cut(text)
    assert [PIECES[number] for number in cut.numbers] == ["▁a", "▁", "ab", "▁b"]
    assert [text[slice(*place)] for place in cut.places] == ["a", " ", "ﬁ", "b"]


def test_an_unknown_letter_is_one_unknown_piece(packed: PackedModel) -> None:
    """And an empty text is none."""
    tokenizer = Tokenizer(packed.vocabulary)
    assert PIECES[tokenizer.cut("a語").numbers[-1]] == "<unk>"
    assert tokenizer.cut("").numbers == ()


@pytest.mark.parametrize("content", [b"", b"E5S1", b"GGUF" + bytes(100), b"E5S1" + b"\xff" * 200])
def test_what_is_no_packed_model_is_refused(tmp_path: Path, content: bytes) -> None:
    """Whatever it is instead, and where it is not there at all."""
    file = tmp_path / "other.bin"
    file.write_bytes(content)
    with pytest.raises(ConfigurationError, match=r"cannot read the model in .*other\.bin"):
        open_packed(file)
    with pytest.raises(ConfigurationError, match="cannot read the model"):
        open_packed(tmp_path / "none.bin")


def test_a_tensor_that_is_not_there_is_named(packed: PackedModel) -> None:
    """As a model of another form would lack it."""
    with pytest.raises(ConfigurationError, match=r"has no tensor l9\.q\.w"):
        packed.tensor("l9.q.w", -1)
