"""The transformer computes what it does when written out, and takes what was learned in."""

import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper

from adapters import e5, readers
from adapters.e5.changes import packed as packed_change
from adapters.e5.encoder import GRAPH, MOST_CORES, Encoder, cores
from adapters.e5.installed import installed_model
from adapters.e5.packed_model import open_packed
from adapters.e5.weights import Adapted
from adapters.readers.e5_reader import LEARNED
from adapters.readers.inputs import LONGEST
from core.errors import ConfigurationError, UnavailableError
from tests.adapters.e5.packed import WIDTH, rounded, tensors, write_packed
from tests.adapters.e5.plain import plain_states
from tests.bench.reading.graph import graph

TINY = [np.array([0, 5, 7, 2], np.int64), np.array([0, 8, 2], np.int64)]
LEARNED_BY_THE_READER = files(readers) / LEARNED


@pytest.fixture
def tiny_graph(tmp_path: Path) -> Path:
    """What is computed with the tiny model."""
    write_packed(tmp_path / "any.bin", tensors())
    file = tmp_path / "tiny.onnx"
    file.write_bytes(graph(open_packed(tmp_path / "any.bin").shape).SerializeToString())
    return file


def test_the_graph_is_what_its_script_makes() -> None:
    """For the installed model, to the last step."""
    kept = onnx.load(str(files(e5) / GRAPH), load_external_data=False)
    assert kept == graph(open_packed(installed_model()).shape)


def test_the_same_states_as_written_out() -> None:
    """Of the whole model with what was learned, for a text of one token and for the longest."""
    packed = open_packed(installed_model())
    with np.load(str(LEARNED_BY_THE_READER), allow_pickle=False) as file:
        learned = dict(file)
    draw = np.random.default_rng(5)
    texts = [draw.integers(4, 200_000, size) for size in (1, 37, LONGEST)]
    for text, rows in zip(texts, Encoder(packed, learned).states(texts), strict=True):
        assert np.abs(rows - plain_states(packed, learned, text)).max() < 1e-4


def tiny(file: Path, graph_file: Path, learned: Adapted | None = None) -> Encoder:
    """The model in a file, with what was learned."""
    return Encoder(open_packed(file), learned or {}, graph=graph_file)


def test_texts_do_not_see_one_another(tmp_path: Path, tiny_graph: Path) -> None:
    """Read together or alone, a text's states are the same."""
    write_packed(tmp_path / "a.bin", tensors(1))
    encoder = tiny(tmp_path / "a.bin", tiny_graph)
    together = encoder.states(TINY)
    for one, rows in zip(TINY, together, strict=True):
        assert np.allclose(rows, encoder.states([one])[0], atol=1e-5)
        assert rows.shape == (len(one), WIDTH)


MATRICES = [f"l0.{part}.w" for part in ("q", "k", "v", "ao", "fi", "fo")]
VECTORS = [name for name in tensors() if name not in {*MATRICES, "emb.word", "l0.k.b"}]
"""Without words, which are not learned, and the keys' bias, which moves all weights of a token alike."""


@pytest.mark.parametrize("name", [*MATRICES, *VECTORS])
def test_what_was_learned_turns_one_model_into_another(tmp_path: Path, tiny_graph: Path, name: str) -> None:
    """Matrices but for what four bits lose of their change, vectors by what is put in their place."""
    first, second = tensors(1), tensors(2)
    write_packed(tmp_path / "first.bin", first)
    write_packed(tmp_path / "second.bin", first | {name: second[name]})
    plain = tiny(tmp_path / "first.bin", tiny_graph).states(TINY)
    wanted = tiny(tmp_path / "second.bin", tiny_graph).states(TINY)
    learned: dict[str, npt.NDArray[Any]] = {name: second[name].reshape(-1)}
    if name in MATRICES:
        change = rounded(name, second[name]) - rounded(name, first[name])
        place = name.removesuffix(".w")
        codes, scales = packed_change(change)
        learned = {f"{place}.codes": codes, f"{place}.scales": scales}
    left = 0.3 if name in MATRICES else 1e-3

    got = tiny(tmp_path / "first.bin", tiny_graph, learned).states(TINY)

    for ours, theirs, others in zip(got, wanted, plain, strict=True):
        assert np.abs(others - theirs).max() > 1e-4
        assert np.abs(ours - theirs).max() < left * np.abs(others - theirs).max() + 1e-5


def test_what_is_missing_or_does_not_fit_is_named(
    tmp_path: Path, tiny_graph: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The graph's file, a graph for another model, a library that is too old, the library."""
    write_packed(tmp_path / "a.bin", tensors())
    with pytest.raises(ConfigurationError, match=r"cannot run the model by .*none\.onnx"):
        tiny(tmp_path / "a.bin", tmp_path / "none.onnx")
    with pytest.raises(ConfigurationError, match=f"cannot run the model by .*{GRAPH}"):
        Encoder(open_packed(tmp_path / "a.bin"), {})
    with monkeypatch.context() as older:
        older.delattr(onnxruntime.SessionOptions, "add_external_initializers_from_files_in_memory")
        with pytest.raises(ConfigurationError, match=r"onnxruntime 1\.24.*footnote-bot\[embedded\]"):
            tiny(tmp_path / "a.bin", tiny_graph)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ConfigurationError, match=r"onnxruntime.*footnote-bot\[embedded\]"):
        tiny(tmp_path / "a.bin", tiny_graph)


def test_what_cannot_be_computed_is_an_error_of_ours(
    tmp_path: Path, tiny_graph: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """So that a question is judged without reading; and the library writes nothing of it itself."""
    broken = onnx.load(str(tiny_graph), load_external_data=False)
    last = broken.graph.node[-1]
    last.CopyFrom(helper.make_node("Reshape", [last.input[0], "sizes"], ["states"]))
    broken.graph.initializer.append(numpy_helper.from_array(np.array([1, 99, WIDTH]), "sizes"))
    tiny_graph.write_bytes(broken.SerializeToString())
    write_packed(tmp_path / "a.bin", tensors())
    with pytest.raises(UnavailableError, match="failed at 4 tokens"):
        tiny(tmp_path / "a.bin", tiny_graph).states(TINY)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("there", "used"), [(1, 1), (2, 2), (MOST_CORES, MOST_CORES), (64, MOST_CORES)])
def test_a_large_machine_is_not_taken_whole(monkeypatch: pytest.MonkeyPatch, there: int, used: int) -> None:
    """A container on it sees all cores and may use a few; each text in flight takes memory."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(there)))
    assert cores() == used
