"""Runs a program under limits: ``python -m adapters.extractors.limited MEMORY SECONDS PROGRAM ...``."""

import os
import sys
from contextlib import suppress


def limit_this_process(memory: int, seconds: int) -> None:
    """Bytes of memory and seconds of processor time, where the system can limit them; no files, no core."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        # Readers write no files.
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def arguments(memory: int, seconds: int, program: str, *rest: str) -> tuple[str, ...]:
    """The command line, behind the interpreter."""
    return ("-P", "-m", "adapters.extractors.limited", str(memory), str(seconds), program, *rest)


if __name__ == "__main__":
    limit_this_process(int(sys.argv[1]), int(sys.argv[2]))
    os.execv(sys.argv[3], sys.argv[3:])  # noqa: S606 - an absolute path that the parent found
