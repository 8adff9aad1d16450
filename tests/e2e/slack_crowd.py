"""A crowd that asks at once, and processes of the bot that answer it."""

import asyncio
import json
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.fakes.slack import FakeSlack, People
from tests.fakes.slack.people import shown_text

ROOT = Path(__file__).parents[2]


@dataclass
class Crowd:
    """``mentions`` questions over ``channels`` channels within ``seconds``."""

    slack: FakeSlack
    mentions: int
    channels: int
    seconds: float
    asked: dict[str, tuple[str, str]] = field(default_factory=dict)

    async def ask(self) -> None:
        """Write all questions, evenly over the time."""
        workspace = self.slack.workspace
        people = People(self.slack)
        for number in range(self.channels):
            workspace.add_channel(f"C{number}")
            workspace.add_user(f"U{number}")
        for number in range(self.mentions):
            channel, user = f"C{number % self.channels}", f"U{number % self.channels}"
            text = f"question {number}?"
            self.asked[people.write(channel, user, f"<@UBOT> {text}")] = (channel, text)
            await asyncio.sleep(self.seconds / self.mentions)

    async def is_answered(self, *, seconds: float) -> None:
        """Wait until every thread has a reply and nothing streams or is delivered any more."""
        async with asyncio.timeout(seconds):
            while self.unanswered() or self.slack.methods.open_streams():  # noqa: ASYNC110 - no event
                await asyncio.sleep(0.1)
        await self.slack.postman.idle()

    def unanswered(self) -> list[str]:
        """Threads without a finished answer."""
        finished = {
            message.get("thread_ts") for message in self.slack.workspace.from_bot() if message.get("metadata")
        }
        return [thread for thread in self.asked if thread not in finished]

    def mistakes(self) -> list[str]:
        """Whatever is not exactly one whole answer to each question in its own thread."""
        found: list[str] = []
        replies = Counter(str(message.get("thread_ts")) for message in self.slack.workspace.from_bot())
        for thread, (channel, text) in self.asked.items():
            if replies[thread] != 1:
                found.append(f"{text} has {replies[thread]} replies")
                continue
            (reply,) = self.slack.workspace.from_bot(channel, thread)
            shown = shown_text(reply)
            if f"The answer to “{text}” is **yes**." not in shown or "Parental leave › Length" not in shown:
                found.append(f"{text} got: {shown[:80]}")
        if strays := set(replies) - set(self.asked):
            found.append(f"replies outside of the threads: {strays}")
        return found


@asynccontextmanager
async def workers(
    slack: FakeSlack, *, count: int, database_url: str, model_seconds: float, lease_seconds: float = 10.0
) -> AsyncIterator[list[asyncio.subprocess.Process]]:
    """Processes of the bot, connected to the stand-in."""
    config = {
        "base_url": slack.api_url,
        "database_url": database_url,
        "model_seconds": model_seconds,
        "lease_seconds": lease_seconds,
    }
    running: list[asyncio.subprocess.Process] = []
    try:
        for _ in range(count):
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "tests.e2e.slack_worker",
                json.dumps(config),
                cwd=ROOT,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
            )
            running.append(process)
        for process in running:
            assert process.stdout is not None
            line = await asyncio.wait_for(process.stdout.readline(), timeout=60)
            assert line == b"ready\n", line
        yield running
    finally:
        for process in running:
            if process.returncode is None:
                process.send_signal(signal.SIGTERM)
        for process in running:
            await asyncio.wait_for(process.wait(), timeout=60)
