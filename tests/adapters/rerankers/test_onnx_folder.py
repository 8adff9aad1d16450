"""A cross-encoder in a folder, run by the real ONNX runtime: a tiny model made here, nothing downloaded."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from adapters.rerankers.onnx_folder import FolderReranker
from bot.settings import Settings
from bot.wiring import open_reranking
from core.errors import ConfigurationError, UnavailableError
from core.services.reranking import Reranking
from tests.core.services.found import WordEmbedder, a_passage

WORDS = {"[PAD]": 0, "[CLS]": 1, "[SEP]": 2, "[UNK]": 3, "vacation": 4, "days": 5, "dogs": 6, "how": 7}


def a_folder(
    folder: Path, *, figures: int = 1, inputs: tuple[str, ...] = ("input_ids", "attention_mask")
) -> Path:
    """A model whose figure is how often the word "vacation" occurs in question and passage, less 1.5.

    With two figures the first is 0; with three it is no cross-encoder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(models.WordLevel(WORDS, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 32}), encoding="utf-8")
    weights = np.zeros((1, figures), np.float32)
    weights[0, -1] = 1.0
    nodes = [
        helper.make_node("Equal", ["input_ids", "word"], ["is_word"]),
        helper.make_node("Cast", ["is_word"], ["hits"], to=TensorProto.FLOAT),
        helper.make_node("ReduceSum", ["hits", "axis"], ["count"], keepdims=1),
        helper.make_node("Sub", ["count", "bias"], ["odds"]),
        helper.make_node("MatMul", ["odds", "weights"], ["logits"]),
    ]
    constants: dict[str, NDArray[Any]] = {
        "word": np.array([4], np.int64),
        "axis": np.array([1], np.int64),
        "bias": np.array([1.5], np.float32),
        "weights": weights,
    }
    graph = helper.make_graph(
        nodes,
        "counting",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["pairs", "tokens"]) for name in inputs],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["pairs", figures])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(folder / "model.onnx"))
    return folder


@pytest.mark.parametrize("figures", [1, 2])
@pytest.mark.parametrize(
    "inputs", [("input_ids", "attention_mask"), ("input_ids", "attention_mask", "token_type_ids")]
)
async def test_question_and_passage_are_read_together(
    tmp_path: Path, figures: int, inputs: tuple[str, ...]
) -> None:
    """Scores from 0 to 1, those of the logistic function, in order; more pairs than one run takes."""
    reranker = FolderReranker(a_folder(tmp_path / "tiny", figures=figures, inputs=inputs))

    scores = await reranker.rerank("how vacation", ["dogs", "vacation days", "vacation vacation"] * 20)

    assert scores == pytest.approx(
        [1 / (1 + np.exp(0.5)), 1 / (1 + np.exp(-0.5)), 1 / (1 + np.exp(-1.5))] * 20
    )
    assert reranker.model == "flashrank:tiny"


async def test_the_setting_names_the_folder(tmp_path: Path) -> None:
    """As `RERANKER=flashrank:FOLDER` it orders passages before duplicates go, and ends with the services."""
    settings = Settings.from_mapping({"RERANKER": f"flashrank:{a_folder(tmp_path / 'tiny')}"})
    with open_reranking(settings, client=None, embedder=WordEmbedder()) as reranking:  # type: ignore[arg-type]  # a folder calls nobody
        assert isinstance(reranking, Reranking)
        ordered = await reranking.order("how", [a_passage(1, "dogs"), a_passage(2, "vacation")])
        assert [one.candidate.body for one in ordered] == ["vacation", "dogs"]

    with pytest.raises(UnavailableError, match="is closed"):
        await reranking.reranker.rerank("how", ["dogs"])


async def test_long_texts_are_cut_and_not_refused(tmp_path: Path) -> None:
    """The folder says how many tokens the model takes."""
    reranker = FolderReranker(a_folder(tmp_path / "tiny"))

    assert len(await reranker.rerank("how", ["vacation " * 5000])) == 1


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("folder", "there is no folder"),
        ("tokenizer", "holds no tokenizer.json"),
        ("model", "expected one .onnx file"),
        ("weights", "cannot load the model"),
        ("inputs", "takes input_ids;"),
    ],
)
def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path, broken: str, message: str) -> None:
    """One line that says what is wrong and where."""
    folder = a_folder(
        tmp_path / "tiny", inputs=("input_ids",) if broken == "inputs" else ("input_ids", "attention_mask")
    )
    if broken == "folder":
        folder = tmp_path / "absent"
    elif broken == "tokenizer":
        (folder / "tokenizer.json").unlink()
    elif broken == "model":
        (folder / "model.onnx").unlink()
    elif broken == "weights":
        (folder / "model.onnx").write_bytes(b"nothing")

    with pytest.raises(ConfigurationError) as refused:
        FolderReranker(folder)
    assert message in str(refused.value)
    assert str(folder) in str(refused.value)


async def test_a_model_that_is_no_cross_encoder_leaves_the_order(tmp_path: Path) -> None:
    """Three figures a pair mean nothing: an error that `Reranking` answers with the order as it was."""
    reranker = FolderReranker(a_folder(tmp_path / "tiny", figures=3))
    passages = [a_passage(1, "dogs"), a_passage(2, "vacation")]

    with pytest.raises(UnavailableError, match=r"shape \(1, 3\)"):
        await reranker.rerank("how", ["dogs"])
    assert await Reranking(reranker).order("how", passages) == tuple(passages)
