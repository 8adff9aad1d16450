"""What a question asks for is told by its words, where they are known."""

import pytest

from core.services.asked_for import asks_for_figure


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("en", "How many vacation days do I have?"),
        ("en", "What does the plan cost per month?"),
        ("en", "When does the trial end?"),
        ("de", "Wie viele Urlaubstage habe ich?"),
        ("de", "Was kostet ein Stellplatz?"),
        ("de", "Ab wann gilt das?"),
        ("ru", "Сколько дней отпуска у меня есть?"),
        ("ru", "До какого числа нужно сдать отчёт?"),
        ("ru", "Как долго хранятся записи?"),
        ("", "Wie lange dauert das?"),
    ],
)
def test_a_number_or_a_date_is_asked_for(language: str, question: str) -> None:
    """Quantities, prices, durations and times, in three languages or in an unknown one."""
    assert asks_for_figure(question, language)


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("en", "How do I reset my password?"),
        ("en", "Who owns the ledger?"),
        ("de", "Wie melde ich mich krank?"),
        ("de", "Wer hat einen Schlüssel?"),
        ("ru", "Как подать заявку на отпуск?"),
        ("fr", "Combien de jours ?"),
        ("en", ""),
    ],
)
def test_something_else_is_asked_for(language: str, question: str) -> None:
    """A way, a person, or something in a language whose words are not known."""
    assert not asks_for_figure(question, language)
