"""Pages that contradict each other are both named, and nothing else is taken for a contradiction."""

import pytest

from core.services.cited_texts import read
from core.services.contradictions import opposing_unit
from core.services.draft_markup import Piece
from core.services.grounding import Grounder
from core.services.support import read_statement
from tests.core.services.found import a_passage


@pytest.mark.parametrize(
    ("statement", "other"),
    [
        ("The trial runs 45 days.", "The trial runs 30 days."),
        ("Deploys are allowed on Fridays.", "Deploys are not allowed on Fridays."),
        ("The trial of the River plan runs 45 days.", "The trial of the River plan runs 3 weeks."),
    ],
)
def test_another_figure_or_a_denial_contradicts(statement: str, other: str) -> None:
    """Where nearly all words are shared."""
    assert opposing_unit(read_statement(statement, "en"), read(a_passage(2, other), "en")) == other


@pytest.mark.parametrize(
    ("statement", "other"),
    [
        ("The trial runs 45 days.", "The trial runs 45 days."),
        ("The trial runs 45 days.", "The lease runs 36 months."),
        ("The River plan costs 22 euros.", "The Stream plan costs 14 euros."),
        ("Error ERR_42 means the clock is off.", "Error ERR_43 means the clock is off."),
        ("The trial runs 45 days.", "The trial runs on Linux."),
        (
            "Vacation is 30 days.",
            "Vacation must be asked for 30 days ahead, never later than on the last Friday.",
        ),
        ("The trial runs 45 days.", "The trial runs 6.5 weeks from 3 May for 12 euros."),
    ],
)
def test_what_merely_differs_does_not_contradict(statement: str, other: str) -> None:
    """Other things, other names, other figures and more than one difference."""
    assert opposing_unit(read_statement(statement, "en"), read(a_passage(2, other), "en")) is None


async def test_both_pages_are_named() -> None:
    """The answer stays, the other page is quoted below it; passages of one page are one voice."""
    draft = [Piece("The trial runs 45 days", (0,)), Piece(".")]
    here, there = a_passage(1, "The trial runs 45 days."), a_passage(2, "The trial runs 30 days.")
    same_page = a_passage(1, "The trial runs 30 days.", chunk=9)

    told = (await Grounder().check(draft, [here, there], "en")).pieces
    silent = (await Grounder().check(draft, [here, same_page], "en")).pieces

    assert told[-1] == Piece("\n\nAnother page says otherwise: “The trial runs 30 days.”", (1,))
    assert silent == tuple(draft)
