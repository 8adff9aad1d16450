"""Stages side by side, intervals, kept vectors and the page they are shown on."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from adapters.embedders.hashing import HashingEmbedder
from adapters.stores.memory import MemoryStore
from bot.commands.evaluate import read_sizes
from bot.evaluation.ablation import ablate
from bot.evaluation.golden import GoldenQuestion, Relevant
from bot.evaluation.kept_vectors import KeptVectors
from bot.evaluation.metrics import REPORTED, intervals
from bot.evaluation.page import html_report
from bot.evaluation.runner import measure, report
from bot.evaluation.stages import STAGES, LastSearch, Parts, for_figures
from bot.wiring import ask_as_console
from core.domain.answers import Reading
from core.domain.audiences import EVERYTHING
from core.domain.models import ModelProfile, Vector
from core.errors import InvalidInputError
from core.ports import IndexedChunk, WordQuery
from core.ports.reading import Writing
from core.services.calibrating import Calibrations, Calibrator
from core.services.ranking import RankingSettings
from core.services.reading import Reader
from core.services.refusals import judge_for
from core.services.reranking import Reranking
from core.services.retriever import Retriever
from tests.builders_store import a_chunk, a_page, index_page, page_id
from tests.core.services.found import ScriptedIndex, a_hit

EMBEDDER = HashingEmbedder(128)
TEXTS = ("Apples grow on trees", "Bicycles are leased", "Coffee is free", "Doors close at nine")


async def filled(texts: Sequence[str] = TEXTS) -> Parts:
    """One page for each text, and what was learned of them where they are enough to learn from."""
    store = MemoryStore()
    for number, text in enumerate(texts, start=1):
        chunk: IndexedChunk = a_chunk(number, 0, text, language="en")
        [vector] = await EMBEDDER.embed_passages([chunk.chunk.text_to_embed])
        assert vector is not None
        await index_page(store, a_page(number, text), a_chunk(number, 0, text, vector=vector, language="en"))
    await Calibrator(store=store, embedder=EMBEDDER).run()
    return Parts(store, EMBEDDER, Calibrations(store), RankingSettings())


def golden(number: int, text: str, *, answerable: bool = True) -> GoldenQuestion:
    """A question that page ``number`` answers."""
    relevant = (Relevant(page_id=page_id(number)),) if answerable else ()
    return GoldenQuestion(str(number), text, "en", relevant, answerable)


QUESTIONS = (golden(1, "Where do apples grow?"), golden(3, "Is coffee free?"))


async def test_e4_every_stage_is_measured_on_every_answerable_question() -> None:
    """One row for each, with all figures; what has no answer is not ranked."""
    asked: list[None] = []
    unanswerable = golden(9, "Who sings?", answerable=False)

    rows = await ablate(
        await filled(),
        (*QUESTIONS, unanswerable),
        ask=ask_as_console,
        on_done=lambda: asked.append(None),
    )

    assert [row.name for row in rows] == [stage.name for stage in STAGES]
    assert len(asked) == len(STAGES) * len(QUESTIONS)
    assert all(set(row.figures) == set(row.intervals) == set(REPORTED) for row in rows)
    assert {row.name: row.figures["hit@1"] for row in rows}["hybrid (evidence)"] == 1.0


async def test_the_lexical_stage_embeds_nothing_and_the_vector_stage_needs_no_word() -> None:
    """Each side alone is that side alone."""
    parts = await filled()
    by_name = {stage.name: stage.retriever(parts) for stage in STAGES}

    words = await by_name["lexical"].retrieve(ask_as_console("zebra"))
    vectors = await by_name["vector"].retrieve(ask_as_console("zebra"))

    assert words.passages == ()
    assert {one.candidate.lexical_rank for one in vectors.passages} == {None}
    assert len(vectors.passages) == len(TEXTS)


async def test_a_report_tells_intervals_and_what_the_page_limit_leaves() -> None:
    """The figures with nothing cut off, and beside them what people are shown."""
    parts = await filled()
    measured = await measure(
        QUESTIONS,
        ranked=Retriever(
            index=parts.index,
            embedder=EMBEDDER,
            settings=for_figures(parts.settings),
            calibrations=parts.calibrations,
        ),
        answering=Retriever(index=parts.index, embedder=EMBEDDER, calibrations=parts.calibrations),
        judge=judge_for(EMBEDDER.profile),
        ask=ask_as_console,
        on_done=lambda: None,
    )

    result = report(measured)

    assert set(result["intervals"]) == set(REPORTED)
    assert set(result["with_page_limit"]) == {"hit@1", "hit@5", "precision@3", "recall@3", "mrr@3"}
    assert result["metrics"]["hit@5"] == result["with_page_limit"]["hit@5"] == 1.0


def test_intervals_hold_the_mean_and_shrink_with_more_questions() -> None:
    """Percentiles of resampled averages; equal figures give no width at all."""
    half = [dict.fromkeys(REPORTED, float(at % 2)) for at in range(20)]
    low, high = intervals(half)["ndcg@10"]
    closer_low, closer_high = intervals(half * 20)["ndcg@10"]

    assert 0.2 < low < 0.5 < high < 0.8
    assert closer_high - closer_low < (high - low) / 2
    assert intervals([dict.fromkeys(REPORTED, 1.0)] * 5)["hit@1"] == (1.0, 1.0)
    assert intervals([]) == {}


class Noting:
    """A reader that says of everything that it does not answer."""

    name = "noting"

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def read(self, question: str, writings: Sequence[Writing]) -> Sequence[Reading]:
        """The same for each."""
        self.asked.append(question)
        return [Reading(-9.0, 0, 1) for _ in writings]


async def test_what_is_found_is_read_but_for_a_name_alone() -> None:
    """``ERR_42`` asks for its page: no passage answers it, so a reader would have it refused."""
    numbered = tuple(f"{text}, on floor {floor}" for text in TEXTS for floor in range(5))
    parts, noting = await filled(numbered), Noting()
    retriever = Retriever(
        index=parts.index, embedder=EMBEDDER, calibrations=parts.calibrations, reader=Reader(noting)
    )

    asked = await retriever.retrieve(ask_as_console("Where do apples grow?"))
    named = await retriever.retrieve(ask_as_console("ERR_42"))

    assert set(noting.asked) == {"Where do apples grow?"}
    assert asked.passages[0].reading == Reading(-9.0, 0, 1)
    assert named.passages
    assert {one.reading for one in named.passages} == {None}


class Delighted:
    """A reranker that gives every passage the highest score."""

    model = "delighted"

    async def rerank(self, question: str, passages: Sequence[str]) -> Sequence[float]:  # noqa: ARG002 - the port's signature
        """The same for each, which leaves their order."""
        return [1.0] * len(passages)


async def test_scores_of_a_reranker_do_not_speak_against_an_answer() -> None:
    """The probability weighs the score that the best passage was found with."""
    numbered = tuple(f"{text}, on floor {floor}" for text in TEXTS for floor in range(5))
    parts = await filled(numbered)
    plain, reranked = [
        await Retriever(
            index=parts.index,
            embedder=EMBEDDER,
            calibrations=parts.calibrations,
            reranking=reranking,
            reader=Reader(Noting()),
        ).retrieve(ask_as_console("Where do apples grow?"))
        for reranking in (None, Reranking(Delighted()))
    ]

    assert plain.probability is not None
    assert reranked.passages[0].score > plain.passages[0].score
    assert reranked.probability == pytest.approx(plain.probability)


class Counting:
    """A model that says how many passages it was asked for, and refuses empty ones."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    @property
    def profile(self) -> ModelProfile:
        return EMBEDDER.profile

    async def embed_query(self, text: str) -> Vector:
        return await EMBEDDER.embed_query(text)

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        self.asked += texts
        return [
            vector if text else None
            for text, vector in zip(texts, await EMBEDDER.embed_passages(texts), strict=True)
        ]


async def test_vectors_are_kept_by_text_between_runs(tmp_path: Path) -> None:
    """The second run asks for what is new, and gets the very same vectors."""
    model = Counting()
    with KeptVectors(model, tmp_path / "below" / "vectors.sqlite") as first:
        before = await first.embed_passages(["a", "b", "a", ""])
    with KeptVectors(model, tmp_path / "below" / "vectors.sqlite") as second:
        after = await second.embed_passages(["b", "c", "a"])

    assert model.asked == ["a", "b", "", "c"]
    assert (first.made, second.made) == (2, 1)
    assert before[3] is None
    assert before[0] is not None
    assert before[1] is not None
    assert after[0] == pytest.approx(before[1], abs=0)
    assert after[2] == pytest.approx(before[0], abs=0)


def test_the_page_draws_every_stage_and_language() -> None:
    """Well-formed, self-contained, and no name can break out of it."""
    group: dict[str, Any] = {"ndcg@10": 0.5, "refusals": {"right": 0.5, "false": 0.1, "auc": 0.7}}
    questions = [
        {"lang": "<de>", "answerable": at % 2 == 0, "confidence": at / 10, "id": str(at)} for at in range(6)
    ]
    result = {
        "metrics": group,
        "by_language": {"<de>": group},
        "by_language_pair": {},
        "questions": questions,
        "ablation": [
            {"stage": "vector & co", "metrics": {"ndcg@10": 0.4}, "intervals": {"ndcg@10": (0.3, 0.5)}}
        ],
    }

    page = html_report(result, title="Set <1>")
    body = page.split("\n", 1)[1].replace('<meta charset="utf-8">', "")

    tree = ElementTree.fromstring(body)  # noqa: S314 - our own page
    assert len(tree.findall(".//svg")) == 3
    assert "vector &amp; co" in page
    assert "&lt;de&gt;" in page
    assert "http" not in page


@pytest.mark.parametrize("text", ["600,x", "20", "-400", "6oo"])
def test_sizes_that_are_none_are_refused(text: str) -> None:
    """The message shows what is expected."""
    with pytest.raises(InvalidInputError, match="400,600"):
        read_sizes(text)


def test_sizes_are_separated_by_commas() -> None:
    """Spaces do no harm."""
    assert read_sizes(" 400, 512 ,") == (400, 512)


async def test_a_question_ranked_in_two_ways_is_searched_once() -> None:
    """The same search again is answered from memory; another one is not, nor an older one."""
    behind = ScriptedIndex(a_hit(1))
    index = LastSearch(behind)
    for text in ("alpha", "alpha", "beta", "alpha"):
        asked = WordQuery(text=text, terms=(text,))
        found = await index.search(vector=None, words=asked, audience=EVERYTHING, limit=10)
        assert found.candidates == behind.hits

    assert [words.text for _, words, _, _ in behind.searches] == ["alpha", "beta", "alpha"]
