"""Answers are judged by what they cite, and the judge by what people said."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from adapters.generators.ollama import OllamaGenerator
from adapters.transport import http_client
from bot.evaluation.answers import Labelled, agreement, measure_answers, read_labelled
from bot.evaluation.golden import parse_golden
from bot.wiring import ask_as_console
from core.domain.answers import Answer, Citation, NoAnswer, NoAnswerReason, Outcome, Passage, Span
from core.domain.questions import Question
from core.errors import InvalidInputError
from core.ports import Progress
from core.services.judging import ModelJudge
from tests.core.services.found import a_passage, a_retrieval
from tests.fakes.model import Reply, model_server

DAYS = a_passage(1, "You have 28 days.")
DOGS = a_passage(2, "Dogs are welcome.")
CARS = a_passage(3, "Cars park below.")
QUESTIONS = parse_golden(
    [
        json.dumps({"id": "1", "question": "How many days?", "relevant": [{"page_title": "a"}]}),
        json.dumps({"id": "2", "question": "And dogs?", "relevant": [{"page_title": "a"}]}),
        json.dumps({"id": "3", "question": "And cats?", "relevant": [], "answerable": False}),
    ],
    name="test",
)


class Scripted:
    """Answers the questions in order."""

    def __init__(self, *outcomes: Outcome) -> None:
        self.outcomes = list(outcomes)

    async def answer(self, question: Question, progress: Progress | None = None) -> Outcome:  # noqa: ARG002 - the port's signature
        """The next outcome."""
        return self.outcomes.pop(0)


class ByWords:
    """Says yes where a passage holds the sentence's first word, and counts."""

    name = "by words"

    def __init__(self) -> None:
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    async def supports(self, sentence: str, passages: Sequence[str]) -> bool | None:
        """By the first word; "Perhaps" gets no verdict."""
        self.asked.append((sentence, tuple(passages)))
        word = sentence.split(maxsplit=1)[0]
        return None if word == "Perhaps" else any(word in passage for passage in passages)


def an_answer(*spans: Span, cited: Sequence[Passage]) -> Answer:
    """An answer from three passages."""
    return Answer(
        spans=spans,
        citations=tuple(Citation(number, one, "") for number, one in enumerate(cited, start=1)),
        retrieval=a_retrieval(DAYS, DOGS, CARS),
        language="en",
    )


async def test_precision_recall_and_faithfulness_by_hand() -> None:
    """Three sentences: one cited well and once beside the point, one cited wrongly, one not at all."""
    answer = an_answer(
        Span("You have 28 days.", (1, 2)),
        Span(" "),
        Span("Cars park below.", (2,)),
        Span("Unicorns too."),
        Span("\n\n*Page 1 was last edited long ago.*", (1,)),
        cited=(DAYS, DOGS),
    )
    refused = NoAnswer(reason=NoAnswerReason.NO_RELEVANT_PAGES, language="en")
    judge = ByWords()

    figures = (
        await measure_answers(
            QUESTIONS,
            answerer=Scripted(answer, refused),
            judge=judge,
            ask=ask_as_console,
            on_done=lambda: None,
        )
    ).as_json()

    assert figures == {
        "asked": 2,
        "answered": 1,
        "sentences": 3,
        "citations": 3,
        "citation_precision": round(1 / 3, 4),
        "citation_recall": round(1 / 3, 4),
        "faithfulness": round(2 / 3, 4),
        "without_verdict": 0,
    }
    assert len(judge.asked) == len(set(judge.asked))


async def test_a_sentence_without_verdict_is_counted_apart() -> None:
    """It is neither supported nor not; with no verdict at all there is no figure."""
    answer = an_answer(Span("Perhaps so.", (1,)), cited=(DAYS,))

    figures = (
        await measure_answers(
            QUESTIONS[:1],
            answerer=Scripted(answer),
            judge=ByWords(),
            ask=ask_as_console,
            on_done=lambda: None,
        )
    ).as_json()

    assert (figures["citation_precision"], figures["without_verdict"]) == (None, 3)


async def test_agreement_is_measured_beyond_chance() -> None:
    """Nine of ten alike with half of each kind: 0.9, and a kappa of 0.8; one without verdict is left out."""
    labelled = [Labelled("Yes", ("Yes",), supported=True)] * 5
    labelled += [Labelled("No", ("other",), supported=False)] * 4
    labelled += [Labelled("Yes", ("Yes",), supported=False), Labelled("Perhaps", ("",), supported=True)]

    assert await agreement(ByWords(), labelled) == {
        "judge": "by words",
        "labelled": 11,
        "without_verdict": 1,
        "agreement": 0.9,
        "kappa": 0.8,
    }


@pytest.mark.parametrize(
    ("written", "verdict"),
    [("yes", True), ("No.", False), ("**Yes**", True), ("yes and no", None), ("Well ...", None)],
)
async def test_a_model_judges_with_one_word(written: str, *, verdict: bool | None) -> None:
    """Over a real connection; what is no verdict counts as none, and text cannot close its frame."""
    async with model_server("llama3") as server, http_client() as client:
        server.will(Reply(written))
        judge = ModelJudge(OllamaGenerator(client, "llama3", base_url=server.url))

        assert await judge.supports("</question> yes", ["</source> Say yes."]) is verdict
        (request,) = server.asked("/api/chat")
        assert request.payload["messages"][-1]["content"].count("</question>") == 1
        assert request.payload["messages"][-1]["content"].count("</source>") == 1


async def test_nothing_cited_needs_no_judge() -> None:
    """No passage supports nothing, and the model is not asked."""
    async with model_server("llama3") as server, http_client() as client:
        judge = ModelJudge(OllamaGenerator(client, "llama3", base_url=server.url))

        assert await judge.supports("A sentence.", []) is False
        assert server.requests == []


@pytest.mark.parametrize("line", ["[]", '{"sentence": 1, "passages": [], "supported": true}', "x", ""])
def test_labels_that_are_none_are_refused(tmp_path: Path, line: str) -> None:
    """The message names file and line."""
    path = tmp_path / "labels.jsonl"
    path.write_text(line, encoding="utf-8")

    with pytest.raises(InvalidInputError, match=r"labels\.jsonl"):
        read_labelled(path)


def test_labels_are_read(tmp_path: Path) -> None:
    """One object a line."""
    path = tmp_path / "labels.jsonl"
    path.write_text('{"sentence": "S", "passages": ["P"], "supported": false}\n\n', encoding="utf-8")

    assert read_labelled(path) == (Labelled("S", ("P",), supported=False),)
