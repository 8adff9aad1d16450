"""The best sentence speaks for its passage."""

import numpy as np
import pytest

from core.services.lateinteraction import best_sentences

QUESTION = np.array([1.0, 0.0], dtype=np.float32)
SENTENCES = np.array([[0.6, 0.8], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]], dtype=np.float32)


def test_the_best_sentence_of_each_passage_counts() -> None:
    """Maximum by passage, sentences in any order; a passage without sentences is unknown."""
    first, second, third, fourth = best_sentences(QUESTION, SENTENCES, (0, 2, 0, 3), passages=4)
    assert second is None
    assert [first, third, fourth] == pytest.approx([0.6, 1.0, -1.0])


def test_no_sentences_at_all() -> None:
    """Nothing stored yet: every passage is unknown."""
    assert best_sentences(QUESTION, SENTENCES[:0], (), passages=2) == (None, None)


def test_owners_must_fit() -> None:
    """A mismatch would credit sentences to wrong passages."""
    with pytest.raises(ValueError, match="4 sentences have 1 owners"):
        best_sentences(QUESTION, SENTENCES, (0,), passages=1)
