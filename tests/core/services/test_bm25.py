"""BM25 against values worked out by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.services.bm25 import (
    K1,
    B,
    attainable,
    inverse_document_frequency,
    saturation,
    score,
    share,
    statistics,
)

PASSAGES = ({"leave": 2, "parental": 1}, {"leave": 1, "sick": 1, "note": 1}, {"port": 1})
KNOWN = statistics(PASSAGES)

counts = st.dictionaries(st.text("abcdef", min_size=1, max_size=2), st.integers(1, 9), min_size=1)


def test_statistics_count_passages_not_occurrences() -> None:
    """A term said twice in one passage is contained in one passage."""
    assert [KNOWN.passages, KNOWN.average_length] == pytest.approx([3, 7 / 3])
    assert KNOWN.containing == {"leave": 2, "parental": 1, "sick": 1, "note": 1, "port": 1}


def test_inverse_document_frequency_is_the_form_that_stays_positive() -> None:
    """ln(1 + (N - n + 0.5) / (n + 0.5)), positive even for a term that every passage holds."""
    assert inverse_document_frequency(3, 1) == pytest.approx(math.log(1 + 2.5 / 1.5))
    assert inverse_document_frequency(3, 3) == pytest.approx(math.log(1 + 0.5 / 3.5))
    assert KNOWN.idf("unheard-of") == pytest.approx(math.log(1 + 3.5 / 0.5))


def test_saturation_of_a_passage_of_average_length() -> None:
    """One occurrence is worth 1, many approach K1 + 1, a long passage counts less."""
    assert (K1, B) == (1.2, 0.75)
    assert saturation(1, 10, 10) == pytest.approx(1.0)
    assert saturation(1000, 10, 10) == pytest.approx(2.2, abs=0.01)
    assert saturation(1, 20, 10) == pytest.approx(2.2 / (1 + 1.2 * (0.25 + 0.75 * 2)))


def test_score_by_hand() -> None:
    """The sum over the question's terms, each counted once."""
    norm = 0.25 + 0.75 * 3 / (7 / 3)
    expected = math.log(1 + 1.5 / 2.5) * 2 * 2.2 / (2 + 1.2 * norm)
    expected += math.log(1 + 2.5 / 1.5) * 2.2 / (1 + 1.2 * norm)
    assert score(("parental", "leave", "leave"), PASSAGES[0], KNOWN) == pytest.approx(expected)


def test_rare_terms_outweigh_common_ones() -> None:
    """The passage with the rare word wins over the one with the common word: what ts_rank cannot do."""
    passages = [{"wiki": 1, "about": 1}] * 50 + [{"themisecho": 1, "about": 1}]
    known = statistics(passages)
    question = ("wiki", "themisecho")
    assert score(question, passages[-1], known) > 3 * score(question, passages[0], known)


def test_share_falls_where_the_index_lacks_the_question_s_words() -> None:
    """One German name among five unknown words is worth far less than the same name asked alone."""
    alone = share(("sick",), PASSAGES[1], KNOWN)
    among = share(("sick", "wie", "viele", "hatte", "gestern"), PASSAGES[1], KNOWN)
    assert among < alone / 5


def test_share_of_nothing_is_nothing() -> None:
    """No terms, no passages: no division by zero."""
    assert share((), PASSAGES[0], KNOWN) == 0.0
    assert share(("leave",), {}, statistics(())) == 0.0
    assert score(("leave",), {"leave": 1}, statistics(())) > 0.0


@given(passages=st.lists(counts, min_size=1, max_size=5), question=counts)
def test_share_lies_between_0_and_1(passages: list[dict[str, int]], question: dict[str, int]) -> None:
    """For any question and passage, and the score never exceeds the attainable."""
    known = statistics(passages)
    for passage in passages:
        assert 0.0 <= share(question, passage, known) <= 1.0
        assert score(question, passage, known) <= attainable(question, known)
