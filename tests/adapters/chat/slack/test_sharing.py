"""The button under a private answer: who may press it, what the channel then sees, and for how long."""

from typing import Any

from adapters.chat.slack.private import KEPT_SECONDS
from core.errors import UnavailableError
from core.ports.chat import KeptAnswer
from tests.adapters.chat.answers import a_passage, an_answer, page_id
from tests.adapters.chat.slack.harness import Session, slack_session
from tests.fakes.slack.people import shown_text
from tests.fakes.slack.server import Fault


async def asked_privately(session: Session) -> dict[str, Any]:
    """One private answer as it was shown."""
    name = session.people.command("C1", "U1", "/ask", "How long is parental leave?")
    await session.settled()
    return session.slack.response_urls[name].bodies[0]


async def press(session: Session, user: str, body: dict[str, Any]) -> dict[str, Any]:
    """Press the button and read what comes back."""
    pressed = session.people.press(user, body, "footnote_share", channel="C1")
    bodies = session.slack.response_urls[pressed].bodies
    await session.until(bodies.copy)
    return bodies[0]


async def test_shr4_a_private_answer_is_shared_if_the_channel_may_see_it(session: Session) -> None:
    """The button is there and posts the answer with the question, naming nobody by a mention."""
    name = session.people.command("C1", "U1", "/ask", "How long is <!channel> parental leave?")
    await session.settled()
    body = session.slack.response_urls[name].bodies[0]
    pressed = session.people.press("U1", body, "footnote_share", channel="C1")
    await session.until(lambda: session.slack.workspace.from_bot("C1"))
    await session.until(lambda: session.slack.response_urls[pressed].bodies)

    (shared,) = session.slack.workspace.from_bot("C1")
    assert "person-u1 asked: How long is parental leave?" in shown_text(shared)
    assert "sixteen weeks" in shown_text(shared)
    assert "<@U1>" not in shown_text(shared)
    assert session.slack.response_urls[pressed].bodies == [{"delete_original": True}]


async def test_shr4_a_private_answer_with_hidden_sources_is_not_shared(session: Session) -> None:
    """No button where a page is hidden from the channel; a press all the same is refused, by anybody."""
    session.answerer.answer_with = lambda question: an_answer(
        question, passages=(a_passage(1), a_passage(2, title="Salaries"))
    )
    name = session.people.command("C1", "U1", "/ask", "What do people earn?")
    await session.settled()
    body = session.slack.response_urls[name].bodies[0]
    assert all(block["type"] != "actions" for block in body["blocks"])

    event_id = session.answerer.questions[0].id
    forged = {
        "blocks": [
            {
                "type": "actions",
                "elements": [
                    {
                        "type": "button",
                        "action_id": "footnote_share",
                        "value": f'{{"question": "{event_id}"}}',
                    }
                ],
            }
        ]
    }
    for user in ("U1", "U2"):
        pressed = session.people.press(user, forged, "footnote_share", channel="C1")
        answered = session.slack.response_urls[pressed].bodies
        await session.until(answered.copy)
        assert answered[0]["response_type"] == "ephemeral"
    assert session.slack.workspace.from_bot() == []


async def test_shr4_a_private_answer_outlives_its_process() -> None:
    """The bot was started anew, and another process gets the press: the answer is shared all the same."""
    async with slack_session() as session:
        body = await asked_privately(session)
        await session.stop()
        await session.start()

        assert await press(session, "U1", body) == {"delete_original": True}
        (shared,) = session.slack.workspace.from_bot("C1")
        assert "sixteen weeks" in shown_text(shared)
        assert "Parental leave › Length" in shown_text(shared)


async def test_shr4_only_the_asker_shares(session: Session) -> None:
    """A press by somebody else shares nothing, and takes nothing from the asker."""
    body = await asked_privately(session)

    assert "no longer have" in shown_text(await press(session, "U2", body))
    assert session.slack.workspace.from_bot() == []
    assert await press(session, "U1", body) == {"delete_original": True}


async def test_shr4_two_presses_share_once(session: Session) -> None:
    """A double click, and one more: the channel gets the answer once."""
    body = await asked_privately(session)
    names = [session.people.press("U1", body, "footnote_share", channel="C1") for _ in range(3)]
    await session.until(lambda: all(session.slack.response_urls[name].bodies for name in names))

    assert len(session.slack.workspace.from_bot("C1")) == 1


async def test_shr4_a_page_that_moved_out_of_sight_is_not_shared(session: Session) -> None:
    """The channel could see the page when the answer was given, and cannot when the button is pressed."""
    body = await asked_privately(session)
    session.titles.moved.add(page_id(1))

    assert "not everybody" in shown_text(await press(session, "U1", body))
    assert session.slack.workspace.from_bot() == []


async def test_shr4_an_answer_is_shared_in_no_channel_that_may_not_ask(session: Session) -> None:
    """Rules that keep us out of a channel hold for the button too."""
    body = await asked_privately(session)
    session.audiences.closed = frozenset({"C1"})

    assert "may not answer" in shown_text(await press(session, "U1", body))
    assert session.slack.workspace.from_bot() == []


async def test_an_answer_that_could_not_be_posted_can_be_shared_later(session: Session) -> None:
    """Not a member of the channel yet: the asker is told, invites us, and presses again."""
    body = await asked_privately(session)
    session.slack.workspace.channels["C1"].has_bot = False
    assert "invite me" in shown_text(await press(session, "U1", body))

    session.slack.workspace.channels["C1"].has_bot = True
    assert await press(session, "U1", body) == {"delete_original": True}
    assert len(session.slack.workspace.from_bot("C1")) == 1


async def test_a_share_that_fails_is_told(session: Session) -> None:
    """Slack answers nonsense to the post: one line with an id, and the button goes on working."""
    body = await asked_privately(session)
    session.slack.provoke("chat.postMessage", Fault(status=500))
    assert "(id " in shown_text(await press(session, "U1", body))

    assert await press(session, "U1", body) == {"delete_original": True}


async def test_an_answer_that_cannot_be_kept_has_no_button() -> None:
    """Without a memory the answer comes all the same."""

    class Away:
        async def keep(self, answer: KeptAnswer, *, seconds: float) -> None:
            assert (answer.person, seconds) == ("U1", KEPT_SECONDS)
            raise UnavailableError("the database is away")

        async def take(self, platform: str, event: str, *, person: str) -> KeptAnswer | None:
            raise NotImplementedError

    async with slack_session(starts=False) as session:
        session.kept = Away()
        await session.start()
        body = await asked_privately(session)

        assert "sixteen weeks" in shown_text(body)
        assert all(block["type"] != "actions" for block in body["blocks"])
