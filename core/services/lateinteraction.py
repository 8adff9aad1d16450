"""Late interaction: a question meets every sentence of a passage, and the best one speaks for the passage.

A vector of a whole chunk averages over all it says; the one sentence that answers can drown in it. Sentences
are embedded by the same model, so nothing has to be downloaded.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from core.domain.models import Vector
from core.services.background import Vectors


def best_sentences(
    question: Vector, sentences: Vectors, owners: Sequence[int], *, passages: int
) -> tuple[float | None, ...]:
    """The highest similarity of any sentence for each of ``passages`` passages; null where one has none.

    Args:
        question: Shape (dimensions,).
        sentences: Shape (number of sentences, dimensions).
        owners: Of each sentence the place of its passage, 0 to ``passages - 1``, in any order.
        passages: How many passages there are.

    Raises:
        ValueError: the number of owners is not that of the sentences.
    """
    if len(owners) != len(sentences):
        raise ValueError(f"{len(sentences)} sentences have {len(owners)} owners")
    best: npt.NDArray[np.float32] = np.full(passages, -np.inf, dtype=np.float32)
    if len(owners):
        np.maximum.at(best, np.asarray(owners, dtype=np.intp), sentences @ question)
    return tuple(float(one) if np.isfinite(one) else None for one in best)
