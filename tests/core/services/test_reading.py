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
from core.services.reading import MOST_READ, Reader
from core.services.relevance import answerable_when_read
from tests.core.services.found import a_passage

PASSAGES = tuple(a_passage(number, f"Body {number}") for number in range(1, 6))


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
        return [Reading(odds, 0, 1) for odds in self.odds]


async def test_the_best_of_the_first_passages_counts() -> None:
    """The first are read, each under its title; those behind them are not."""
    scripted = Scripted([-3.0, 2.0, -1.0])

    read = await Reader(scripted).read("How?", PASSAGES)

    odds = [None if one.reading is None else one.reading.odds for one in read]
    assert odds == [-3.0, 2.0, -1.0, None, None]
    assert [one.candidate for one in read] == [one.candidate for one in PASSAGES]
    assert answerable_when_read(0.4, read) == answerable_when_read(0.4, read[1:2])
    assert scripted.given == [Writing(f"Page {n}", f"Body {n}") for n in range(1, MOST_READ + 1)]


async def test_headings_are_read_with_the_title() -> None:
    """They often hold the words that a paragraph leaves out."""
    scripted = Scripted([0.0])
    passage = a_passage(1, "30 days", heading_path=(Heading(1, "Leave"), Heading(2, "Germany")))
    await Reader(scripted).read("How?", (passage,))
    assert scripted.given == [Writing("Page 1 > Leave > Germany", "30 days")]


@pytest.mark.parametrize(
    "scripted",
    [
        Scripted(error=UnavailableError("away")),
        Scripted(hangs=True),
        Scripted([1.0]),
        Scripted([1.0, math.nan, 2.0]),
    ],
    ids=["fails", "hangs", "too few", "no number"],
)
async def test_a_reader_that_gives_nothing_usable_changes_nothing(
    scripted: Scripted, caplog: pytest.LogCaptureFixture
) -> None:
    """The probability from before is kept, and the log says why, without the question."""
    read = await Reader(scripted, seconds=0.01).read("How?", PASSAGES)
    assert read == PASSAGES
    assert answerable_when_read(0.4, read) == 0.4
    assert "judging without reading" in caplog.text
    assert "How?" not in caplog.text


async def test_without_passages_nobody_is_asked() -> None:
    """There is nothing to read."""
    scripted = Scripted()
    assert await Reader(scripted).read("How?", ()) == ()
    assert scripted.given == []


def test_both_what_was_found_and_what_was_read_count() -> None:
    """Each moves the probability in its own direction; extremes do not overflow."""

    def after(before: float, odds: float) -> float:
        return answerable_when_read(before, [replace(PASSAGES[0], reading=Reading(odds, 0, 0))])

    assert after(0.5, 1.0) > after(0.5, 0.0) > after(0.2, 0.0)
    assert after(0.0, -1e6) == 0.0
    assert after(1.0, 1e6) == 1.0
