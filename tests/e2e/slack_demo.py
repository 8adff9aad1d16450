"""A conversation in Slack with the whole product: sample workspace, index, answers, the real Slack adapter.

``python -m tests.e2e.slack_demo`` runs it against the stand-in and prints what a person would see;
``--png FILE`` draws the channel too, with Chromium.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from adapters.chat.slack import SlackChat, SlackSettings, blocks
from adapters.sources.sample import SampleSource
from adapters.stores.claims import open_claims
from adapters.stores.kept_answers_memory import MemoryKeptAnswers
from bot.settings import load_settings
from bot.syncing import sync_with_progress
from bot.wiring import open_app
from core.domain.audiences import EVERYTHING, Audience
from core.domain.places import Place
from tests.adapters.chat.doubles import RecordedFeedback, ScriptedAdministration
from tests.adapters.chat.slack.harness import (
    OpenAudiences,
    SystemClock,
)
from tests.fakes.slack import APP_TOKEN, BOT_TOKEN, FakeSlack, People, running_slack
from tests.fakes.slack.transcript import conversation, page, private_reply

CHROMIUM = (
    *("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--hide-scrollbars", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--window-size=760,1170"),
)

QUESTIONS = (
    ("UANNA", "How many vacation days do we get?"),
    ("UJONAS", "What does ERR_42 mean?"),
    ("UANNA", "Who won the football world cup in 1990?"),
)
FOLLOW_UP = "and do the days between Christmas and New Year count?"


class OpenWorkspace(OpenAudiences):
    """The sample workspace has no secrets from its people."""

    def channel_audience(self, place: Place) -> Audience:
        """Everything, in every channel."""
        del place
        return EVERYTHING


async def talk(slack: FakeSlack, people: People) -> str:
    """What people ask; returns what a command answered privately, before it is shared."""
    threads = [people.write("C1", user, f"<@UBOT> {question}") for user, question in QUESTIONS]
    for thread in threads:
        await answered(slack, thread, replies=1)
    people.write("C1", "UANNA", FOLLOW_UP, thread=threads[0])
    await answered(slack, threads[0], replies=2)
    command = "/ask How long does the free trial run?"
    name = people.command("C1", "UJONAS", "/ask", command.removeprefix("/ask "))
    bodies = slack.response_urls[name].bodies
    await waited(lambda: bool(bodies))
    people.press("UJONAS", bodies[-1], blocks.SHARE, channel="C1")
    await waited(lambda: any(not one.get("thread_ts") for one in slack.workspace.from_bot("C1")))
    return private_reply(command, bodies)


async def answered(slack: FakeSlack, thread: str, *, replies: int) -> None:
    """Wait for the finished replies of a thread."""

    def is_there() -> bool:
        found = slack.workspace.from_bot(thread=thread)
        return len([message for message in found if message.get("metadata")]) >= replies

    await waited(is_there)


async def waited(is_true: Callable[[], bool]) -> None:
    """Wait for a condition, at most a minute."""
    async with asyncio.timeout(60):
        while not is_true():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.05)


async def run(picture: Path | None) -> None:
    """Sync the sample, connect, talk, print."""
    async with open_app(load_settings(), sample=True) as app, running_slack() as slack:
        await sync_with_progress(app, SampleSource())
        for user, name in (("UANNA", "Anna"), ("UJONAS", "Jonas")):
            slack.workspace.add_user(user, profile={"display_name": name})
        slack.workspace.add_channel("C1", name="ask-anything")
        stop = asyncio.Event()
        settings = SlackSettings(bot_token=BOT_TOKEN, app_token=APP_TOKEN, base_url=slack.api_url)
        async with open_claims(app.servers.database_url) as claims:
            chat = SlackChat(
                replace(settings, drain_seconds=5.0),
                answerer=app.answerer,
                claims=claims,
                kept=MemoryKeptAnswers(clock=SystemClock()),
                titles=app.store,
                audiences=OpenWorkspace(),
                feedback=RecordedFeedback(),
                administration=ScriptedAdministration(),
                clock=SystemClock(),
            )
            running = asyncio.create_task(chat.run(stop))
            await chat.ready.wait()
            private = await talk(slack, People(slack))
            stop.set()
            await running
        sys.stdout.write(conversation(slack.workspace, "C1") + "\n" + private)
        if picture is not None:
            draw(page(slack.workspace, "C1"), picture)


def draw(html: str, picture: Path) -> None:
    """A page as a PNG."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "page.html"
        source.write_text(html, encoding="utf-8")
        where = (f"--user-data-dir={folder}/profile", f"--screenshot={picture.absolute()}")
        command = [*CHROMIUM, *where, source.as_uri()]
        subprocess.run(command, check=True, timeout=120, capture_output=True)  # noqa: S603 - our own page


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--png", type=Path, help="draw the channel into this file")
    asyncio.run(run(parser.parse_args().png))


if __name__ == "__main__":
    main()
