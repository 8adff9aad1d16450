"""A model's way of saying that the sources do not answer is understood, and nothing else is taken for it."""

import pytest

from core.services.declining import admits_not_knowing, says_not_in_wiki
from core.services.prompting import NOT_IN_WIKI


@pytest.mark.parametrize(
    "draft",
    [
        NOT_IN_WIKI,
        f"{NOT_IN_WIKI}.",
        f"**{NOT_IN_WIKI}**",
        "NOT\\_IN\\_WIKI",
        "NOT IN WIKI",
        "Not in wiki.",
        "not_in_wiki",
        "NOT-IN-THE-WIKI",
        f"The price is not given: {NOT_IN_WIKI}",
        f"_{NOT_IN_WIKI}_",
        f"<think>Which source has it? None.</think>\n{NOT_IN_WIKI}",
    ],
)
def test_t15_the_mark_is_known_however_it_is_written(draft: str) -> None:
    """Models add signs and escapes, or forget the underscores."""
    assert says_not_in_wiki(draft)


@pytest.mark.parametrize(
    "draft",
    [
        "It is in the wiki [1].",
        "The export is not in wiki markup but in Markdown [1].",
        f"<think>If nothing answers I must write {NOT_IN_WIKI}. But [1] does.</think>You have 28 days [1].",
        "The field is called IS_NOT_IN_WIKIPEDIA [1].",
        "",
    ],
)
def test_t15_other_words_are_not_the_mark(draft: str) -> None:
    """What a model thinks aloud, and words that merely resemble the mark, refuse nothing."""
    assert not says_not_in_wiki(draft)


@pytest.mark.parametrize(
    "draft",
    [
        "The sources do not mention the price.",
        "There is no information about dogs in the excerpts.",
        "I'm unable to answer that.",
        "I couldn’t find anything about this.",
        "Dazu steht nichts im Wiki.",
        "Die Quellen nennen keinen Preis.",
        "Ich kann die Frage nicht beantworten.",
        "В источниках нет ответа на этот вопрос.",
        "К сожалению, я не знаю.",
        "<think>Hm.</think>The wiki says nothing about it.",
    ],
)
def test_t15_an_excuse_is_known_in_three_languages(draft: str) -> None:
    """Small models write a sentence instead of the mark."""
    assert admits_not_knowing(draft)


@pytest.mark.parametrize(
    "draft",
    [
        "You have 28 days.",
        "Der Vertrag endet nicht automatisch.",
        "Срок не продлевается.",
        "The sources do not agree. " + "One says that you have 28 days, the other one speaks of 30. " * 8,
    ],
)
def test_t15_a_statement_is_no_excuse(draft: str) -> None:
    """Neither a negation about something else, nor a long text that begins like an excuse."""
    assert not admits_not_knowing(draft)
