"""A stand-in to look at: ``python -m tests.fakes.notion --port 8899 --pages 1000``.

It prints its address and token, then serves until it is interrupted.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
from pathlib import Path

from tests.fakes.notion import NotionServer, SystemClock, Workspace
from tests.fakes.notion.loading import generate, load


async def serve(arguments: argparse.Namespace) -> None:
    """Fill a workspace and serve it."""
    workspace = Workspace(clock=SystemClock())
    if arguments.folder:
        load(workspace, arguments.folder)
    else:
        generate(workspace, pages=arguments.pages)
    server = NotionServer(workspace)
    await server.start(arguments.port)
    sys.stdout.write(f"{server.url} {server.token}\n")
    sys.stdout.flush()
    try:
        await asyncio.Event().wait()
    finally:
        await server.stop()


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Serve a stand-in for Notion on loopback.")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--pages", type=int, default=1000, help="size of a made-up workspace")
    parser.add_argument("--folder", type=Path, help="serve workspace.json and pages/*.json instead")
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
