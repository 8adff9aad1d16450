"""What a follow-up borrows of the questions before it, and what stands for itself."""

import pytest

from core.services.followups import standalone
from tests.core.services.answered import a_question

BICYCLE = "How do I lease a bicycle through the company?"


@pytest.mark.parametrize(
    "text",
    [
        "wie viele urlaubstge hab ich",
        "Wie viele Urlaubstage habe ich?",
        "How much vacation do I get?",
        "What does ERR_42 mean?",
        "Сколько у меня дней отпуска?",
    ],
)
def test_a_whole_question_borrows_nothing(text: str) -> None:
    """A change of topic within a thread is searched as it was asked, whatever came before."""
    assert standalone(a_question(text, turns=(BICYCLE,))) == text


@pytest.mark.parametrize(
    "text",
    ["and in Germany?", "und in Teilzeit?", "Who approves it?", "and what do I pay?", "What if I am ill?"],
)
def test_a8_a_follow_up_borrows_the_words_asked_before(text: str) -> None:
    """What goes on from the question before is searched with its words."""
    searched = standalone(a_question(text, turns=(BICYCLE,)))

    assert searched.startswith(text)
    assert "bicycle" in searched


def test_the_first_question_borrows_nothing() -> None:
    """Without earlier questions there is nothing to borrow."""
    assert standalone(a_question("and in Germany?")) == "and in Germany?"
