"""Which of the things a passage says holds the answer that was pointed at."""

import pytest

from core.domain.answers import Reading
from core.services.pointing import said_at
from core.services.units import units_of

BODY = """Lena opens at 9. Omar opens at 10.

| Day | Closes |
| --- | --- |
| Monday | 17:00 |
| Friday | 15:00 |

Ask for:
- the **blue** key
- the red key, 9 of them"""


@pytest.mark.parametrize(
    ("answer", "unit"),
    [
        ("Omar", "Omar opens at 10."),
        ("15:00", "Day: Friday; Closes: 15:00"),
        ("**blue** key", "Ask for: the blue key"),
        ("9 of them", "Ask for: the red key, 9 of them"),
    ],
)
def test_the_unit_is_known_by_its_words(answer: str, unit: str) -> None:
    """Whatever form it is given in: a sentence, a row under its heads, an item with its introduction."""
    units = [one.plain for one in units_of(BODY)]
    start = BODY.index(answer)
    place = said_at(units, BODY, Reading(0.0, start, start + len(answer)))
    assert place is not None
    assert units[place] == unit


@pytest.mark.parametrize(
    ("occurrence", "unit"), [(0, "Lena opens at 9."), (1, "Ask for: the red key, 9 of them")]
)
def test_equal_answers_are_told_apart_by_what_stands_around_them(occurrence: int, unit: str) -> None:
    """A nine in the opening hours is not the nine of the keys."""
    units = [one.plain for one in units_of(BODY)]
    start = [place for place, letter in enumerate(BODY) if letter == "9"][occurrence]
    place = said_at(units, BODY, Reading(0.0, start, start + 1))
    assert place is not None
    assert units[place] == unit


@pytest.mark.parametrize("answer", [(0, 0), (16, 17), (4, 8)])
def test_what_is_no_word_of_a_unit_points_nowhere(answer: tuple[int, int]) -> None:
    """Nothing, a space, or words that no unit has together."""
    assert said_at(["Something else."], BODY, Reading(0.0, *answer)) is None
