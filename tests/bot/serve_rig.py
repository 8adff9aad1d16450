"""``footnote serve`` in processes of its own, against the stand-ins of Notion and Slack."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from adapters.jobs.opening import Jobs, open_jobs
from adapters.stores.ledger import PostgresLedger, open_ledger
from core.domain.ids import PageId
from core.ports.ledger import Fate
from tests.fakes.notion import NotionServer, Workspace
from tests.fakes.notion.clock import to_http_date
from tests.fakes.slack import APP_TOKEN, BOT_TOKEN, FakeSlack, People, running_slack

ROOT = Path(__file__).resolve().parents[2]
WAIT_SECONDS = 90.0

EVERYTHING_FOR_MEMBERS = """
[scopes.all]
include = "everything"
[slack]
default = ["all"]
[discord]
default = ["all"]
"""


@dataclass
class Served:
    """One process; ``lines`` are what it logged."""

    process: asyncio.subprocess.Process
    lines: list[dict[str, Any]] = field(default_factory=list)
    raw: list[str] = field(default_factory=list)
    reading: "asyncio.Task[None] | None" = None

    async def read(self) -> None:
        """Keep what it logs."""
        assert self.process.stderr is not None
        async for line in self.process.stderr:
            text = line.decode()
            self.raw.append(text)
            if text.startswith("{"):
                self.lines.append(json.loads(text))

    def logged(self, event: str) -> list[dict[str, Any]]:
        """The lines whose event begins so."""
        return [line for line in self.lines if str(line.get("event", "")).startswith(event)]

    async def until_logged(self, event: str) -> dict[str, Any]:
        """The first such line, once it is there."""
        await until(lambda: self.logged(event) or self.process.returncode is not None)
        assert self.logged(event), "".join(self.raw)
        return self.logged(event)[0]

    async def end(self) -> int:
        """As a service manager ends it; the exit code."""
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(WAIT_SECONDS):
            return await self.process.wait()

    async def kill(self) -> None:
        """As a machine ends it whose power fails."""
        self.process.kill()
        await self.process.wait()


@dataclass
class ServeRig:
    """The stand-ins, the database, and the processes."""

    folder: Path
    variables: dict[str, str]
    notion: NotionServer
    slack: FakeSlack
    people: People
    jobs: Jobs
    ledger: PostgresLedger
    served: list[Served] = field(default_factory=list)

    async def start(self, *arguments: str, waits: bool = True, **variables: str) -> Served:
        """Start ``footnote serve``, or another command; by default wait until it listens."""
        clean = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bot", *(arguments or ("serve",))),
            cwd=self.folder,
            env={**clean, "PYTHONPATH": str(ROOT), **self.variables, **variables},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        served = Served(process)
        served.reading = asyncio.create_task(served.read())
        self.served.append(served)
        if waits:
            await served.until_logged("listening")
        return served

    async def command(self, *arguments: str, **variables: str) -> tuple[int, str, str]:
        """Run a command to its end: exit code, standard output, standard error."""
        served = await self.start(*arguments, waits=False, **variables)
        assert served.process.stdout is not None
        async with asyncio.timeout(WAIT_SECONDS):
            out = await served.process.stdout.read()
            code = await served.process.wait()
        if served.reading is not None:
            await served.reading
        return code, out.decode(), "".join(served.raw)

    async def synced(self) -> None:
        """Wait until a run ended."""
        async with asyncio.timeout(WAIT_SECONDS):
            while not any(run.ended_at for run in await self.jobs.runs.recent(limit=1)):  # noqa: ASYNC110 - in the database
                await asyncio.sleep(0.1)

    async def until_fate(self, page_id: PageId, fate: Fate) -> None:
        """Wait until the ledger says so of a page."""
        async with asyncio.timeout(WAIT_SECONDS):
            while (entry := await self.ledger.entry(page_id)) is None or entry.fate is not fate:  # noqa: ASYNC110 - there
                await asyncio.sleep(0.1)

    def replies(self, thread: str) -> list[str]:
        """What the bot said in a thread."""
        return [str(message.get("text")) for message in self.slack.workspace.from_bot(thread=thread)]


async def until(is_true: Callable[[], object]) -> None:
    """Wait for a condition."""
    async with asyncio.timeout(WAIT_SECONDS):
        while not is_true():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.05)


@asynccontextmanager
async def serve_rig(
    *, workspace: Workspace, folder: Path, database_url: str, redis_url: str
) -> AsyncIterator[ServeRig]:
    """Everything but the processes, which the test starts and this ends."""
    (folder / "footnote.toml").write_text(EVERYTHING_FOR_MEMBERS, encoding="utf-8")
    async with AsyncExitStack() as stack:
        notion = await stack.enter_async_context(NotionServer(workspace))
        # Time goes by for the processes, while edits are of long ago.
        notion.behaviour.date_header = lambda _: to_http_date(datetime.now(UTC))
        slack = await stack.enter_async_context(running_slack())
        slack.limits.is_on = False
        slack.workspace.add_user("U1")
        slack.workspace.add_user("UADMIN", is_admin=True)
        slack.workspace.add_channel("C1", name="general")
        rig = ServeRig(
            folder=folder,
            variables={
                "FOOTNOTE_HOME": str(folder),
                "DATABASE_URL": database_url,
                "REDIS_URL": redis_url,
                "EMBEDDING_MODEL": "hashing:384",
                "NOTION_TOKEN": notion.token,
                "NOTION_BASE_URL": notion.url,
                "SLACK_BOT_TOKEN": BOT_TOKEN,
                "SLACK_APP_TOKEN": APP_TOKEN,
                "SLACK_BASE_URL": slack.api_url,
                "HTTP_PORT": "0",
            },
            notion=notion,
            slack=slack,
            people=People(slack),
            jobs=await stack.enter_async_context(open_jobs(database_url)),
            ledger=await stack.enter_async_context(open_ledger(database_url)),
        )
        try:
            yield rig
        finally:
            for served in rig.served:
                if served.process.returncode is None:
                    await served.kill()
                if served.reading is not None:
                    await served.reading
