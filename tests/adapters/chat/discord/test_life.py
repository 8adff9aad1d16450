"""Connections that break, resume, go silent; rate limits; several shards."""

import pytest

from core.errors import ConfigurationError, RefusedError
from tests.adapters.chat.answers import ScriptedAnswerer
from tests.adapters.chat.discord.harness import Session, discord_session
from tests.fakes.discord import BOT_USER, Fault, shown_text


async def ask_and_wait(session: Session, *, questions: int) -> None:
    """One question more, and its answer."""
    session.people.slash(session.alice, session.channel, "ask", question="How long?")
    await session.settled(questions=questions)


async def test_dsc8_a_dropped_connection_is_resumed_and_nothing_is_lost() -> None:
    """What was asked meanwhile is told again by the gateway and answered once."""
    async with discord_session() as session:
        await ask_and_wait(session, questions=1)
        await session.discord.gateway.drop()
        session.people.say(session.alice, session.channel, f"<@{BOT_USER}> meanwhile?")
        await session.settled(questions=2)

        assert (session.discord.gateway.identified, session.discord.gateway.resumed) == (1, 1)
        assert len(session.discord.world.from_bot()) == 2


async def test_dsc8_discords_own_wish_to_reconnect_is_followed() -> None:
    """Op 7: a resume, no new session."""
    async with discord_session() as session:
        await session.discord.gateway.ask_to_reconnect()
        await session.until(lambda: session.discord.gateway.resumed == 1)
        await ask_and_wait(session, questions=1)

        assert session.discord.gateway.identified == 1


async def test_dsc8_a_session_that_cannot_be_resumed_is_begun_anew() -> None:
    """Op 9 after a drop."""
    async with discord_session() as session:
        session.discord.gateway.forget_sessions()
        await session.discord.gateway.drop()
        await session.until(lambda: session.discord.gateway.identified == 2)
        await session.until(lambda: session.discord.gateway.connections() == 1)
        await ask_and_wait(session, questions=1)

        assert session.discord.gateway.resumed == 0


async def test_dsc8_a_gateway_that_goes_silent_is_noticed_and_left() -> None:
    """Heartbeats without an answer: the connection is dead, though open."""
    async with discord_session(starts=False, heartbeat_seconds=0.6) as session:
        session.discord.gateway.heartbeat_seconds = 0.2
        await session.start()
        session.discord.gateway.answers_heartbeats = False
        await session.until(lambda: session.discord.gateway.resumed or session.discord.gateway.identified > 1)
        session.discord.gateway.answers_heartbeats = True
        await session.until(lambda: session.discord.gateway.connections() == 1)
        await ask_and_wait(session, questions=1)

        assert session.discord.gateway.heartbeats > 1


async def test_dsc8_stopping_says_goodbye_to_the_gateway() -> None:
    """Code 1000 ends the session at once."""
    async with discord_session() as session:
        await session.stop()
        await session.until(lambda: session.discord.gateway.closed)

        assert session.discord.gateway.closed == [1000]
        assert session.discord.gateway.connections() == 0


async def test_a_token_that_is_revoked_ends_the_process_with_what_to_do() -> None:
    """4004 will not get better by trying again."""
    async with discord_session() as session:
        (_, _, task) = session.chats.pop()
        await session.discord.gateway.drop(code=4004)
        with pytest.raises(RefusedError, match="DISCORD_TOKEN"):
            await task


async def test_an_intent_that_is_revoked_ends_the_process_with_what_to_do() -> None:
    """4014 names the switch in the portal."""
    async with discord_session() as session:
        (_, _, task) = session.chats.pop()
        await session.discord.gateway.drop(code=4014)
        with pytest.raises(ConfigurationError, match="Message Content Intent"):
            await task


async def test_rate_limits_delay_answers_and_lose_none() -> None:
    """The stand-in's buckets refuse what is too much; the library waits as it is told."""
    async with discord_session(ScriptedAnswerer(), limits=True) as session:
        for number in range(8):
            session.people.say(session.alice, session.channel, f"<@{BOT_USER}> question {number}?")
        await session.settled(questions=8)

        assert len(session.discord.world.from_bot()) == 8
        assert all("Parental leave" in shown_text(one) for one in session.discord.world.from_bot())
        assert session.discord.limits.invalid <= 2


async def test_a_rate_limit_that_outlasts_the_library_delays_the_answer_and_does_not_lose_it() -> None:
    """The library gives up after five attempts; the finished answer is worth more."""
    async with discord_session() as session:
        session.discord.provoke(Fault("POST", r"/channels/\d+/messages$", status=429, times=6))
        session.people.say(session.alice, session.channel, f"<@{BOT_USER}> How long?")
        await session.settled()

        (message,) = session.discord.world.from_bot()
        assert "Parental leave" in shown_text(message)


async def test_two_shards_hear_each_its_own_servers() -> None:
    """And both answer."""
    async with discord_session(starts=False) as session:
        world = session.discord.world
        world.shards = 2
        other = world.add_guild("Other", shard=1 - world.shard_of(session.guild.id))
        channel = world.add_channel(other, "general")
        world.join(session.alice, other)
        await session.start()
        for place in (session.channel, channel):
            session.people.slash(session.alice, place, "ask", question="How long?")
        await session.settled(questions=2)

        assert session.discord.gateway.identified == 2
        assert {message.channel for message in world.from_bot()} == {session.channel.id, channel.id}
