"""Names that a source does not have, or has elsewhere."""

import pytest

from core.services.swaps import Figure, exchanged, foreign_names, misplaced


@pytest.mark.parametrize(
    ("statement", "source", "language"),
    [
        ("Ask Dastan in the morning, or call Dastan.", "Ask Tomasz in the morning.", "en"),
        ("Вторая копия хранится в Стокгольме.", "Вторая копия хранится в Хельсинки.", "ru"),
        ("Der Kurs ist im Raum „Biber“.", "Der Kurs ist im Raum „Otter“.", "de"),
    ],
)
def test_a_name_that_is_not_there(statement: str, source: str, language: str) -> None:
    """Capitals inside a sentence, and in German quotation marks, make a name."""
    assert foreign_names(statement, source, language)


@pytest.mark.parametrize(
    ("statement", "source", "language"),
    [
        ("The office in Leipzig is open.", "Офис в Лейпциге открыт.", "en"),
        ("Приглашение готовит Айгерим.", "Aigerim prepares the invitation.", "ru"),
        ("The rate for Germany is 28.", "Германия: 28", "en"),
        ("Внутри ЕС можно всё.", "Within the EU all is fine.", "ru"),
        ("Сотрудники из Алматы едут в Лейпциг.", "Из Алматы в Лейпциг", "ru"),
        ("Der Zuschuss der Firma ist hoch.", "Sie zahlt viel.", "de"),
        ("On Monday the Office opens.", "The office opens.", "en"),
    ],
)
def test_a_name_in_another_form_or_script_is_there(statement: str, source: str, language: str) -> None:
    """Inflections, other scripts and countries in other languages are the same; German nouns no names."""
    assert foreign_names(statement, source, language) == ()


def test_an_exchanged_name_is_seen_at_the_start_of_a_sentence() -> None:
    """Where a sentence repeats its source but for one name."""
    pair = exchanged("Marlow leads product.", "Ilka leads product.", "en")
    assert pair == ("Ilka", "Marlow")


def test_an_exchanged_role_is_seen() -> None:
    """A word from another clause of the same sentence, in the place of the right one."""
    source = "The scribe writes the timeline in the channel, and the voice talks to customers."
    assert exchanged("The voice writes the timeline in the channel.", source, "en") == ("scribe", "voice")
    assert exchanged("The scribe writes the timeline, the voice talks to customers.", source, "en") is None


def test_other_words_are_no_exchange() -> None:
    """Synonyms and another order are how people write."""
    assert exchanged("A visa is required for Leipzig.", "A visa is needed for Leipzig.", "en") is None


def test_a_figure_of_another_row_is_misplaced() -> None:
    """A plan with the price of another plan."""
    rows = ("Stream 14 euros 10 wells", "River 22 euros 50 wells")
    in_first, in_second = Figure((True, False)), Figure((False, True))
    assert misplaced([in_first], ("river", "plan", "costs"), rows)
    assert not misplaced([in_second], ("river", "plan", "costs"), rows)
    assert not misplaced([in_first], ("plan", "costs"), rows)
