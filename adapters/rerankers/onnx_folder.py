"""A cross-encoder in a folder, as FlashRank has them: ``tokenizer.json`` and one ``.onnx`` file.

The models that FlashRank names (ms-marco-TinyBERT-L-2-v2, ms-marco-MultiBERT-L-12, ...) are such folders when
unpacked, and so is any cross-encoder exported to ONNX. Nothing is ever downloaded.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from adapters.model_thread import ModelThread
from core.errors import ConfigurationError, UnavailableError

LONGEST_INPUT = 512
"""Tokens of question and passage together, unless the folder says less."""

_TIMEOUT = 60.0
"""Seconds: whoever asks waits less; it only ends a hang."""

AT_ONCE = 16
"""Pairs in one run of the model: padding to the longest of many costs more than it saves."""


class FolderReranker:
    """Reads question and passage together with a model on this machine."""

    def __init__(self, folder: Path) -> None:
        """Load the model.

        Raises:
            ConfigurationError: the folder, a file in it, or the extra ``rerank`` is missing, or the model is
                no cross-encoder.
        """
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError as error:
            raise ConfigurationError(
                "RERANKER=flashrank:FOLDER needs onnxruntime: pip install 'footnote-bot[rerank]'"
            ) from error
        weights = _the_model(folder)
        onnxruntime.disable_telemetry_events()
        try:
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
            options = onnxruntime.SessionOptions()
            options.log_severity_level = 3
            self._session = onnxruntime.InferenceSession(
                str(weights), sess_options=options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            raise ConfigurationError(f"RERANKER: cannot load the model in {folder}: {error}") from error
        self._inputs = {one.name for one in self._session.get_inputs()}
        if not {"input_ids", "attention_mask"} <= self._inputs:
            raise ConfigurationError(
                f"RERANKER: {weights} takes {', '.join(sorted(self._inputs))}; a cross-encoder takes "
                "input_ids and attention_mask"
            )
        padding = _settings(folder / "config.json").get("pad_token_id", 0)
        self._tokenizer.enable_truncation(max_length=_longest(folder))
        self._tokenizer.enable_padding(pad_id=padding if isinstance(padding, int) else 0)
        self.model = f"flashrank:{folder.name}"
        self._thread = ModelThread(f"the reranker {self.model}", seconds=_TIMEOUT)

    async def rerank(self, question: str, passages: Sequence[str]) -> Sequence[float]:
        """A score from 0 to 1 for each passage.

        Raises:
            UnavailableError: it fails or hangs, or gives something else than one or two figures a pair.
        """
        return await self._thread.run(self._scores, question, list(passages))

    def close(self) -> None:
        """End its thread; nothing more can be asked of it."""
        self._thread.close()

    def _scores(self, question: str, passages: list[str]) -> list[float]:
        scores: list[float] = []
        for start in range(0, len(passages), AT_ONCE):
            scores += self._scores_of(question, passages[start : start + AT_ONCE])
        return scores

    def _scores_of(self, question: str, passages: list[str]) -> list[float]:
        pairs = self._tokenizer.encode_batch([(question, passage) for passage in passages])
        given = {
            "input_ids": [pair.ids for pair in pairs],
            "attention_mask": [pair.attention_mask for pair in pairs],
            "token_type_ids": [pair.type_ids for pair in pairs],
        }
        arrays = {name: np.array(rows, np.int64) for name, rows in given.items() if name in self._inputs}
        try:
            logits = np.asarray(self._session.run(None, arrays)[0], np.float64)
        except Exception as error:
            raise UnavailableError(f"the reranker {self.model} failed: {error}") from error
        if logits.shape == (len(passages),):
            logits = logits[:, None]
        if logits.shape not in {(len(passages), 1), (len(passages), 2)}:
            raise UnavailableError(
                f"the reranker {self.model} gave figures of shape {logits.shape} for {len(passages)} pairs"
            )
        # One figure is that of relevance; of two the second is, against the first.
        odds = logits[:, 0] if logits.shape[1] == 1 else logits[:, 1] - logits[:, 0]
        return [float(score) for score in 1 / (1 + np.exp(-np.clip(odds, -500, 500)))]


def _the_model(folder: Path) -> Path:
    if not folder.is_dir():
        raise ConfigurationError(
            f"RERANKER: there is no folder {folder}: give the one that holds tokenizer.json and the model"
        )
    if not (folder / "tokenizer.json").is_file():
        raise ConfigurationError(f"RERANKER: {folder} holds no tokenizer.json")
    models = sorted(folder.glob("*.onnx"))
    if len(models) != 1:
        raise ConfigurationError(f"RERANKER: expected one .onnx file in {folder}, found {len(models)}")
    return models[0]


def _longest(folder: Path) -> int:
    most = _settings(folder / "tokenizer_config.json").get("model_max_length")
    return min(most, LONGEST_INPUT) if isinstance(most, int) and most > 0 else LONGEST_INPUT


def _settings(file: Path) -> dict[str, Any]:
    """What an optional file says; nothing where it is missing or broken."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
