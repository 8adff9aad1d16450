"""What a process id stands for now: ids are reused, so a number in a file proves nothing."""

import shutil
import subprocess
from pathlib import Path


def command_line(pid: str) -> str:
    """The command line of the living process ``pid``; empty if there is none."""
    if not pid.isdecimal():
        return ""
    if Path("/proc/self").exists():
        try:
            return Path("/proc", pid, "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            return ""
    if (tool := shutil.which("ps")) is None:
        return ""
    asked = subprocess.run(  # noqa: S603 - fixed program, decimal argument
        [tool, "-p", pid, "-o", "command="], check=False, capture_output=True, text=True, timeout=10
    )
    return asked.stdout.strip()
