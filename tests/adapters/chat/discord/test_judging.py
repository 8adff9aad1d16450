"""Thumbs, reasons, experts and what they wrote."""

from dataclasses import replace

import pytest

from core.errors import UnavailableError
from core.ports.chat import Verdict
from tests.adapters.chat.answers import ScriptedAnswerer, an_answer, no_answer, page_id
from tests.adapters.chat.discord.harness import Session, discord_session
from tests.fakes.discord import BOT_USER, Interaction, Message, buttons, payloads, shown_text
from tests.fakes.discord.world import walk


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
        sent = session.discord.called("POST", "/webhooks/")[-1].body["allowed_mentions"]
        assert sent["parse"] == []
        assert f"{session.guild.id}/{session.channel.id}/{answer.id}" in shown_text(call)


async def test_without_an_expert_the_press_says_so_privately() -> None:
    """And names the setting."""
    async with discord_session(ScriptedAnswerer(no_answer)) as session:
        answer = await answered(session)
        session.people.press(session.alice, answer, buttons(answer)["expert"])
        (_, told) = await session.posted(count=2)

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


async def expert_called(session: Session, message: Message) -> Message:
    """Press the button and wait for the message that calls somebody."""
    session.people.press(session.alice, message, buttons(message)["expert"])
    await session.until(lambda: any(one.pinged for one in session.discord.world.from_bot()))
    return next(one for one in session.discord.world.from_bot() if one.pinged)


async def test_an_expert_is_called_once_however_many_press_and_the_button_is_switched_off() -> None:
    """By anybody, in any process, after a restart."""
    async with discord_session(ScriptedAnswerer(no_answer), starts=False) as session:
        session.settings = replace(session.settings, expert=str(session.bob.id))
        await session.start()
        answer = await answered(session)
        await expert_called(session, answer)
        await session.until(lambda: "disabled" in str(answer.body["components"]))
        await session.stop()
        await session.start()
        for component in walk(answer.body["components"]):
            component.pop("disabled", None)
        pressed = session.people.press(session.admin, answer, buttons(answer)["expert"])
        await session.people.acknowledged(pressed)
        await session.until(lambda: len(session.discord.world.from_bot()) == 3)

        assert "already" in shown_text(session.discord.world.from_bot()[-1])
        assert sum(bool(one.pinged) for one in session.discord.world.from_bot()) == 1


async def test_whoever_edited_the_page_last_is_called_where_the_settings_know_them() -> None:
    """By their address in Notion, however it is written; else the configured expert."""
    async with discord_session(starts=False) as session:
        people = {"ada@example.org": session.admin.id}
        session.settings = replace(session.settings, expert=str(session.bob.id), people=people)
        session.answerer.answer_with = lambda question: an_answer(question, degraded=True)
        session.editors.emails = {page_id(1): "Ada@Example.org"}
        await session.start()
        first = await expert_called(session, await answered(session))
        assert first.pinged == frozenset({str(session.admin.id)})

    async with discord_session(starts=False) as session:
        session.settings = replace(session.settings, expert=str(session.bob.id), people=people)
        session.answerer.answer_with = lambda question: an_answer(question, degraded=True)
        session.editors.error = UnavailableError("no Notion")
        await session.start()
        second = await expert_called(session, await answered(session))
        assert second.pinged == frozenset({str(session.bob.id)})


async def test_after_a_bad_thumb_an_expert_is_offered_for_that_answer() -> None:
    """As in Slack; the call points to the answer, and nothing is offered where nobody else sees it."""
    async with discord_session(starts=False) as session:
        session.settings = replace(session.settings, expert=str(session.bob.id))
        await session.start()
        answer = await answered(session)
        opened = session.people.press(session.alice, answer, buttons(answer)["bad"])
        await session.people.acknowledged(opened)
        thanks = await session.people.finished(session.people.submit(opened, "outdated"))
        call = await expert_called(session, thanks)

        assert f"/{session.channel.id}/{answer.id}" in shown_text(call)
        assert not call.ephemeral_for
        assert len(buttons(thanks)["expert"]) <= 100

        session.people.slash(session.alice, session.channel, "ask", question="Secret?", private=True)
        await session.posted(count=4)
        private = session.discord.world.from_bot()[-1]
        opened = session.people.press(session.alice, private, buttons(private)["bad"])
        await session.people.acknowledged(opened)
        thanks = await session.people.finished(session.people.submit(opened, "outdated"))
        assert buttons(thanks) == {}


async def test_a_custom_id_of_another_message_does_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """A client can send any custom id with a modal; it counts below the message that it was opened from."""
    async with discord_session() as session:
        answer = await answered(session)
        opened = session.people.press(session.bob, answer, buttons(answer)["bad"])
        await session.people.acknowledged(opened)
        await session.until(lambda: session.feedback.judged)
        opened.result["custom_id"] = "footnote:bad:1234567890:en:"
        session.people.submit(opened, "forged")
        forged = Interaction(
            id=session.discord.world.new_id(), token="t" * 30, type=3, user=session.bob.id,
            channel=session.channel.id, guild=session.guild.id, made=session.discord.world.clock.now(),
            data={"custom_id": "footnote:good:1234567890:en:", "component_type": 2}, message=answer.id,
        )  # fmt: skip
        told = payloads.interaction(session.discord.world, forged, forged.data)
        session.discord.gateway.dispatch("INTERACTION_CREATE", told, session.guild.id)
        await session.until(lambda: caplog.text.count(f"refused: {session.bob.id}") == 2)

        assert [reason for *_, reason in session.feedback.judged] == [""]


async def test_two_processes_take_one_press_once_and_call_it_no_failure(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Both hear of it; whose acknowledgement comes second leaves it to the other."""
    async with discord_session(ScriptedAnswerer(no_answer), starts=False) as session:
        session.settings = replace(session.settings, expert=str(session.bob.id))
        await session.start()
        await session.start()
        answer = await answered(session)
        opened = session.people.press(session.alice, answer, buttons(answer)["bad"])
        await session.people.acknowledged(opened)
        await expert_called(session, answer)
        interaction = session.people.slash(session.admin, session.channel, "resync")
        await session.people.finished(interaction)
        await session.until(lambda: len(session.discord.called("POST", "/callback$")) == 7)
        await session.stop()

        assert "incident" not in caplog.text
        assert sum(bool(one.pinged) for one in session.discord.world.from_bot()) == 1
        assert len(session.administration.requests) == 1
