"""``footnote eval``: measure retrieval and refusals on a golden set."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.table import Table

from bot.evaluation.golden import read_golden
from bot.evaluation.metrics import REPORTED
from bot.evaluation.runner import METRIC_DEPTH, measure, report
from bot.servers import only_sample_exists
from bot.settings import Settings
from bot.terminal import note, output, print_json, progress_bar
from bot.wiring import ask_as_console, open_app, ranking_for
from core.services.retriever import Retriever


async def run_evaluate(settings: Settings, golden: Path, *, as_json: bool) -> int:
    """Measure the current index; the figures are the result, whatever they are.

    Raises:
        InvalidInputError: the golden set cannot be used.
        ConfigurationError: ir-measures is not installed.
    """
    questions = read_golden(golden)
    sample = only_sample_exists(settings)
    if sample:
        note("Measuring the sample workspace: no NOTION_TOKEN is set and no export was synced.")
    async with open_app(settings, sample=sample) as app:
        unlimited = replace(
            ranking_for(settings, app.embedder), limit=METRIC_DEPTH, details_per_page=METRIC_DEPTH
        )
        ranked = Retriever(
            index=app.index, embedder=app.asking, settings=unlimited, calibrations=app.calibrations
        )
        with progress_bar() as progress:
            task = progress.add_task("asking", total=len(questions))
            measured = await measure(
                questions,
                ranked=ranked,
                answering=app.retriever,
                judge=app.judge,
                ask=ask_as_console,
                on_done=lambda: progress.advance(task),
            )
    result = report(measured)
    if as_json:
        print_json(result)
    else:
        output.print(_table(result))
    return 0


def _table(result: dict[str, Any]) -> Table:
    table = Table("", *REPORTED, "refused right", "refused false", "auc")
    groups = {"all": result["metrics"], **result["by_language"], **result["by_language_pair"]}
    for name, figures in groups.items():
        refusals = figures["refusals"]
        cells = [_figure(figures.get(metric)) for metric in REPORTED]
        table.add_row(name, *cells, *(_figure(refusals[one]) for one in ("right", "false", "auc")))
    return table


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
