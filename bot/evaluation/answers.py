"""How good answers are: whether what they cite supports them, judged sentence by sentence.

As in the literature on cited answers (ALCE): **precision** is the share of citations whose passage alone
supports its sentence, **recall** the share of sentences whose citations together support them,
**faithfulness** the share of sentences that anything the model was given supports. A judge is a model too, so
its agreement with labelled sentences is part of the report.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.evaluation.golden import GoldenQuestion
from core.domain.answers import Answer, Passage
from core.domain.phrases import Phrase, phrase
from core.domain.questions import Question
from core.errors import InvalidInputError
from core.ports import Answerer
from core.ports.judging import SupportJudge
from core.services.weighing import text_of

FEWEST_LETTERS = 3
"""A span with fewer is punctuation between statements."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A sentence with passages, and whether a person says that they support it."""

    sentence: str
    passages: tuple[str, ...]
    supported: bool


@dataclass(frozen=True, slots=True)
class Tallied:
    """Verdicts over many sentences or citations; those without verdict are counted apart."""

    yes: int = 0
    no: int = 0
    unclear: int = 0

    def with_one(self, verdict: bool | None) -> "Tallied":
        """One verdict more."""
        return Tallied(
            self.yes + (verdict is True), self.no + (verdict is False), self.unclear + (verdict is None)
        )

    @property
    def share(self) -> float | None:
        """Of those with a verdict the share of yes; null where there is none."""
        judged = self.yes + self.no
        return self.yes / judged if judged else None


@dataclass(frozen=True, slots=True)
class AnswerFigures:
    """What `measure_answers` found."""

    precision: Tallied = Tallied()
    recall: Tallied = Tallied()
    faithfulness: Tallied = Tallied()
    answered: int = 0
    asked: int = 0

    def as_json(self) -> dict[str, Any]:
        """As it is printed."""
        figures = {
            "citation_precision": self.precision,
            "citation_recall": self.recall,
            "faithfulness": self.faithfulness,
        }
        return {
            "asked": self.asked,
            "answered": self.answered,
            "sentences": self.recall.yes + self.recall.no + self.recall.unclear,
            "citations": self.precision.yes + self.precision.no + self.precision.unclear,
            **{name: None if one.share is None else round(one.share, 4) for name, one in figures.items()},
            "without_verdict": sum(one.unclear for one in figures.values()),
        }


async def measure_answers(
    questions: Sequence[GoldenQuestion],
    *,
    answerer: Answerer,
    judge: SupportJudge,
    ask: Callable[[str], Question],
    on_done: Callable[[], None],
) -> AnswerFigures:
    """Ask every answerable question and judge each sentence of its answer.

    Raises:
        TemporaryError, RefusedError, ConfigurationError: index or judge cannot be used.
    """
    judging = _Remembering(judge)
    figures = AnswerFigures()
    for golden in questions:
        if not golden.answerable:
            continue
        outcome = await answerer.answer(ask(golden.question))
        figures = await _with_answer(figures, outcome if isinstance(outcome, Answer) else None, judging)
        on_done()
    return figures


async def _with_answer(figures: AnswerFigures, answer: Answer | None, judge: "_Remembering") -> AnswerFigures:
    precision, recall, faithfulness = figures.precision, figures.recall, figures.faithfulness
    for sentence, cited, given in () if answer is None else _sentences(answer):
        for passage in cited:
            precision = precision.with_one(await judge.supports(sentence, (passage,)))
        recall = recall.with_one(await judge.supports(sentence, cited))
        faithfulness = faithfulness.with_one(await judge.supports(sentence, given))
    return AnswerFigures(
        precision, recall, faithfulness, figures.answered + (answer is not None), figures.asked + 1
    )


async def agreement(judge: SupportJudge, labelled: Iterable[Labelled]) -> dict[str, Any]:
    """How often the judge says what people said, and Cohen's kappa: agreement beyond chance.

    Raises:
        TemporaryError, RefusedError, ConfigurationError: the judge cannot be used.
    """
    pairs = [(one.supported, await judge.supports(one.sentence, one.passages)) for one in labelled]
    judged = [(said, verdict) for said, verdict in pairs if verdict is not None]
    figures: dict[str, Any] = {
        "judge": judge.name, "labelled": len(pairs), "without_verdict": len(pairs) - len(judged)
    }  # fmt: skip
    if not judged:
        return {**figures, "agreement": None, "kappa": None}
    same = sum(said == verdict for said, verdict in judged) / len(judged)
    said_yes = sum(said for said, _ in judged) / len(judged)
    judged_yes = sum(verdict for _, verdict in judged) / len(judged)
    chance = said_yes * judged_yes + (1 - said_yes) * (1 - judged_yes)
    kappa = (same - chance) / (1 - chance) if chance < 1 else None
    return {
        **figures,
        "agreement": round(same, 4),
        "kappa": None if kappa is None else round(kappa, 4),
    }


def read_labelled(path: Path) -> tuple[Labelled, ...]:
    """Labelled sentences, one JSON object a line: {sentence, passages, supported}.

    Raises:
        InvalidInputError: the file cannot be read, or a line is malformed; names it.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"cannot read {path}: {error}") from error
    found = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
            sentence, passages, supported = value["sentence"], value["passages"], value["supported"]
            if not (isinstance(sentence, str) and isinstance(supported, bool) and isinstance(passages, list)):
                raise TypeError("'sentence' is a text, 'passages' a list, 'supported' true or false")
            found.append(Labelled(sentence, tuple(map(str, passages)), supported))
        except (ValueError, TypeError, KeyError) as error:
            raise InvalidInputError(f"{path}, line {number}: no labelled sentence: {error}") from None
    if not found:
        raise InvalidInputError(f"{path} holds no labelled sentences")
    return tuple(found)


def _sentences(answer: Answer) -> Iterable[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Each statement with the passages it cites, and all that were given; our own remarks are none."""
    cited = {citation.number: _text(citation.passage) for citation in answer.citations}
    given = tuple(_text(passage) for passage in answer.retrieval.passages)
    lead_in = phrase(Phrase.LEAD_IN, answer.language)
    for span in answer.spans:
        text = span.text.strip()
        is_ours = text == lead_in or (text.startswith("*") and text.endswith("*"))
        if sum(map(str.isalpha, text)) >= FEWEST_LETTERS and not is_ours:
            yield text, tuple(cited[number] for number in span.cites), given


def _text(passage: Passage) -> str:
    return text_of(passage.candidate)


class _Remembering:
    """Asks about the same sentence and passages once."""

    def __init__(self, judge: SupportJudge) -> None:
        self._judge = judge
        self._known: dict[tuple[str, tuple[str, ...]], bool | None] = {}

    async def supports(self, sentence: str, passages: tuple[str, ...]) -> bool | None:
        key = (sentence, passages)
        if key not in self._known:
            self._known[key] = await self._judge.supports(sentence, passages)
        return self._known[key]
