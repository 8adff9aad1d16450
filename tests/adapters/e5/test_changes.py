"""What was learned of a matrix survives being kept in four bits."""

import numpy as np
import pytest

from adapters.e5.changes import RUN, packed, unpacked


@pytest.mark.parametrize("size", [1e-6, 1e-3, 1.0])
def test_a_change_comes_back_within_a_level(size: float) -> None:
    """Each number to a fifteenth of the greatest of its run, and nearly all of the energy."""
    change = np.random.default_rng(7).normal(size=(96, RUN)).astype(np.float32) * size
    codes, scales = packed(change)
    back = unpacked(codes, scales).reshape(change.shape)

    assert codes.nbytes == change.size / 2
    assert (np.abs(back - change) <= np.abs(change).max(axis=1, keepdims=True) / 14).all()
    # The smallest lose some of it to the half floats of the scales.
    assert np.square(back - change).sum() < 0.02 * np.square(change).sum()


def test_what_did_not_change_is_kept_as_nothing() -> None:
    """A run of zeros has no scale."""
    codes, scales = packed(np.zeros((2, RUN), np.float32))
    assert unpacked(codes, scales).tolist() == [0.0] * (2 * RUN)
