"""The transformer of multilingual-e5-small, run by ONNX Runtime."""

import os
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from adapters.e5.missing import MissingPackageError
from adapters.e5.packed_model import Floats, PackedModel
from adapters.e5.weights import Adapted, vector, weights
from core.errors import ConfigurationError, UnavailableError

GRAPH = "e5_small.onnx"
"""What is computed, without weights; `tests.bench.reading.graph` makes it."""

MOST_CORES = 8
"""A model of this size gains next to nothing from more, and each text in flight takes memory. A container
that may use two of sixty-four sees all of them."""

_FATAL = 4
"""What fails is raised, and need not stand on stderr as well."""


class Encoder:
    """Hidden states of texts."""

    def __init__(self, model: PackedModel, adapted: Adapted, *, graph: Path | None = None) -> None:
        """Unpack the weights, 85 MB, and hand them to the runtime, which lays them out as it needs them.

        ``graph`` is for a model of another size than the installed one.

        Raises:
            ConfigurationError: ONNX Runtime is not installed or too old, or the graph does not fit.
        """
        self._model, self._width = model, model.shape.width
        every = vector(model, adapted, "emb.type")[: self._width]
        self._places = vector(model, adapted, "emb.pos").reshape(-1, self._width) + every
        self._session = _session(graph or _beside(), _in_one_piece(dict(weights(model, adapted))))

    def states(self, texts: Sequence[npt.NDArray[np.int64]]) -> list[Floats]:
        """The last hidden states of each text, shape (tokens, width). Texts are numbers of pieces.

        One after the other: a text of the usual hundred tokens keeps all cores busy by itself, and what would
        fill shorter ones up to the length of the longest is not computed.

        Raises:
            UnavailableError: it cannot be computed, as when memory is short.
        """
        return [self._states(text) for text in texts]

    def _states(self, text: npt.NDArray[np.int64]) -> Floats:
        rows = self._model.rows("emb.word", text, self._width) + self._places[: len(text)]
        try:
            (states,) = self._session.run(None, {"rows": rows[None]})
        except Exception as error:
            raise UnavailableError(f"ONNX Runtime failed at {len(text)} tokens: {error}") from error
        found: Floats = states[0]
        return found


def _in_one_piece(given: Mapping[str, Floats]) -> dict[str, Floats]:
    """The same weights, flat, in memory that the system has back when they are let go: many smaller pieces
    would leave holes that stay with the process."""
    ends = np.cumsum([one.size for one in given.values()])
    whole = np.concatenate([one.reshape(-1) for one in given.values()])
    return dict(zip(given, np.split(whole, ends[:-1]), strict=True))


def _session(graph: Path, given: Mapping[str, Floats]) -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingPackageError("onnxruntime") from error
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _FATAL
    # Named, because the runtime pins its threads to cores where it chooses their number itself.
    options.intra_op_num_threads = cores()
    # Else threads wait between two steps by running in circles, on cores that others could use.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # The graph names a file for each weight. The runtime copies them, so that none need be kept.
    try:
        give = options.add_external_initializers_from_files_in_memory
    except AttributeError as error:
        raise MissingPackageError("onnxruntime 1.24 or newer") from error
    give(list(given), list(given.values()), [one.nbytes for one in given.values()])
    try:
        return onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise ConfigurationError(f"cannot run the model by {graph}: {error}") from error


def cores() -> int:
    """How many of them are used: those that this process may use, up to `MOST_CORES`."""
    try:
        there = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS and Windows do not tell which of them are ours.
        there = os.cpu_count() or 1
    return min(there, MOST_CORES)


def _beside() -> Path:
    return Path(str(files("adapters.e5") / GRAPH))
