"""Connections that break, resume, go silent; rate limits; several shards."""

import asyncio
import logging
from collections.abc import Mapping, Sequence

import pytest

from adapters.chat.discord import answering, calls
from adapters.stores.claims_memory import ClaimTable, MemoryClaims
from core.errors import ConfigurationError, RefusedError
from core.ports import Clock
from core.ports.chat import AbandonedClaim, ClaimKey, ClaimState, Verdict
from tests.adapters.chat.answers import ScriptedAnswerer
from tests.adapters.chat.discord.harness import Session, discord_session
from tests.fakes.discord import BOT_USER, Fault, buttons, shown_text


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


@pytest.mark.parametrize("resumable", [True, False])
async def test_dsc8_an_invalidated_session_is_resumed_where_that_is_allowed(*, resumable: bool) -> None:
    """Op 9 in the middle of an answer; the answer comes all the same, once."""
    answerer = ScriptedAnswerer(seconds=0.3)
    async with discord_session(answerer) as session:
        session.people.slash(session.alice, session.channel, "ask", question="How long?")
        await session.until(lambda: answerer.questions)
        await session.discord.gateway.invalidate(resumable=resumable)
        gateway = session.discord.gateway
        await session.until(
            lambda: (gateway.resumed, gateway.identified) == ((1, 1) if resumable else (0, 2))
        )
        await session.until(lambda: gateway.connections() == 1)
        await ask_and_wait(session, questions=2)

        assert len(session.discord.world.from_bot()) == 2


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


async def test_a_start_warns_of_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """A warning is something to be done, and voice is none of ours."""
    monitored = logging.getLogger("discord.client")
    async with discord_session() as session:
        await ask_and_wait(session, questions=1)
        monitored.warning("PyNaCl is not installed, voice will NOT be supported")

        assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


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


async def test_a_process_that_looks_after_nothing_any_more_ends() -> None:
    """A fault of ours in what runs beside the connection is told at once, and not found out by accident."""

    class Faulty(MemoryClaims):
        async def take_over(self, *asked: object, **limits: object) -> Sequence[AbandonedClaim]:
            raise KeyError(asked, limits)

    async with discord_session(starts=False) as session:
        session.claims = Faulty(clock=session.discord.world.clock, table=session.table)
        chat = session.make_chat()

        with pytest.raises(KeyError):
            await chat.run(asyncio.Event())


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


# --- the end of a process or of a connection ---------------------------------------------------------------


async def test_what_is_asked_while_a_process_ends_is_left_to_the_next_one() -> None:
    """Claimed, told that the answer follows, and answered by whoever comes: nothing is lost at a restart."""
    answerer = ScriptedAnswerer()
    answerer.release.clear()
    async with discord_session(answerer, drain_seconds=60.0) as session:
        session.people.slash(session.alice, session.channel, "ask", question="first?")
        await session.until(lambda: answerer.questions)
        stopping = asyncio.create_task(session.stop())
        await asyncio.sleep(0.1)
        late = session.people.slash(session.bob, session.channel, "ask", question="second?")
        session.people.say(session.bob, session.channel, f"<@{BOT_USER}> third?")
        await session.until(lambda: len(session.table.rows) == 3)
        told = await session.people.finished(late)
        assert "being restarted" in shown_text(told)
        assert len(answerer.questions) == 1
        answerer.release.set()
        await stopping
        await session.start()
        await session.settled(questions=3)

        texts = [shown_text(message) for message in session.discord.world.from_bot()]
        assert len(texts) == 3
        assert all("Parental leave" in text for text in texts)


class WaitingClaims(MemoryClaims):
    """A database that takes a moment."""

    def __init__(self, *, clock: Clock, table: ClaimTable) -> None:
        super().__init__(clock=clock, table=table)
        self.asked = asyncio.Event()

    async def claim(
        self, key: ClaimKey, *, payload: Mapping[str, str], lease_seconds: float, thread: str = ""
    ) -> ClaimState:
        """As the twin, a little later."""
        self.asked.set()
        await asyncio.sleep(0.3)
        return await super().claim(key, payload=payload, lease_seconds=lease_seconds, thread=thread)


async def test_a_command_that_is_being_claimed_is_acknowledged_before_the_connection_ends() -> None:
    """Else Discord tells its asker that the application did not respond."""
    async with discord_session(starts=False) as session:
        claims = WaitingClaims(clock=session.discord.world.clock, table=session.table)
        session.claims = claims
        await session.start()
        interaction = session.people.slash(session.alice, session.channel, "ask", question="How long?")
        await claims.asked.wait()
        await session.stop()

        assert interaction.acknowledged is not None
        await session.start()
        await session.settled()
        assert "Parental leave" in shown_text(await session.people.finished(interaction))


@pytest.mark.parametrize("ends_by", ["shutdown", "budget"])
async def test_an_answer_on_its_way_when_its_time_ends_is_not_replaced(ends_by: str) -> None:
    """Discord has taken it, though it has not said so yet: nobody is told of a restart or a failure."""
    budget = 60.0 if ends_by == "shutdown" else 0.3
    async with discord_session(drain_seconds=0.1, answer_seconds=budget) as session:
        session.discord.provoke(Fault("POST", "/webhooks/", cuts_after=True, seconds=1.0))
        session.people.slash(session.alice, session.channel, "ask", question="How long?")
        await session.until(session.discord.world.from_bot)
        if ends_by == "shutdown":
            await session.stop()
        await session.settled()

        (message,) = session.discord.world.from_bot()
        assert "Parental leave" in shown_text(message)
        assert len(session.answerer.questions) == 1


async def test_buttons_are_served_until_the_connection_ends() -> None:
    """A judgement takes a moment and nobody repeats it."""
    answerer = ScriptedAnswerer()
    async with discord_session(answerer, drain_seconds=1.5) as session:
        await ask_and_wait(session, questions=1)
        (answer,) = session.discord.world.from_bot()
        answerer.release.clear()
        session.people.slash(session.alice, session.channel, "ask", question="slow?")
        await session.until(lambda: len(answerer.questions) == 2)
        stopping = asyncio.create_task(session.stop())
        await asyncio.sleep(0.1)
        thanks = await session.people.finished(
            session.people.press(session.bob, answer, buttons(answer)["good"])
        )
        await stopping

        assert shown_text(thanks) == "Thank you!"
        assert [verdict for _, _, verdict, _ in session.feedback.judged] == [Verdict.GOOD]


@pytest.mark.parametrize("code", [4010, 4011])
async def test_dsc8_a_shard_that_is_refused_ends_nothing_but_the_connection(code: int) -> None:
    """The library gives all shards up; the answer that runs is shown first, and another client connects."""
    answerer = ScriptedAnswerer(seconds=0.5)
    async with discord_session(answerer) as session:
        session.people.slash(session.alice, session.channel, "ask", question="How long?")
        await session.until(lambda: answerer.questions)
        await session.discord.gateway.drop(code=code)
        await session.settled()
        await session.until(lambda: session.discord.gateway.identified == 2)
        await session.until(lambda: session.discord.gateway.connections() == 1)
        await ask_and_wait(session, questions=2)

        texts = [shown_text(message) for message in session.discord.world.from_bot()]
        assert ["Parental leave" in text for text in texts] == [True, True]
        assert len(answerer.questions) == 2


async def test_a_discord_that_is_away_for_a_while_gets_the_answer_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What cannot be delivered is made again when its short lease ends, in the message that was begun."""
    monkeypatch.setattr(answering, "LATER_SECONDS", 0.0)
    monkeypatch.setattr(calls, "CALL_SECONDS", 0.5)
    async with discord_session(lease_seconds=1.0) as session:
        session.discord.provoke(Fault("POST", "/webhooks/", status=503, times=2))
        session.people.slash(session.alice, session.channel, "ask", question="How long?")
        await session.settled()

        (message,) = session.discord.world.from_bot()
        assert "Parental leave" in shown_text(message)
        assert len(session.answerer.questions) > 1


async def test_dsc8_a_process_that_still_waits_for_discord_can_be_stopped() -> None:
    """Nobody waits for a login that nobody wants any more."""
    async with discord_session(starts=False) as session:
        session.discord.provoke(Fault("GET", "/users/@me$", seconds=600.0))
        stop = asyncio.Event()
        running = asyncio.create_task(session.make_chat().run(stop))
        await asyncio.sleep(0.2)
        stop.set()
        async with asyncio.timeout(10):
            await running


# --- rate limits -------------------------------------------------------------------------------------------


async def test_a_limit_on_the_whole_bot_is_waited_for() -> None:
    """The global limit has no bucket; nothing is lost to it."""
    async with discord_session() as session:
        session.discord.provoke(
            Fault("POST", r"/channels/\d+/messages$", status=429, is_global=True, times=2)
        )
        session.people.say(session.alice, session.channel, f"<@{BOT_USER}> one?")
        session.people.slash(session.alice, session.channel, "ask", question="two?")
        await session.settled(questions=2)

        assert len(session.discord.world.from_bot()) == 2
