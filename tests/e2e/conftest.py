"""The sample workspace, synced once by the real demo with the real model."""

import fcntl
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 480
"""Seconds a demo may take on a slow, busy machine before something hangs for certain."""


@dataclass(frozen=True, slots=True)
class Demo:
    """A data folder that the demo has filled, and what it printed."""

    home: Path
    output: str
    messages: str


def run_footnote(home: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own, with no settings but the data folder and those given."""
    clean = {
        name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "LC_ALL", "TMPDIR")
    }
    return subprocess.run(  # noqa: S603 - our own command line
        [sys.executable, "-m", "bot", *arguments],
        check=False,
        cwd=ROOT,
        env={**clean, "FOOTNOTE_HOME": str(home), "PYTHONPATH": str(ROOT), **settings},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LONGEST,
    )


@pytest.fixture(scope="session")
def demo(servers_home: Path) -> Demo:
    """``footnote demo </dev/null`` on a bare data folder, once for all workers of the run."""
    home, printed = servers_home / "demo", servers_home / "demo.json"
    with (servers_home / "demo.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not printed.exists():
            done = run_footnote(home, "demo")
            assert done.returncode == 0, done.stderr
            printed.write_text(json.dumps([done.stdout, done.stderr]), encoding="utf-8")
    output, messages = json.loads(printed.read_text(encoding="utf-8"))
    return Demo(home=home, output=output, messages=messages)
