"""Which sentences deny, in several languages."""

import pytest

from core.services.polarity import clauses, denials


def denies(text: str, language: str) -> bool:
    """Whether the text as a whole denies: an odd number of negations."""
    return len(denials(text, language)) % 2 == 1


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("A card is not needed.", "en"),
        ("It needs no card.", "en"),
        ("You don't need one.", "en"),
        ("Smoking is forbidden.", "en"),
        ("Das ist nicht erlaubt.", "de"),
        ("Wir verlangen kein Pfand.", "de"),
        ("Это не нужно.", "ru"),
        ("Никто ничего не платит.", "ru"),
        ("Карта не требуется.", "ru"),
        ("Ce n'est pas permis.", "fr"),
        ("No se permite.", "es"),
        ("Dat is niet toegestaan.", "nl"),
        ("Nikt nie płaci.", "pl"),
    ],
)  # fmt: skip  # a table
def test_a_denial_is_seen(text: str, language: str) -> None:
    """One negation denies; in languages where several agree they are one."""
    assert denies(text, language)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("It takes no longer than two days.", "en"),
        ("Not later than Friday.", "en"),
        ("Nicht mehr als drei Tage.", "de"),
        ("Das ist nicht nur im Urlaub erlaubt.", "de"),
        ("Не позднее пятницы.", "ru"),
        ("Не меньше трёх голосов.", "ru"),
        ("Pas plus de trois jours.", "fr"),
        ("A card is needed.", "en"),
        ("It is not possible without a card.", "en"),
    ],
)  # fmt: skip  # a table
def test_bounds_and_double_negations_do_not_deny(text: str, language: str) -> None:
    """A bound is no denial, and two negations are none."""
    assert not denies(text, language)


def test_a_negation_knows_what_it_is_about() -> None:
    """It reaches as far as its clause."""
    found = denials("The trial runs 45 days and needs no credit card.", "en")
    assert [one.about for one in found] == [frozenset({"credit", "card"})] or {"credit", "card"} <= found[
        0
    ].about
    assert "trial" not in found[0].about


def test_clauses_are_parted_at_commas_and_conjunctions() -> None:
    """Single words stay with what comes before them."""
    assert clauses("The lead decides, and the voice talks to customers.") == (
        "The lead decides",
        "and the voice talks to customers.",
    )


def test_the_stop_of_an_ordinal_ends_no_clause() -> None:
    """German dates keep their stops."""
    text = "Die Firma schließt vom 24. Dezember bis zum 1. Januar."
    assert clauses(text) == (text,)
