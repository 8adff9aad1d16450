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

import asyncpg

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
    people: People = field(init=False)

    def gather(self) -> None:
        """People and channels."""
        self.people = People(self.slack)
        for number in range(self.channels):
            self.slack.workspace.add_channel(f"C{number}")
            self.slack.workspace.add_user(f"U{number}")

    async def ask(self) -> None:
        """Write all questions, evenly over the time."""
        self.gather()
        for number in range(self.mentions):
            self.ask_one(number)
            await asyncio.sleep(self.seconds / self.mentions)

    async def ask_on(self, stop: asyncio.Event, *, pause: float) -> None:
        """Write questions until stopped."""
        number = 0
        while not stop.is_set():
            self.ask_one(number)
            number += 1
            await asyncio.sleep(pause)

    def ask_one(self, number: int) -> None:
        """Write one question."""
        channel, user = f"C{number % self.channels}", f"U{number % self.channels}"
        text = f"question {number}?"
        self.asked[self.people.write(channel, user, f"<@UBOT> {text}")] = (channel, text)

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


class Fleet:
    """Processes of the bot, connected to the stand-in."""

    def __init__(
        self, slack: FakeSlack, *, database_url: str, model_seconds: float, lease_seconds: float = 10.0
    ) -> None:
        self._database_url = database_url
        self._config = json.dumps(
            {
                "base_url": slack.api_url,
                "database_url": database_url,
                "model_seconds": model_seconds,
                "lease_seconds": lease_seconds,
            }
        )
        self.processes: list[asyncio.subprocess.Process] = []

    @asynccontextmanager
    async def running(self, count: int) -> AsyncIterator[list[asyncio.subprocess.Process]]:
        """So many, ready; ended in good order."""
        try:
            self.processes += [await self._start() for _ in range(count)]
            for process in self.processes:
                await _ready(process)
            yield self.processes
        finally:
            for process in self.processes:
                if process.returncode is None:
                    process.send_signal(signal.SIGTERM)
            for process in self.processes:
                await asyncio.wait_for(process.wait(), timeout=60)

    async def replace(self, number: int) -> None:
        """Kill one without a word and start another in its place."""
        process = self.processes[number]
        process.kill()
        await process.wait()
        self.processes[number] = await self._start()
        await _ready(self.processes[number])

    async def taken_over(self) -> int:
        """How many questions had more than one holder."""
        connection = await asyncpg.connect(self._database_url)
        try:
            return int(await connection.fetchval("SELECT count(*) FROM chat_claims WHERE attempts > 1"))
        finally:
            await connection.close()

    async def _start(self) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.e2e.slack_worker",
            self._config,
            cwd=ROOT,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )


async def _ready(process: asyncio.subprocess.Process) -> None:
    assert process.stdout is not None
    line = await asyncio.wait_for(process.stdout.readline(), timeout=60)
    assert line == b"ready\n", line


@asynccontextmanager
async def workers(
    slack: FakeSlack, *, count: int, database_url: str, model_seconds: float, lease_seconds: float = 10.0
) -> AsyncIterator[list[asyncio.subprocess.Process]]:
    """So many processes of the bot."""
    fleet = Fleet(slack, database_url=database_url, model_seconds=model_seconds, lease_seconds=lease_seconds)
    async with fleet.running(count) as running:
        yield running
