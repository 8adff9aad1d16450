"""What must be known of an embedding model, and the fingerprint that keeps two of them apart."""

from dataclasses import dataclass
from hashlib import sha256
from typing import NewType

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]
"""One embedding, shape (dimensions,), L2-normalised where the model does so."""

Fingerprint = NewType("Fingerprint", str)
"""Names one way of making an index: only rows of the active fingerprint are ever compared."""


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """How one embedding model wants to be used (inventory X1, X7).

    ``name`` is what the setting says, provider included (``ollama:nomic-embed-text-v2-moe``). Prefixes are
    part of the text the model was trained on; empty is a valid value, and the wrong one degrades quality.
    ``threshold``: raw cosine at or below it is no semantic hit. ``answer_confidence``: below it an answer
    is hedged and not cached. ``max_input_tokens``: longer inputs are truncated by the model.
    """

    name: str
    dimensions: int
    query_prefix: str = ""
    passage_prefix: str = ""
    max_input_tokens: int = 512
    threshold: float = 0.30
    answer_confidence: float = 0.30

    def fingerprint(self, chunker: str) -> Fingerprint:
        """Changes with anything that makes stored vectors incomparable or chunks differ (SY24)."""
        parts = (self.name, str(self.dimensions), self.query_prefix, self.passage_prefix, chunker)
        return Fingerprint(sha256("\x1f".join(parts).encode()).hexdigest()[:16])
