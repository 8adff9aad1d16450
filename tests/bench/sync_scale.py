"""Peak memory of a sync against the number of pages: python -m tests.bench.sync --scale [PAGES ...].

For each size a process of its own syncs a workspace that another process serves, into an embedded PostgreSQL
that is a third one: what is measured is the syncing process alone, at the highest point of its life.
"""

import asyncio
import contextlib
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from adapters.embedders.hashing import HashingEmbedder
from adapters.sources.notion import NotionSource
from adapters.sources.notion_api import NotionApi
from adapters.stores.ledger import open_ledger
from adapters.stores.postgres import open_store
from adapters.stores.schema import migrate
from bot.embedded import embedded_postgres
from core.services.syncing import Syncer

SIZES = (1_000, 4_000, 20_000)
KIBIBYTE = 1024
MEGABYTE = 1_000_000


class _Now:
    def now(self) -> datetime:
        """The machine's time."""
        return datetime.now(UTC)


@contextlib.contextmanager
def served(pages: int) -> Iterator[tuple[str, str]]:
    """Address and token of a stand-in with so many pages, in a process of its own."""
    command = [sys.executable, "-m", "tests.fakes.notion", "--pages", str(pages)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:  # noqa: S603 - our own module
        try:
            assert server.stdout is not None
            url, token = server.stdout.readline().split()
            yield url, token
        finally:
            server.terminate()


def peak() -> int:
    """The most memory this process ever held, in bytes."""
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used if sys.platform == "darwin" else used * KIBIBYTE


async def sync_twice(url: str, token: str, database: str) -> str:
    """One row: a first sync and a listing of everything."""
    embedder = HashingEmbedder(384)
    fingerprint = embedder.profile.fingerprint("bench")
    await migrate(database)
    async with (
        NotionApi(token, base_url=url) as api,
        open_store(database, profile=embedder.profile, fingerprint=fingerprint) as store,
        open_ledger(database) as ledger,
    ):
        before = peak()
        began = time.perf_counter()
        figures = []
        for full in (False, True):
            syncer = Syncer(
                source=NotionSource(api), writer=store, embedder=embedder, clock=_Now(), ledger=ledger
            )
            report = await syncer.run(full=full)
            assert report.is_clean, report
            figures.append(report)
        seconds = time.perf_counter() - began
    first = figures[0]
    return (
        f"| {first.listed:,} | {first.chunks:,} | {peak() / MEGABYTE:.0f} | "
        f"{(peak() - before) / MEGABYTE:.0f} | {seconds:.0f} |"
    )


def one(pages: int) -> None:
    """Measure one size and print its row."""
    with (
        served(pages) as (url, token),
        tempfile.TemporaryDirectory() as folder,
        embedded_postgres(Path(folder)) as database,
    ):
        sys.stdout.write(asyncio.run(sync_twice(url, token, database)) + "\n")


def scale(sizes: Sequence[int]) -> None:
    """Print the table, one process for each row."""
    sys.stdout.write(
        "| pages | passages | peak MB | above an idle process, MB | seconds for two full reads |\n"
        "|---:|---:|---:|---:|---:|\n"
    )
    for pages in sizes:
        sys.stdout.flush()
        command = [sys.executable, "-m", "tests.bench.sync_scale", str(pages)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own
        sys.stdout.write("".join(line + "\n" for line in done.stdout.splitlines() if re.match(r"\| ", line)))


if __name__ == "__main__":
    one(int(sys.argv[1]))
