"""What the signs of an answer are weighed with: ``python -m tests.bench.reading.weights [GOLDEN ...]``.

The sample workspace is asked the golden questions, those of ``sample.jsonl`` and ``tuning.jsonl`` unless
others are named, as the product asks and reads. Printed are the weights of a logistic regression in which
answerable and unanswerable questions count the same: they stand in `core.services.relevance`.
"""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track

from bot.evaluation.golden import read_golden
from bot.settings import load_settings
from bot.wiring import App, ask_as_console, open_app
from core.errors import ConfigurationError
from core.services.inquiries import prepare
from core.services.reading import Reader
from core.services.relevance import answerable_when_read, signs_when_read
from core.services.retriever import Retriever
from tests.bench.product import say

GOLDEN = Path(__file__).parents[2] / "golden"
SETS = ("sample.jsonl", "tuning.jsonl")
ROUNDS = 30
HELD_BACK = 1.0
"""How strongly weights are held near nothing: as scikit-learn does with C = 1."""


@dataclass(frozen=True, slots=True)
class Read:
    """A question that was read: the probability before, the best passage's score, and the passages' odds."""

    before: float
    found: float
    odds: tuple[float, ...]
    is_answerable: bool

    @property
    def after(self) -> float:
        """The probability that the product makes of it."""
        return answerable_when_read(self.before, self.found, self.odds)


async def read(retriever: Retriever, reader: Reader, question: str, *, is_answerable: bool) -> Read | None:
    """The question searched for and read as the product does; null where nothing was read.

    ``retriever`` has no reader of its own.
    """
    asked = ask_as_console(question)
    found = await retriever.retrieve(asked)
    if prepare(asked).is_name or found.probability is None or not found.passages:
        return None
    passages, _ = await reader.read(found.query, found.passages, found.probability)
    odds = tuple(one.reading.odds for one in passages if one.reading is not None)
    if not odds:
        return None
    return Read(found.probability, found.passages[0].score, odds, is_answerable=is_answerable)


def weights(questions: Sequence[Read]) -> str:
    """By Newton's method, as a line to print."""
    signs = np.array([(*signs_when_read(one.before, one.found, one.odds), 1.0) for one in questions])
    truth = np.array([one.is_answerable for one in questions], float)
    counts = np.where(truth > 0, 1.0, truth.sum() / (1 - truth).sum())
    held = np.diag([HELD_BACK] * (signs.shape[1] - 1) + [0.0])
    found = np.zeros(signs.shape[1])
    for _ in range(ROUNDS):
        chance = 1 / (1 + np.exp(-signs @ found))
        bend = (signs * (counts * chance * (1 - chance))[:, None]).T @ signs + held
        found += np.linalg.solve(bend, signs.T @ (counts * (truth - chance)) - held @ found)
    named = zip(("before", "found", "best read", "read at all", "constant"), found, strict=True)
    return ", ".join(f"{name} {value:.2f}" for name, value in named)


async def of_sample(app: App, files: Sequence[Path]) -> list[Read]:
    """The golden questions as the product reads them."""
    if app.reader is None:
        raise ConfigurationError("nothing reads: set ANSWER_READER=auto")
    retriever = Retriever(
        index=app.index, embedder=app.asking, settings=app.ranking, calibrations=app.calibrations
    )
    questions = [one for file in files for one in read_golden(file)]
    seen = [
        await read(retriever, app.reader, one.question, is_answerable=one.answerable)
        for one in track(questions, "reading", console=Console(stderr=True))
    ]
    return [one for one in seen if one is not None]


async def main(arguments: Sequence[str]) -> int:
    """Ask, read, and print."""
    files = [Path(one) for one in arguments] or [GOLDEN / name for name in SETS]
    async with open_app(load_settings(), sample=True) as app:
        say(weights(await of_sample(app, files)))
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
