"""Everything that `footnote eval --ablate` sets side by side, over one index and others beside it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from rich.progress import Progress

from adapters.transport import http_client
from bot.evaluation.ablation import Row, ablate, chunked, enriched, enriching_cost
from bot.evaluation.golden import GoldenQuestion
from bot.evaluation.kept_vectors import KeptVectors
from bot.evaluation.stages import READ, RERANKED, STAGES, Parts, Stage
from bot.terminal import note
from bot.wiring import App, ask_as_console, make_generator
from core.services.enriching import Enricher

KEPT_VECTORS = "eval-vectors.sqlite"
"""Below FOOTNOTE_HOME."""

PRODUCT = tuple(stage for stage in STAGES if stage.name == "hybrid (evidence)")


@dataclass(frozen=True, slots=True)
class Variants:
    """What to set side by side: stages of the ranking, sizes of chunks, and texts of a chat model."""

    stages: bool = False
    chunk_sizes: Sequence[int] = ()
    enriched: bool = False


async def measure_variants(
    app: App, questions: Sequence[GoldenQuestion], wanted: Variants, progress: Progress
) -> tuple[Row, ...]:
    """One row for each.

    Raises:
        TemporaryError: the index could not be searched.
    """
    table = _Table(questions, progress)
    if wanted.stages:
        stages = (
            *STAGES,
            *((READ,) if app.reader is not None else ()),
            *((RERANKED,) if app.reranking is not None else ()),
        )
        parts = Parts(
            app.index,
            app.asking,
            app.calibrations,
            app.ranking,
            app.reranking,
            app.reader,
            neighbours=app.store,
        )
        await table.add("stages", parts, stages)
    if wanted.chunk_sizes or wanted.stages:
        with _kept(app) as kept:
            for size in wanted.chunk_sizes:
                async with chunked(app, size, kept) as parts:
                    await table.add(f"chunks of {size}", parts, PRODUCT)
            if wanted.stages:
                await _add_enriched(table, app, kept, is_wanted=wanted.enriched)
    return tuple(table.rows)


class _Table:
    """Rows as they are measured, each under a bar of its own."""

    def __init__(self, questions: Sequence[GoldenQuestion], progress: Progress) -> None:
        self._questions = questions
        self._answerable = sum(one.answerable for one in questions)
        self._progress = progress
        self.rows: list[Row] = []

    async def add(self, name: str, parts: Parts, stages: Sequence[Stage]) -> None:
        """A row for each stage; for a variant of the product one with its name."""
        task = self._progress.add_task(name, total=len(stages) * self._answerable)
        rows = await ablate(
            parts,
            self._questions,
            ask=ask_as_console,
            on_done=lambda: self._progress.advance(task),
            stages=stages,
        )
        if stages is PRODUCT:
            rows = tuple(replace(row, name=f"{row.name}, {name}") for row in rows)
        self.rows += rows


async def _add_enriched(table: _Table, app: App, kept: KeptVectors, *, is_wanted: bool) -> None:
    """Summaries and contexts, where a chat model is configured; what they cost is told before they run."""
    async with http_client() as client:
        generator = make_generator(app.settings, client)
        if generator is None:
            note("Summaries and contexts are not measured: they need a chat model, LLM_MODEL names none.")
            return
        for name, summaries in (("summaries", True), ("contexts", False)):
            enricher = Enricher(
                generator=generator, kept=app.store, summaries=summaries, contexts=not summaries
            )
            cost = await enriching_cost(app, enricher)
            if not is_wanted:
                note(f"+ {name} is not measured: {generator.model} would be asked {cost}. Add --enriched.")
                continue
            note(f"+ {name}: {cost}.")
            async with enriched(app, kept, enricher) as parts:
                await table.add(f"+ {name}", parts, PRODUCT)


@contextmanager
def _kept(app: App) -> Iterator[KeptVectors]:
    with KeptVectors(app.embedder, app.settings.footnote_home / KEPT_VECTORS) as kept:
        yield kept
        note(f"{kept.made} vectors of passages were made for other variants, the others were kept.")
