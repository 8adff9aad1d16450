"""Given replies whose source has changed since: marked once, asked again in place. And the weekly digest."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from tests.adapters.chat.answers import ScriptedAnswerer, an_answer, no_answer
from tests.adapters.chat.digests import ScriptedDigests
from tests.adapters.chat.discord.harness import Session, discord_session
from tests.adapters.chat.given import ScriptedReplies
from tests.fakes.discord import BOT_USER, Message, buttons, shown_text

MARK = "The source has changed since."
ASKED = f"<@{BOT_USER}> How long is parental leave?"


@asynccontextmanager
async def remembering(
    answerer: ScriptedAnswerer | None = None, *, processes: int = 1, layout: bool = True
) -> AsyncIterator[tuple[Session, ScriptedReplies]]:
    """Processes that look every moment for replies to mark."""
    async with discord_session(answerer, starts=False) as session:
        session.settings = replace(session.settings, lease_seconds=0.4, layout=layout)
        session.given = replies = ScriptedReplies()
        for _ in range(processes):
            await session.start()
        yield session, replies


async def answered(session: Session, replies: ScriptedReplies) -> Message:
    """An answer to a command of Alice's in the channel."""
    session.people.slash(session.alice, session.channel, "ask", question="How long is parental leave?")
    await session.until(lambda: replies.kept)
    await session.settled()
    return session.discord.world.from_bot()[0]


async def marked(session: Session, replies: ScriptedReplies, *, language: str = "en") -> None:
    """The sources of all given replies have changed, and that was seen to."""
    expected = len(replies.done) + len(replies.kept)
    replies.change_all(language)
    await session.until(lambda: len(replies.done) == expected)


async def test_a_reply_whose_source_changed_is_marked_once() -> None:
    """The answer stays, under a line and a button in the question's language; two processes mark it once."""
    async with remembering(processes=2) as (session, replies):
        answer = await answered(session, replies)
        before = shown_text(answer)
        place = replies.kept[0][0]
        await marked(session, replies, language="de")
        looks = replies.looks
        await session.until(lambda: replies.looks > looks + 4)

        shown = shown_text(session.discord.world.from_bot()[0])
        assert place.message == str(answer.id)
        assert place.channel == str(session.channel.id)
        assert "Die Quelle hat sich seitdem geändert." in shown
        assert set(buttons(answer)) >= {"good", "bad", "continue", "again"}
        for line in before.splitlines():
            assert line in shown
        assert len(session.discord.world.from_bot()) == 1


async def test_a_plain_reply_is_marked_too() -> None:
    """Where layouts are off or were refused."""
    async with remembering(layout=False) as (session, replies):
        answer = await answered(session, replies)
        await marked(session, replies)

        assert MARK in shown_text(answer)
        assert "sixteen weeks" in shown_text(answer)
        assert "again" in buttons(answer)


async def test_a_reply_that_is_marked_already_is_left_alone() -> None:
    """A process that died between marking and saying so leaves nothing to do."""
    async with remembering() as (session, replies):
        answer = await answered(session, replies)
        kept = list(replies.kept)
        await marked(session, replies)
        replies.kept = kept
        await marked(session, replies)

        assert shown_text(answer).count(MARK) == 1


async def test_asking_again_answers_in_place_for_whoever_presses() -> None:
    """The new answer takes the place of the marked one and is remembered in turn, after a restart too."""
    answerer = ScriptedAnswerer()
    async with remembering(answerer) as (session, replies):
        answer = await answered(session, replies)
        await marked(session, replies)
        await session.stop()
        await session.start()
        answerer.answer_with = lambda question: an_answer(question, "It is **twenty weeks** now.")
        pressed = session.people.press(session.bob, answer, buttons(answer)["again"])
        await session.people.acknowledged(pressed)
        await session.until(lambda: "twenty weeks" in shown_text(answer))
        await session.until(lambda: replies.kept)

        first, second = answerer.questions
        assert pressed.response == 6
        assert MARK not in shown_text(answer)
        assert "sixteen" not in shown_text(answer)
        assert second.text == first.text
        assert (first.asker, second.asker) == (str(session.alice.id), str(session.bob.id))
        assert [one.message for one, _ in replies.kept] == [str(answer.id)]
        assert len(session.discord.world.from_bot()) == 1


async def test_a_mention_is_asked_again_in_its_words() -> None:
    """The reply has no header; the message it replies to says what was asked."""
    answerer = ScriptedAnswerer()
    async with remembering(answerer) as (session, replies):
        session.people.say(session.alice, session.channel, ASKED)
        await session.until(lambda: replies.kept)
        (answer,) = session.discord.world.from_bot()
        await marked(session, replies)
        session.people.press(session.bob, answer, buttons(answer)["again"])
        await session.until(lambda: len(answerer.questions) == 2)
        await session.until(lambda: replies.kept)

        assert answerer.questions[1].text == "How long is parental leave?"
        assert MARK not in shown_text(answer)


async def test_who_may_not_ask_is_told_alone_and_the_reply_stays() -> None:
    """A channel that was closed meanwhile."""
    async with remembering() as (session, replies):
        answer = await answered(session, replies)
        await marked(session, replies)
        session.audiences.closed = frozenset({str(session.channel.id)})
        session.people.press(session.bob, answer, buttons(answer)["again"])
        await session.until(lambda: len(session.discord.world.from_bot()) == 2)

        note = session.discord.world.from_bot()[-1]
        assert note.ephemeral_for == session.bob.id
        assert "sixteen weeks" in shown_text(answer)


async def test_what_is_gone_from_the_wiki_is_gone_from_the_reply() -> None:
    """The page was removed: asked again, the reply says that the wiki does not know."""
    answerer = ScriptedAnswerer()
    async with remembering(answerer) as (session, replies):
        answer = await answered(session, replies)
        await marked(session, replies)
        answerer.answer_with = no_answer
        session.people.press(session.bob, answer, buttons(answer)["again"])
        await session.until(lambda: "did not find" in shown_text(answer))

        assert "sixteen" not in shown_text(answer)


async def test_private_replies_are_not_remembered() -> None:
    """They cannot be edited after a quarter of an hour."""
    async with remembering() as (session, replies):
        session.people.slash(
            session.alice, session.channel, "ask", question="How long is parental leave?", private=True
        )
        await session.settled()
        await answered(session, replies)

        assert len(replies.kept) == 1


async def test_a_deleted_reply_is_forgotten() -> None:
    """There is nothing to mark, and nothing is posted in its place."""
    async with remembering() as (session, replies):
        answer = await answered(session, replies)
        del session.discord.world.messages[answer.id]
        await marked(session, replies)

        assert len(session.discord.world.from_bot()) <= 1
        assert len(replies.done) == 1


async def test_an_answer_of_several_messages_is_marked_and_replaced_whole() -> None:
    """There is no room in its first message, so the mark stands below; asked again, all of it gives way."""
    long = "\n\n".join(f"Paragraph {number} of the former answer. " * 10 for number in range(24))
    answerer = ScriptedAnswerer(lambda question: an_answer(question, long))
    async with remembering(answerer) as (session, replies):
        answer = await answered(session, replies)
        parts = len(session.discord.world.from_bot())
        await marked(session, replies)
        shown = session.discord.world.from_bot()
        mark = next(one for one in shown if MARK in shown_text(one))
        answerer.answer_with = lambda question: an_answer(question, "It is **twenty weeks** now.")
        session.people.press(session.bob, mark, buttons(mark)["again"])
        await session.until(lambda: "twenty weeks" in shown_text(answer))
        await session.until(lambda: len(session.discord.world.from_bot()) == 1)

        assert parts > 1
        assert len(shown) in (parts, parts + 1)
        assert "former answer" not in shown_text(answer)
        assert answerer.questions[1].text == answerer.questions[0].text


async def test_each_digest_is_posted_once_in_its_channel() -> None:
    """Figures and gaps, inert; a channel that is gone does not keep the others from theirs."""
    async with discord_session(starts=False) as session:
        session.digests = ScriptedDigests(
            "discord", "404", "no id", str(session.channel.id), example="Where is @everyone the key?"
        )
        await session.start()
        await session.start()
        (message,) = await session.posted(channel=session.channel.id)

        shown = shown_text(message)
        assert "The week since 2026-03-02**: 37 of 40 questions answered; 9 judged good, 2 bad." in shown
        assert "3 × Where is" in shown
        assert "@everyone" not in shown
        assert message.pinged == frozenset()
