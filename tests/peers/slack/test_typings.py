"""Every argument and block that we send has the shape of Slack's official typings."""

import pytest

from tests.adapters.chat.answers import ScriptedAnswerer, a_passage, an_answer, no_answer
from tests.adapters.chat.slack.harness import Session, slack_session
from tests.adapters.chat.slack.test_administering import ScriptedInsights, home_of
from tests.peers.slack.peers import arguments_type, complaint

ASKED = "<@UBOT> How long is parental leave?"

AS_JSON = (
    "chat.postMessage",
    "chat.postEphemeral",
    "chat.update",
    "chat.startStream",
    "chat.appendStream",
    "chat.stopStream",
    "assistant.threads.setStatus",
    "assistant.threads.setSuggestedPrompts",
    "views.open",
    "views.publish",
)
"""Methods whose arguments travel as JSON, with their types."""


def complaints(session: Session) -> list[str]:
    """What the typings have against the calls of a session."""
    found = []
    for method, arguments in session.slack.calls:
        if method in AS_JSON:
            given = {name: value for name, value in arguments.items() if name != "team_id"}
            found.append(complaint(arguments_type(method), given))
            found += [complaint("KnownBlock", block) for block in given.get("blocks") or []]
    for url in session.slack.response_urls.values():
        found += [complaint("KnownBlock", block) for body in url.bodies for block in body.get("blocks") or []]
    return [text for text in found if text]


async def test_slk5_all_that_is_sent_has_the_official_shape() -> None:
    """Streams, edits, posts, private replies, prompts, modals, homes, administration: no complaint."""
    drafts = tuple("word " * count for count in (5, 20, 60))
    answerer = ScriptedAnswerer(
        lambda question: an_answer(question, drafts[-1], degraded=True), seconds=0.6, drafts=drafts
    )
    async with slack_session(answerer, starts=False, expert="U2") as session:
        session.insights = ScriptedInsights()
        await session.start()
        ts = session.people.write("C1", "U1", ASKED)
        await session.settled()
        reply = session.replies(ts)[0]
        session.people.press("U2", reply, "footnote_feedback", side="negative")
        session.people.press("U2", reply, "footnote_expert")
        session.people.command("C1", "U1", "/ask", "How long is parental leave?")
        for verb in ("status", "gaps", "scope", "resync", "help"):
            session.people.command("C1", "UADMIN", "/footnote", verb)
        session.people.open_home("U1", tab="messages")
        await home_of(session, "UADMIN")
        await session.settled()
        session.slack.methods.has_streaming = False
        session.answerer.answer_with = no_answer
        session.people.write("C1", "U1", ASKED)
        await session.settled()
        await session.until(
            lambda: {method for method, _ in session.slack.calls} >= set(AS_JSON) and session.feedback.judged
        )

        assert complaints(session) == []


async def test_slk5_long_answers_have_the_official_shape() -> None:
    """Several messages, many sources, code and tables."""
    text = "# Head\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```py\nx = 1\n```\n\n" + "long " * 5_000
    passages = [a_passage(number, title=f"Page {number} <&> | [x]") for number in range(1, 10)]
    answerer = ScriptedAnswerer(lambda question: an_answer(question, text, passages=passages))
    async with slack_session(answerer) as session:
        session.people.write("C1", "U1", ASKED)
        await session.settled()

        assert len(session.slack.called("chat.postMessage")) > 1
        assert complaints(session) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ChatPostMessageArguments", {"text": "x"}),
        ("ChatPostMessageArguments", {"channel": "C1", "text": "x", "colour": "blue"}),
        ("KnownBlock", {"type": "poem", "text": "x"}),
        ("KnownBlock", {"type": "section", "text": "x"}),
        ("KnownBlock", {"type": "context_actions", "elements": [{"type": "button"}]}),
    ],
)
def test_the_typings_do_complain(name: str, value: dict[str, object]) -> None:
    """The check can fail: wrong shapes are complained of."""
    assert complaint(name, value)
