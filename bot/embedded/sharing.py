"""One server for all processes that name one folder: the first starts it, the last stops it.

Use is counted by shared file locks, which the operating system takes back when a process dies, however it
dies. So there is no list of process ids that could be stale.
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from core.errors import ConfigurationError, UnavailableError

PATIENCE_SECONDS = 90.0
"""How long to wait for another process that is just starting or stopping the server."""


@contextmanager
def shared_server(
    folder: Path, name: str, *, start: Callable[[], None], stop: Callable[[], None]
) -> Iterator[None]:
    """Keep the server ``name`` of ``folder`` running inside the block.

    ``start`` must leave a running server alone. ``start`` and ``stop`` never run at the same time as those of
    any other process.

    Raises:
        ConfigurationError: the folder cannot be written.
        UnavailableError: another process did not finish starting or stopping the server.
    """
    make_folder(folder)
    with _opened(folder / f"{name}.users.lock") as users:
        with _alone(folder, name):
            fcntl.flock(users, fcntl.LOCK_SH)
            start()
        try:
            yield
        finally:
            with _alone(folder, name):
                fcntl.flock(users, fcntl.LOCK_UN)
                if _lock_at_once(users):
                    stop()


def make_folder(folder: Path) -> None:
    """Create ``folder`` and check that it can be written.

    Raises:
        ConfigurationError: it cannot.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".writable.{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise ConfigurationError(
            f"the data folder {folder} cannot be written ({error.strerror}): "
            "set FOOTNOTE_HOME to a folder of yours"
        ) from error


@contextmanager
def _alone(folder: Path, name: str) -> Iterator[None]:
    with _opened(folder / f"{name}.switch.lock") as switch:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not _lock_at_once(switch):
            if time.monotonic() > deadline:
                raise UnavailableError(
                    f"another process is still starting or stopping the embedded {name} in {folder}; "
                    "wait for it to end, or stop it"
                )
            time.sleep(0.02)
        yield


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    try:
        lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise ConfigurationError(
            f"{path} cannot be opened ({error.strerror}): the folder is in use by another user; "
            "set FOOTNOTE_HOME to a folder of yours"
        ) from error
    try:
        yield lock
    finally:
        os.close(lock)


def _lock_at_once(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
