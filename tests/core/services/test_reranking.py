"""A reranker orders what may be seen, before duplicates go, and costs nothing when it fails."""

import asyncio
import math
from collections.abc import Sequence

import pytest

from core.domain.audiences import Audience, Scope
from core.errors import UnavailableError
from core.services.ranking import RankingSettings
from core.services.reranking import Reranking
from core.services.retriever import Retriever, by_ranks
from tests.core.services.found import ScriptedIndex, WordEmbedder, a_hit, a_passage, a_question, page_id

PASSAGES = tuple(a_passage(number, f"Body {number}") for number in range(1, 5))


class Scripted:
    """Scores passages by their place among those given: the last is the best."""

    model = "scripted"

    def __init__(
        self,
        *,
        scores: Sequence[float] | None = None,
        error: Exception | None = None,
        hangs: bool = False,
    ) -> None:
        self.scores = scores
        self.error = error
        self.hangs = hangs
        self.given: list[str] = []

    async def rerank(self, question: str, passages: Sequence[str]) -> Sequence[float]:
        """The scripted scores."""
        assert question
        self.given += passages
        if self.error is not None:
            raise self.error
        if self.hangs:
            await asyncio.Event().wait()
        return self.scores or [place / 10 for place in range(len(passages))]


async def test_r21_the_reranker_s_order_counts() -> None:
    """Reversed, with its own scores; titles are read with the text."""
    scripted = Scripted()

    ordered = await Reranking(scripted).order("question", PASSAGES)

    assert [one.candidate.body for one in ordered] == ["Body 4", "Body 3", "Body 2", "Body 1"]
    assert [one.score for one in ordered] == pytest.approx([0.3, 0.2, 0.1, 0.0])
    assert scripted.given[0] == "[Wiki > Page 1] Body 1"


@pytest.mark.parametrize(
    "scripted",
    [
        Scripted(error=UnavailableError("away")),
        Scripted(hangs=True),
        Scripted(scores=[0.5]),
        Scripted(scores=[math.nan] * 4),
    ],
    ids=["raises", "hangs", "too few", "no numbers"],
)
async def test_r21_x16_a_failing_reranker_leaves_the_order(scripted: Scripted) -> None:
    """An error, a time-out and a useless answer change nothing."""
    ordered = await Reranking(scripted, seconds=0.05).order("question", PASSAGES)

    assert ordered == PASSAGES


async def test_r21_it_orders_before_duplicates_go_and_never_sees_what_is_forbidden() -> None:
    """Of a page's four passages the reranker's best two stay; another page's are not even sent."""
    hits = [a_hit(1, f"Part {number}", chunk=number) for number in range(1, 5)]
    index = ScriptedIndex(*hits, a_hit(2, "Secret", chunk=9))
    audience = Audience("a", ((Scope("s", frozenset([page_id(1)])),),))
    scripted = Scripted()
    retriever = Retriever(
        index=index,
        embedder=WordEmbedder(),
        settings=RankingSettings(threshold=0.0),
        fuser=by_ranks,
        reranking=Reranking(scripted),
    )

    found = await retriever.retrieve(a_question(audience=audience))

    assert [one.candidate.body for one in found.passages] == ["Part 4", "Part 3"]
    assert len(scripted.given) == 4
    assert not any("Secret" in text for text in scripted.given)


async def test_x16_only_so_many_candidates_are_read() -> None:
    """The rest stays behind them, and is not worth more than the last of them."""
    passages = tuple(a_passage(number, f"Body {number}") for number in range(1, 31))
    scripted = Scripted()

    ordered = await Reranking(scripted, candidates=20).order("question", passages)

    assert len(scripted.given) == 20
    assert [one.candidate.body for one in ordered[:2]] == ["Body 20", "Body 19"]
    assert [one.candidate.body for one in ordered[20:]] == [f"Body {number}" for number in range(21, 31)]
    assert all(one.score <= ordered[19].score for one in ordered[20:])


@pytest.mark.parametrize("number", [19, 101])
def test_x16_the_number_of_candidates_is_bounded(number: int) -> None:
    """20 to 100."""
    with pytest.raises(ValueError, match="20 to 100"):
        Reranking(Scripted(), candidates=number)
