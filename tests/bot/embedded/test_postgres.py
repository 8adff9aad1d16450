"""Embedded PostgreSQL: starting, sharing, stopping, and healing what a killed process left."""

import os
import signal
from pathlib import Path

import asyncpg
import pytest

import bot.embedded.postgres
from adapters.stores.schema import migrate
from bot.embedded import embedded_postgres, embedded_redis
from bot.embedded.account import Account
from bot.embedded.processes import command_line
from bot.embedded.sockets import MAX_SOCKET_PATH, make_private, socket_folder
from core.errors import ConfigurationError
from tests.bot.embedded.conftest import Start, end, url_of


async def ask(url: str, statement: str = "SELECT 42") -> object:
    """One statement on a connection of its own."""
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(statement)
    finally:
        await connection.close()


def server_pid(home: Path) -> str:
    """The process id of the running server; empty if none runs."""
    file = home / "postgres" / "postmaster.pid"
    pid = file.read_text().split()[0] if file.exists() else ""
    return pid if command_line(pid) else ""


async def test_data_survive_a_restart_and_no_process_does(home: Path) -> None:
    """The folder holds everything; between two uses nothing runs."""
    with embedded_postgres(home) as url:
        await ask(url, "CREATE TABLE kept AS SELECT 7 AS n")
        running = server_pid(home)
    stopped = server_pid(home)

    with embedded_postgres(home) as url:
        found = await ask(url, "SELECT n FROM kept")

    assert (bool(running), stopped, found) == (True, "", 7)
    assert command_line(running) == ""


async def test_the_whole_schema_fits_the_embedded_server(home: Path) -> None:
    """pgvector, unaccent and pg_trgm are in the wheel, and words end at typographic quotes."""
    with embedded_postgres(home) as url:
        await migrate(url)
        tokens = await ask(url, "SELECT to_tsvector('simple', '„Wort“ – Größe')::text")

    assert tokens == "'größe':2 'wort':1"


async def test_processes_share_one_server_and_the_last_stops_it(home: Path, other_process: Start) -> None:
    """It goes on as long as anybody uses it, whoever started it."""
    first = other_process("embedded_postgres", home)
    url = url_of(first)
    pid = server_pid(home)
    with embedded_postgres(home) as shared:
        left = end(first)
        answer = await ask(shared)
        still = server_pid(home)

    assert (left, shared, answer, still) == (0, url, 42, pid)
    assert server_pid(home) == ""


async def test_a_user_that_was_killed_is_not_waited_for(home: Path, other_process: Start) -> None:
    """The server it left behind is taken over, and stopped by the next last user."""
    killed = other_process("embedded_postgres", home)
    url_of(killed)
    pid = server_pid(home)
    killed.send_signal(signal.SIGKILL)
    killed.wait(timeout=30)

    with embedded_postgres(home) as url:
        answer, same = await ask(url), server_pid(home)

    assert (answer, same) == (42, pid)
    assert server_pid(home) == ""


async def test_a_server_that_was_killed_is_started_again(home: Path) -> None:
    """Committed rows are there after the crash."""
    with embedded_postgres(home) as url:
        await ask(url, "CREATE TABLE kept AS SELECT 7 AS n")
        os.kill(int(server_pid(home)), signal.SIGKILL)

    with embedded_postgres(home) as url:
        found = await ask(url, "SELECT n FROM kept")

    assert found == 7


async def test_a_process_id_that_now_belongs_to_another_program_is_no_server(home: Path) -> None:
    """A stale lock file naming any living process does not keep the server from starting."""
    with embedded_postgres(home):
        pass
    lock = home / "postgres" / "postmaster.pid"
    lock.write_text(f"{os.getpid()}\n{home / 'postgres'}\n1\n5432\n\n\n     0     0\nready\n")

    with embedded_postgres(home) as url:
        answer = await ask(url)

    assert answer == 42


async def test_a_killed_initialisation_is_begun_anew(home: Path) -> None:
    """Half a cluster is never taken for a whole one."""
    half = home / "postgres.unfinished"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")

    with embedded_postgres(home) as url:
        answer = await ask(url)

    assert answer == 42
    assert not half.exists()


@pytest.mark.parametrize("name", ["long-" + "x" * 120, "with space, comma and 'quote'", "größer-ж"])
async def test_any_folder_will_do(home: Path, name: str) -> None:
    """Paths beyond the 107 bytes of a socket, and signs that URLs and PostgreSQL's lists use."""
    with embedded_postgres(home / name) as url:
        answer = await ask(url)

    assert answer == 42


async def test_a_private_folder_above_is_no_obstacle_for_root(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL's own account cannot enter root's home: data and programs go where it can."""
    monkeypatch.setattr(bot.embedded.postgres, "SYSTEM_FOLDER", home / "system")
    private = home / "private"
    private.mkdir(parents=True)
    private.chmod(0o700)

    with embedded_postgres(private / "data") as url:
        answer = await ask(url)

    assert answer == 42
    assert private.stat().st_mode & 0o777 == 0o700


def test_what_an_account_can_enter_follows_the_modes(home: Path) -> None:
    """Owner, group and others are told apart on every folder of the way."""
    inner = home / "a" / "b"
    inner.mkdir(parents=True)
    stranger = Account(name="stranger", uid=54321, gid=54321, switch=True)
    owner = Account(name="owner", uid=inner.stat().st_uid, gid=inner.stat().st_gid, switch=False)

    (home / "a").chmod(0o700)
    closed = stranger.can_enter(inner)
    (home / "a").chmod(0o711)

    assert (closed, stranger.can_enter(inner), owner.can_enter(inner)) == (False, True, True)


def test_a_missing_extra_names_what_to_install(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line with the command."""
    monkeypatch.setattr(bot.embedded.postgres, "find_spec", lambda _: None)

    with (
        pytest.raises(ConfigurationError, match=r"pip install 'footnote-bot\[embedded\]'"),
        embedded_postgres(home),
    ):
        raise AssertionError("started")


def test_a_file_in_place_of_the_folder_is_told(home: Path) -> None:
    """The message names the path and the setting."""
    home.write_text("not a folder")

    with pytest.raises(ConfigurationError, match="FOOTNOTE_HOME") as raised, embedded_postgres(home):
        raise AssertionError("started")

    assert str(home) in str(raised.value)
    home.unlink()


def test_sockets_live_in_a_short_private_folder(home: Path) -> None:
    """Beside the data where that fits, else below the temporary folder, always the same one."""
    deep = home / ("x" * 120)

    beside = socket_folder(home, longest_name="s", owner=os.geteuid())
    short = socket_folder(deep, longest_name="s", owner=os.geteuid())
    make_private(short, owner=os.geteuid())
    make_private(short, owner=os.geteuid())

    assert beside == home
    assert short == socket_folder(deep, longest_name="s", owner=os.geteuid())
    assert len(os.fsencode(short / "s")) <= MAX_SOCKET_PATH
    assert short.stat().st_mode & 0o077 == 0
    short.rmdir()


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_socket_folder_that_others_can_write_is_refused(home: Path, mode: int) -> None:
    """Nobody can slip a server of their own in between."""
    home.mkdir()
    home.chmod(mode)

    with pytest.raises(ConfigurationError, match="not a private folder"):
        make_private(home, owner=os.geteuid())


def test_a_link_or_a_foreign_folder_in_place_of_the_socket_folder_is_refused(home: Path) -> None:
    """A link may lead anywhere, and a folder of somebody else is theirs."""
    home.mkdir(mode=0o700)
    link = home / "link"
    link.symlink_to(home)

    for folder, owner in ((link, os.geteuid()), (home, os.geteuid() + 1)):
        with pytest.raises(ConfigurationError, match="not a private folder"):
            make_private(folder, owner=owner)


def test_nothing_is_left_in_the_temporary_folder(home: Path) -> None:
    """The short folder for sockets goes when the server stops."""
    long = home / ("x" * 120)

    with embedded_postgres(long) as url, embedded_redis(long):
        sockets = Path(url.split("host=")[1])
        while_running = sockets.is_dir()

    assert (while_running, sockets.exists()) == (True, False)
