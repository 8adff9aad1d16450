"""The command line: exit codes, one clear line for each error, help with examples."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import typer

from bot.cli import app, run_command_line
from bot.cli import run as run_coroutine

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands run in an empty folder and see none of the developer's settings."""
    for name in ("DATABASE_URL", "REDIS_URL", "FOOTNOTE_HOME", "NOTION_TOKEN", "EMBEDDING_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def a_port_where_nothing_listens() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def run(arguments: Sequence[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of one command."""
    code = run_command_line(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


COMMANDS = sorted(
    command.name or (command.callback.__name__ if command.callback else "")
    for command in app.registered_commands
)


def test_every_command_of_the_readme_exists() -> None:
    """The commands that documents name are there."""
    expected = {"demo", "serve", "ask", "sync", "migrate", "check", "status", "reembed", "eval"}

    assert expected <= set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """--help says what the command does and shows how it is used."""
    code, out, _ = run([command, "--help"], capsys)

    assert code == 0
    assert f"footnote {command}" in out
    assert "Examples:" in out


def test_wrong_use_exits_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown command, a missing argument and an unknown option are wrong use."""
    for arguments in (["dance"], ["ask"], ["sync", "--fast"]):
        code, _, err = run(arguments, capsys)
        assert code == 2, arguments
        assert "Traceback" not in err


def test_a_wrong_setting_exits_with_2_and_names_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message says which variable and what was expected."""
    monkeypatch.setenv("MAX_RESULTS", "many")

    code, _, err = run(["status"], capsys)

    assert code == 2
    assert "MAX_RESULTS" in err
    assert "Traceback" not in err


def test_an_empty_question_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is started for nothing."""
    code, out, err = run(["ask", "   "], capsys)

    assert (code, out) == (2, "")
    assert "the question is empty" in err


def test_a_place_of_no_platform_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever mistypes a platform is not told that it sees nothing."""
    code, out, err = run(["scope", "teams", "--channel", "C1"], capsys)

    assert (code, out) == (2, "")
    assert "'teams' is not one of 'slack', 'discord'" in err


def test_no_line_of_the_list_of_commands_is_cut_off(capsys: pytest.CaptureFixture[str]) -> None:
    """Each command is explained in one whole sentence."""
    _, out, _ = run(["--help"], capsys)

    listed = out.partition("Commands:")[2].splitlines()
    assert len([line for line in listed if line.strip()]) == len(COMMANDS)
    assert "..." not in out.partition("Commands:")[2]


def test_a_question_needs_no_quotes_and_an_empty_index_says_what_to_do(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, database_url: str
) -> None:
    """Several words are one question; the answer is a whole line, the way on goes to standard error."""
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("EMBEDDING_MODEL", "hashing:64")
    monkeypatch.setenv("REDIS_URL", f"redis://127.0.0.1:{a_port_where_nothing_listens()}/0")

    code, out, err = run(["ask", "Where", "do", "I", "park?"], capsys)

    assert code == 0
    assert out.rstrip("\n") == out.strip()
    assert "Run footnote sync, or footnote sync --export PATH" in err


def test_a_report_that_cannot_be_written_is_told_before_anything_is_measured(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Measuring may take long, and nothing of it should be lost."""
    golden = tmp_path / "golden.jsonl"
    golden.write_text('{"id": "q", "question": "Why?", "answerable": false}\n')

    code, out, err = run(["eval", str(golden), "--report", str(tmp_path / "no" / "page.html")], capsys)

    assert (code, out) == (2, "")
    assert "--report: cannot write" in err
    assert "Traceback" not in err


def test_a_golden_set_that_names_no_page_of_the_index_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, database_url: str, tmp_path: Path
) -> None:
    """A title with a typing error would only look like bad retrieval."""
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("EMBEDDING_MODEL", "hashing:64")
    monkeypatch.setenv("REDIS_URL", f"redis://127.0.0.1:{a_port_where_nothing_listens()}/0")
    golden = tmp_path / "golden.jsonl"
    relevant = [{"page_title": "Vacatoin"}, {"page_id": "0" * 31 + "7"}]
    golden.write_text(json.dumps({"id": "q", "question": "Leave?", "relevant": relevant}) + "\n")

    code, _, err = run(["eval", str(golden)], capsys)

    assert code == 0
    assert "golden.jsonl: no page has the title 'Vacatoin'" in err
    assert "golden.jsonl: no page has the id 00000000-0000-0000-0000-000000000007" in err


def test_a_database_that_does_not_answer_gives_one_clear_line_and_exit_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Host and remedy are named, the password is not, and there is no stack trace."""
    port = a_port_where_nothing_listens()
    monkeypatch.setenv("DATABASE_URL", f"postgresql://bot:hush@127.0.0.1:{port}/footnote")
    monkeypatch.setenv("REDIS_URL", f"redis://127.0.0.1:{port}/0")
    monkeypatch.setenv("EMBEDDING_MODEL", "hashing:64")

    code, out, err = run(["ask", "Hello?"], capsys)

    assert (code, out) == (1, "")
    assert len(err.strip().splitlines()) == 1
    assert f"127.0.0.1:{port}" in err
    assert "hush" not in err


def test_syncing_without_token_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    """Both ways out are named: the token and the export."""
    code, _, err = run(["sync"], capsys)

    assert code == 2
    assert "NOTION_TOKEN is not set" in err
    assert "--export" in err


def test_serving_nothing_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """A bot with neither source nor platform would only pretend to run."""
    code, _, err = run(["serve"], capsys)

    assert code == 2
    assert "nothing to serve" in err


def test_migrate_check_fails_until_migrated(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, empty_database_url: str
) -> None:
    """--check exits 1 while anything is pending, 0 afterwards, and changes nothing itself."""
    monkeypatch.setenv("DATABASE_URL", empty_database_url)
    monkeypatch.setenv("EMBEDDING_MODEL", "hashing:64")
    monkeypatch.setenv("REDIS_URL", f"redis://127.0.0.1:{a_port_where_nothing_listens()}/0")

    first, out, _ = run(["migrate", "--check", "--json"], capsys)
    still, _, _ = run(["migrate", "--check"], capsys)
    applied, _, _ = run(["migrate"], capsys)
    afterwards, _, _ = run(["migrate", "--check"], capsys)

    assert (first, still, applied, afterwards) == (1, 1, 0, 0)
    assert json.loads(out)["pending"][0].startswith("0001_")


def test_being_terminated_closes_what_is_open(capsys: pytest.CaptureFixture[str]) -> None:
    """SIGTERM ends a command as Ctrl-C does: with its contexts closed, one line and the usual code."""
    closed = []

    async def work() -> int:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.sleep(30)
        finally:
            closed.append(True)
        return 0

    with pytest.raises(typer.Exit) as left:
        run_coroutine(work())

    assert left.value.exit_code == 143
    assert closed == [True]
    assert capsys.readouterr().err.strip() == "stopped"


@pytest.mark.parametrize("form", [("--json",), ()])
def test_a_result_that_cannot_be_written_is_one_clear_line(form: tuple[str, ...]) -> None:
    """A full disk behind standard output is no stack trace, and no success."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(  # noqa: S603 - our own command line
            [sys.executable, "-m", "bot", "scope", "slack", *form],
            check=False,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )

    assert done.returncode == 1
    assert done.stderr == "footnote: cannot write the result: No space left on device\n"
