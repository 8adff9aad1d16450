"""Commands, mentions, direct messages, menus and threads, from the stand-in's gateway to the reply."""

import logging

import pytest

from core.domain.questions import Turn
from tests.adapters.chat.answers import ScriptedAnswerer, an_answer
from tests.adapters.chat.discord.harness import Session, discord_session
from tests.fakes.discord import BOT_USER, Fault, buttons, shown_text

MENTION = f"<@{BOT_USER}>"


async def test_ask_answers_in_the_channel_with_what_was_asked() -> None:
    """The reply to a command says who asked what; a command's options show to nobody else."""
    async with discord_session() as session:
        interaction = session.people.slash(session.alice, session.channel, "ask", question="How long?")
        await session.settled()

        (message,) = session.discord.world.from_bot()
        assert interaction.response == 5
        assert shown_text(message).startswith("-# **Alice** asked: How long?\nParental leave")
        assert not message.ephemeral_for
        assert message.pinged == frozenset()


async def test_dsc2_a_private_question_gets_a_private_answer() -> None:
    """Settled when it is deferred; every followup is as private."""
    text = "word " * 1500
    async with discord_session(ScriptedAnswerer(lambda question: an_answer(question, text))) as session:
        interaction = session.people.slash(
            session.alice, session.channel, "ask", question="How long?", private=True
        )
        await session.settled()

        messages = session.discord.world.from_bot()
        assert len(messages) > 1
        assert {message.ephemeral_for for message in messages} == {session.alice.id}
        assert interaction.is_private
        assert session.audiences.places[0].channel == ""


async def test_a_mention_is_answered_as_a_reply() -> None:
    """Without the mention in the question, and without pinging the asker."""
    async with discord_session() as session:
        asked = session.people.say(session.alice, session.channel, f"{MENTION} How  long is leave?")
        await session.settled()

        (message,) = session.discord.world.from_bot()
        assert session.answerer.questions[0].text == "How long is leave?"
        assert session.answerer.questions[0].id == str(asked.id)
        assert message.body["message_reference"]["message_id"] == str(asked.id)
        assert message.pinged == frozenset()


async def test_names_of_others_reach_the_question_as_text() -> None:
    """Ids mean nothing to a search."""
    async with discord_session() as session:
        text = f"{MENTION} does <@{session.bob.id}> lead <#{session.channel.id}> <:nice:123456789012345678>?"
        session.people.say(session.alice, session.channel, text)
        await session.settled()

        assert session.answerer.questions[0].text == "does @Bob lead #general :nice:?"


async def test_a_direct_message_needs_no_mention() -> None:
    """Two are alone there."""
    async with discord_session() as session:
        direct = session.discord.world.direct(session.alice.id)
        session.people.say(session.alice, direct, "How long is leave?")
        await session.settled()

        (message,) = session.discord.world.from_bot(direct.id)
        assert shown_text(message).startswith("Parental leave")
        assert len(buttons(message)) == 3


async def test_answer_this_answers_the_chosen_message_for_whoever_chose_it() -> None:
    """The content comes with the menu, intent or not."""
    async with discord_session() as session:
        said = session.people.say(session.bob, session.channel, "Does anybody know how long leave is?")
        session.people.menu(session.alice, said, "Answer this")
        await session.settled()

        (question,) = session.answerer.questions
        assert question.text == "Does anybody know how long leave is?"
        assert question.asker == str(session.alice.id)


async def test_answer_this_on_a_picture_says_that_there_is_nothing_to_answer() -> None:
    """Privately, and nothing is claimed."""
    async with discord_session() as session:
        said = session.people.say(session.bob, session.channel, "")
        interaction = session.people.menu(session.alice, said, "Answer this")
        message = await session.people.finished(interaction)

        assert "no text" in shown_text(message)
        assert message.ephemeral_for == session.alice.id
        assert session.table.rows == []


async def test_f64_a_mention_without_words_gets_help_and_other_pictures_nothing() -> None:
    """Content "" raises nothing, wherever it comes from."""
    async with discord_session() as session:
        session.people.say(session.alice, session.channel, "")
        session.people.say(session.alice, session.channel, MENTION)
        await session.settled()

        (message,) = session.discord.world.from_bot()
        assert "Ask me a question" in shown_text(message)
        assert session.answerer.questions == []


async def test_own_words_are_in_the_servers_language_where_a_message_asks() -> None:
    """A message does not tell its author's."""
    async with discord_session(starts=False) as session:
        session.guild.locale = "de"
        await session.start()
        session.people.say(session.alice, session.channel, MENTION)
        (message,) = await session.posted()

        assert shown_text(message).startswith("Hallo!")


async def test_a7_a_blank_question_gets_help_and_a_long_one_a_clear_refusal() -> None:
    """Neither reaches the wiki."""
    async with discord_session() as session:
        blank = session.people.slash(session.alice, session.channel, "ask", question="  ?! ")
        long = session.people.slash(session.alice, session.channel, "ask", question="x" * 2001)
        await session.settled(questions=2)

        assert "Ask me a question" in shown_text(await session.people.finished(blank))
        assert "at most 2,000 characters" in shown_text(await session.people.finished(long))
        assert session.answerer.questions == []


async def test_messages_that_are_not_for_the_bot_are_left_alone() -> None:
    """Nor are those of bots."""
    async with discord_session() as session:
        robot = session.discord.world.add_user("robot")
        robot.is_bot = True
        session.discord.world.join(robot, session.guild)
        session.people.say(session.alice, session.channel, "How long is leave?")
        session.people.say(robot, session.channel, f"{MENTION} How long is leave?")
        session.people.say(session.alice, session.channel, f"{MENTION} last")
        await session.settled()

        assert [question.text for question in session.answerer.questions] == ["last"]


# --- going on --------------------------------------------------------------------------------------------


async def test_continue_opens_a_thread_below_the_answer_with_what_was_asked_before() -> None:
    """Without reading messages: the button, a modal, a thread; whoever pressed is pointed there."""
    async with discord_session() as session:
        session.people.slash(session.alice, session.channel, "ask", question="How long is leave?")
        await session.settled()
        await _go_on(session, "And for fathers?")
        await session.settled(questions=2)

        first = session.discord.world.from_bot(session.channel.id)[0]
        (in_thread,) = session.discord.world.from_bot(first.id)
        assert session.answerer.questions[1].turns == (Turn(text="How long is leave?"),)
        assert "asked: And for fathers?" in shown_text(in_thread)
        pointer = session.discord.world.from_bot(session.channel.id)[-1]
        assert (shown_text(pointer), pointer.ephemeral_for) == (f"→ <#{first.id}>", session.alice.id)


async def test_a_long_question_of_emoji_names_its_thread_within_the_limit() -> None:
    """However characters are counted; none is parted."""
    async with discord_session() as session:
        session.people.slash(session.alice, session.channel, "ask", question="How long is leave?")
        await session.settled()
        await _go_on(session, "👩‍👩‍👧" * 60 + " leave?")
        await session.settled(questions=2)

        first = session.discord.world.from_bot(session.channel.id)[0]
        name = session.discord.world.channels[first.id].name
        assert set(name.split("👩‍👩‍👧")) == {""}


async def test_continue_uses_the_thread_that_is_there() -> None:
    """A second question below the same answer goes to the same thread."""
    async with discord_session() as session:
        session.people.slash(session.alice, session.channel, "ask", question="How long is leave?")
        await session.settled()
        await _go_on(session, "And for fathers?")
        await session.settled(questions=2)
        await _go_on(session, "And for mothers?")
        await session.settled(questions=3)

        first = session.discord.world.from_bot(session.channel.id)[0]
        assert len(session.discord.world.from_bot(first.id)) == 2


async def test_continue_answers_in_place_where_no_thread_may_be_opened() -> None:
    """A missing permission costs the thread, not the answer."""
    async with discord_session(starts=False) as session:
        session.guild.everyone &= ~(1 << 35)
        await session.start()
        session.people.slash(session.alice, session.channel, "ask", question="How long is leave?")
        await session.settled()
        await _go_on(session, "And for fathers?")
        await session.settled(questions=2)

        assert len(session.discord.world.from_bot(session.channel.id)) == 2


async def test_continue_of_a_private_answer_stays_private() -> None:
    """What only the asker saw is not carried into a thread."""
    async with discord_session() as session:
        session.people.slash(session.alice, session.channel, "ask", question="Secret?", private=True)
        await session.settled()
        await _go_on(session, "And more?")
        await session.settled(questions=2)

        messages = session.discord.world.from_bot()
        assert {message.ephemeral_for for message in messages} == {session.alice.id}
        assert session.answerer.questions[1].turns == (Turn(text="Secret?"),)


async def test_a_reply_to_an_answer_goes_on_with_it() -> None:
    """Earlier turns are the asker's own words up the chain of replies, nobody else's."""
    async with discord_session() as session:
        session.people.say(session.alice, session.channel, f"{MENTION} How long is leave?")
        (answer,) = await session.posted()
        session.people.say(session.alice, session.channel, "And for fathers?", reply_to=answer)
        await session.posted(count=2)
        session.people.say(session.bob, session.channel, "And for me?", reply_to=answer)
        await session.posted(count=3)

        turns = [question.turns for question in session.answerer.questions]
        assert turns == [(), (Turn(text="How long is leave?"),), ()]


async def test_in_a_direct_message_the_last_hour_belongs_to_the_question() -> None:
    """What was asked longer ago is another conversation."""
    async with discord_session() as session:
        direct = session.discord.world.direct(session.alice.id)
        session.people.say(session.alice, direct, "How long is leave?")
        await session.posted()
        session.people.say(session.alice, direct, "And for fathers?")
        await session.posted(count=2)
        session.discord.world.clock.advance(3 * 3600)
        session.people.say(session.alice, direct, "Where is the office?")
        await session.posted(count=3)

        turns = [question.turns for question in session.answerer.questions]
        assert turns == [(), (Turn(text="How long is leave?"),), ()]


async def test_with_the_intent_follow_ups_in_a_thread_need_no_mention() -> None:
    """Of whoever was answered there; others must mention the bot, and thanks need no answer."""
    async with discord_session(starts=False, message_content=True) as session:
        session.discord.world.grants_message_content = True
        await session.start()
        session.people.slash(session.alice, session.channel, "ask", question="How long is leave?")
        await session.settled()
        await _go_on(session, "And for fathers?")
        await session.settled(questions=2)
        thread = session.discord.world.channels[session.discord.world.from_bot(session.channel.id)[0].id]
        session.people.say(session.bob, thread, "I think it is ten weeks")
        session.people.say(session.alice, thread, "Thanks a lot!")
        session.people.say(session.alice, thread, "And for mothers?")
        await session.settled(questions=3)

        assert session.answerer.questions[2].text == "And for mothers?"
        assert session.answerer.questions[2].turns == (Turn(text="And for fathers?"),)


async def test_f64_without_the_intent_a_thread_needs_mentions_and_nothing_breaks() -> None:
    """Contents are empty there; a mention is answered, with what was asked before."""
    async with discord_session() as session:
        session.people.slash(session.alice, session.channel, "ask", question="How long is leave?")
        await session.settled()
        await _go_on(session, "And for fathers?")
        await session.settled(questions=2)
        thread = session.discord.world.channels[session.discord.world.from_bot(session.channel.id)[0].id]
        session.people.say(session.alice, thread, "And for mothers?")
        session.people.say(session.alice, thread, f"{MENTION} And for uncles?")
        await session.settled(questions=3)

        assert session.answerer.questions[2].text == "And for uncles?"
        assert session.answerer.questions[2].turns == (Turn(text="And for fathers?"),)


# --- suggestions -----------------------------------------------------------------------------------------


async def test_typing_offers_titles_and_questions_within_what_the_asker_may_see() -> None:
    """At most 25 of at most 100 characters, asked for with the audience of the reply."""
    async with discord_session() as session:
        session.suggestions.texts = (*(f"Leave {number} {'x' * 150}" for number in range(40)), "Other")
        interaction = session.people.complete(session.alice, session.channel, "ask", "question", "lea")
        await session.people.acknowledged(interaction)

        assert len(interaction.result) == 25
        assert all(len(choice["value"]) <= 100 for choice in interaction.result)
        assert [audience.name for audience in session.suggestions.audiences] == ["all"]


@pytest.mark.parametrize("private", [False, True])
async def test_shr4_suggestions_are_for_the_place_where_the_answer_will_be_read(*, private: bool) -> None:
    """A private question is the asker's alone."""
    async with discord_session() as session:
        session.suggestions.texts = ("Leave",)
        interaction = session.people.complete(
            session.alice, session.channel, "ask", "question", "L", private=private
        )
        await session.people.acknowledged(interaction)

        assert session.audiences.places[0].channel == ("" if private else str(session.channel.id))


async def test_slow_suggestions_become_none_within_discords_limit() -> None:
    """An empty list in time beats a full one too late."""
    async with discord_session() as session:
        session.suggestions.texts, session.suggestions.seconds = ("Leave",), 60.0
        interaction = session.people.complete(session.alice, session.channel, "ask", "question", "L")
        await session.people.acknowledged(interaction)

        assert interaction.result == []


HARD_TITLES = (
    "", "   ", "\u200b", "😀" * 80, "Leave \u202e@everyone", "leave @everyone", "Leave\n\nand pay", "x" * 101,
)  # fmt: skip


async def test_titles_that_no_choice_can_hold_are_left_out_or_cut_and_nothing_comes_twice() -> None:
    """One choice that Discord refuses would cost all of them."""
    async with discord_session() as session:
        session.suggestions.texts = HARD_TITLES
        interaction = session.people.complete(session.alice, session.channel, "ask", "question", "")
        await session.people.acknowledged(interaction)

        names = [choice["name"] for choice in interaction.result]
        assert names == ["😀" * 50, "Leave @\u200beveryone", "Leave and pay", "x" * 99 + "…"]
        assert session.statuses("POST", "/callback$") == [200]


async def test_suggestions_that_come_too_late_or_twice_are_no_failure(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Whoever types on asks again; two processes are both asked."""
    async with discord_session() as session:
        await session.start()
        session.discord.provoke(Fault("POST", "/callback$", status=404, code=10062, skips=1))
        session.suggestions.texts = ("Leave",)
        interaction = session.people.complete(session.alice, session.channel, "ask", "question", "L")
        await session.people.acknowledged(interaction)
        await session.until(lambda: len(session.statuses("POST", "/callback$")) == 2)
        await session.stop()

        assert [choice["name"] for choice in interaction.result] == ["Leave"]
        assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


async def _go_on(session: Session, text: str) -> None:
    """Press Continue below the first answer and send the modal."""
    world = session.discord.world
    answer = next(message for message in world.from_bot(session.channel.id) if "continue" in buttons(message))
    opened = session.people.press(session.alice, answer, buttons(answer)["continue"])
    await session.people.acknowledged(opened)
    session.people.submit(opened, text)
