"""Thumbs, reasons, experts and what they wrote."""

from dataclasses import replace

from core.errors import UnavailableError
from core.ports.chat import Verdict
from tests.adapters.chat.answers import ScriptedAnswerer, an_answer, no_answer
from tests.adapters.chat.discord.harness import Session, discord_session
from tests.fakes.discord import BOT_USER, Message, buttons, shown_text


async def answered(session: Session) -> Message:
    """An answer to a question of Alice's in the channel."""
    session.people.slash(session.alice, session.channel, "ask", question="How long?")
    await session.settled()
    return session.discord.world.from_bot()[0]


async def test_a_good_thumb_is_stored_and_thanked_for_privately() -> None:
    """By whoever pressed it."""
    async with discord_session() as session:
        answer = await answered(session)
        pressed = session.people.press(session.bob, answer, buttons(answer)["good"])
        thanks = await session.people.finished(pressed)
        await session.until(lambda: session.feedback.judged)

        question = session.answerer.questions[0].id
        assert session.feedback.judged == [(question, str(session.bob.id), Verdict.GOOD, "")]
        assert (shown_text(thanks), thanks.ephemeral_for) == ("Thank you!", session.bob.id)


async def test_a_bad_thumb_counts_at_once_and_asks_why() -> None:
    """Whoever closes the modal has judged all the same."""
    async with discord_session() as session:
        answer = await answered(session)
        opened = session.people.press(session.bob, answer, buttons(answer)["bad"])
        await session.people.acknowledged(opened)
        await session.until(lambda: session.feedback.judged)
        sent = session.people.submit(opened, "It is <b>ten</b> weeks")
        await session.people.acknowledged(sent)
        await session.until(lambda: len(session.feedback.judged) == 2)

        assert opened.response == 9
        assert [reason for *_, reason in session.feedback.judged] == ["", "It is <b>ten</b> weeks"]
        assert {verdict for _, _, verdict, _ in session.feedback.judged} == {Verdict.BAD}


async def test_buttons_and_open_modals_survive_a_restart() -> None:
    """The custom id alone tells what was pressed."""
    async with discord_session() as session:
        answer = await answered(session)
        opened = session.people.press(session.bob, answer, buttons(answer)["bad"])
        await session.people.acknowledged(opened)
        await session.stop()
        await session.start()
        session.people.submit(opened, "late reason")
        session.people.press(session.alice, answer, buttons(answer)["good"])
        await session.until(lambda: len(session.feedback.judged) == 3)

        assert [reason for *_, reason in session.feedback.judged[1:] if reason] == ["late reason"]


async def test_dsc9_a_judgement_that_cannot_be_stored_is_told_with_an_id() -> None:
    """Shortly, and privately."""
    async with discord_session() as session:
        answer = await answered(session)
        session.feedback.error = UnavailableError("no database")
        session.people.press(session.bob, answer, buttons(answer)["good"])
        await session.until(lambda: len(session.discord.world.from_bot()) == 3)

        told = session.discord.world.from_bot()[-1]
        assert "did not work" in shown_text(told)
        assert told.ephemeral_for == session.bob.id


async def test_an_expert_is_called_below_an_answer_that_was_none() -> None:
    """The configured person is notified, and nobody else; allowed mentions parse nothing."""
    async with discord_session(ScriptedAnswerer(no_answer), starts=False) as session:
        expert = session.bob.id
        session.settings = replace(session.settings, expert=str(expert))
        await session.start()
        answer = await answered(session)
        session.people.press(session.alice, answer, buttons(answer)["expert"])
        await session.until(lambda: len(session.discord.world.from_bot()) == 2)

        call = session.discord.world.from_bot()[-1]
        assert call.pinged == frozenset({str(expert)})
        sent = session.discord.called("POST", "/callback$")[-1].body["data"]["allowed_mentions"]
        assert sent["parse"] == []


async def test_without_an_expert_the_press_says_so_privately() -> None:
    """And names the setting."""
    async with discord_session(ScriptedAnswerer(no_answer)) as session:
        answer = await answered(session)
        pressed = session.people.press(session.alice, answer, buttons(answer)["expert"])
        told = await session.people.finished(pressed)

        assert r"DISCORD\_EXPERT" in shown_text(told)
        assert told.ephemeral_for == session.alice.id


async def test_an_experts_reply_is_kept_as_a_suggestion() -> None:
    """For the question that our answer was for."""
    async with discord_session() as session:
        answer = await answered(session)
        reply = session.people.say(session.bob, session.channel, "It is ten weeks.", reply_to=answer)
        await session.settled(questions=2)
        chosen = session.people.menu(session.alice, reply, "Keep as answer")
        told = await session.people.finished(chosen)

        question = session.answerer.questions[0].id
        assert session.feedback.suggested == [(question, str(session.bob.id), "It is ten weeks.")]
        assert "kept as a suggestion" in shown_text(told)


async def test_what_answers_no_question_is_not_kept() -> None:
    """Nor is what a bot wrote, ours included."""
    async with discord_session() as session:
        answer = await answered(session)
        said = session.people.say(session.bob, session.channel, "Lunch?")
        for message in (said, answer):
            chosen = session.people.menu(session.alice, message, "Keep as answer")
            told = await session.people.finished(chosen)
            assert "no question" in shown_text(told)

        assert session.feedback.suggested == []


async def test_keeping_names_others_as_text() -> None:
    """Ids mean nothing to the page's owner."""
    async with discord_session(ScriptedAnswerer(an_answer)) as session:
        answer = await answered(session)
        text = f"Ask <@{session.alice.id}>, not <@{BOT_USER}>."
        reply = session.people.say(session.bob, session.channel, text, reply_to=answer)
        await session.settled(questions=2)
        chosen = session.people.menu(session.alice, reply, "Keep as answer")
        await session.people.finished(chosen)

        assert [text for *_, text in session.feedback.suggested] == ["Ask @Alice, not ."]
