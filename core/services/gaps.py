"""Where the wiki failed people: unanswered and badly rated questions, clustered by meaning."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt

from core.domain.audiences import Audience
from core.domain.documents import UNTITLED
from core.domain.ids import PageId
from core.domain.models import ModelProfile
from core.ports import Embedder, PageStates, PassageIndex
from core.ports.chat import Gap
from core.ports.learning import QuestionLog, WeakQuestion
from core.services.words import word_query

MOST_QUESTIONS = 500
"""Newest weak questions looked at; comparing each with each takes a blink."""

EXAMPLES = 3
NEAREST_PAGES = 3
_CANDIDATES = 20


Vectors = npt.NDArray[np.float32]
"""Shape (number, dimensions), one question in each row."""

SAME_MEANING_SHARE = 0.36
"""Of the way from a model's threshold to 1. Measured with e5 on 27 questions of 8 meanings in English, German
and Russian: all pairs in one group are right, and of the pairs that belong together 92 % are together."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Questions that mean about the same; the first is the most central one."""

    questions: tuple[WeakQuestion, ...]


@dataclass(frozen=True, slots=True)
class NearPage:
    """A page near a cluster, which the viewer may see."""

    page_id: PageId
    title: str
    url: str
    owner: str


@dataclass(frozen=True, slots=True)
class FoundGap:
    """A cluster with what to do about it. ``hidden`` questions were asked where more could be seen."""

    questions: tuple[WeakQuestion, ...]
    hidden: int
    nearest: tuple[NearPage, ...]

    @property
    def count(self) -> int:
        """All questions, those that are not shown included."""
        return len(self.questions) + self.hidden

    @property
    def examples(self) -> tuple[str, ...]:
        """A few different wordings, the most central first."""
        return tuple(dict.fromkeys(one.text for one in self.questions))[:EXAMPLES]

    @property
    def owner(self) -> str:
        """Who to ask: the last editor of the nearest page that has one."""
        return next((page.owner for page in self.nearest if page.owner), "")

    def as_gap(self) -> Gap:
        """The gap as chat platforms show it."""
        return Gap(
            count=self.count,
            examples=self.examples,
            nearest_pages=tuple((page.title, page.url) for page in self.nearest),
            owner=self.owner,
        )


class Gaps:
    """Finds gaps, and shows each viewer no more than that viewer may see."""

    def __init__(
        self, *, log: QuestionLog, embedder: Embedder, index: PassageIndex, pages: PageStates
    ) -> None:
        self._log = log
        self._embedder = embedder
        self._index = index
        self._pages = pages

    async def find(self, *, viewer: Audience, since: datetime, limit: int) -> tuple[FoundGap, ...]:
        """The largest gaps since then. A gap of which the viewer may see no question is left out.

        Raises:
            TemporaryError, RefusedError: questions, vectors or pages could not be had.
        """
        weak = await self._log.weak(since=since, limit=MOST_QUESTIONS)
        if not weak or viewer.is_empty:
            return ()
        vectors = [await self._embedder.embed_query(one.text) for one in weak]
        found = []
        for cluster in clusters(weak, np.stack(vectors), threshold=same_meaning(self._embedder.profile)):
            shown = tuple(one for one in cluster.questions if viewer.covers(one.audience))
            if shown:
                found.append((cluster, shown))
        found.sort(key=lambda pair: -len(pair[0].questions))
        return tuple(
            [
                FoundGap(
                    questions=shown,
                    hidden=len(cluster.questions) - len(shown),
                    nearest=await self._nearest(shown[0], viewer),
                )
                for cluster, shown in found[:limit]
            ]
        )

    async def _nearest(self, question: WeakQuestion, viewer: Audience) -> tuple[NearPage, ...]:
        found = await self._index.search(
            vector=await self._embedder.embed_query(question.text),
            words=word_query(question.text, question.language),
            audience=viewer,
            limit=_CANDIDATES,
        )
        # Filtered in the search; looked at once more, since a title is as good as a page.
        candidates = {one.page_id: one for one in reversed(found.candidates) if viewer.admits(one.path)}
        nearest = tuple(reversed(candidates.values()))[:NEAREST_PAGES]
        states = await self._pages.states([one.page_id for one in nearest])
        return tuple(
            NearPage(
                page_id=one.page_id,
                title=one.title.strip() or UNTITLED,
                url=one.page_url,
                owner=(states[one.page_id].ref.last_edited_by or "") if one.page_id in states else "",
            )
            for one in nearest
        )


def clusters(questions: Sequence[WeakQuestion], vectors: Vectors, *, threshold: float) -> tuple[Cluster, ...]:
    """Questions of about the same meaning together, the most central one of each first."""
    return tuple(
        Cluster(tuple(questions[row] for row in _central_first(members, vectors)))
        for members in group(vectors, threshold=threshold)
    )


def group(vectors: Vectors, *, threshold: float) -> list[list[int]]:
    """Agglomerative clustering by average linkage: the two nearest groups become one, until none are near.

    ``vectors`` has the shape (number, dimensions). Groups whose average cosine is below ``threshold`` stay
    apart.
    """
    members = [[row] for row in range(len(vectors))]
    lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    near = np.asarray((vectors / lengths) @ (vectors / lengths).T, dtype=np.float64)
    np.fill_diagonal(near, -np.inf)
    while len(members) > 1:
        one, other = sorted(divmod(int(near.argmax()), len(near)))
        if near[one, other] < threshold:
            break
        sizes = len(members[one]), len(members[other])
        merged = (near[one] * sizes[0] + near[other] * sizes[1]) / sum(sizes)
        near[one], near[:, one] = merged, merged
        near[one, one] = -np.inf
        near = np.delete(np.delete(near, other, axis=0), other, axis=1)
        members[one] += members.pop(other)
    return members


def _central_first(members: Sequence[int], vectors: Vectors) -> list[int]:
    middle = vectors[list(members)].mean(axis=0)
    return sorted(members, key=lambda row: (-float(vectors[row] @ middle), row))


def same_meaning(profile: ModelProfile) -> float:
    """From which average cosine on two questions are one."""
    return profile.threshold + (1 - profile.threshold) * SAME_MEANING_SHARE
