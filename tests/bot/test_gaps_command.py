"""``footnote gaps`` and ``footnote forget``, from the question to the report."""

import asyncio
import json
from pathlib import Path

import pytest

from bot.cli import run_command_line
from bot.evaluation.golden import read_golden

QUESTIONS = ("Which zebra repairs the submarine?", "Which zebra repairs the submarine today?")


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, database_url: str, redis_url: str) -> Path:
    """A folder of one's own with a migrated database, Redis, and vectors that need no model."""
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "EMBEDDING_MODEL": "hashing:384",
        "FOOTNOTE_RECORD": "on",
    }.items():
        monkeypatch.setenv(name, value)
    return tmp_path


async def run(*arguments: str) -> int:
    """One command in a thread, since it has an event loop of its own."""
    return await asyncio.to_thread(run_command_line, list(arguments))


async def test_what_was_not_answered_is_reported_and_forgotten(
    environment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Asked on the command line, shown by gaps, written as candidates, deleted by forget."""
    (environment / "export").mkdir()
    page = "export/Garden 0123456789abcdef0123456789abcdef.md"
    (environment / page).write_text("# Garden\n\nThe garden has three trees.\n", encoding="utf-8")
    assert await run("sync", "--export", "export") == 0
    for question in QUESTIONS:
        assert await run("ask", question) == 0
    capsys.readouterr()

    code = await run("gaps", "--json", "--golden", "new.jsonl")
    report = json.loads(capsys.readouterr().out)
    again = await run("gaps", "--golden", "new.jsonl")
    refused = capsys.readouterr().err
    text_code = await run("gaps")
    text = capsys.readouterr().out
    await run("forget", "console", "--json")
    removed = json.loads(capsys.readouterr().out)
    await run("gaps", "--json")
    after = json.loads(capsys.readouterr().out)

    assert (code, text_code) == (0, 0)
    [gap] = report["gaps"]
    assert gap["count"] == 2
    assert set(gap["examples"]) == set(QUESTIONS)
    assert [one["title"] for one in gap["nearest_pages"]] == ["Garden"]
    assert {one.question for one in read_golden(environment / "new.jsonl")} == set(QUESTIONS)
    assert again == 2
    assert "exists already" in refused
    assert "asked 2 times" in text
    assert "near: Garden" in text
    assert removed == {"removed": 2}
    assert after["gaps"] == []


@pytest.mark.usefixtures("environment")
async def test_with_recording_off_nothing_is_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The off switch leaves no trace of a question."""
    monkeypatch.setenv("FOOTNOTE_RECORD", "off")
    assert await run("ask", QUESTIONS[0]) == 0
    capsys.readouterr()

    await run("gaps", "--json")

    assert json.loads(capsys.readouterr().out)["gaps"] == []
