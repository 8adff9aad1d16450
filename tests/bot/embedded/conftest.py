"""A data folder of one's own, and other processes that use it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from uuid import uuid4

import pytest

ROOT = Path(__file__).resolve().parents[3]

_OTHER_PROCESS = """
import sys
from pathlib import Path
from bot.embedded import {what}
with {what}(Path(sys.argv[1])) as url:
    print(url, flush=True)
    sys.stdin.readline()
"""

Start = Callable[[str, Path], "subprocess.Popen[str]"]


@pytest.fixture
def home(servers_home: Path) -> Iterator[Path]:
    """An empty folder that PostgreSQL's account can reach; pytest's own temporary folders are private."""
    folder = servers_home / f"home-{uuid4().hex[:8]}"
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def other_process() -> Iterator[Start]:
    """Starts a process that keeps a server running until it reads a line; ends what is left at the end."""
    with ExitStack() as started:

        def start(what: str, folder: Path) -> "subprocess.Popen[str]":
            process = subprocess.Popen(  # noqa: S603 - a program of this file
                [sys.executable, "-c", _OTHER_PROCESS.format(what=what), str(folder)],
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            started.enter_context(process)
            started.callback(process.kill)
            return process

        yield start


def url_of(process: "subprocess.Popen[str]") -> str:
    """What the other process printed once its server ran."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


def end(process: "subprocess.Popen[str]") -> int:
    """Let the other process leave in good order."""
    process.communicate("go\n", timeout=60)
    return process.returncode
