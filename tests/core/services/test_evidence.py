"""Evidence is gathered the same for every candidate, whoever found it."""

import numpy as np
import pytest

from core.services.background import Background, Chance
from core.services.bm25 import share, statistics
from core.services.evidence import Asked, Found, gather
from core.services.fusion import fuse
from core.services.grams import gram_counts

ZERO = np.zeros(2, dtype=np.float32)
PLAIN = Background(
    question_means={"": ZERO}, passage_means={"": ZERO}, chances={("", ""): Chance(0.5, 0.1)}, spread=0.1
)
EAST, NORTH = np.array([1, 0], dtype=np.float32), np.array([0, 1], dtype=np.float32)
TEXTS = ("Feature flags expire", "Holidays and leave", "Nothing")
RUNS = statistics(gram_counts(text) for text in TEXTS)


def asked(text: str = "faeture flag") -> Asked:
    return Asked(text, "en", EAST)


def test_each_candidate_gets_its_similarity_sentence_and_words() -> None:
    """In the order given; a candidate without sentence vectors has none to speak for it."""
    found = (
        Found(TEXTS[0], "en", NORTH, sentences=np.stack([NORTH, EAST])),
        Found(TEXTS[1], "en", EAST, stems=0.25),
    )
    first, second = gather(asked(), found, background=PLAIN, runs=RUNS)
    assert [first.similarity, first.best_sentence] == pytest.approx([0.0, 1.0])
    assert first.grams == pytest.approx(share(gram_counts("faeture flag"), gram_counts(TEXTS[0]), RUNS))
    assert first.stems == first.grams > second.grams
    assert second.best_sentence is None
    assert [second.similarity, second.stems] == pytest.approx([1.0, 0.25])


def test_what_only_the_words_found_is_compared_by_its_vector_too() -> None:
    """No candidate is judged by one side alone, so none gets points for what was not looked at (F47)."""
    found = (Found(TEXTS[1], "en", EAST, stems=0.0), Found(TEXTS[0], "en", NORTH, stems=0.5))
    scores = fuse(
        gather(asked(), found, background=PLAIN, runs=RUNS), question_language="en", spread=PLAIN.spread
    )
    swapped = fuse(
        gather(asked(), found[::-1], background=PLAIN, runs=RUNS), question_language="en", spread=PLAIN.spread
    )
    assert swapped == pytest.approx(scores[::-1])


def test_nothing_found() -> None:
    """No candidates, no evidence."""
    assert gather(asked(), (), background=PLAIN, runs=RUNS) == ()
