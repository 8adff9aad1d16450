"""Every stage asked every question, side by side; and the same for other sizes of chunks."""

from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from adapters.stores.postgres import PostgresStore, open_store
from bot.evaluation.golden import GoldenQuestion
from bot.evaluation.kept_vectors import KeptVectors
from bot.evaluation.metrics import Ranking, intervals, mean, score_rankings
from bot.evaluation.runner import distinct_sections
from bot.evaluation.stages import STAGES, Parts, Stage
from bot.wiring import App
from core.domain.questions import Question
from core.services.calibrating import Calibrations, Calibrator
from core.services.chunking import ChunkSettings
from core.services.enriching import ROOM_FOR_CONTEXT, Cost, Enricher
from core.services.indexing import Indexer
from core.services.sync_report import Tally

CHUNK_SIZES = (400, 512, 600, 1000)
LONGEST_OVERLAP_SHARE = 6
"""Chunks of another size overlap by the same share as the default ones: a sixth."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; ``pairs`` are its nDCG@10 by languages of question and page."""

    name: str
    figures: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    pairs: dict[str, float] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The line as it is printed."""
        return {
            "stage": self.name,
            "metrics": {name: round(value, 4) for name, value in self.figures.items()},
            "intervals": self.intervals,
            "ndcg@10_by_language_pair": {name: round(value, 4) for name, value in self.pairs.items()},
        }


async def ablate(
    parts: Parts,
    questions: Sequence[GoldenQuestion],
    *,
    ask: Callable[[str], Question],
    on_done: Callable[[], None],
    stages: Sequence[Stage] = STAGES,
    suffix: str = "",
) -> tuple[Row, ...]:
    """One row for each stage, over the questions that have an answer.

    Raises:
        TemporaryError: the index could not be searched.
    """
    answerable = [one for one in questions if one.answerable]
    rows = []
    for stage in stages:
        retriever = stage.retriever(parts)
        rankings = []
        for golden in answerable:
            found = await retriever.retrieve(ask(golden.question))
            rankings.append(Ranking(question=golden, sections=distinct_sections(found)))
            on_done()
        by_question = score_rankings(rankings)
        scores = list(by_question.values())
        rows.append(
            Row(stage.name + suffix, mean(scores), intervals(scores), _pairs(answerable, by_question))
        )
    return tuple(rows)


def _pairs(
    questions: Sequence[GoldenQuestion], scores: Mapping[str, Mapping[str, float]]
) -> dict[str, float]:
    """nDCG@10 for each pair of languages that the set names."""
    groups: dict[str, list[float]] = defaultdict(list)
    for one in questions:
        if one.lang and one.page_lang:
            groups[f"{one.lang}>{one.page_lang}"].append(scores[one.id]["ndcg@10"])
    return {pair: sum(values) / len(values) for pair, values in sorted(groups.items())}


def chunked(app: App, size: int, kept: KeptVectors) -> AbstractAsyncContextManager[Parts]:
    """The stored pages cut to another size, beside the index in use, and taken away again at the end."""
    return indexed(app, replace(app.chunk_settings, size=size, overlap=size // LONGEST_OVERLAP_SHARE), kept)


def enriched(app: App, kept: KeptVectors, enricher: Enricher) -> AbstractAsyncContextManager[Parts]:
    """The stored pages with what a chat model writes about them, likewise."""
    return indexed(app, _settings_with(app, enricher), kept, enricher=enricher)


async def enriching_cost(app: App, enricher: Enricher) -> Cost:
    """What `enriched` would ask of the chat model."""
    settings = _settings_with(app, enricher)
    async with _store_beside(app, settings) as store:
        indexer = Indexer(writer=store, embedder=app.embedder, chunk_settings=settings, enricher=enricher)
        return await indexer.cost()


@asynccontextmanager
async def indexed(
    app: App, settings: ChunkSettings, kept: KeptVectors, *, enricher: Enricher | None = None
) -> AsyncIterator[Parts]:
    """The stored pages indexed otherwise, beside the index in use."""
    async with _store_beside(app, settings) as store:
        indexer = Indexer(writer=store, embedder=kept, chunk_settings=settings, enricher=enricher)
        await indexer.run(Tally(None))
        await Calibrator(store=store, embedder=app.asking).run()
        yield Parts(
            index=store,
            embedder=app.asking,
            calibrations=Calibrations(store),
            settings=app.ranking,
            neighbours=store,
        )


@asynccontextmanager
async def _store_beside(app: App, settings: ChunkSettings) -> AsyncIterator[PostgresStore]:
    profile = app.embedder.profile
    fingerprint = profile.fingerprint(f"eval:{settings.version}")
    async with open_store(
        app.servers.database_url,
        profile=profile,
        fingerprint=fingerprint,
        chunker=settings.version,
        beside=True,
    ) as store:
        try:
            yield store
        finally:
            await store.drop(fingerprint)


def _settings_with(app: App, enricher: Enricher) -> ChunkSettings:
    profile = app.embedder.profile
    room = ROOM_FOR_CONTEXT if enricher.writes_contexts else ""
    extras = "contexts" if enricher.writes_contexts else "summaries"
    return replace(app.chunk_settings, passage_prefix=profile.passage_prefix + room, extras=extras)
