"""Requests of a sync of 1,000 pages, beside the fewest that could do: python -m tests.bench.sync."""

import asyncio
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil

from core.services.sync_report import SyncReport
from tests.bench.sync_scale import SIZES, scale
from tests.core.services.sync_rig import SyncRig, sync_rig
from tests.fakes.notion import blocks, generate, routes

PAGES = 1000
PAGE_SIZE = 100


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    what: str
    requests: int
    bound: int
    why: str
    note: str = ""

    @property
    def ratio(self) -> float:
        """How many times the bound was sent."""
        return self.requests / self.bound


async def measure() -> list[Row]:
    """Build the workspace, do one thing after the other, count what each costs."""
    async with sync_rig() as rig:
        workspace = rig.workspace
        roots = generate(workspace, pages=PAGES, blocks=5, levels=3)
        listing = ceil(PAGES / PAGE_SIZE)
        reading = sum(ceil(len(workspace.children_of(page)) / PAGE_SIZE) or 1 for page in workspace.pages)
        rows = []

        def note(what: str, report: SyncReport, bound: int, why: str) -> None:
            assert report.is_clean, report
            assert report.requests == rig.notion.server.total
            fetched = rig.notion.server.counts[routes.CHILDREN]
            rows.append(
                Row(
                    what,
                    report.requests,
                    bound,
                    why,
                    f"{fetched} pages of blocks, {report.embedded} embeddings",
                )
            )

        note("first sync", await rig.sync(), listing + reading, "a listing, and every page's blocks")
        await _rest(rig)
        note("idle poll", await rig.sync(), 1, "to ask whether anything changed")
        rig.later()
        note("full reconciliation", await rig.reconcile(), listing, "a listing")
        await _rest(rig)
        workspace.append_blocks(roots[3], [blocks.paragraph("An edited page.")])
        note("one edited page", await rig.sync(), 2, "to ask, and its blocks")
        await _rest(rig)
        edited = list(workspace.pages)[200:300]
        for number, page in enumerate(edited):
            workspace.append_blocks(page, [blocks.paragraph(f"Edit {number}.")])
        note("100 edited pages", await rig.sync(), 1 + len(edited), "to ask, and each page's blocks")
        await _rest(rig)
        await _rename_a_large_root(rig, note)
        await _rest(rig)
        first, second = (workspace.children_of(root)[-1] for root in roots[:2])
        moved = workspace.children_of(first)[-1]
        workspace.move(moved, second)
        note("a moved page", await rig.sync(), 4, "to ask, both parents' blocks, the page's new parent")
        await _rest(rig)
        workspace.trash(moved)
        note("a deleted page", await rig.sync(), 3, "to ask, the parent's blocks, one look at the page")
        return rows


async def _rest(rig: SyncRig) -> None:
    """Until nothing counts as recent."""
    rig.later()
    await rig.sync()
    rig.later()


async def _rename_a_large_root(rig: SyncRig, note: Callable[[str, SyncReport, int, str], None]) -> None:
    workspace = rig.workspace
    root = workspace.add_page("Large root")
    for number in range(500):
        workspace.add_page(f"Leaf {number}", parent=root, blocks=[blocks.paragraph(f"Leaf text {number}.")])
    await rig.sync()
    await _rest(rig)
    workspace.rename(root, "Renamed root")
    bound = 1 + ceil(len(workspace.children_of(root)) / PAGE_SIZE)
    note("rename of a root with 500 descendants", await rig.sync(), bound, "to ask, and the root's blocks")


def table(rows: Sequence[Row]) -> str:
    """Markdown."""
    lines = [
        "| what | requests | lower bound | ratio | the bound is | of these |",
        "|---|---:|---:|---:|---|---|",
    ]
    lines += [
        f"| {row.what} | {row.requests} | {row.bound} | {row.ratio:.2f} | {row.why} | {row.note} |"
        for row in rows
    ]
    return "\n".join(lines)


def main() -> None:
    """Print the table of requests, or with ``--scale`` that of memory."""
    if sys.argv[1:2] == ["--scale"]:
        scale([int(size) for size in sys.argv[2:]] or SIZES)
        return
    sys.stdout.write(table(asyncio.run(measure())) + "\n")


if __name__ == "__main__":
    main()
