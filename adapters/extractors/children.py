"""Processes of our own that read one file each: they get its bytes and nothing of our environment."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from core.errors import UnavailableError, UnreadableError

ENVIRONMENT: Mapping[str, str] = {
    "PYTHONPATH": os.pathsep.join(path or str(Path.cwd()) for path in sys.path),
    "LC_ALL": "C.UTF-8",
}


@asynccontextmanager
async def time_for_one_file(seconds: float) -> AsyncIterator[None]:
    """What takes longer cannot be read.

    Raises:
        UnreadableError: the time is over.
    """
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise UnreadableError(f"takes longer than {seconds} seconds to be read") from error


async def run_child(
    *command: str,
    data: bytes,
    stderr: int = asyncio.subprocess.DEVNULL,
    environment: Mapping[str, str] = ENVIRONMENT,
) -> tuple[int, bytes, bytes]:
    """Exit code, standard output and, if it is a pipe, standard error of a Python with these arguments.

    Raises:
        UnavailableError: it cannot be started.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
            env=environment,
        )
    except OSError as error:
        raise UnavailableError(f"no process could be started to read a file: {error}") from error
    try:
        output, said = await process.communicate(data)
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return process.returncode or 0, output, said or b""
