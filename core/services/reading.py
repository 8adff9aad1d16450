"""Whether the passages found answer: told by a model that reads them together with the question."""

import asyncio
import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.domain.answers import Candidate, Passage
from core.errors import FootnoteError
from core.ports.reading import AnswerReader, Writing

logger = logging.getLogger(__name__)

MOST_READ = 3
"""Passages that are read: with more no more questions are judged rightly, and each takes its time."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads, how many of the best passages, and for how long a question may wait for it."""

    reader: AnswerReader
    most: int = MOST_READ
    seconds: float = 5.0

    async def read(self, question: str, passages: Sequence[Passage]) -> tuple[Passage, ...]:
        """The passages, the first of them with their readings.

        Where the reader fails, is late or gives something unusable, they are as they were.
        """
        read, others = passages[: self.most], passages[self.most :]
        if not read:
            return ()
        try:
            async with asyncio.timeout(self.seconds):
                readings = await self.reader.read(question, [writing_of(one.candidate) for one in read])
        except (FootnoteError, TimeoutError) as error:
            logger.warning("judging without reading: %s", str(error) or "it took too long")
            return tuple(passages)
        if len(readings) != len(read) or not all(math.isfinite(one.odds) for one in readings):
            logger.warning("judging without reading: no figure for each passage")
            return tuple(passages)
        return (*(replace(one, reading=found) for one, found in zip(read, readings, strict=True)), *others)


def writing_of(candidate: Candidate) -> Writing:
    """The passage as it is read: under its page's own title and its headings."""
    headings = [heading.text for heading in candidate.heading_path]
    return Writing(title=" > ".join((candidate.title, *headings)), text=candidate.body)
