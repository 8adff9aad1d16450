"""``footnote eval``: measure retrieval and refusals on a golden set."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from adapters.stores.facts import unknown_pages, unknown_titles
from adapters.transport import http_client
from bot.evaluation.ablation import Row
from bot.evaluation.answers import agreement, measure_answers, read_labelled
from bot.evaluation.baseline import read_baseline, regressions
from bot.evaluation.golden import GoldenQuestion, read_golden
from bot.evaluation.metrics import REPORTED
from bot.evaluation.page import html_report
from bot.evaluation.runner import measure, report
from bot.evaluation.stages import LastSearch, Parts, ranked_and_answering
from bot.evaluation.variants import Variants, measure_variants
from bot.servers import only_sample_exists
from bot.settings import Settings
from bot.terminal import note, output, print_json, progress_bar
from bot.wiring import App, ask_as_console, make_generator, open_app
from core.errors import ConfigurationError, InvalidInputError
from core.services.judging import ModelJudge

SMALLEST_CHUNK = 100
MOST_COLUMNS = 1_000


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
        InvalidInputError: the golden set or the baseline cannot be used, or the page not be written.
        ConfigurationError: ir-measures is not installed.
    """
    wanted = wanted or Wanted()
    questions = read_golden(golden)
    baseline = read_baseline(wanted.baseline) if wanted.baseline else None
    if wanted.page is not None:
        # Before anything is measured, which may take long.
        _write(wanted.page, "")
    sample = only_sample_exists(settings)
    if sample:
        note("Measuring the sample workspace: no NOTION_TOKEN is set and no export was synced.")
    async with open_app(settings, sample=sample) as app:
        for missing in await _not_in_the_index(app, questions):
            note(f"{golden.name}: {missing}; it cannot be found")
        with progress_bar() as progress:
            result = await _measured(app, questions, progress)
            rows = await measure_variants(app, questions, wanted.variants, progress)
            if wanted.answers:
                result["answers"] = await _answers(app, questions, wanted, progress)
    if rows:
        result["ablation"] = [row.as_json() for row in rows]
    fallen = regressions(baseline, result) if baseline else ()
    if wanted.page is not None:
        _write(wanted.page, html_report(result, title=f"Retrieval on {golden.name}"))
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
    ranked, answering = ranked_and_answering(
        Parts(
            index=LastSearch(app.index),
            embedder=app.asking,
            calibrations=app.calibrations,
            settings=app.ranking,
            reranking=app.reranking,
            reader=app.reader,
        )
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


_LABEL_WIDTH = 14
_COLUMN_WIDTH = 8
_STAGE_FIGURES = ("hit@1", "hit@5", "mrr@10", "ndcg@10")
"""Those of REPORTED that fit beside the name of a stage; ``--json`` and ``--report`` have all."""

_REFUSALS = {"right": "refused right", "false": "refused false", "auc": "refusals auc"}


def _tables(result: Mapping[str, Any], *, width: int | None) -> Iterator[Table]:
    """A line for each figure, a column for each group of questions; as many tables as the width needs."""
    groups = {
        "all": result["metrics"],
        "shown": {**result["with_page_limit"], "refusals": {}},
        **result["by_language"],
        **result["by_language_pair"],
    }
    names = list(groups)
    most = len(names) if width is None else max((width - _LABEL_WIDTH) // _COLUMN_WIDTH, 1)
    for start in range(0, len(names), most):
        shown = names[start : start + most]
        table = _plain_table("", *shown)
        counts = [groups[name].get("questions") for name in shown]
        table.add_row("questions", *("" if count is None else str(count) for count in counts))
        for metric in REPORTED:
            table.add_row(metric, *(_figure(groups[name].get(metric)) for name in shown))
        for key, label in _REFUSALS.items():
            table.add_row(label, *(_figure(groups[name]["refusals"].get(key)) for name in shown))
        yield table


def _stages(rows: Sequence[Row]) -> Table:
    table = _plain_table("", *_STAGE_FIGURES, "95 % of the last")
    for row in rows:
        low, high = row.intervals.get("ndcg@10", (0.0, 0.0))
        cells = [_figure(row.figures.get(metric)) for metric in _STAGE_FIGURES]
        table.add_row(row.name, *cells, f"{low:.3f}-{high:.3f}")
    return table


def show(result: Mapping[str, Any], rows: Sequence[Row] = ()) -> None:
    """Print the figures, and below them what was set side by side."""
    for table in _tables(result, width=output.width if output.is_terminal else None):
        _draw(table)
    if rows:
        _draw(_stages(rows))


def _plain_table(first: str, *others: str) -> Table:
    """Without lines, so that it fits into 80 columns and can be pasted anywhere."""
    table = Table(box=None, pad_edge=False)
    table.add_column(first, no_wrap=True)
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _draw(table: Table) -> None:
    """Never narrower than its figures: a line may be broken by the terminal, but no digit is lost."""
    console = Console(
        file=output.file, width=MOST_COLUMNS, force_terminal=output.is_terminal, highlight=False
    )
    console.width = console.measure(table).maximum
    console.print(table)
    output.print()


def _write(page: Path, text: str) -> None:
    try:
        page.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidInputError(f"--report: cannot write {page}: {error.strerror}") from error


async def _not_in_the_index(app: App, questions: Sequence[GoldenQuestion]) -> list[str]:
    """Pages that the golden set names and the index does not hold: mostly typing errors."""
    entries = [entry for one in questions for entry in one.relevant if entry.chunk_id is None]
    url = app.servers.database_url
    ids = await unknown_pages(url, {entry.page_id for entry in entries if entry.page_id is not None})
    named = {entry.page_title for entry in entries if entry.page_id is None and entry.page_title is not None}
    titles = await unknown_titles(url, named)
    return [f"no page has the id {one}" for one in sorted(ids)] + [
        f"no page has the title {one!r}" for one in sorted(titles)
    ]


def _flat(figures: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in figures.items():
        if isinstance(value, dict):
            yield from _flat(value)
        else:
            yield name.replace("_", " "), "no verdicts" if value is None else value


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
