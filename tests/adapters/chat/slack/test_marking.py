"""Given replies whose source has changed since: marked once, asked again in place."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from core.domain.audiences import EVERYTHING
from tests.adapters.chat.answers import ScriptedAnswerer, an_answer, no_answer
from tests.adapters.chat.given import ScriptedReplies
from tests.adapters.chat.slack.harness import PUBLIC_PAGES, Session, slack_session
from tests.fakes.slack.blockkit import control_tokens
from tests.fakes.slack.people import shown_text
from tests.fakes.slack.server import Fault

ASKED = "<@UBOT> How long is parental leave?"
MARK = "The source has changed since."


@asynccontextmanager
async def remembering(
    answerer: ScriptedAnswerer | None = None, *, processes: int = 1
) -> AsyncIterator[tuple[Session, ScriptedReplies]]:
    """Processes that look every moment for replies to mark."""
    async with slack_session(answerer, starts=False, lease_seconds=0.4) as session:
        session.given = replies = ScriptedReplies()
        for _ in range(processes):
            await session.start()
        yield session, replies


async def answered(session: Session, channel: str = "C1", user: str = "U1", text: str = ASKED) -> str:
    """The thread of one answered question."""
    ts = session.people.write(channel, user, text)
    await session.settled()
    return ts


async def marked(session: Session, replies: ScriptedReplies, *, language: str = "en") -> None:
    """The sources of all given replies have changed, and that was seen to."""
    expected = len(replies.done) + len(replies.kept)
    replies.change_all(language)
    await session.until(lambda: len(replies.done) == expected)


async def test_a_reply_whose_source_changed_is_marked_once() -> None:
    """The answer stays, under a line and a button in the question's language; two processes mark it once."""
    async with remembering(processes=2) as (session, replies):
        thread = await answered(session)
        before = dict(session.replies(thread)[0])
        await marked(session, replies, language="de")
        looks = replies.looks
        await session.until(lambda: replies.looks > looks + 4)

        (reply,) = session.replies(thread)
        shown = shown_text(reply)
        assert "Die Quelle hat sich seitdem geändert." in shown
        assert "Noch einmal fragen" in shown
        assert "sixteen weeks" in shown
        assert reply["ts"] == before["ts"]
        assert reply["edits"] == before.get("edits", 0) + 1
        assert control_tokens([shown, reply["text"]]) == []


async def test_a_reply_that_is_marked_already_is_left_alone() -> None:
    """A process that died between marking and saying so leaves nothing to do."""
    async with remembering() as (session, replies):
        thread = await answered(session)
        (place, answer) = replies.kept[0]
        await marked(session, replies)
        edits = session.replies(thread)[0]["edits"]
        replies.kept = [(place, answer)]
        await marked(session, replies)

        assert session.replies(thread)[0]["edits"] == edits


async def test_asking_again_answers_in_place_for_whoever_presses() -> None:
    """The new answer takes the place of the marked one, rests on what place and person may see, and is
    remembered in turn."""
    answerer = ScriptedAnswerer()
    async with remembering(answerer) as (session, replies):
        thread = await answered(session)
        await marked(session, replies)
        answerer.answer_with = lambda question: an_answer(question, "It is **twenty weeks** now.")
        session.people.press("U2", session.replies(thread)[0], "footnote_again")
        await session.until(lambda: "twenty weeks" in shown_text(session.replies(thread)[0]))
        await session.settled()
        await session.until(lambda: replies.kept)

        (reply,) = session.replies(thread)
        first, second = answerer.questions
        assert MARK not in shown_text(reply)
        assert "sixteen" not in shown_text(reply)
        assert second.text == first.text
        assert (first.asker, second.asker) == ("U1", "U2")
        assert second.audience == EVERYTHING
        assert second.id != first.id
        assert [one.message for one, _ in replies.kept] == [reply["ts"]]


async def test_asking_again_gives_a_guest_no_more_than_a_guest_may_see() -> None:
    """Who presses decides, not who asked first."""
    answerer = ScriptedAnswerer()
    async with remembering(answerer) as (session, replies):
        thread = await answered(session)
        await marked(session, replies)
        session.people.press("UGUEST", session.replies(thread)[0], "footnote_again")
        await session.until(lambda: len(answerer.questions) == 2)

        assert answerer.questions[1].audience == PUBLIC_PAGES


async def test_who_may_not_ask_is_told_alone_and_the_reply_stays() -> None:
    """A channel that was closed meanwhile."""
    async with remembering() as (session, replies):
        thread = await answered(session)
        await marked(session, replies)
        session.audiences.closed = frozenset({"C1"})
        session.people.press("U2", session.replies(thread)[0], "footnote_again")
        await session.until(lambda: session.slack.workspace.ephemerals)

        (note,) = session.slack.workspace.ephemerals
        assert note["user"] == "U2"
        assert "sixteen weeks" in shown_text(session.replies(thread)[0])


async def test_what_is_gone_from_the_wiki_is_gone_from_the_reply() -> None:
    """The page was removed: asked again, the reply says that the wiki does not know."""
    answerer = ScriptedAnswerer()
    async with remembering(answerer) as (session, replies):
        thread = await answered(session)
        await marked(session, replies)
        answerer.answer_with = no_answer
        session.people.press("U2", session.replies(thread)[0], "footnote_again")
        await session.until(lambda: "did not find" in shown_text(session.replies(thread)[0]))

        assert "sixteen" not in shown_text(session.replies(thread)[0])


async def test_direct_messages_are_marked_and_private_replies_are_not_remembered() -> None:
    """An ephemeral reply cannot be edited after half an hour."""
    async with remembering() as (session, replies):
        direct = session.slack.workspace.direct("U1")
        thread = await answered(session, direct, text="How long is parental leave?")
        session.people.command("C1", "U1", "/ask", "How long is parental leave?")
        await session.settled()
        assert [place.channel for place, _ in replies.kept] == [direct]
        await marked(session, replies)

        assert MARK in shown_text(session.replies(thread)[0])


async def test_a_deleted_reply_is_forgotten() -> None:
    """There is nothing to mark, and nothing is posted in its place."""
    async with remembering() as (session, replies):
        thread = await answered(session)
        session.slack.workspace.messages.remove(
            next(one for one in session.slack.workspace.messages if one["ts"] == replies.kept[0][0].message)
        )
        await marked(session, replies)

        assert session.replies(thread) == []


async def test_a_slack_that_is_away_is_tried_later() -> None:
    """What could not be marked is not settled, so that it is handed out again."""
    async with remembering() as (session, replies):
        thread = await answered(session)
        places = list(replies.kept)
        session.slack.provoke("conversations.replies", Fault(code="internal_error"))
        looks = replies.looks
        replies.change_all()
        await session.until(lambda: replies.looks > looks + 2)

        assert replies.done == []
        replies.kept = places
        await marked(session, replies)
        assert MARK in shown_text(session.replies(thread)[0])


async def test_a_reply_too_long_to_be_edited_is_marked_below() -> None:
    """Slack refuses edits of long messages; the mark stands in the thread then."""
    long = "Parental leave is long. " * 300
    async with remembering(ScriptedAnswerer(lambda question: an_answer(question, long))) as (
        session,
        replies,
    ):
        thread = await answered(session)
        number = len(session.replies(thread))
        await marked(session, replies)

        below = session.replies(thread)
        assert len(below) == number + 1
        assert MARK in shown_text(below[-1])


async def test_a_deleted_question_cannot_be_asked_again() -> None:
    """Whoever presses is told alone."""
    answerer = ScriptedAnswerer()
    async with remembering(answerer) as (session, replies):
        thread = await answered(session)
        await marked(session, replies)
        (reply,) = session.replies(thread)
        session.slack.workspace.messages[:] = [
            one for one in session.slack.workspace.messages if one["ts"] != thread
        ]
        session.people.press("U2", reply, "footnote_again")
        await session.until(lambda: session.slack.workspace.ephemerals)

        assert len(answerer.questions) == 1
        assert "no longer find the question" in shown_text(session.slack.workspace.ephemerals[0])


async def test_an_answer_of_several_messages_is_replaced_whole() -> None:
    """What the former answer went on with goes; what others were answered in the thread stays."""
    long = "\n\n".join(f"Paragraph {number} of the former answer. " * 12 for number in range(40))
    answerer = ScriptedAnswerer(lambda question: an_answer(question, long))
    async with remembering(answerer) as (session, replies):
        thread = await answered(session)
        parts = len(session.replies(thread))
        first = session.replies(thread)[0]
        answerer.answer_with = lambda question: an_answer(question, "Another answer.")
        session.people.write("C1", "U2", "<@UBOT> And something else?", thread=thread)
        await session.settled()
        replies.kept = replies.kept[:1]
        await marked(session, replies)
        button = next(one for one in session.replies(thread) if "footnote_again" in str(one.get("blocks")))
        answerer.answer_with = lambda question: an_answer(question, "It is **twenty weeks** now.")
        session.people.press("U2", button, "footnote_again")
        await session.until(lambda: "twenty weeks" in shown_text(session.replies(thread)[0]))
        await session.until(lambda: len(session.replies(thread)) == 2)

        shown = [shown_text(one) for one in session.replies(thread)]
        assert parts > 1
        assert session.replies(thread)[0]["ts"] == first["ts"]
        assert not any("former answer" in text for text in shown)
        assert sum("Another answer." in text for text in shown) == 1


async def test_asking_again_in_a_shared_channel_shows_what_is_public() -> None:
    """The press does not tell that the channel is shared; Slack is asked."""
    answerer = ScriptedAnswerer()
    async with remembering(answerer) as (session, replies):
        thread = await answered(session, "C3")
        await marked(session, replies)
        session.people.press("U1", session.replies(thread)[0], "footnote_again")
        await session.until(lambda: len(answerer.questions) == 2)

        assert [one.audience for one in answerer.questions] == [PUBLIC_PAGES, PUBLIC_PAGES]
