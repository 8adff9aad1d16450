"""The figures themselves: known rankings give known values."""

from math import log2

import pytest

from bot.evaluation.golden import GoldenQuestion, Relevant, Section
from bot.evaluation.metrics import Judgement, Ranking, label_sections, score_rankings, score_refusals
from core.domain.ids import PageId


def a_section(name: str, heading: str = "") -> Section:
    """A section of the page with this title."""
    return Section(page_id=PageId(name), page_title=name, heading=heading)


def a_ranking(found: str, relevant: str) -> Ranking:
    """One letter a page, in ranked order, and the letters that are right."""
    question = GoldenQuestion(
        id="q",
        question="?",
        lang="en",
        relevant=tuple(Relevant(page_title=letter) for letter in relevant),
        answerable=True,
    )
    return Ranking(question=question, sections=tuple(a_section(letter) for letter in found))


def test_e2_one_relevant_at_the_second_rank() -> None:
    """[x, r, y]: RR 1/2, hit@1 0, recall@3 1, nDCG 1/log2(3)."""
    scores = score_rankings([a_ranking("xry", "r")])["q"]

    assert scores["mrr@3"] == 0.5
    assert scores["hit@1"] == 0.0
    assert scores["recall@3"] == 1.0
    assert scores["ndcg@10"] == pytest.approx(1 / log2(3), abs=1e-9)
    assert scores["precision@3"] == pytest.approx(1 / 3)


def test_e2_none_relevant_found() -> None:
    """Nothing right among the found: every figure is 0."""
    assert set(score_rankings([a_ranking("xyz", "r")])["q"].values()) == {0.0}


def test_e2_two_relevant_at_ranks_one_and_three() -> None:
    """[r, x, s]: nDCG = 1.5 / 1.6309."""
    scores = score_rankings([a_ranking("rxs", "rs")])["q"]

    assert scores["ndcg@10"] == pytest.approx(1.5 / (1 + 1 / log2(3)), abs=1e-9)
    assert scores["recall@3"] == 1.0


def test_a_question_without_any_hit_counts_as_zero() -> None:
    """An empty ranking is a failure, not a question less."""
    assert set(score_rankings([a_ranking("", "r")])["q"].values()) == {0.0}


def test_repeating_a_page_cannot_raise_precision() -> None:
    """The second section of a page named without heading is not found again."""
    assert label_sections(a_ranking("rrx", "r")) == ("relevant-0", "other-1", "other-2")


def test_a_heading_in_the_set_must_be_the_one_found() -> None:
    """Right page and wrong heading is no hit; white space and case do not matter."""
    entry = Relevant(page_title="Handbook", heading="Sick  leave")

    assert entry.matches(a_section("handbook", "sick leave"))
    assert not entry.matches(a_section("Handbook", "Vacation"))


def test_refusals_are_counted_by_kind_and_ordered_by_confidence() -> None:
    """Two of three right refusals, one of two false ones, and 4.5 of 6 pairs in the right order."""
    judgements = [
        Judgement(answerable=True, answered=True, confidence=0.9),
        Judgement(answerable=True, answered=False, confidence=0.3),
        Judgement(answerable=False, answered=False, confidence=0.3),
        Judgement(answerable=False, answered=False, confidence=0.1),
        Judgement(answerable=False, answered=True, confidence=0.4),
    ]

    assert score_refusals(judgements) == {"right": 2 / 3, "false": 0.5, "auc": 4.5 / 6}
