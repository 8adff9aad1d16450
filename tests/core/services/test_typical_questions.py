"""Questions about nothing, and about an index's own titles."""

from core.services.typical_questions import (
    MOST_TITLES,
    TEMPLATES,
    TYPICAL_QUESTIONS,
    questions_about,
    typical_questions,
)


def test_a_language_without_questions_of_its_own_uses_all() -> None:
    """None is asked twice, so that no language weighs more than its questions do."""
    everyone = tuple(question for one in TYPICAL_QUESTIONS.values() for question in one)
    assert len(everyone) == len(set(everyone))
    assert typical_questions("de") == TYPICAL_QUESTIONS["de"]
    assert typical_questions("kk") == everyone


def test_every_language_has_both_kinds() -> None:
    """A template has exactly one place for a title."""
    assert TEMPLATES.keys() == TYPICAL_QUESTIONS.keys()
    assert all(one.count("{}") == 1 for templates in TEMPLATES.values() for one in templates)


def test_titles_are_asked_about_in_turn() -> None:
    """Blank and repeated titles are left out; braces in a title stay as they are."""
    assert questions_about(("Set-up", " ", "Set-up", "{0} {}"), "en") == (
        "What is Set-up?",
        "How does {0} {} work?",
    )
    assert questions_about(("Set-up",), "kk") == ()
    assert questions_about((), "en") == ()


def test_many_titles_are_thinned_evenly() -> None:
    """A large wiki costs no more embeddings than a small one, and its last pages count as well."""
    asked = questions_about([f"Page {number}" for number in range(1000)], "de")
    assert MOST_TITLES // 2 < len(asked) <= MOST_TITLES
    assert any("Page 98" in question or "Page 99" in question for question in asked)
