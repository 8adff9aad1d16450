"""What every embedder does to texts on the way in and to numbers on the way out."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from core.domain.models import Vector


def sendable(text: str) -> str:
    """The text without what breaks encoders: NUL ends a C string, a lone surrogate is no UTF-8."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


def unit_vector(numbers: Sequence[float] | npt.NDArray[np.floating]) -> Vector | None:
    """The numbers scaled to length 1; null where they point nowhere (all zero, NaN or infinite)."""
    vector = np.asarray(numbers, dtype=np.float64)
    length = float(np.linalg.norm(vector))
    if not np.isfinite(length) or length == 0.0:
        return None
    return (vector / length).astype(np.float32)
