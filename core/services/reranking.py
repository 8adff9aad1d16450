"""A second look at the best candidates by a model that reads question and passage together (row 75, R21)."""

import asyncio
import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.domain.answers import Passage
from core.errors import FootnoteError
from core.ports import Reranker
from core.services.weighing import text_of

logger = logging.getLogger(__name__)

FEWEST, MOST = 20, 100
"""The bounds of how many candidates are read (X16)."""


@dataclass(frozen=True, slots=True)
class Reranking:
    """Who reads the candidates, how many of them, and for how long a question may wait for it.

    Raises:
        ValueError: the number of candidates is out of bounds.
    """

    reranker: Reranker
    candidates: int = 50
    seconds: float = 2.0

    def __post_init__(self) -> None:
        if not FEWEST <= self.candidates <= MOST:
            raise ValueError(f"a reranker reads {FEWEST} to {MOST} candidates, got {self.candidates}")

    async def order(self, question: str, passages: Sequence[Passage]) -> tuple[Passage, ...]:
        """The passages in the reranker's order, those that it did not read behind them.

        It is given passages that the asker may see, before duplicates go. Where it fails, is late or gives no
        number for each, the order stays as it was.
        """
        read, rest = passages[: self.candidates], passages[self.candidates :]
        if len(read) < 2:  # noqa: PLR2004 - one passage has no order
            return tuple(passages)
        try:
            async with asyncio.timeout(self.seconds):
                scores = await self.reranker.rerank(question, [text_of(one.candidate) for one in read])
        except (FootnoteError, TimeoutError) as error:
            logger.warning("ranking without the reranker: %s", str(error) or "it took too long")
            return tuple(passages)
        if len(scores) != len(read) or not all(map(math.isfinite, scores)):
            logger.warning("ranking without the reranker: it gave no score for each passage")
            return tuple(passages)
        places = sorted(range(len(read)), key=lambda place: (-scores[place], place))
        best = tuple(replace(read[place], score=min(max(scores[place], 0.0), 1.0)) for place in places)
        return (*best, *(replace(one, score=min(one.score, best[-1].score)) for one in rest))
