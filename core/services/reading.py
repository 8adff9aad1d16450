"""Whether the passages found answer: told by a model that reads them together with the question."""

import asyncio
import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.domain.answers import Candidate, Passage
from core.errors import FootnoteError, UnavailableError
from core.ports.reading import AnswerReader, Writing
from core.services.relevance import answerable_when_read, log_odds, probability_of
from core.services.units import Unit, units_of

logger = logging.getLogger(__name__)

FIRST_READ, MOST_READ = 3, 5
"""Passages that are read at once, and how many if none of those answers for sure: on the sample the page
that answers is among the best 3 in .91 and among the best 5 in .97 of the cases. Each takes some 25 ms.
"""

SURE = 1.0
"""Odds, as natural logarithm, from which nothing more needs to be read."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads, how many of the best passages, and for how long a question may wait for it."""

    reader: AnswerReader
    first: int = FIRST_READ
    most: int = MOST_READ
    seconds: float = 5.0

    async def read(
        self,
        question: str,
        passages: Sequence[Passage],
        probability: float,
        *,
        found: float | None = None,
    ) -> tuple[tuple[Passage, ...], float]:
        """The passages in the order of what was found and read together, and the probability of an answer.

        ``probability`` is that before anything was read, ``found`` the score that the best passage was found
        with: that of the first passage unless a reranker put its own in place. Passages that were not read
        come behind the others. Where the reader fails, is late or gives something unusable, both are as they
        were.
        """
        try:
            async with asyncio.timeout(self.seconds):
                read = await self._read(question, passages[: self.first])
                if max((odds_of(one) for one in read), default=SURE) < SURE:
                    read += await self._read(question, passages[self.first : self.most])
        except (FootnoteError, TimeoutError) as error:
            logger.warning("judging without reading: %s", str(error) or "it took too long")
            return tuple(passages), probability
        if found is None:
            found = passages[0].score if passages else 0.0
        after = answerable_when_read(probability, found, [odds_of(one) for one in read])
        return _ordered(read, passages[len(read) :]), after

    async def _read(self, question: str, passages: Sequence[Passage]) -> tuple[Passage, ...]:
        if not passages:
            return ()
        readings = await self.reader.read(question, [writing_of(one.candidate) for one in passages])
        if len(readings) != len(passages) or not all(math.isfinite(one.odds) for one in readings):
            raise UnavailableError(f"{self.reader.name} gave no figure for each passage")
        return tuple(replace(one, reading=found) for one, found in zip(passages, readings, strict=True))


def _ordered(read: Sequence[Passage], others: Sequence[Passage]) -> tuple[Passage, ...]:
    """Both speak: the score, as the probability that it shows people, and the odds add up."""
    scored = [replace(one, score=probability_of(log_odds(one.score) + odds_of(one))) for one in read]
    scored.sort(key=lambda one: -one.score)
    last = scored[-1].score if scored else 1.0
    return (*scored, *(replace(one, score=min(one.score, last)) for one in others))


def odds_of(passage: Passage) -> float:
    """Those of its reading; minus infinity where it was not read."""
    return -math.inf if passage.reading is None else passage.reading.odds


def writing_of(candidate: Candidate) -> Writing:
    """The passage as it is read: what it says, a line each and without Markdown, under title and headings."""
    headings = [heading.text for heading in candidate.heading_path]
    said = "\n".join(unit.plain for unit in units_of(candidate.body))
    return Writing(title=" > ".join((candidate.title, *headings)), text=said or candidate.body)


def read_unit(passage: Passage, units: Sequence[Unit]) -> int | None:
    """The place among the passage's `units_of` of what the reader points at; null where it was not read."""
    if passage.reading is None:
        return None
    before = 0
    for place, unit in enumerate(units):
        before += len(unit.plain) + len("\n")
        if passage.reading.start < before:
            return place
    return None
