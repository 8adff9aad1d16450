"""Passages completed before an answer is written: neighbours, and the page's own words for a summary."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.domain.answers import Candidate, Passage, Retrieval
from core.domain.ids import ChunkId
from core.ports.neighbours import NeighbourIndex, Stretch
from core.services.ranking import HARD_LIMIT, SUMMARY_LEVEL


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Reads what stands around passages.

    ``reach`` is how many passages before and behind each are added for a model to read; 0 for none. They are
    passages of their own, so that a citation of one leads to its own paragraph.
    """

    index: NeighbourIndex
    reach: int = 0

    async def without_summaries(self, retrieval: Retrieval) -> Retrieval:
        """The same with the beginning of the page instead of its summary, which only helps to find it.

        A summary was written by a model: quoting it would prove nothing. Where other passages of the page
        were found it is left out.
        """
        summaries = [one.candidate for one in retrieval.passages if is_summary(one.candidate)]
        if not summaries:
            return retrieval
        stretches = [Stretch(one.page_id, 0, 0) for one in summaries]
        found = await self.index.around(stretches, audience=retrieval.question.audience)
        openings = {one.page_id: one for one in found}
        known = {one.candidate.page_id for one in retrieval.passages if not is_summary(one.candidate)}
        passages: list[Passage] = []
        for passage in retrieval.passages:
            if not is_summary(passage.candidate):
                passages.append(passage)
            elif passage.candidate.page_id not in known and passage.candidate.page_id in openings:
                passages.append(_stands_for(passage, openings[passage.candidate.page_id]))
        return replace(retrieval, passages=tuple(passages))

    async def with_neighbours(self, retrieval: Retrieval) -> Retrieval:
        """The same with each passage's neighbours right behind it, as many passages as an answer may have."""
        stretches = [_stretch(one.candidate, self.reach) for one in retrieval.passages if _has_place(one)]
        if not self.reach or not stretches:
            return retrieval
        found = await self.index.around(stretches, audience=retrieval.question.audience)
        return replace(retrieval, passages=beside(retrieval.passages, found, reach=self.reach))


def beside(
    passages: Sequence[Passage], neighbours: Sequence[Candidate], *, reach: int, most: int = HARD_LIMIT
) -> tuple[Passage, ...]:
    """Passages with those of the neighbours that are within reach behind each: nearest first, each once.

    What was found comes first where there is no room for all.
    """
    known = {one.candidate.chunk_id for one in passages}
    room = max(most - len(passages), 0)
    added: dict[ChunkId | None, list[Passage]] = {}
    for passage in passages:
        near = [
            one
            for one in neighbours
            if one.page_id == passage.candidate.page_id
            and 0 < abs(one.index - passage.candidate.index) <= reach
            and one.chunk_id not in known
            and _has_place(passage)
        ]
        near.sort(key=lambda one, at=passage.candidate.index: (abs(one.index - at), one.index))  # type: ignore[misc]
        for one in near[:room]:
            known.add(one.chunk_id)
            added.setdefault(passage.candidate.chunk_id, []).append(
                Passage(one, rrf=0.0, score=passage.score)
            )
            room -= 1
    return tuple(one for passage in passages for one in (passage, *added.get(passage.candidate.chunk_id, ())))


def is_summary(candidate: Candidate) -> bool:
    """Whether the passage is a summary; the one of a page with a title alone is not."""
    return (
        candidate.level == SUMMARY_LEVEL
        and candidate.chunk_id is not None
        and not candidate.title.strip().startswith(candidate.body.rstrip("…"))
    )


def _has_place(passage: Passage) -> bool:
    return passage.candidate.chunk_id is not None and passage.candidate.level > SUMMARY_LEVEL


def _stretch(candidate: Candidate, reach: int) -> Stretch:
    return Stretch(candidate.page_id, max(candidate.index - reach, 0), candidate.index + reach)


def _stands_for(summary: Passage, opening: Candidate) -> Passage:
    """The page's beginning with what the search said of its summary."""
    found = summary.candidate
    return Passage(
        replace(
            opening,
            semantic_rank=found.semantic_rank,
            lexical_rank=found.lexical_rank,
            cosine=found.cosine,
            lexical=found.lexical,
        ),
        rrf=summary.rrf,
        score=summary.score,
    )
