"""Whether the wiki holds an answer."""

from dataclasses import replace

import pytest

from core.services.relevance import ANSWER_FROM, MOST_MARGIN, Signs, answerable, margin, missing_identifiers

GOOD = Signs(stands_out=3.0, margin=2.0, missing=False)


def test_probability_grows_with_what_stands_out_and_falls_with_what_is_missing() -> None:
    """Every sign moves the probability in its own direction."""
    sure = answerable(GOOD)
    assert sure > 0.8
    assert answerable(replace(GOOD, stands_out=0.0)) < sure
    assert answerable(replace(GOOD, margin=0.0)) < sure
    assert answerable(replace(GOOD, missing=True)) < sure


def test_what_is_no_better_than_chance_is_not_in_the_wiki() -> None:
    """The best cosine of a typical question and no lead over the rest: refused."""
    assert answerable(Signs(stands_out=-1.0, margin=0.1, missing=False)) < ANSWER_FROM
    assert answerable(Signs(stands_out=3.0, margin=2.0, missing=False)) > ANSWER_FROM


def test_probability_by_hand_and_bounded() -> None:
    """Logistic of 0.66 * 2 + 0.5 * 1 - 1.39; extremes do not overflow; more margin than 4 says no more."""
    assert answerable(Signs(2.0, 1.0, missing=False)) == pytest.approx(0.6059, abs=1e-4)
    assert answerable(Signs(1e6, 0, missing=False)) == 1.0
    assert answerable(Signs(-1e6, 0, missing=False)) == 0.0
    assert answerable(Signs(1, 4, missing=False)) == answerable(Signs(1, 9, missing=False))


def test_margin_is_to_another_section() -> None:
    """Overlapping chunks of one section do not compete with each other."""
    assert margin((5.0, 4.9, 3.0), ("a", "a", "b")) == pytest.approx(2.0)
    assert margin((5.0, 4.9), ("a", "a")) == 0.0
    assert margin((9.0, 1.0), ("a", "b")) == MOST_MARGIN
    assert margin((), ()) == 0.0


def test_missing_identifiers_are_exact() -> None:
    """ERR_63 is not ERR_42, a word that is no identifier does not count, case does not matter."""
    passage = "ERR_42 means the queue is full. See v2.1 and band q5."
    assert missing_identifiers(("error", "ERR_63"), passage) == ("ERR_63",)
    assert missing_identifiers(("err_42", "V2.1", "Q5"), passage) == ()
    assert missing_identifiers(("q6", "band"), passage) == ("q6",)


def test_a_number_beside_its_letters_is_a_code() -> None:
    """ "err 42" is answered by ERR_42; a 42 by itself is not."""
    passage = "ERR_42 means the queue is full."
    assert missing_identifiers(("err", "42"), passage) == ()
    assert missing_identifiers(("room", "42"), passage) == ("42",)
    assert missing_identifiers(("err", "43"), passage) == ("43",)
    assert missing_identifiers(("error", "42"), passage) == ()
    assert missing_identifiers(("42",), passage) == ("42",)
