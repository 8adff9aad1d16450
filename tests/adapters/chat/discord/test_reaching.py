"""Where a reply goes when it cannot go where it belongs: closed channels, locked threads, private notes."""

from dataclasses import replace

import pytest

from adapters.stores.claims_memory import MemoryClaims
from core.domain.answers import NoAnswer, NoAnswerReason
from core.domain.questions import Question
from core.errors import UnavailableError
from tests.adapters.chat.answers import ScriptedAnswerer
from tests.adapters.chat.discord.harness import Session, discord_session
from tests.fakes.discord import BOT_USER, Channel, Fault, Message, buttons, shown_text
from tests.fakes.discord.permissions import READ_HISTORY, SEND_IN_THREADS, SEND_MESSAGES, Overwrite
from tests.fakes.discord.world import FORUM, VOICE

MENTION = f"<@{BOT_USER}>"


def limited(question: Question) -> NoAnswer:
    """Asked too much; in two minutes it may be asked again."""
    del question
    return NoAnswer(reason=NoAnswerReason.LIMIT_REACHED, language="en", wait=110.0)


async def mention(session: Session, channel: Channel) -> None:
    """Alice's question, and its end."""
    session.people.say(session.alice, channel, f"{MENTION} How long is leave?")
    await session.settled()


def closed(session: Session, bit: int) -> Channel:
    """The usual channel, in which the bot lacks a permission."""
    session.channel.overwrites[BOT_USER] = Overwrite(deny=bit)
    return session.channel


# --- places that take nothing ----------------------------------------------------------------------------


async def test_dsc7_where_the_bot_may_not_write_the_answer_goes_to_its_asker() -> None:
    """50013: in direct messages, where it says what was asked, since the question does not show there."""
    async with discord_session() as session:
        await mention(session, closed(session, SEND_MESSAGES))

        (message,) = session.discord.world.from_bot()
        assert message.channel == session.discord.world.direct(session.alice.id).id
        assert shown_text(message).startswith("-# **Alice** asked: How long is leave?\nParental leave")
        assert session.statuses("POST", f"/channels/{session.channel.id}/messages$") == [403]


async def test_dsc7_a_locked_thread_and_an_unknown_channel_are_left_for_the_asker() -> None:
    """160005 and 10003 are no reason to keep an answer back."""
    async with discord_session(starts=False) as session:
        world = session.discord.world
        thread = world.add_thread(session.channel, "old")
        await session.start()
        session.people.say(session.alice, thread, f"{MENTION} one?")
        thread.is_locked = True
        await session.settled()
        session.discord.provoke(Fault("POST", r"/channels/\d+/messages$", status=404, code=10003))
        session.people.say(session.alice, session.channel, f"{MENTION} two?")
        await session.settled(questions=2)

        direct = world.direct(session.alice.id)
        assert [message.channel for message in world.from_bot()] == [direct.id, direct.id]


async def test_dsc7_where_nothing_reaches_the_asker_the_question_is_done(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """50007 behind 50013: said in the log, and not tried for ever."""
    async with discord_session() as session:
        session.alice.takes_direct_messages = False
        await mention(session, closed(session, SEND_MESSAGES))

        assert session.discord.world.from_bot() == []
        assert "50007" in caplog.text
        assert "How long" not in caplog.text


async def test_without_the_history_an_answer_is_a_plain_message_instead_of_a_reply() -> None:
    """160002: a reply needs a permission that a message does not."""
    async with discord_session() as session:
        await mention(session, closed(session, READ_HISTORY))

        (message,) = session.discord.world.from_bot()
        assert message.channel == session.channel.id
        assert "message_reference" not in message.body
        assert "Parental leave" in shown_text(message)


@pytest.mark.parametrize("kind", [VOICE, FORUM])
async def test_voice_channels_and_posts_of_forums_are_answered_in_place(kind: int) -> None:
    """Both have text; a forum itself has none, its posts are threads."""
    async with discord_session(starts=False) as session:
        channel = session.discord.world.add_channel(session.guild, "place", kind=kind)
        if kind == FORUM:
            channel = session.discord.world.add_thread(channel, "post")
        await session.start()
        await mention(session, channel)
        answer = session.discord.world.from_bot(channel.id)[0]
        pressed = session.people.press(session.alice, answer, buttons(answer)["continue"])
        session.people.submit(await session.people.acknowledged(pressed), "And for fathers?")
        await session.settled(questions=2)

        assert len(session.discord.world.from_bot(channel.id)) == 2


async def test_a_thread_that_closes_meanwhile_leaves_nobody_with_thinking() -> None:
    """Whoever went on is told privately what could not be said in the thread."""
    async with discord_session() as session:
        answer = await answered(session)
        session.guild.everyone &= ~SEND_IN_THREADS
        session.discord.gateway.announce_guild(session.guild.id)
        session.guild.everyone |= SEND_IN_THREADS
        session.discord.provoke(Fault("POST", f"/channels/{answer.id}/messages$", status=403, code=50013))
        pressed = session.people.press(session.alice, answer, buttons(answer)["continue"])
        session.people.submit(await session.people.acknowledged(pressed), "And for fathers?")
        await session.settled(questions=2)

        last = session.discord.world.from_bot()[-1]
        assert "Parental leave" in shown_text(last)
        assert not any(message.is_loading for message in session.discord.world.messages.values())


async def test_a_failure_in_a_thread_is_pointed_to_as_well() -> None:
    """The private "thinking" ends, whatever became of the answer."""
    async with discord_session() as session:
        answer = await answered(session)
        session.answerer.error = RuntimeError("no model")
        pressed = session.people.press(session.alice, answer, buttons(answer)["continue"])
        session.people.submit(await session.people.acknowledged(pressed), "And for fathers?")
        await session.settled(questions=2)

        assert "did not work" in shown_text(session.discord.world.from_bot(answer.id)[-1])
        assert not any(message.is_loading for message in session.discord.world.messages.values())


async def test_dsc7_an_acknowledgement_without_an_answer_is_no_refusal() -> None:
    """Discord took it and the connection broke: the followup shows it, and "thinking" ends."""
    async with discord_session() as session:
        session.discord.provoke(Fault("POST", "/callback$", cuts_after=True))
        interaction = session.people.slash(session.alice, session.channel, "ask", question="How long?")
        message = await session.people.finished(interaction)
        await session.settled()

        assert "Parental leave" in shown_text(message)
        assert len(session.discord.world.from_bot()) == 1


async def answered(session: Session) -> Message:
    """The answer to Alice's command."""
    session.people.slash(session.alice, session.channel, "ask", question="How long is leave?")
    await session.settled()
    return session.discord.world.from_bot()[-1]


# --- notes for the asker alone ---------------------------------------------------------------------------


async def test_a_limit_is_told_to_whoever_met_it_alone() -> None:
    """A command's public "thinking" is taken back for it; it says when to come again, and has no buttons."""
    async with discord_session(ScriptedAnswerer(limited)) as session:
        session.people.slash(session.alice, session.channel, "ask", question="Again?")
        await session.settled()

        (message,) = session.discord.world.from_bot()
        assert message.ephemeral_for == session.alice.id
        assert "in 2 min" in shown_text(message)
        assert buttons(message) == {}
        assert not any(one.is_loading for one in session.discord.world.messages.values())


async def test_a_limit_met_by_a_mention_is_told_in_direct_messages() -> None:
    """In the channel it would be one more message for everybody."""
    async with discord_session(ScriptedAnswerer(limited)) as session:
        await mention(session, session.channel)

        (message,) = session.discord.world.from_bot()
        assert message.channel == session.discord.world.direct(session.alice.id).id
        assert "How long is leave?" in shown_text(message)


async def test_a_limit_is_told_in_the_channel_where_nothing_else_reaches_the_asker() -> None:
    """Silence would look like a bot that is broken."""
    async with discord_session(ScriptedAnswerer(limited)) as session:
        session.alice.takes_direct_messages = False
        await mention(session, session.channel)

        (message,) = session.discord.world.from_bot()
        assert message.channel == session.channel.id
        assert "in 2 min" in shown_text(message)


async def test_a_limit_in_a_direct_message_or_a_private_question_is_told_right_there() -> None:
    """Two are alone there anyway."""
    async with discord_session(ScriptedAnswerer(limited)) as session:
        direct = session.discord.world.direct(session.alice.id)
        session.people.say(session.alice, direct, "Again?")
        await session.settled()
        session.people.slash(session.alice, session.channel, "ask", question="Again?", private=True)
        await session.settled(questions=2)

        first, second = session.discord.world.from_bot()
        assert (first.channel, second.ephemeral_for) == (direct.id, session.alice.id)


async def test_a_limit_met_privately_is_never_told_in_the_channel() -> None:
    """Not even where nothing else is left: the question in it is nobody else's business."""
    answerer = ScriptedAnswerer(limited)
    answerer.release.clear()
    async with discord_session(answerer) as session:
        session.alice.takes_direct_messages = False
        asked = session.people.slash(session.alice, session.channel, "ask", question="Secret?", private=True)
        await session.people.acknowledged(asked)
        session.discord.world.clock.advance(16 * 60)
        answerer.release.set()
        await session.settled()

        assert session.discord.world.from_bot() == []


# --- answering for everybody what was answered privately -------------------------------------------------


async def private_answer(session: Session, question: str) -> Message:
    """Alice's private question and the message that only she sees."""
    session.people.slash(session.alice, session.channel, "ask", question=question, private=True)
    await session.settled()
    return session.discord.world.from_bot()[-1]


async def test_shr4_sharing_asks_again_for_the_audience_of_the_channel() -> None:
    """What was answered to one person alone may rest on what others may not see."""
    async with discord_session() as session:
        message = await private_answer(session, "How long is leave?")
        session.people.press(session.alice, message, buttons(message)["share"])
        await session.settled(questions=2)

        shared = session.discord.world.from_bot()[-1]
        assert not shared.ephemeral_for
        assert shown_text(shared).startswith("-# **Alice** asked: How long is leave?")
        assert [place.channel for place in session.audiences.places] == ["", str(session.channel.id)]


async def test_sharing_survives_a_restart() -> None:
    """The question is in the message's own header."""
    async with discord_session() as session:
        message = await private_answer(session, "How *long* is [leave]?")
        await session.stop()
        await session.start()
        session.people.press(session.alice, message, buttons(message)["share"])
        await session.settled(questions=2)

        assert session.answerer.questions[1].text == "How *long* is [leave]?"


async def test_a_question_that_is_not_known_whole_is_not_asked_again() -> None:
    """Half a question would get half an answer."""
    async with discord_session() as session:
        message = await private_answer(session, "word " * 100)
        await session.stop()
        await session.start()
        pressed = session.people.press(session.alice, message, buttons(message)["share"])
        told = await session.people.finished(pressed)

        assert "ask it again" in shown_text(told)
        assert len(session.answerer.questions) == 1


async def test_a_public_answer_and_a_direct_message_have_nothing_to_share() -> None:
    """They are where everybody concerned reads them."""
    async with discord_session() as session:
        answer = await answered(session)
        direct = session.discord.world.direct(session.alice.id)
        session.people.say(session.alice, direct, "How long?")
        await session.settled(questions=2)

        told = session.discord.world.from_bot(direct.id)[0]
        assert "share" not in {**buttons(answer), **buttons(told)}


# --- what was posted before ------------------------------------------------------------------------------


class Forgetful(MemoryClaims):
    """A database that goes away before it is noted that the question is answered."""

    async def done(self, *_: object, **__: object) -> None:
        """As the port, in vain."""
        raise UnavailableError("no database")


@pytest.mark.parametrize("came_too_late", [False, True])
async def test_an_answer_that_stands_in_the_channel_is_found_there(*, came_too_late: bool) -> None:
    """A process that was down for an hour, or answered too late for a followup, does not answer once more."""
    async with discord_session(starts=False, lease_seconds=1.0) as session:
        session.claims = Forgetful(clock=session.discord.world.clock, table=session.table)
        if came_too_late:
            session.discord.provoke(Fault("POST", "/callback$", status=404, code=10062))
        await session.start()
        session.people.slash(session.alice, session.channel, "ask", question="How long is leave?")
        await session.until(session.discord.world.from_bot)
        await session.stop()
        session.claims = None
        session.discord.world.clock.advance(10 if came_too_late else 60 * 60)
        await session.start()
        await session.settled()

        assert len(session.discord.world.from_bot()) == 1
        assert len(session.answerer.questions) == 1


async def test_settings_without_layouts_still_tell_limits_privately() -> None:
    """The plain form has no other way."""
    async with discord_session(ScriptedAnswerer(limited), starts=False) as session:
        session.settings = replace(session.settings, layout=False)
        await session.start()
        session.people.slash(session.alice, session.channel, "ask", question="Again?")
        await session.settled()

        assert [one.ephemeral_for for one in session.discord.world.from_bot()] == [session.alice.id]
