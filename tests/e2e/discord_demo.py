"""A conversation in Discord with the whole product: sample workspace, index, answers, the real adapter.

``python -m tests.e2e.discord_demo`` runs it against the stand-in and prints what a person would see;
``--png FILE`` draws the channel too, with Chromium.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from adapters.chat.discord import DiscordChat, DiscordSettings
from adapters.sources.sample import SampleSource
from adapters.stores.claims import open_claims
from bot.settings import load_settings
from bot.syncing import sync_with_progress
from bot.wiring import open_app
from tests.adapters.chat.discord.harness import (
    MemoryRecords,
    OpenAudiences,
)
from tests.adapters.chat.doubles import RecordedFeedback, ScriptedAdministration
from tests.fakes.discord import BOT_TOKEN, BOT_USER, Channel, FakeDiscord, User, buttons, running_discord
from tests.fakes.discord.transcript import conversation, page

CHROMIUM = (
    *("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--hide-scrollbars", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--window-size=760,1290"),
)

MENTION = f"<@{BOT_USER}>"


async def talk(discord: FakeDiscord, channel: Channel, *, anna: User, jonas: User) -> None:
    """A command, a question that goes on in a thread, a mention, one without an answer, a private one."""
    people = discord.people
    people.slash(anna, channel, "ask", question="How many vacation days do we get?")
    await answers(discord, 1)
    answer = next(message for message in discord.world.from_bot() if "continue" in buttons(message))
    opened = await people.acknowledged(people.press(anna, answer, buttons(answer)["continue"]))
    people.submit(opened, "and do the days between Christmas and New Year count?")
    await answers(discord, 2)
    people.say(jonas, channel, f"{MENTION} What does ERR_42 mean?")
    await answers(discord, 3)
    people.slash(jonas, channel, "ask", question="Who won the football world cup in 1990?")
    await answers(discord, 4)
    people.slash(jonas, channel, "ask", question="How long does the free trial run?", private=True)
    await answers(discord, 5)


async def answers(discord: FakeDiscord, count: int) -> None:
    """Wait until so many questions have their finished replies."""

    def are_there() -> bool:
        return sum("continue" in buttons(message) for message in discord.world.from_bot()) >= count

    await waited(are_there)


async def waited(is_true: Callable[[], bool]) -> None:
    """Wait for a condition, at most a minute."""
    async with asyncio.timeout(60):
        while not is_true():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.05)


async def run(picture: Path | None) -> None:
    """Sync the sample, connect, talk, print."""
    async with open_app(load_settings(), sample=True) as app, running_discord() as discord:
        await sync_with_progress(app, SampleSource())
        world = discord.world
        guild = world.add_guild("Company")
        channel = world.add_channel(guild, "ask-anything")
        anna, jonas = world.add_user("anna"), world.add_user("jonas")
        world.join(anna, guild)
        world.join(jonas, guild)
        stop = asyncio.Event()
        settings = DiscordSettings(
            token=BOT_TOKEN,
            base_url=discord.api_url,
            gateway_url=discord.gateway_url,
            drain_seconds=5.0,
            guild_seconds=0.2,
        )
        async with open_claims(app.servers.database_url) as claims:
            chat = DiscordChat(
                settings,
                answerer=app.answerer,
                claims=claims,
                audiences=OpenAudiences(),
                feedback=RecordedFeedback(),
                administration=ScriptedAdministration(),
                clock=world.clock,
                records=MemoryRecords(),
            )
            running = asyncio.create_task(chat.run(stop))
            await chat.ready.wait()
            await talk(discord, channel, anna=anna, jonas=jonas)
            stop.set()
            await running
        sys.stdout.write(conversation(world, channel) + "\n")
        if picture is not None:
            draw(page(world, channel), picture)


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
