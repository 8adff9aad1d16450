"""Short forms are expanded by what the wiki itself says they mean."""

import pytest

from core.services.acronyms import MOST_ADDED, added, definitions


@pytest.mark.parametrize(
    ("text", "short", "long"),
    [
        ("OKR (Objectives and Key Results) are set each quarter.", "OKR", "Objectives and Key Results"),
        ("The Disaster Recovery Plan (DRP) is rehearsed.", "DRP", "Disaster Recovery Plan"),
        ("We sell to the Alpha Beta Co (ABC) only.", "ABC", "Alpha Beta Co"),
        ("Die Datenschutz-Grundverordnung gilt (DSGVO heißt sie kurz).", None, None),
        ("Die Allgemeinen Geschäftsbedingungen (AGB) hängen aus.", "AGB", "Allgemeinen Geschäftsbedingungen"),
        ("ПДК (предельно допустимая концентрация) проверяют.", "ПДК", "предельно допустимая концентрация"),
        ("Предельно допустимая концентрация (ПДК) известна.", "ПДК", "Предельно допустимая концентрация"),
        ("R&D (research and development) is here.", "R&D", "research and development"),
        ("Maria (HR) answers.", None, None),
        ("Berlin (Germany) and Bonn (see below).", None, None),
        ("ERR_42 (pump stalled)", None, None),
        ("PDF (12 pages)", None, None),
    ],
)
def test_definitions_are_read_in_both_directions(text: str, short: str | None, long: str | None) -> None:
    """The letters of the short form must spell the long one out."""
    assert definitions([text]) == ({} if short is None else {short: long})


def test_a_question_gets_the_form_it_lacks() -> None:
    """The long form for the short one and the reverse; nothing where both are asked or neither is."""
    known = {"OKR": "Objectives and Key Results", "DRP": "Disaster Recovery Plan"}

    assert added("How often are OKRs set?", known) == ("Objectives and Key Results",)
    assert added("Who owns the disaster recovery plan?", known) == ("DRP",)
    assert added("Are OKR objectives and key results?", known) == ()
    assert added("okra soup and a drp", known) == ()
    assert len(added(" ".join("ABCDEFG"), {letter: f"{letter} one" for letter in "ABCDEFG"})) == MOST_ADDED
