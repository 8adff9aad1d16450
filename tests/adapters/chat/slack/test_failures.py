"""Whatever fails, somebody is told once, nobody is told twice, and nothing is tried for ever."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from adapters.chat.slack.finding import INTENDED
from adapters.chat.slack.web import SlackWeb, call, open_web
from adapters.stores.claims_memory import MemoryClaims
from core.errors import RateLimitedError, UnavailableError
from core.ports.chat import ClaimKey
from tests.adapters.chat.answers import ScriptedAnswerer, an_answer
from tests.adapters.chat.slack.harness import Session, SystemClock, slack_session
from tests.adapters.chat.slack.test_replying import ASKED, assert_whole, left_behind, the_whole, writer
from tests.fakes.slack import BOT_TOKEN
from tests.fakes.slack.people import shown_text
from tests.fakes.slack.server import Fault

LIMITED = [Fault(retry_after=1), Fault(code="ratelimited"), Fault(code="rate_limited")]
LIMITED_IDS = ["429", "200", "200-other-name"]


def fresh(fault: Fault) -> Fault:
    """The same fault for one test."""
    return Fault(fault.code, fault.retry_after, fault.status, fault.cut, times=fault.times)


# --- rate limits, in either form ---


@pytest.mark.parametrize("fault", LIMITED, ids=LIMITED_IDS)
@pytest.mark.parametrize(
    "method",
    [
        *("chat.startStream", "chat.appendStream", "chat.stopStream", "chat.update", "chat.postMessage"),
        *("assistant.threads.setStatus", "users.info", "conversations.info", "usergroups.list"),
    ],
)
async def test_slk7_a_limit_on_any_method_costs_time_only(method: str, fault: Fault) -> None:
    """429 with Retry-After, and a refusal inside of a 200, lead to one whole answer."""
    async with slack_session(writer(0.6)) as session:
        session.slack.methods.has_streaming = method != "chat.update"
        session.slack.provoke(method, fresh(fault))
        ts = session.people.write("C1", "U1", ASKED)
        await session.settled()

        assert_whole(session, ts)


CALLS: dict[str, Callable[[SlackWeb], Awaitable[Any]]] = {
    "views.publish": lambda web: call(
        web.patient, "views.publish", user_id="U1", view={"type": "home", "blocks": []}
    ),
    "chat.delete": lambda web: web.delete(channel="C1", ts="9.9"),
    "conversations.replies": lambda web: web.thread(channel="C1", thread="9.9"),
    "users.lookupByEmail": lambda web: call(web.patient, "users.lookupByEmail", email="u1@example.com"),
    "conversations.open": lambda web: call(web.patient, "conversations.open", users="U1"),
}


@pytest.mark.parametrize("fault", LIMITED, ids=LIMITED_IDS)
@pytest.mark.parametrize("method", sorted(CALLS))
async def test_slk7_whatever_must_be_done_is_done_after_the_pause(method: str, fault: Fault) -> None:
    """A call that cannot be left out is made again, and meets whatever it would have met."""
    async with (
        slack_session(starts=False) as session,
        open_web(token=BOT_TOKEN, base_url=session.slack.api_url) as web,
    ):
        session.slack.provoke(method, fresh(fault))
        await asyncio.gather(CALLS[method](web), return_exceptions=True)

        made = len(session.slack.called(method))
        assert made == (1 if fault.retry_after else 2)


async def test_slk7_a_limit_that_does_not_end_is_told_as_one() -> None:
    """What may be left out is left out at once, with the pause that Slack asked for."""
    async with (
        slack_session(starts=False) as session,
        open_web(token=BOT_TOKEN, base_url=session.slack.api_url) as web,
    ):
        for fault, pause in ((Fault(retry_after=7), 7.0), (Fault(code="ratelimited"), None)):
            session.slack.provoke("chat.appendStream", fault)
            with pytest.raises(RateLimitedError) as raised:
                await web.append(channel="C1", ts="1.0", text="x")
            assert raised.value.retry_after == pause


# --- places in which nothing can be posted ---


@pytest.mark.parametrize("how", ["archived", "removed", "gone"])
async def test_slk9_who_asked_where_nothing_can_be_posted_is_told_directly(how: str) -> None:
    """The channel was archived, we were removed, it is gone: one line in our conversation, no more tries."""
    async with slack_session(lease_seconds=0.4) as session:
        session.answerer.release.clear()
        session.people.write("C1", "U1", ASKED)
        await session.until(lambda: session.answerer.questions)
        channel = session.slack.workspace.channels["C1"]
        channel.is_archived, channel.has_bot = how == "archived", how != "removed"
        if how == "gone":
            del session.slack.workspace.channels["C1"]
        session.answerer.release.set()
        await session.until(lambda: all(row.is_done for row in session.table.rows))
        await asyncio.sleep(1.0)

        (told,) = session.slack.workspace.from_bot("DU1")
        assert "that did not work" in shown_text(told)
        assert len(session.answerer.questions) == 1


async def test_slk9_a_shortcut_where_the_bot_is_no_member_is_told_directly(session: Session) -> None:
    """ "Answer this" where the bot is no member: nothing can be posted, and its chooser learns of it."""
    session.slack.workspace.channels["C1"].has_bot = False
    ts = session.people.write("C1", "U2", "How long is parental leave?", deliver=False)
    session.people.choose("U1", session.slack.workspace.message("C1", ts), "footnote_answer_this")
    await session.until(lambda: session.slack.workspace.from_bot("DU1"))

    assert session.replies(ts) == []
    await session.until(lambda: all(row.is_done for row in session.table.rows))


async def test_slk1_a_question_whose_thread_is_gone_is_given_up() -> None:
    """Taken over from a dead process, its place no longer there: noted as done at once."""
    async with slack_session(starts=False, lease_seconds=0.4) as session:
        await left_behind(session)
        del session.slack.workspace.channels["C1"]
        await session.start()
        await session.until(lambda: all(row.is_done for row in session.table.rows))

        assert session.answerer.questions == []


async def test_slk1_a_thread_that_can_never_be_read_does_not_wait_for_ever() -> None:
    """After many looks the question is let go."""
    async with slack_session(starts=False, lease_seconds=0.2) as session:
        await left_behind(session, attempts=9)
        session.slack.provoke("conversations.replies", Fault(code="internal_error", times=50))
        await session.start()
        await session.until(lambda: all(row.is_done for row in session.table.rows))

        assert 2 <= len(session.slack.called("conversations.replies")) <= 4


async def test_slk1_sorry_that_cannot_be_said_is_not_said_for_ever() -> None:
    """The last attempt ends the question even where Slack takes nothing."""
    async with slack_session(starts=False, lease_seconds=0.3) as session:
        await left_behind(session, attempts=3)
        session.slack.provoke("chat.postMessage", Fault(code="fatal_error", times=99))
        await session.start()
        await session.until(lambda: all(row.is_done for row in session.table.rows))
        tries = len(session.slack.called("chat.postMessage"))
        await asyncio.sleep(0.8)

        assert len(session.slack.called("chat.postMessage")) == tries


async def test_slk1_no_more_is_taken_over_than_is_worked_on() -> None:
    """What waits after a crash is held by nobody, so that another crash costs less."""
    async with slack_session(starts=False, lease_seconds=0.4) as session:
        dead = MemoryClaims(clock=SystemClock(), table=session.table)
        for number in range(15):
            ts = session.people.write("C1", "U1", ASKED, deliver=False)
            payload = {"event": f"Ev{number}", "team": "T1", "channel": "C1", "user": "U1"}
            payload |= {"text": "How long?", "message": ts, "thread": ts}
            key = ClaimKey(platform="slack", event=f"Ev{number}", place=f"C1:{ts}")
            await dead.claim(key, payload=payload, lease_seconds=0)
        session.answerer.release.clear()
        await session.start()
        await asyncio.sleep(2.0)

        assert sorted(row.attempts for row in session.table.rows) == [1] * 5 + [2] * 10
        session.answerer.release.set()
        await session.settled()
        assert len(session.slack.workspace.from_bot("C1")) == 15


# --- response URLs ---


@pytest.mark.parametrize("fault", [Fault(retry_after=1), Fault(status=503), Fault(status=500)])
async def test_slk7_a_busy_response_url_is_asked_again(session: Session, fault: Fault) -> None:
    """429 and 5xx cost time only, and the answer comes once."""
    session.slack.provoke("response_url", fresh(fault))
    name = session.people.command("C1", "U1", "/ask", "How long is parental leave?")
    await session.settled()

    (body,) = session.slack.response_urls[name].bodies
    assert "sixteen weeks" in shown_text(body)


async def test_slk9_an_expired_response_url_is_replaced_by_our_conversation(session: Session) -> None:
    """Half an hour has passed, or five posts: the asker gets the answer directly, nobody else sees it."""
    session.slack.provoke("response_url", Fault(code="used_url"))
    name = session.people.command("C1", "U1", "/ask", "How long is parental leave?")
    await session.settled()

    (told,) = session.slack.workspace.from_bot()
    assert told["channel"] == "DU1"
    assert "sixteen weeks" in shown_text(told)
    assert session.slack.response_urls[name].bodies == []
    assert len(session.answerer.questions) == 1


# --- what was begun ---


async def test_slk1_an_answer_of_several_messages_that_was_cut_off_is_made_whole() -> None:
    """It died after the second of several posts: the thread ends with each part once, in order."""
    text = "\n\n".join(f"Paragraph {number}. " + "x" * 700 for number in range(40))
    async with slack_session(starts=False) as session:
        session.answerer.answer_with = lambda question: an_answer(question, text)
        ts = session.people.write("C1", "U1", ASKED)
        await session.start()
        await session.settled()
        whole = [shown_text(reply) for reply in session.replies(ts)]
        assert len(whole) == 4
        await session.stop()
        for reply in session.replies(ts)[2:]:
            session.slack.workspace.messages.remove(reply)
        row = session.table.rows[-1]
        dead = MemoryClaims(clock=SystemClock(), table=session.table)
        row.is_done, row.holder, row.reply = False, dead, INTENDED
        row.payload = {
            "event": row.key.event,
            **{"team": "T1", "channel": "C1", "user": "U1", "text": "How long?", "message": ts, "thread": ts},
        }
        await dead.extend(row.key, lease_seconds=0)
        await session.start()
        await session.settled()

        shown = "\n".join(shown_text(reply) for reply in session.replies(ts))
        assert [shown.count(f"Paragraph {number}.") for number in range(40)] == [1] * 40
        assert shown.count("Parental leave › Length") == 1


@pytest.mark.parametrize("has_streams", [True, False], ids=["stream", "edited"])
async def test_slk6_a_beginning_that_was_not_heard_of_is_gone_on_with(has_streams: bool) -> None:
    """The connection broke after Slack took the first words: no second message beside them."""
    async with slack_session(writer(0.6)) as session:
        session.slack.methods.has_streaming = has_streams
        method = "chat.startStream" if has_streams else "chat.postMessage"
        session.slack.provoke(method, Fault(cut="after"))
        ts = session.people.write("C1", "U1", ASKED)
        await session.settled()

        assert_whole(session, ts)


async def test_slk1_a_stream_whose_beginning_was_not_recorded_is_gone_on_with() -> None:
    """It died between the first words and the note of them: the next process ends that very message."""
    async with slack_session(ScriptedAnswerer(the_whole), starts=False) as session:
        ts = await left_behind(session)
        half = session.slack.methods.handle(
            "chat.startStream",
            {
                "channel": "C1",
                "thread_ts": ts,
                "recipient_team_id": "T1",
                "recipient_user_id": "U1",
                "markdown_text": "word0 word1",
            },
        )
        await session.start()
        await session.settled()

        assert assert_whole(session, ts)["ts"] == half["ts"]


@pytest.mark.parametrize("code", ["message_not_found", "cant_update_message", "edit_window_closed"])
async def test_slk6_a_message_that_cannot_be_edited_is_posted_anew(code: str) -> None:
    """Somebody deleted what had been begun, or Slack will not have it edited: the answer is posted."""
    async with slack_session(writer(0.6)) as session:
        session.slack.provoke("chat.update", Fault(code=code))
        ts = session.people.write("C1", "U1", ASKED)
        await session.settled()

        assert_whole(session, ts)


async def test_slk1_an_apology_that_waits_for_its_turn_keeps_the_question() -> None:
    """Slack limits the post for longer than the lease: no other process answers meanwhile."""
    async with slack_session(ScriptedAnswerer(error=RuntimeError()), lease_seconds=0.6) as session:
        await session.start(answerer=ScriptedAnswerer())
        session.slack.provoke("chat.postMessage", Fault(retry_after=2))
        for number in range(4):
            session.people.write("C2" if number % 2 else "C1", "U1", ASKED)
        await session.settled()
        await asyncio.sleep(0.5)

        replies = session.slack.workspace.from_bot()
        assert sorted(len(session.replies(one["thread_ts"])) for one in replies) == [1] * 4


async def test_slk9_an_answer_that_waits_to_be_posted_is_not_late() -> None:
    """The time for answering ends with the answer, not with Slack's taking it."""
    async with slack_session(answer_seconds=0.5) as session:
        session.slack.provoke("chat.postMessage", Fault(retry_after=2))
        ts = session.people.write("C1", "U1", ASKED)
        await session.settled()

        assert "sixteen weeks" in shown_text(session.replies(ts)[0])


# --- a database that is away when somebody asks ---


async def without_claims(session: Session) -> list[int]:
    """Let no claim be written; returns what counts the attempts."""
    await session.stop()
    await session.start()
    attempts: list[int] = []

    async def failing(*_: Any, **__: Any) -> Any:
        attempts.append(1)
        raise UnavailableError("the database at db:5432 is away")

    session.chats[0][0]._claims.claim = failing  # type: ignore[method-assign]  # a database that is away
    return attempts


async def test_slk9_a_question_that_cannot_be_noted_is_told_once_to_its_asker(session: Session) -> None:
    """Slack delivers mention and message four times each: one private line with an id, nothing public."""
    attempts = await without_claims(session)
    session.slack.workspace.users["U1"]["locale"] = "de-DE"
    ts = session.people.write("C1", "U1", ASKED)
    await session.slack.postman.idle()
    await session.until(lambda: session.slack.workspace.ephemerals)

    assert len(attempts) == 8
    (note,) = session.slack.workspace.ephemerals
    assert (note["user"], note["thread_ts"]) == ("U1", ts)
    assert "nicht annehmen" in shown_text(note)
    assert "db:5432" not in shown_text(note)
    assert session.slack.workspace.from_bot() == []


async def test_slk9_a_database_that_hesitates_once_is_nothing_to_tell_of(session: Session) -> None:
    """The first delivery of a direct message cannot be noted, the second can: an answer and no apology."""
    await session.stop()
    await session.start()
    claims = session.chats[0][0]._claims
    original, failures = claims.claim, [1]

    async def hesitating(*given: Any, **named: Any) -> Any:
        if failures:
            failures.pop()
            raise UnavailableError("the database is away")
        return await original(*given, **named)

    claims.claim = hesitating  # type: ignore[method-assign]  # a database that comes back
    channel = session.slack.workspace.direct("U1")
    ts = session.people.write(channel, "U1", "How long is parental leave?")
    await session.settled()

    assert len(session.replies(ts)) == 1
    assert session.slack.workspace.ephemerals == []


async def test_slk9_a_command_that_cannot_be_noted_is_told_at_once(session: Session) -> None:
    """A command comes once, so it is acknowledged and answered with the apology."""
    await without_claims(session)
    name = session.people.command("C1", "U1", "/ask", "How long is parental leave?")
    await session.slack.postman.idle()
    await session.until(lambda: session.slack.response_urls[name].bodies)

    assert session.slack.postman.record[-1].acknowledged
    (body,) = session.slack.response_urls[name].bodies
    assert "(id " in shown_text(body)
