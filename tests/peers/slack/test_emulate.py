"""The real adapter against emulate, a stateful Slack that others wrote: what was posted is read back."""

import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from adapters.chat.slack import SlackChat, SlackSettings
from adapters.stores.claims_memory import MemoryClaims
from adapters.stores.kept_answers_memory import MemoryKeptAnswers
from tests.adapters.chat.answers import ScriptedAnswerer, an_answer
from tests.adapters.chat.doubles import RecordedFeedback, ScriptedAdministration
from tests.adapters.chat.slack.harness import (
    OpenAudiences,
    StoredTitles,
    SystemClock,
)
from tests.fakes.slack import BOT_TOKEN, SIGNING_SECRET
from tests.fakes.slack.delivery import HttpCarrier
from tests.peers.slack.peers import folder

SEED = Path(__file__).parent / "seed.yaml"


@pytest.fixture
async def emulate() -> AsyncIterator[str]:
    """The address of a fresh emulator."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = folder() / "node_modules" / "emulate" / "dist" / "index.js"
    process = await asyncio.create_subprocess_exec(
        *("node", str(program), "start", "-p", str(port), "-s", "slack", "--seed", str(SEED)),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}/api/"
    try:
        async with asyncio.timeout(30):
            while not await is_up(url):  # noqa: ASYNC110 - it tells nobody
                await asyncio.sleep(0.1)
        yield url
    finally:
        process.terminate()
        await process.wait()


async def is_up(url: str) -> bool:
    """Whether the emulator answers yet."""
    try:
        return bool((await call(url, "auth.test"))["ok"])
    except (aiohttp.ClientError, OSError):
        return False


async def call(url: str, method: str, **arguments: Any) -> dict[str, Any]:
    """One call, by POST, as the emulator wants it."""
    headers = {"Authorization": f"Bearer {BOT_TOKEN}"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(url + method, json=arguments) as response,
    ):
        found: dict[str, Any] = await response.json()
        return found


@pytest.mark.parametrize("length", [1, 30])
async def test_f49_the_emulator_holds_one_answer_in_the_thread(emulate: str, length: int) -> None:
    """A mention delivered three times: its thread holds one answer, a long one in several parts."""
    channel = (await call(emulate, "conversations.list"))["channels"][0]["id"]
    root = (await call(emulate, "chat.postMessage", channel=channel, text="How long?"))["ts"]
    text = "\n\n".join(f"Part {number}. " + "word " * 150 for number in range(length))
    chat = SlackChat(
        SlackSettings(bot_token=BOT_TOKEN, signing_secret=SIGNING_SECRET, base_url=emulate, http_port=0),
        answerer=ScriptedAnswerer(lambda question: an_answer(question, text)),
        claims=MemoryClaims(clock=SystemClock()),
        kept=MemoryKeptAnswers(clock=SystemClock()),
        titles=StoredTitles(),
        audiences=OpenAudiences(),
        feedback=RecordedFeedback(),
        administration=ScriptedAdministration(),
        clock=SystemClock(),
    )
    stop = asyncio.Event()
    running = asyncio.create_task(chat.run(stop))
    await asyncio.wait_for(chat.ready.wait(), timeout=20)
    carrier = HttpCarrier(f"http://127.0.0.1:{chat.port}/slack/events")
    event = {"type": "app_mention", "channel": channel, "user": "U1", "ts": root, "text": "How long?"}
    payload = {"type": "event_callback", "team_id": "T000000001", "event_id": "Ev1", "event": event}
    for attempt in range(3):
        headers = {"X-Slack-Retry-Num": str(attempt)} if attempt else {}
        assert (await carrier.post("events_api", payload, headers=headers))[0] == 200
    stop.set()
    await asyncio.wait_for(running, timeout=60)

    thread = (await call(emulate, "conversations.replies", channel=channel, ts=root))["messages"]
    replies = thread[1:]
    assert len(replies) == (1 if length == 1 else 3)
    assert all(reply["thread_ts"] == root for reply in replies)
    blocks = [block for reply in replies for block in reply["blocks"]]
    shown = "\n".join(block["text"] for block in blocks if block["type"] == "markdown")
    assert [f"Part {number}." in shown for number in range(length)] == [True] * length
    assert "|Parental leave › Length>" in replies[-1]["text"]


async def test_slk9_the_emulator_refuses_what_slack_refuses(emulate: str) -> None:
    """The same refusals as our stand-in's, from somebody else."""
    channel = (await call(emulate, "conversations.list"))["channels"][0]["id"]

    assert (await call(emulate, "chat.postMessage", channel="C404", text="x"))["error"] == "channel_not_found"
    assert (await call(emulate, "chat.postMessage", channel=channel))["error"] == "no_text"
    bad = await call(emulate, "chat.postMessage", channel=channel, text="x", blocks="no")
    assert str(bad["error"]).startswith("invalid_blocks")
