"""``footnote eval``: measure retrieval and refusals on a golden set."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from adapters.transport import http_client
from bot.evaluation.ablation import Row
from bot.evaluation.answers import agreement, measure_answers, read_labelled
from bot.evaluation.baseline import read_baseline, regressions
from bot.evaluation.golden import GoldenQuestion, read_golden
from bot.evaluation.metrics import REPORTED
from bot.evaluation.page import html_report
from bot.evaluation.runner import measure, report
from bot.evaluation.stages import LastSearch, for_figures
from bot.evaluation.variants import Variants, measure_variants
from bot.servers import only_sample_exists
from bot.settings import Settings
from bot.terminal import note, output, print_json, progress_bar
from bot.wiring import App, ask_as_console, make_generator, open_app
from core.errors import ConfigurationError, InvalidInputError
from core.services.judging import ModelJudge
from core.services.retriever import Retriever

SMALLEST_CHUNK = 100

WIDE = 200
"""Characters of a line where there is no terminal."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to measure beside the index as it is, and what to do with the figures.

    ``variants`` are set side by side. ``answers`` are judged sentence by sentence by ``judge`` (the chat
    model where it is empty), which is held against the sentences in ``labels``.
    ``page`` is where an HTML report goes; ``baseline`` are figures that may not fall.
    """

    variants: Variants = field(default_factory=Variants)
    answers: bool = False
    judge: str = ""
    labels: Path | None = None
    page: Path | None = None
    baseline: Path | None = None


def read_sizes(text: str) -> tuple[int, ...]:
    """Sizes separated by commas, or ``none``.

    Raises:
        InvalidInputError: something else stands there.
    """
    if text.strip() == "none":
        return ()
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
            rows = await measure_variants(app, questions, wanted.variants, progress)
            if wanted.answers:
                result["answers"] = await _answers(app, questions, wanted, progress)
    if rows:
        result["ablation"] = [row.as_json() for row in rows]
    fallen = regressions(baseline, result) if baseline else ()
    if wanted.page is not None:
        wanted.page.write_text(html_report(result, title=f"Retrieval on {golden.name}"), encoding="utf-8")
    if as_json:
        print_json(result)
    else:
        show(result, rows)
        for name, value in _flat(result.get("answers", {})):
            output.print(f"{name}: {value}", markup=False)
    for line in fallen:
        note(f"fell below the baseline: {line}")
    return 1 if fallen else 0


async def _measured(app: App, questions: Sequence[GoldenQuestion], progress: Progress) -> dict[str, Any]:
    index = LastSearch(app.index)
    ranked, answering = (
        Retriever(
            index=index,
            embedder=app.asking,
            settings=settings,
            calibrations=app.calibrations,
            reranking=app.reranking,
        )
        for settings in (for_figures(app.ranking), app.ranking)
    )
    task = progress.add_task("asking", total=len(questions))
    measured = await measure(
        questions,
        ranked=ranked,
        answering=answering,
        judge=app.judge,
        ask=ask_as_console,
        on_done=lambda: progress.advance(task),
    )
    return report(measured)


async def _answers(
    app: App, questions: Sequence[GoldenQuestion], wanted: Wanted, progress: Progress
) -> dict[str, Any]:
    """What answers cite and whether it supports them, and how far the judge can be trusted."""
    labelled = read_labelled(wanted.labels) if wanted.labels else ()
    chosen = wanted.judge or app.settings.llm_model
    async with http_client() as client:
        model = make_generator(app.settings.model_copy(update={"llm_model": chosen}), client)
        if model is None:
            raise ConfigurationError("--answers needs a chat model as judge: set LLM_MODEL, or give --judge")
        judge = ModelJudge(model)
        task = progress.add_task("judging answers", total=sum(one.answerable for one in questions))
        figures = await measure_answers(
            questions,
            answerer=app.answerer,
            judge=judge,
            ask=ask_as_console,
            on_done=lambda: progress.advance(task),
        )
        result = {**figures.as_json(), "judge": judge.name}
        return {**result, "agreement": await agreement(judge, labelled)} if labelled else result


def _table(result: Mapping[str, Any]) -> Table:
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


def show(result: Mapping[str, Any], rows: Sequence[Row] = ()) -> None:
    """Print the figures, and below them what was set side by side."""
    _print(_table(result))
    if rows:
        _print(_stages(rows))


def _print(table: Table) -> None:
    """As wide as the table is where nobody looks at a screen: in a file or a log no figure is cut off."""
    console = output if output.is_terminal else Console(file=output.file, width=WIDE)
    console.print(table)


def _flat(figures: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in figures.items():
        if isinstance(value, dict):
            yield from _flat(value)
        else:
            yield name.replace("_", " "), "no verdicts" if value is None else value


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
