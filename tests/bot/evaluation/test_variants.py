"""Everything `--ablate` sets side by side, over real PostgreSQL and a scripted chat model."""

import io
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from rich.console import Console

from bot.commands.evaluate import Wanted, run_evaluate, show
from bot.evaluation.ablation import Row
from bot.evaluation.golden import parse_golden
from bot.evaluation.metrics import REPORTED
from bot.evaluation.stages import STAGES
from bot.evaluation.variants import Variants, measure_variants
from bot.settings import Settings
from bot.terminal import progress_bar
from bot.wiring import App, open_app
from core.errors import ConfigurationError
from core.services.indexing import Indexer
from core.services.sync_report import Tally
from tests.builders_store import a_page
from tests.fakes.model import ModelServer, model_server

PAGES = {
    "Retention": "Backups are kept for thirty days. After that they are shredded by the night shift. " * 3,
    "Vacation": "Everybody has thirty days of leave. Ask your lead two weeks before you go away. " * 3,
    "Printing": "Paper lies in room seven. Call Karla when the drum squeaks or the tray is jammed. " * 3,
}
QUESTIONS = parse_golden(
    [
        json.dumps({"id": title, "question": f"{title}: {text[:30]}", "relevant": [{"page_title": title}]})
        for title, text in PAGES.items()
    ],
    name="test",
)


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    """A chat model that writes the same sentence always."""
    async with model_server("llama3") as server:
        server.answer = lambda _: "A page about rules of the house."
        yield server


async def rows(
    database_url: str, redis_url: str, home: Path, wanted: Variants, **more: str
) -> tuple[tuple[Row, ...], App]:
    """The table over three pages."""
    variables = {
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "EMBEDDING_MODEL": "hashing:64",
        "FOOTNOTE_HOME": str(home),
    }
    async with open_app(Settings.from_mapping(variables | more)) as app:
        await app.store.put_pages(
            [a_page(number, text, title=title) for number, (title, text) in enumerate(PAGES.items(), start=1)]
        )
        indexer = Indexer(writer=app.store, embedder=app.embedder, chunk_settings=app.chunk_settings)
        await indexer.run(Tally(None))
        with progress_bar() as progress:
            found = await measure_variants(app, QUESTIONS, wanted, progress)
        assert await app.store.others() == ()
        return found, app


async def test_e4_stages_sizes_and_texts_of_a_model_stand_side_by_side(
    database_url: str, redis_url: str, tmp_path: Path, model: ModelServer
) -> None:
    """Every stage, each size of chunks, summaries and contexts; nothing is left behind."""
    wanted = Variants(stages=True, chunk_sizes=(200, 600), enriched=True)

    found, _ = await rows(
        database_url, redis_url, tmp_path, wanted, LLM_MODEL="ollama:llama3", LLM_BASE_URL=model.url
    )

    product = "hybrid (evidence)"
    assert [row.name for row in found] == [
        *(stage.name for stage in STAGES),
        f"{product}, chunks of 200",
        f"{product}, chunks of 600",
        f"{product}, + summaries",
        f"{product}, + contexts",
    ]
    assert {"vector", "lexical", "hybrid (ranks)", "hybrid (ranks) + boosts", product} <= {
        row.name for row in found
    }
    assert all(row.figures["hit@10"] > 0 and row.intervals["ndcg@10"] for row in found)
    assert len(model.asked("/api/chat")) == len(PAGES)  # pages of one passage need no context


async def test_a_model_is_not_asked_before_its_cost_was_seen(
    database_url: str, redis_url: str, tmp_path: Path, model: ModelServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without ``--enriched`` calls and tokens are told, and no chat is made."""
    found, _ = await rows(
        database_url,
        redis_url,
        tmp_path,
        Variants(stages=True),
        LLM_MODEL="ollama:llama3",
        LLM_BASE_URL=model.url,
    )

    assert len(found) == len(STAGES)
    assert model.asked("/api/chat") == []
    assert "would be asked 3 calls, about" in " ".join(capsys.readouterr().err.split())


def test_figures_in_a_log_are_not_cut_off(capsys: pytest.CaptureFixture[str]) -> None:
    """Where there is no terminal the table is as wide as it must be."""
    figures = dict.fromkeys(REPORTED, 0.5)
    group = {**figures, "refusals": dict.fromkeys(("right", "false", "auc"), 0.25)}
    result = {
        "metrics": group,
        "by_language": {"de": group},
        "by_language_pair": {},
        "with_page_limit": figures,
    }

    show(result, (Row("hybrid (evidence) + a stage with a long name", figures, {"ndcg@10": (0.4, 0.6)}),))

    printed = capsys.readouterr().out
    assert "…" not in printed
    assert printed.count("0.500") == 3 * len(REPORTED) + 4
    assert "0.400-0.600" in printed
    assert "hybrid (evidence) + a stage with a long name" in printed


def test_figures_fit_into_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each figure is whole at 80 columns, however many groups of questions there are."""
    shown = io.StringIO()
    monkeypatch.setattr(
        "bot.commands.evaluate.output", Console(file=shown, force_terminal=True, width=80, no_color=True)
    )
    figures = dict.fromkeys(REPORTED, 0.5)
    group = {**figures, "questions": 3, "refusals": dict.fromkeys(("right", "false", "auc"), 0.25)}
    pairs = [f"{asked}>{page}" for asked in ("de", "en", "ru") for page in ("de", "en", "ru")]
    result = {
        "metrics": group,
        "by_language": dict.fromkeys(("de", "en", "ru"), group),
        "by_language_pair": dict.fromkeys(pairs, group),
        "with_page_limit": figures,
    }

    show(result)

    printed = re.sub(r"\x1b\[[\d;]*m", "", shown.getvalue())
    assert "…" not in printed
    assert printed.count("0.500") == (2 + 3 + 9) * len(REPORTED)
    assert printed.count("0.250") == (1 + 3 + 9) * 3
    assert max(len(line) for line in printed.splitlines()) <= 80


async def test_answers_are_judged_from_end_to_end(
    database_url: str, redis_url: str, tmp_path: Path, model: ModelServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """Answers of the product over PostgreSQL, a judge of another name, and its agreement with the labels."""
    golden, labels = tmp_path / "golden.jsonl", tmp_path / "labels.jsonl"
    golden.write_text(
        json.dumps(
            {"id": "1", "question": PAGES["Retention"][:40], "relevant": [{"page_title": "Retention"}]}
        ),
        encoding="utf-8",
    )
    labels.write_text(
        "\n".join(
            json.dumps({"sentence": f"Sentence {one}", "passages": ["Text."], "supported": one})
            for one in (True, False)
        ),
        encoding="utf-8",
    )
    variables = {"DATABASE_URL": database_url, "REDIS_URL": redis_url, "EMBEDDING_MODEL": "hashing:64"}
    await rows(database_url, redis_url, tmp_path, Variants())
    model.models.add("judge")
    model.answer = lambda messages: "no" if "Sentence False" in messages[-1]["content"] else "yes"
    settings = Settings.from_mapping({**variables, "LLM_BASE_URL": model.url, "FOOTNOTE_HOME": str(tmp_path)})
    wanted = Wanted(answers=True, judge="ollama:judge", labels=labels)

    assert await run_evaluate(settings, golden, as_json=True, wanted=wanted) == 0

    answers = json.loads(capsys.readouterr().out)["answers"]
    assert answers["judge"] == "ollama:judge"
    assert (answers["asked"], answers["answered"], answers["citation_precision"]) == (1, 1, 1.0)
    assert answers["citation_recall"] == answers["faithfulness"] == 1.0
    assert answers["agreement"]["agreement"] == answers["agreement"]["kappa"] == 1.0
    assert {request.payload["model"] for request in model.asked("/api/chat")} == {"judge"}


async def test_judging_without_a_model_is_wrong_use(
    database_url: str, redis_url: str, tmp_path: Path
) -> None:
    """The message says what to set; nothing is printed as if it had been measured."""
    golden = tmp_path / "golden.jsonl"
    golden.write_text(
        json.dumps({"id": "1", "question": "Backups?", "relevant": [{"page_title": "Retention"}]}),
        encoding="utf-8",
    )
    variables = {"DATABASE_URL": database_url, "REDIS_URL": redis_url, "EMBEDDING_MODEL": "hashing:64"}
    settings = Settings.from_mapping({**variables, "FOOTNOTE_HOME": str(tmp_path)})

    with pytest.raises(ConfigurationError, match="--judge"):
        await run_evaluate(settings, golden, as_json=True, wanted=Wanted(answers=True))
