"""The weekly digest over several processes, both platforms and one database: each channel gets one."""

import asyncio
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

from adapters.embedders.hashing import HashingEmbedder
from adapters.stores.learning import PostgresLearning, open_learning
from adapters.stores.memory import MemoryStore
from bot.scopes.reading import read_footnote_file
from core.domain.audiences import EVERYTHING
from core.ports.learning import Exchange
from core.services.digests import WeeklyDigests
from core.services.gaps import Gaps
from tests.adapters.chat.discord.harness import discord_session
from tests.adapters.chat.slack.harness import slack_session
from tests.fakes.discord import Message, shown_text

RULES = """
[scopes.all]
include = "everything"
[slack]
default = ["all"]
digest = "C1"
[discord]
default = ["all"]
digest = "{channel}"
"""


class SteppedClock:
    """Moves when it is told to."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def now(self) -> datetime:
        """Where it stands."""
        return self.moment


def digests_of(log: PostgresLearning, channel: int, clock: SteppedClock) -> WeeklyDigests:
    """What one process hands out."""
    rules = read_footnote_file(RULES.format(channel=channel), name="footnote.toml").rules
    store = MemoryStore()
    gaps = Gaps(log=log, embedder=HashingEmbedder(), index=store, pages=store)
    return WeeklyDigests(gaps=gaps, log=log, rules=lambda: rules, clock=clock)


async def test_every_channel_gets_one_digest_a_week_whatever_processes_there_are(database_url: str) -> None:
    """Two processes in Slack and two in Discord, in two weeks."""
    clock = SteppedClock(datetime(2026, 5, 4, 9, tzinfo=UTC))
    async with AsyncExitStack() as stack:
        slack = await stack.enter_async_context(slack_session(starts=False, lease_seconds=0.4))
        discord = await stack.enter_async_context(discord_session(starts=False))
        for number in (1, 2):
            log = await stack.enter_async_context(open_learning(database_url))
            if number == 1:
                await log.record([weak(clock.now())])
            slack.digests = discord.digests = digests_of(log, discord.channel.id, clock)
            await slack.start()
            await discord.start()

        def in_slack() -> list[dict[str, Any]]:
            return slack.slack.workspace.from_bot("C1")

        def in_discord() -> list[Message]:
            return discord.discord.world.from_bot(discord.channel.id)

        await slack.until(lambda: in_slack() and in_discord())
        await asyncio.sleep(1.0)
        first = (len(in_slack()), len(in_discord()))
        clock.moment += timedelta(days=7)
        await slack.until(lambda: len(in_slack()) > 1)

        assert first == (1, 1)
        assert "Where is the key to the bike shed?" in in_slack()[0]["text"]
        assert "Where is the key to the bike shed?" in shown_text(in_discord()[0])
        assert len(in_slack()) == 2


async def test_of_twenty_processes_one_gets_the_digest(database_url: str) -> None:
    """They all ask at once."""
    clock = SteppedClock(datetime(2026, 5, 4, 9, tzinfo=UTC))
    async with AsyncExitStack() as stack:
        logs = [await stack.enter_async_context(open_learning(database_url)) for _ in range(5)]
        processes = [digests_of(log, 123456789012345678, clock) for log in logs * 4]
        found = await asyncio.gather(*(one.due("slack") for one in processes))

    assert sum(digest is not None for digest in found) == 1


def weak(moment: datetime) -> Exchange:
    """A question without an answer."""
    return Exchange(
        event="E1",
        platform="slack",
        person="U1",
        audience=EVERYTHING,
        asked_at=moment - timedelta(hours=2),
        text="Where is the key to the bike shed?",
        language="en",
        outcome="no_relevant_pages",
    )
