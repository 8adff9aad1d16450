"""Values as they lie in Redis."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.caches.frames import LARGEST_VALUE, framed, unframed

TEXT = b"The answer cites the passage that it rests on. " * 100


@given(st.text(), st.binary(max_size=3000))
def test_every_value_survives(key: str, value: bytes) -> None:
    """Under any key."""
    assert unframed(key, framed(key, value)) == value


def test_large_values_are_compressed_and_small_or_random_ones_are_not() -> None:
    """Text shrinks to a fraction; what would grow is left as it is."""
    random = Random(1).randbytes(4000)

    assert len(framed("k", TEXT)) < len(TEXT) / 10
    assert len(framed("k", b"short")) == 5 + 11
    assert len(framed("k", random)) == len(random) + 11


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_a_changed_byte_is_noticed(position: int, change: int) -> None:
    """Anywhere in the frame."""
    frame = bytearray(framed("key", TEXT))
    frame[position % len(frame)] ^= change

    assert unframed("key", bytes(frame)) is None


@pytest.mark.parametrize("frame", [b"", b"F1", b"F1p", b"{}", b"F1q12345678body", bytes(20)])
def test_something_else_is_noticed(frame: bytes) -> None:
    """Values of another program or version."""
    assert unframed("key", frame) is None


def test_a_cut_frame_is_noticed() -> None:
    """At every length."""
    frame = framed("key", TEXT)

    assert all(unframed("key", frame[:length]) is None for length in range(len(frame)))


def test_a_value_stored_under_another_key_is_a_miss() -> None:
    """A connection that mixes answers up cannot show one audience what another may see."""
    assert unframed("answer:for-everybody", framed("answer:for-the-board", TEXT)) is None


def test_a_frame_that_would_unpack_without_bound_is_a_miss() -> None:
    """Memory is bounded whatever a value claims to be."""
    assert unframed("key", framed("key", bytes(LARGEST_VALUE + 1))) is None
