"""``footnote eval``: measure retrieval and refusals on a golden set."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.progress import Progress
from rich.table import Table

from bot.evaluation.ablation import Row, ablate, chunked
from bot.evaluation.baseline import read_baseline, regressions
from bot.evaluation.golden import GoldenQuestion, read_golden
from bot.evaluation.kept_vectors import KeptVectors
from bot.evaluation.metrics import REPORTED
from bot.evaluation.page import html_report
from bot.evaluation.runner import measure, report
from bot.evaluation.stages import RERANKED, STAGES, Parts, for_figures
from bot.servers import only_sample_exists
from bot.settings import Settings
from bot.terminal import note, output, print_json, progress_bar
from bot.wiring import App, ask_as_console, open_app
from core.errors import InvalidInputError
from core.services.retriever import Retriever

KEPT_VECTORS = "eval-vectors.sqlite"
"""Below FOOTNOTE_HOME."""

SMALLEST_CHUNK = 100

_PRODUCT = tuple(stage for stage in STAGES if stage.name == "hybrid (evidence)")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to measure beside the index as it is, and what to do with the figures.

    ``ablate`` sets the stages of the ranking side by side, ``chunk_sizes`` the same pages cut otherwise.
    ``page`` is where an HTML report goes; ``baseline`` are figures that may not fall.
    """

    ablate: bool = False
    chunk_sizes: Sequence[int] = ()
    page: Path | None = None
    baseline: Path | None = None


def read_sizes(text: str) -> tuple[int, ...]:
    """Sizes separated by commas.

    Raises:
        InvalidInputError: something else stands there.
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(part.isdecimal() and int(part) >= SMALLEST_CHUNK for part in parts):
        raise InvalidInputError(
            f"--chunk-sizes: expected sizes from {SMALLEST_CHUNK} characters, such as 400,600; got {text!r}"
        )
    return tuple(int(part) for part in parts)


async def run_evaluate(
    settings: Settings, golden: Path, *, as_json: bool, wanted: Wanted | None = None
) -> int:
    """Measure the current index. The figures are the result, whatever they are; 1 if they fell below the
    baseline.

    Raises:
        InvalidInputError: the golden set or the baseline cannot be used.
        ConfigurationError: ir-measures is not installed.
    """
    wanted = wanted or Wanted()
    questions = read_golden(golden)
    baseline = read_baseline(wanted.baseline) if wanted.baseline else None
    sample = only_sample_exists(settings)
    if sample:
        note("Measuring the sample workspace: no NOTION_TOKEN is set and no export was synced.")
    async with open_app(settings, sample=sample) as app:
        with progress_bar() as progress:
            result = await _measured(app, questions, progress)
            rows = await _ablated(app, questions, wanted, progress)
    if rows:
        result["ablation"] = [row.as_json() for row in rows]
    fallen = regressions(baseline, result) if baseline else ()
    if wanted.page is not None:
        wanted.page.write_text(html_report(result, title=f"Retrieval on {golden.name}"), encoding="utf-8")
    if as_json:
        print_json(result)
    else:
        output.print(_table(result))
        if rows:
            output.print(_stages(rows))
    for line in fallen:
        note(f"fell below the baseline: {line}")
    return 1 if fallen else 0


async def _measured(app: App, questions: Sequence[GoldenQuestion], progress: Progress) -> dict[str, Any]:
    ranked = Retriever(
        index=app.index,
        embedder=app.asking,
        settings=for_figures(app.ranking),
        calibrations=app.calibrations,
        reranking=app.reranking,
    )
    task = progress.add_task("asking", total=len(questions))
    measured = await measure(
        questions,
        ranked=ranked,
        answering=app.retriever,
        judge=app.judge,
        ask=ask_as_console,
        on_done=lambda: progress.advance(task),
    )
    return report(measured)


async def _ablated(
    app: App, questions: Sequence[GoldenQuestion], wanted: Wanted, progress: Progress
) -> tuple[Row, ...]:
    answerable = sum(one.answerable for one in questions)
    rows: tuple[Row, ...] = ()
    if wanted.ablate:
        stages = (*STAGES, RERANKED) if app.reranking is not None else STAGES
        task = progress.add_task("ablating", total=len(stages) * answerable)
        parts = Parts(app.index, app.asking, app.calibrations, app.ranking, app.reranking)
        rows = await ablate(
            parts, questions, ask=ask_as_console, on_done=lambda: progress.advance(task), stages=stages
        )
    if not wanted.chunk_sizes:
        return rows
    with KeptVectors(app.embedder, app.settings.footnote_home / KEPT_VECTORS) as kept:
        for size in wanted.chunk_sizes:
            task = progress.add_task(f"chunks of {size}", total=answerable)
            async with chunked(app, size, kept) as parts:
                rows += await ablate(
                    parts,
                    questions,
                    ask=ask_as_console,
                    on_done=lambda task=task: progress.advance(task),  # type: ignore[misc]  # bound at once
                    stages=_PRODUCT,
                    suffix=f", chunks of {size}",
                )
        note(f"{kept.made} vectors of passages were made for other sizes, the others were kept.")
    return rows


def _table(result: dict[str, Any]) -> Table:
    table = Table("", *REPORTED, "refused right", "refused false", "auc")
    groups = {"all": result["metrics"], **result["by_language"], **result["by_language_pair"]}
    for name, figures in groups.items():
        refusals = figures["refusals"]
        cells = [_figure(figures.get(metric)) for metric in REPORTED]
        table.add_row(name, *cells, *(_figure(refusals[one]) for one in ("right", "false", "auc")))
    limited = [_figure(result["with_page_limit"].get(metric)) for metric in REPORTED]
    table.add_row("all, as shown", *limited, "", "", "")
    return table


def _stages(rows: Sequence[Row]) -> Table:
    table = Table("", *REPORTED, "ndcg@10 95 %")
    for row in rows:
        low, high = row.intervals.get("ndcg@10", (0.0, 0.0))
        cells = [_figure(row.figures.get(metric)) for metric in REPORTED]
        table.add_row(row.name, *cells, f"{low:.3f}-{high:.3f}")
    return table


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
