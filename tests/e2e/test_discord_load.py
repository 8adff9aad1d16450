"""Two hundred questions in five seconds, in three servers on two shards, claimed in real PostgreSQL."""

import asyncio
import random
from dataclasses import replace

import pytest

from adapters.stores.claims import open_claims
from tests.adapters.chat.answers import ScriptedAnswerer, an_answer
from tests.adapters.chat.discord.harness import Session, discord_session
from tests.fakes.discord import Channel, Interaction, shown_text
from tests.fakes.discord.rest import ACKNOWLEDGE_SECONDS

QUESTIONS = 200
SECONDS = 5.0


@pytest.mark.parametrize("drops", [0, 2])
async def test_200_questions_in_5_seconds_are_each_deferred_in_time_and_answered_once(
    database_url: str, drops: int
) -> None:
    """The model takes a second; with ``drops`` the gateway goes away twice meanwhile.

    The stand-in refuses what comes later than three seconds, so that every 200 is a deferral in time.
    """
    answerer = ScriptedAnswerer(lambda question: an_answer(question, f"re: {question.text}"), seconds=1.0)
    async with (
        discord_session(answerer, limits=True, starts=False) as session,
        open_claims(database_url) as claims,
    ):
        session.claims = claims
        session.settings = replace(session.settings, lease_seconds=60.0, drain_seconds=30.0)
        channels = three_servers(session)
        await session.start()

        interactions = await ask(session, channels, drops=drops)
        await session.until(lambda: len(answered(session)) == QUESTIONS)
        await session.stop()

    assert session.discord.gateway.resumed >= drops
    assert session.statuses("POST", "/callback$") == [200] * QUESTIONS
    assert all(waited(one) < ACKNOWLEDGE_SECONDS for one in interactions)
    assert sorted(answered(session)) == sorted(f"question {number}?" for number in range(QUESTIONS))
    assert len(answerer.questions) == QUESTIONS
    assert len(session.discord.world.from_bot()) == QUESTIONS


def three_servers(session: Session) -> list[Channel]:
    """A channel in each of three servers, on both of two shards; Alice is in all of them."""
    world = session.discord.world
    world.shards = 2
    home = world.shard_of(session.guild.id)
    channels = [session.channel]
    for name, shard in (("Second", 1 - home), ("Third", home)):
        guild = world.add_guild(name, shard=shard)
        world.join(session.alice, guild)
        channels.append(world.add_channel(guild, "general"))
    return channels


async def ask(session: Session, channels: list[Channel], *, drops: int) -> list[Interaction]:
    """All the questions at uneven intervals; the connections break after a third and two thirds of them."""
    dice = random.Random(5)
    loop = asyncio.get_running_loop()
    begun = loop.time()
    moments = sorted(dice.uniform(0, SECONDS) for _ in range(QUESTIONS))
    break_at = {QUESTIONS * (number + 1) // (drops + 1) for number in range(drops)}
    interactions = []
    for number, moment in enumerate(moments):
        await asyncio.sleep(max(0.0, begun + moment - loop.time()))
        if number in break_at:
            await session.discord.gateway.drop()
        channel = channels[number % len(channels)]
        interactions.append(
            session.people.slash(session.alice, channel, "ask", question=f"question {number}?")
        )
    return interactions


def answered(session: Session) -> list[str]:
    """The questions whose answers can be read, one for each message that answers."""
    texts = [shown_text(message) for message in session.discord.world.from_bot()]
    return [
        text.split("re: ")[1].split("?")[0] + "?" for text in texts if "re: " in text and "Sources" in text
    ]


def waited(interaction: Interaction) -> float:
    """Seconds until it was acknowledged."""
    assert interaction.acknowledged is not None
    return (interaction.acknowledged - interaction.made).total_seconds()
