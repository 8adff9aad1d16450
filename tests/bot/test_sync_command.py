"""``footnote sync`` in a process of its own: what a person reads, and what is kept."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from core.ports.chat import ResyncKind
from core.ports.ledger import Fate
from tests.bot.serve_rig import WAIT_SECONDS, ServeRig, serve_rig, until
from tests.fakes.notion import Workspace, blocks, faults, routes

VACATION = "Every employee has 28 days of paid vacation in each calendar year."
CUT_ALL_OTHERS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
QUESTION = "How many days of paid vacation does every employee have?"


@pytest.fixture
def workspace() -> Workspace:
    """Fifty pages."""
    made = Workspace()
    for number in range(50):
        made.add_page(f"Page {number}", blocks=[blocks.paragraph(f"Text {number}.")])
    return made


@pytest.fixture
async def rig(
    workspace: Workspace, tmp_path: Path, database_url: str, redis_url: str
) -> AsyncIterator[ServeRig]:
    """Stand-ins and database; no process yet."""
    async with serve_rig(
        workspace=workspace, folder=tmp_path, database_url=database_url, redis_url=redis_url
    ) as made:
        yield made


async def test_not6_a_mass_removal_waits_for_confirm_removal(rig: ServeRig, workspace: Workspace) -> None:
    """Withheld with an alarm and exit code 1; the flag removes what is gone, and is good for one run."""
    pages = list(workspace.pages)
    code, out, err = await rig.command("sync")
    assert (code, "50 pages indexed" in out) == (0, True)
    assert not [line for line in err.splitlines() if line.startswith("{")], "a line of the log for each batch"
    for page in pages[:40]:
        workspace.trash(page)

    code, out, _ = await rig.command("sync", "--full")
    assert code == 1
    assert "40 pages are gone" in out
    assert "footnote sync --confirm-removal" in out
    assert (await rig.ledger.totals())[Fate.INDEXED] == 50

    code, out, _ = await rig.command("sync", "--confirm-removal")
    assert (code, "40 removed" in out) == (0, True)
    assert await rig.ledger.totals() == {Fate.INDEXED: 10, Fate.GONE: 40}

    for number in range(50):
        workspace.add_page(f"New {number}", blocks=[blocks.paragraph(f"New text {number}.")])
    added = list(workspace.pages)[50:]
    assert (await rig.command("sync", "--full"))[0] == 0
    for page in added:
        workspace.trash(page)
    code, out, _ = await rig.command("sync", "--full")
    assert (code, "are gone" in out) == (1, True), out


async def test_the_setting_asks_for_a_log_line_of_each_batch(rig: ServeRig) -> None:
    """Commands are quiet unless told otherwise; warnings are always heard."""
    code, _, err = await rig.command("sync", FOOTNOTE_LOG_LEVEL="info")

    assert code == 0
    assert any(json.loads(line)["level"] == "info" for line in err.splitlines() if line.startswith("{"))


async def test_f34_a_killed_run_is_joined_and_says_what_it_waits_for(rig: ServeRig) -> None:
    """Kill -9 in the middle of footnote sync: the next one says so, takes the run over and ends it."""
    rule = rig.notion.faults.add(faults.slow(1.0), route=routes.CHILDREN)
    first = await rig.start("sync", "--full", waits=False)
    await until(lambda: rig.notion.counts[routes.CHILDREN] >= 10)
    await first.kill()
    rig.notion.faults.remove(rule)

    code, out, err = await rig.command("sync")

    [run] = await rig.jobs.runs.recent(limit=5)
    assert code == 0
    assert f"Run {run.id} is under way already: joined it, and wait for its end." in err
    assert "this process takes it over" in err
    assert "50 pages indexed" in out
    assert run.kind is ResyncKind.FULL
    assert (run.has_failed, run.was_stopped) == (False, False)


async def test_a_page_that_failed_before_and_rests_is_told_of(rig: ServeRig, workspace: Workspace) -> None:
    """A run right after it has nothing to do, but not everything is indexed."""
    page = next(iter(workspace.pages))
    rig.notion.faults.add(
        faults.error(400, "validation_error"),
        route=routes.CHILDREN,
        where=lambda request: page in request.path,
    )
    code, out, _ = await rig.command("sync")
    assert (code, "failed: Page 0" in out) == (1, True)
    rig.notion.faults.clear()

    code, _, err = await rig.command("sync")
    assert (code, "1 page failed before" in err, "footnote sync --full" in err) == (1, True, True)


async def test_a_database_that_goes_away_for_a_moment_is_waited_for(rig: ServeRig, database_url: str) -> None:
    """All connections of footnote sync are cut in the middle, three times: it goes on, and ends well."""
    rig.notion.faults.add(faults.slow(0.3), route=routes.CHILDREN)
    syncing = asyncio.create_task(rig.command("sync", "--full"))
    await until(lambda: rig.notion.counts[routes.CHILDREN] >= 10)
    others = await asyncpg.connect(database_url)
    try:
        for _ in range(3):
            await others.execute(CUT_ALL_OTHERS)
            await asyncio.sleep(0.4)
    finally:
        await others.close()

    code, out, err = await syncing

    assert "Traceback" not in err
    assert (code, "50 pages indexed" in out) == (0, True), err
    assert (await rig.ledger.totals()) == {Fate.INDEXED: 50}


async def test_a_run_that_is_stopped_at_the_terminal_says_that_it_goes_on(rig: ServeRig) -> None:
    """SIGTERM is no failure of any page; the next command ends the run."""
    rig.notion.faults.add(faults.slow(1.0), route=routes.CHILDREN)
    first = await rig.start("sync", waits=False)
    await until(lambda: rig.notion.counts[routes.CHILDREN] >= 10)
    first.process.send_signal(signal.SIGTERM)
    async with asyncio.timeout(WAIT_SECONDS):
        assert await first.process.wait() == 143
    assert first.reading is not None
    await first.reading

    [run] = await rig.jobs.runs.recent(limit=5)
    assert (run.ended_at, run.failed, run.has_failed) == (None, 0, False)
    assert f"Run {run.id} goes on with the next worker or footnote sync" in "".join(first.raw)
    rig.notion.faults.clear()
    code, out, _ = await rig.command("sync")
    assert (code, "50 pages indexed" in out or "pages indexed" in out) == (0, True)
    assert (await rig.ledger.totals()) == {Fate.INDEXED: 50}


async def test_recheck_leaves_out_a_page_that_went_since_the_last_sync(
    rig: ServeRig, workspace: Workspace
) -> None:
    """With NOTION_RECHECK=on an answer rests on nothing that Notion does not show any more."""
    page = workspace.add_page("Vacation", blocks=[blocks.paragraph(VACATION)])
    assert (await rig.command("sync"))[0] == 0
    code, out, _ = await rig.command("ask", QUESTION, NOTION_RECHECK="on")
    assert (code, "28 days" in out) == (0, True)
    workspace.trash(page)

    _, without, _ = await rig.command("ask", QUESTION)
    _, rechecked, _ = await rig.command("ask", QUESTION, NOTION_RECHECK="on")

    assert "28 days" in without
    assert "28 days" not in rechecked
    await asyncio.sleep(2.5)
    assert [hint.page_id for hint in await rig.jobs.hints.due()] == [page]
