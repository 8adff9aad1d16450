"""Thumbs, reasons, experts, suggestions."""

from typing import Any

import pytest

from core.errors import UnavailableError
from core.ports.chat import Verdict
from tests.adapters.chat.answers import a_passage, an_answer, no_answer
from tests.adapters.chat.slack.harness import Session, slack_session
from tests.fakes.slack.people import shown_text
from tests.fakes.slack.server import Fault

ASKED = "<@UBOT> How long is parental leave?"


async def answered(session: Session) -> dict[str, Any]:
    """One answered question's reply."""
    ts = session.people.write("C1", "U1", ASKED)
    await session.settled()
    return session.replies(ts)[0]


async def test_a_good_thumb_is_stored_with_its_question(session: Session) -> None:
    """One press: stored, and a private thank-you."""
    reply = await answered(session)
    session.people.press("U2", reply, "footnote_feedback", side="positive")
    await session.until(lambda: session.slack.workspace.ephemerals)

    (question,) = session.answerer.questions
    assert session.feedback.judged == [(question.id, "U2", Verdict.GOOD, "")]
    (thanks,) = session.slack.workspace.ephemerals
    assert (thanks["user"], thanks["thread_ts"]) == ("U2", reply["thread_ts"])


async def test_a_bad_thumb_asks_why_and_keeps_the_reason(session: Session) -> None:
    """The verdict is stored at once, the reason when the modal is sent."""
    reply = await answered(session)
    session.people.press("U2", reply, "footnote_feedback", side="negative")
    await session.until(lambda: session.slack.workspace.modals)
    (modal,) = session.slack.workspace.modals
    session.people.submit(
        "U2", modal, {"reason": {"reason": {"type": "plain_text_input", "value": "Old figure"}}}
    )
    await session.until(lambda: len(session.feedback.judged) == 2)

    (question,) = session.answerer.questions
    assert session.feedback.judged == [
        (question.id, "U2", Verdict.BAD, ""),
        (question.id, "U2", Verdict.BAD, "Old figure"),
    ]


async def test_a_bad_thumb_counts_when_the_modal_cannot_open(session: Session) -> None:
    """An expired trigger loses the reason, not the verdict."""
    reply = await answered(session)
    session.slack.provoke("views.open", Fault(code="expired_trigger_id"))
    session.people.press("U2", reply, "footnote_feedback", side="negative")
    await session.until(lambda: session.slack.workspace.ephemerals)

    assert session.feedback.judged[0][2] is Verdict.BAD
    assert session.slack.workspace.ephemerals[0]["blocks"][1]["elements"][0]["action_id"] == "footnote_expert"


async def test_a_verdict_that_cannot_be_kept_is_told() -> None:
    """The database is away: one private line with an id that the log has."""
    async with slack_session() as session:
        reply = await answered(session)
        session.feedback.error = UnavailableError("the database is away")
        pressed = session.people.press("U2", reply, "footnote_feedback", side="positive")
        await session.until(lambda: session.slack.response_urls[pressed].bodies)

        (body,) = session.slack.response_urls[pressed].bodies
        assert body["response_type"] == "ephemeral"
        assert "that did not work" in shown_text(body)


async def test_an_expert_is_called_once_for_a_question() -> None:
    """Three presses by two people, in two processes: one call, and a private word to the others."""
    async with slack_session(expert="U2") as session:
        await session.start()
        session.answerer.answer_with = no_answer
        reply = await answered(session)
        for user in ("U1", "UADMIN", "U1"):
            session.people.press(user, reply, "footnote_expert")
        await session.until(lambda: len(session.slack.workspace.ephemerals) == 2)
        await session.settled()

        assert len(session.replies(reply["thread_ts"])) == 2
        assert all("has been asked" in shown_text(one) for one in session.slack.workspace.ephemerals)


async def test_a_missing_answer_offers_an_expert_who_is_called() -> None:
    """The button tags the configured person in the thread: the one mention that is ever written."""
    async with slack_session(expert="U2") as session:
        session.answerer.answer_with = no_answer
        reply = await answered(session)
        session.people.press("U1", reply, "footnote_expert")
        await session.until(lambda: len(session.replies(reply["thread_ts"])) == 2)

        call = session.replies(reply["thread_ts"])[1]
        assert shown_text(call).startswith("<@U2>, can you help")


async def test_a_bad_thumb_offers_the_expert_too() -> None:
    """Privately, to whoever pressed it."""
    async with slack_session(expert="S77") as session:
        reply = await answered(session)
        session.people.press("U1", reply, "footnote_feedback", side="negative")
        await session.until(lambda: session.slack.workspace.ephemerals)
        (offer,) = session.slack.workspace.ephemerals
        session.people.press("U1", offer | {"thread_ts": reply["thread_ts"]}, "footnote_expert")
        await session.until(lambda: len(session.replies(reply["thread_ts"])) == 2)

        assert "<!subteam^S77>" in shown_text(session.replies(reply["thread_ts"])[1])


async def test_the_pages_last_editor_is_called_first() -> None:
    """A degraded answer knows its page; its last editor is found in Slack by their address."""

    class Editors:
        async def email_of_last_editor(self, page_id: str) -> str:
            return "u2@example.com" if page_id == a_passage().candidate.page_id else ""

    async with slack_session(expert="UADMIN", starts=False) as session:
        session.editors = Editors()
        session.answerer.answer_with = lambda question: an_answer(question, degraded=True)
        await session.start()
        reply = await answered(session)
        session.people.press("U1", reply, "footnote_expert")
        await session.until(lambda: len(session.replies(reply["thread_ts"])) == 2)

        assert "<@U2>" in shown_text(session.replies(reply["thread_ts"])[1])


async def test_a_bad_thumb_calls_the_pages_last_editor_too() -> None:
    """The answer was whole and wrong: whoever last edited its first page is who can tell."""

    class Editors:
        async def email_of_last_editor(self, page_id: str) -> str:
            return "u2@example.com" if page_id == a_passage().candidate.page_id else ""

    async with slack_session(starts=False) as session:
        session.editors = Editors()
        await session.start()
        reply = await answered(session)
        session.people.press("U1", reply, "footnote_feedback", side="negative")
        await session.until(lambda: session.slack.workspace.ephemerals)
        (offer,) = session.slack.workspace.ephemerals
        session.people.press("U1", offer | {"thread_ts": reply["thread_ts"]}, "footnote_expert")
        await session.until(lambda: len(session.replies(reply["thread_ts"])) == 2)

        assert "<@U2>" in shown_text(session.replies(reply["thread_ts"])[1])


async def test_without_an_expert_the_asker_is_told(session: Session) -> None:
    """Privately, and nobody is tagged."""
    session.answerer.answer_with = no_answer
    reply = await answered(session)
    session.people.press("U1", reply, "footnote_expert")
    await session.until(lambda: session.slack.workspace.ephemerals)

    assert "No expert is configured" in shown_text(session.slack.workspace.ephemerals[0])
    assert len(session.replies(reply["thread_ts"])) == 1


async def test_a_persons_answer_is_kept_as_a_suggestion(session: Session) -> None:
    """Chosen on a colleague's message in the thread: kept with the question that we answered there."""
    reply = await answered(session)
    ts = session.people.write("C1", "U2", "It is &lt;18&gt; weeks since May.", thread=reply["thread_ts"])
    session.people.choose("U1", session.slack.workspace.message("C1", ts), "footnote_keep")
    await session.until(lambda: session.slack.workspace.ephemerals)

    (question,) = session.answerer.questions
    assert session.feedback.suggested == [(question.id, "U2", "It is <18> weeks since May.")]


@pytest.mark.parametrize("which", ["ours", "outside"])
async def test_what_is_no_persons_answer_is_not_kept(session: Session, which: str) -> None:
    """Our own answers, and messages in threads without one of ours, are no suggestions."""
    reply = await answered(session)
    if which == "ours":
        message = session.slack.workspace.message("C1", reply["ts"])
    else:
        message = session.slack.workspace.message("C1", session.people.write("C1", "U2", "Hello"))
    session.people.choose("U1", message, "footnote_keep")
    await session.until(lambda: session.slack.workspace.ephemerals)

    assert session.feedback.suggested == []
