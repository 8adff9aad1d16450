"""Reading tells more surely whether the wiki answers, and costs nothing when it fails."""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.domain.answers import Reading
from core.domain.documents import Heading
from core.errors import UnavailableError
from core.ports.reading import Writing
from core.services.reading import FIRST_READ, MOST_READ, SURE, Reader, read_unit
from core.services.relevance import answerable_when_read, signs_when_read
from core.services.units import units_of
from tests.core.services.found import a_passage

PASSAGES = tuple(a_passage(number, f"Body {number}") for number in range(1, 11))


class Scripted:
    """Gives odds by place, fails, or hangs."""

    name = "scripted"

    def __init__(
        self, odds: Sequence[float] = (), *, error: Exception | None = None, hangs: bool = False
    ) -> None:
        self.odds = odds
        self.error = error
        self.hangs = hangs
        self.given: list[Writing] = []

    async def read(self, question: str, writings: Sequence[Writing]) -> Sequence[Reading]:
        """The scripted odds."""
        assert question == "How?"
        self.given += writings
        if self.error is not None:
            raise self.error
        if self.hangs:
            await asyncio.Event().wait()
        self.odds, now = self.odds[len(writings) :], self.odds[: len(writings)]
        return [Reading(odds, 0, 1) for odds in now]


async def test_when_none_of_the_first_answers_more_are_read() -> None:
    """Each under its title; those behind them are not read."""
    scripted = Scripted([-1.0] * MOST_READ)

    read, after = await Reader(scripted).read("How?", PASSAGES, 0.4)

    assert scripted.given == [Writing(f"Page {n}", f"Body {n}") for n in range(1, MOST_READ + 1)]
    assert [one.reading is not None for one in read] == [True] * MOST_READ + [False] * (10 - MOST_READ)
    assert after == answerable_when_read(0.4, PASSAGES[0].score, [-1.0] * MOST_READ)


async def test_when_one_of_the_first_surely_answers_no_more_are_read() -> None:
    """The others cost time and tell nothing."""
    scripted = Scripted([-2.0, SURE, -2.0])

    read, after = await Reader(scripted).read("How?", PASSAGES, 0.4)

    assert len(scripted.given) == FIRST_READ
    assert sum(one.reading is not None for one in read) == FIRST_READ
    assert after == answerable_when_read(0.4, PASSAGES[0].score, [-2.0, SURE, -2.0])


async def test_what_was_found_and_what_was_read_order_the_passages_together() -> None:
    """A passage that answers comes to the front; one that was found much better stays there all the same."""
    first, second, third = (
        replace(one, score=score) for one, score in zip(PASSAGES, (0.9, 0.5, 0.1), strict=False)
    )

    read, _ = await Reader(Scripted([0.0, 3.0, 1.0])).read("How?", (first, second, third), 0.4)

    assert [one.candidate for one in read] == [one.candidate for one in (second, first, third)]
    # The logarithms of the odds are 2.197, 0 and -2.197; the readings are added.
    assert [one.score for one in read] == pytest.approx([0.95257, 0.9, 0.23197], abs=1e-5)


async def test_what_was_not_read_comes_behind_and_is_worth_no_more() -> None:
    """Whatever it was worth before."""
    passages = [replace(one, score=0.9) for one in PASSAGES]
    read, _ = await Reader(Scripted([SURE, -3.0, -4.0])).read("How?", passages, 0.4)
    assert [one.candidate for one in read] == [one.candidate for one in PASSAGES]
    scores = [one.score for one in read]
    assert scores == sorted(scores, reverse=True)
    assert scores[FIRST_READ:] == [scores[FIRST_READ - 1]] * (10 - FIRST_READ)


async def test_headings_are_read_with_the_title() -> None:
    """They often hold the words that a paragraph leaves out."""
    scripted = Scripted([0.0])
    passage = a_passage(1, "30 days", heading_path=(Heading(1, "Leave"), Heading(2, "Germany")))
    await Reader(scripted).read("How?", (passage,), 0.4)
    assert scripted.given == [Writing("Page 1 > Leave > Germany", "30 days")]


BODY = """Lena opens at **9**. Omar opens at 10.

| Day | Closes |
| --- | --- |
| Friday | 15:00 |

Ask for:
- the blue key
- the [red](https://example.org/red) key"""
SAID = (
    "Lena opens at 9.",
    "Omar opens at 10.",
    "Day: Friday; Closes: 15:00",
    "Ask for: the blue key",
    "Ask for: the red key",
)


async def test_passages_are_read_without_their_markdown() -> None:
    """A line for each thing said: rows under their heads, items with what introduces them."""
    scripted = Scripted([0.0])
    await Reader(scripted).read("How?", [a_passage(1, BODY)], 0.4)
    assert scripted.given[0].text == "\n".join(SAID)


@pytest.mark.parametrize("place", range(len(SAID)))
@pytest.mark.parametrize("at", ["begin", "end"])
def test_what_is_pointed_at_is_one_thing_said(place: int, at: str) -> None:
    """From its first letter to its last."""
    start = sum(len(line) + 1 for line in SAID[:place]) + (len(SAID[place]) - 1 if at == "end" else 0)
    passage = replace(a_passage(1, BODY), reading=Reading(0.0, start, start + 1))
    assert read_unit(passage, units_of(BODY)) == place
    assert units_of(BODY)[place].plain == SAID[place]


def test_what_was_not_read_points_nowhere() -> None:
    """Nor does what lies behind the text."""
    assert read_unit(a_passage(1, BODY), units_of(BODY)) is None
    behind = replace(a_passage(1, BODY), reading=Reading(0.0, 9999, 9999))
    assert read_unit(behind, units_of(BODY)) is None


@pytest.mark.parametrize(
    "scripted",
    [
        Scripted(error=UnavailableError("away")),
        Scripted(hangs=True),
        Scripted([1.0]),
        Scripted([1.0, math.nan, 2.0]),
        Scripted([-1.0, -1.0, -1.0, -1.0]),
    ],
    ids=["fails", "hangs", "too few", "no number", "too few of the others"],
)
async def test_a_reader_that_gives_nothing_usable_changes_nothing(
    scripted: Scripted, caplog: pytest.LogCaptureFixture
) -> None:
    """The probability from before is kept, and the log says why, without the question."""
    assert await Reader(scripted, seconds=0.01).read("How?", PASSAGES, 0.4) == (PASSAGES, 0.4)
    assert "judging without reading" in caplog.text
    assert "How?" not in caplog.text


async def test_without_passages_nobody_is_asked() -> None:
    """There is nothing to read."""
    scripted = Scripted()
    assert await Reader(scripted).read("How?", (), 0.4) == ((), 0.4)
    assert scripted.given == []


def test_what_was_found_and_what_was_read_count() -> None:
    """Each moves the probability in its own direction; extremes do not overflow."""
    usual = answerable_when_read(0.5, 0.5, [0.0, 0.0])
    assert usual > answerable_when_read(0.2, 0.5, [0.0, 0.0])
    assert usual > answerable_when_read(0.5, 0.8, [0.0, 0.0])
    assert usual < answerable_when_read(0.5, 0.5, [1.0, 0.0]) < answerable_when_read(0.5, 0.5, [1.0, 1.0])
    assert answerable_when_read(0.5, 0.5, [0.0, 1.0]) == answerable_when_read(0.5, 0.5, [1.0, 0.0])
    assert answerable_when_read(0.0, 0.0, [-1e6]) == 0.0
    assert answerable_when_read(1.0, 1.0, [1e6]) == 1.0
    assert answerable_when_read(0.3, 0.9, []) == 0.3


def test_the_signs_of_what_was_read_are_those_that_are_weighed() -> None:
    """Odds as natural logarithms, the best and the mean of the readings."""
    assert signs_when_read(0.5, 0.9, [3.0, -1.0, -5.0]) == pytest.approx((0.0, math.log(9), 3.0, -1.0))
