"""What counts as a question, from whom, where the answer goes, and that there is one."""

from typing import Any

import pytest

from adapters.chat.slack.asking import Asked, from_event, from_payload, question_text
from core.domain.answers import NoAnswer, NoAnswerReason
from core.domain.phrases import no_answer_text
from core.domain.places import AskerKind, ChannelKind
from tests.adapters.chat.answers import ScriptedAnswerer, a_passage
from tests.adapters.chat.slack.harness import Session, slack_session
from tests.fakes.slack import BOT_USER
from tests.fakes.slack.people import shown_text

ASKED = "<@UBOT> How long is parental leave?"


def event(**fields: Any) -> dict[str, Any]:
    """A delivered message event."""
    base = {"type": "message", "channel": "C1", "user": "U1", "ts": "2.0", "text": "Hello?"}
    return {"event_id": "Ev1", "team_id": "T1", "event": base | fields}


# --- pure ---


@pytest.mark.parametrize(
    ("incoming", "meant"),
    [
        ("<@UBOT> wie beantrage ich Urlaub?", "wie beantrage ich Urlaub?"),
        ("wie <@UBOT|footnote> beantrage ich Urlaub?", "wie beantrage ich Urlaub?"),
        ("<@UBOT>", ""),
        ("<@UBOT>   ", ""),
        ("<@UBOT> R&amp;D &lt;draft&gt; &amp;amp;", "R&D <draft> &amp;"),
        ("<@UBOT> who is <@U2|ann> in <#C9|sales>? <!here>", "who is @ann in #sales?"),
        ("<@UBOT> see <https://x.y/?a=1&amp;b=2|the page> or <https://z.w>", "see the page or https://z.w"),
    ],
)
def test_f55_the_bots_id_never_reaches_search(incoming: str, meant: str) -> None:
    """The question is what the person meant: no ids, no entities, references by name."""
    assert question_text(incoming, bot_user=BOT_USER) == meant


@pytest.mark.parametrize(
    "fields",
    [
        {"subtype": "message_deleted", "deleted_ts": "1.1", "user": None, "text": None},
        {
            "subtype": "message_changed",
            "message": {"username": "x", "text": ASKED},
            "user": None,
            "text": None,
        },
        {"subtype": "bot_message", "bot_id": "B9", "user": None},
        {"subtype": "channel_join"},
        {"user": None},
        {"text": ASKED, "bot_id": "B9"},
        {"text": ASKED, "user": "UBOT"},
        {"text": ASKED, "edited": {"user": "U1", "ts": "3.0"}},
        {"text": ASKED, "hidden": True},
        {"ts": None},
        {"channel": None},
    ],
)
def test_f51_what_nobody_newly_said_is_ignored(fields: dict[str, Any]) -> None:
    """Deletions, edits, joins, bots, ourselves, and events that lack something: no question, no error."""
    assert from_event(event(**fields), bot_user=BOT_USER) is None


@pytest.mark.parametrize("body", [{}, {"event": None}, {"event": {"type": "message"}}])
def test_f51_an_empty_event_is_ignored(body: dict[str, Any]) -> None:
    """Not even an event without fields raises."""
    assert from_event(body, bot_user=BOT_USER) is None


@pytest.mark.parametrize(
    ("fields", "thread"), [({"thread_ts": "1.0", "ts": "1.5"}, "1.0"), ({"ts": "2.0"}, "2.0")]
)
def test_f56_the_thread_is_the_messages_own(fields: dict[str, Any], thread: str) -> None:
    """In a thread that thread, at top level a new one under the message."""
    asked = from_event(event(**fields), bot_user=BOT_USER)

    assert asked is not None
    assert asked.thread == thread


def test_a_question_survives_in_its_claim() -> None:
    """What is stored is enough to begin again, and a newer version's fields do no harm."""
    asked = from_event(event(text=ASKED, channel_type="channel"), bot_user=BOT_USER)

    assert asked is not None
    assert from_payload(asked.as_payload() | {"colour": "blue"}) == asked
    with pytest.raises(TypeError):
        from_payload({"event": "Ev1"})
    assert Asked(event="E", team="T", channel="C", user="U", text="x").key.place == ""


# --- through the real app ---


async def test_a9_a_mention_is_answered_in_its_thread(session: Session) -> None:
    """A question at top level gets one answer in a thread under it, with sources and without previews."""
    ts = session.people.write("C1", "U1", ASKED)
    await session.settled()

    (reply,) = session.replies(ts)
    assert reply["channel"] == "C1"
    assert "Parental leave is **sixteen weeks**. [1](" in shown_text(reply)
    assert reply["unfurls"] is False
    assert reply["parses"] is False
    (question,) = session.answerer.questions
    assert question.text == "How long is parental leave?"


async def test_f50_mention_and_message_are_answered_once(session: Session) -> None:
    """A mention arrives as app_mention and as message, in either order: one answer."""
    for number in range(4):
        ts = session.slack.workspace.new_ts()
        session.slack.workspace.messages.append(
            {"type": "message", "channel": "C1", "user": "U1", "ts": ts, "text": ASKED}
        )
        kinds = ("app_mention", "message") if number % 2 else ("message", "app_mention")
        for kind in kinds:
            session.people.event({"type": kind, "channel": "C1", "user": "U1", "ts": ts, "text": ASKED})
        await session.settled()

        assert len(session.replies(ts)) == 1
    assert len(session.answerer.questions) == 4


async def test_f49_redelivered_events_are_answered_once() -> None:
    """The same event three times while the first is at work, and again after a restart: one answer."""
    async with slack_session(ScriptedAnswerer(seconds=0.5)) as session:
        ts = session.slack.workspace.new_ts()
        message = {"type": "app_mention", "channel": "C1", "user": "U1", "ts": ts, "text": ASKED}
        session.slack.workspace.messages.append(message | {"type": "message"})
        for _ in range(3):
            session.people.event(message, event_id="Ev49")
        await session.settled()
        await session.stop()
        await session.start()
        session.people.event(message, event_id="Ev49")
        await session.settled()

        assert len(session.answerer.questions) == 1
        assert len(session.replies(ts)) == 1
        assert all(delivery.seconds < 3 for delivery in session.slack.postman.record)


async def test_slk1_several_processes_answer_once() -> None:
    """Deliveries of one event to three processes lead to one answer."""
    async with slack_session(ScriptedAnswerer(seconds=0.1)) as session:
        await session.start()
        await session.start()
        ts = session.slack.workspace.new_ts()
        message = {"type": "app_mention", "channel": "C1", "user": "U1", "ts": ts, "text": ASKED}
        session.slack.workspace.messages.append(message | {"type": "message"})
        for _ in range(9):
            session.people.event(message, event_id="Ev9")
        await session.settled()

        assert session.slack.socket.connections == 3
        assert len(session.replies(ts)) == 1


async def test_slk1_a_lost_first_delivery_is_answered_by_its_retry(session: Session) -> None:
    """A retry whose first delivery never came is a question like any other."""
    ts = session.slack.workspace.new_ts()
    message = {"type": "app_mention", "channel": "C1", "user": "U1", "ts": ts, "text": ASKED}
    session.slack.workspace.messages.append(message | {"type": "message"})
    session.slack.postman.deliver(
        "events_api",
        {"type": "event_callback", "team_id": "T1", "event_id": "Ev7", "event": message, "retry_attempt": 2},
    )
    await session.settled()

    assert len(session.replies(ts)) == 1


async def test_slk2_work_does_not_delay_the_acknowledgement() -> None:
    """Six questions that take a second each are all acknowledged long before they are answered."""
    async with slack_session(ScriptedAnswerer(seconds=1.0)) as session:
        session.answerer.release.clear()
        threads = [session.people.write("C1", "U1", ASKED) for _ in range(6)]
        await session.slack.postman.idle()

        assert all(delivery.acknowledged for delivery in session.slack.postman.record)
        assert session.slack.workspace.from_bot() == []
        session.answerer.release.set()
        await session.settled()
        assert [len(session.replies(thread)) for thread in threads] == [1] * 6


async def test_slk2_a_command_is_acknowledged_before_its_work() -> None:
    """``/ask`` is acknowledged while the answer is still being made."""
    async with slack_session() as session:
        session.answerer.release.clear()
        name = session.people.command("C1", "U1", "/ask", "How long is parental leave?")
        await session.slack.postman.idle()

        assert session.slack.postman.record[-1].acknowledged
        assert session.slack.response_urls[name].bodies == []
        session.answerer.release.set()
        await session.settled()
        assert len(session.slack.response_urls[name].bodies) == 1


async def test_slk1_nothing_is_acknowledged_that_cannot_be_claimed(session: Session) -> None:
    """When the claim cannot be written, Slack delivers again, and then the question is answered."""
    await session.stop()
    await session.start()
    broken = session.chats[0][0]._claims
    original = broken.claim
    failures: list[int] = []

    async def failing(*arguments: Any, **named: Any) -> Any:
        from core.errors import UnavailableError

        if len(failures) < 2:
            failures.append(1)
            raise UnavailableError("the database is away")
        return await original(*arguments, **named)

    broken.claim = failing  # type: ignore[method-assign]  # a database that comes back
    ts = session.slack.workspace.new_ts()
    message = {"type": "app_mention", "channel": "C1", "user": "U1", "ts": ts, "text": ASKED}
    session.slack.workspace.messages.append(message | {"type": "message"})
    session.people.event(message)
    await session.settled()

    assert len(session.slack.postman.record[0].sent) == 3
    assert len(session.replies(ts)) == 1


async def test_slk3_bots_edits_and_itself_are_ignored(session: Session) -> None:
    """Nothing is claimed for other bots, edits, deletions or our own messages."""
    own = await session_says_something(session)
    base = {"type": "message", "channel": "C1", "ts": "9.1", "text": ASKED}
    session.people.event(base | {"user": "UX", "bot_id": "B9"})
    session.people.event(base | {"type": "app_mention", "user": "UX", "bot_id": "B9"})
    session.people.event(base | {"subtype": "bot_message", "bot_id": "B9", "username": "other"})
    session.people.event(base | {"user": BOT_USER, "bot_id": "B1"})
    session.people.event(
        {"type": "message", "subtype": "message_deleted", "channel": "C1", "deleted_ts": "1.1"}
    )
    session.people.event(
        {
            "type": "message",
            "subtype": "message_changed",
            "channel": "C1",
            "message": {"username": "x", "text": ASKED, "ts": "1.0"},
            "previous_message": {"text": "old", "ts": "1.0"},
        }
    )
    session.people.event(base | {"user": "U1", "type": "app_mention", "edited": {"user": "U1", "ts": "9.2"}})
    await session.settled()

    assert len(session.answerer.questions) == 1
    assert session.slack.workspace.from_bot() == [own]
    assert all(delivery.acknowledged for delivery in session.slack.postman.record)


async def session_says_something(session: Session) -> dict[str, Any]:
    """One answered question; returns the reply."""
    ts = session.people.write("C1", "U1", ASKED)
    await session.settled()
    return session.replies(ts)[0]


async def test_f58_bots_in_a_thread_start_nothing(session: Session) -> None:
    """A bot's alert, a person's mention, our answer, the bot's thanks: one answer, to the person."""
    workspace = session.slack.workspace
    alert = {"type": "message", "channel": "C1", "user": "UX", "bot_id": "B9", "text": "CPU!"}
    root = workspace.new_ts()
    workspace.messages.append(alert | {"ts": root})
    session.people.announce(alert | {"ts": root})
    session.people.write("C1", "U1", "<@UBOT> what does this alert mean?", thread=root)
    await session.settled()
    session.people.announce(alert | {"ts": workspace.new_ts(), "thread_ts": root, "text": "<@UBOT> thanks"})
    await session.settled()

    assert len(session.replies(root)) == 1
    assert [question.text for question in session.answerer.questions] == ["what does this alert mean?"]


@pytest.mark.parametrize("kinds", [("message",), ("message", "app_mention"), ("app_mention", "message")])
async def test_f57_a_reply_also_sent_to_the_channel_is_answered(
    session: Session, kinds: tuple[str, ...]
) -> None:
    """The subtype thread_broadcast is a person's question, answered once in its thread."""
    root = session.people.write("C1", "U1", "I have a question", deliver=False)
    subtype = "thread_broadcast"
    text = "<@UBOT> and for interns?"
    ts = session.people.write("C1", "U1", text, thread=root, subtype=subtype, deliver=False)
    asked = {"channel": "C1", "user": "U1", "text": text, "ts": ts, "thread_ts": root, "subtype": subtype}
    for kind in kinds:
        session.people.event(asked | {"type": kind, "event_ts": ts})
    await session.settled()

    assert len(session.replies(root)) == 1
    assert session.replies(root)[0].get("reply_broadcast") is None


async def test_f57_a_follow_up_also_sent_to_the_channel_is_answered(session: Session) -> None:
    """The asker goes on without a mention, with the box ticked."""
    root = session.people.write("C1", "U1", ASKED)
    await session.settled()
    session.people.write("C1", "U1", "and for interns?", thread=root, subtype="thread_broadcast")
    await session.settled()

    assert len(session.replies(root)) == 2


async def test_f56_a_mention_in_a_thread_is_answered_there(session: Session) -> None:
    """The thread of the mention, not a new one."""
    root = session.people.write("C1", "U2", "Let us talk", deliver=False)
    mention = session.people.write("C1", "U1", ASKED, thread=root)
    await session.settled()

    assert len(session.replies(root)) == 1
    assert session.replies(mention) == []


@pytest.mark.parametrize(
    "text",
    [
        *("<@UBOT>", "<@UBOT>   ", "<@UBOT> ?!", "<@UBOT> <!here>", "<@UBOT> <@U2>", "<@U2|ann> <@UBOT>"),
        *("<@UBOT> <#C2|secret>", "<@UBOT> <!subteam^S1|@team>", "<@UBOT> :tada: :+1::skin-tone-2:"),
    ],
)
async def test_f55_a_mention_alone_gets_a_how_to(session: Session, text: str) -> None:
    """Nothing asked: a short help, no model call."""
    ts = session.people.write("C1", "U1", text)
    await session.settled()

    assert "Ask me a question" in shown_text(session.replies(ts)[0])
    assert session.answerer.questions == []


async def test_a7_a_question_too_long_is_refused(session: Session) -> None:
    """More than 2,000 characters get a clear refusal, exactly 2,000 an answer."""
    long = session.people.write("C1", "U1", "<@UBOT> " + "x" * 2_001)
    most = session.people.write("C1", "U1", "<@UBOT> " + "x" * 2_000)
    await session.settled()

    refusal = no_answer_text(NoAnswerReason.QUESTION_TOO_LONG, "en")
    assert refusal in shown_text(session.replies(long)[0])
    assert "sixteen weeks" in shown_text(session.replies(most)[0])
    assert len(session.answerer.questions) == 1


async def test_slk11_a_direct_message_needs_no_mention(session: Session) -> None:
    """Answered in its thread, with the asker's own rights."""
    channel = session.slack.workspace.direct("U1")
    ts = session.people.write(channel, "U1", "How long is parental leave?")
    await session.settled()

    assert len(session.replies(ts)) == 1
    (place,) = session.audiences.places
    assert (place.channel_kind, place.channel, place.asker) == (ChannelKind.DIRECT, "", "U1")


async def test_slk11_the_older_assistant_is_served_too(session: Session) -> None:
    """An assistant thread offers prompts and answers what is written in it, once."""
    channel = session.slack.workspace.direct("U1")
    root = session.people.write(channel, "U1", "New conversation", deliver=False)
    thread = {"user_id": "U1", "channel_id": channel, "thread_ts": root, "context": {}}
    session.people.event({"type": "assistant_thread_started", "assistant_thread": thread, "event_ts": root})
    session.people.event(
        {"type": "assistant_thread_context_changed", "assistant_thread": thread, "event_ts": root}
    )
    session.people.write(channel, "U1", "How long is parental leave?", thread=root)
    await session.settled()
    await session.until(lambda: session.slack.workspace.prompts)

    assert len(session.replies(root)) == 1
    assert session.slack.workspace.prompts[0]["thread_ts"] == root


async def test_slk11_the_agent_view_suggests_prompts(session: Session) -> None:
    """Opening the messages tab sets prompts for the conversation as a whole."""
    session.people.open_home("U1", tab="messages")
    await session.until(lambda: session.slack.workspace.prompts)

    (prompts,) = session.slack.workspace.prompts
    assert "thread_ts" not in prompts
    assert prompts["channel_id"] == "DU1"


async def test_a8_a_follow_up_carries_the_askers_own_words(session: Session) -> None:
    """The asker goes on without a mention; earlier turns are their own questions, not our text."""
    root = session.people.write("C1", "U1", ASKED)
    await session.settled()
    session.people.write("C1", "U1", "and for <@UBOT> interns &amp; students?", thread=root)
    await session.settled()
    session.people.write("C1", "U1", "and in Spain?", thread=root)
    await session.settled()

    last = session.answerer.questions[-1]
    assert last.text == "and in Spain?"
    assert [turn.text for turn in last.turns] == [
        "How long is parental leave?",
        "and for interns & students?",
    ]
    assert len(session.replies(root)) == 3


async def test_follow_ups_are_the_askers_and_only_in_answered_threads(session: Session) -> None:
    """Others in the thread, other threads and top-level messages need a mention."""
    root = session.people.write("C1", "U1", ASKED)
    await session.settled()
    session.people.write("C1", "U2", "I think it is longer.", thread=root)
    other = session.people.write("C1", "U1", "Lunch?")
    session.people.write("C1", "U1", "Where?", thread=other)
    await session.settled()

    assert len(session.answerer.questions) == 1


@pytest.mark.parametrize(
    "text", ["<@U2> can you confirm?", "is that so, <@U2|ann>?", ":+1:", "👍", "!", "<!here>", "", "thanks!"]
)
async def test_a_follow_up_says_something_and_to_nobody_else(session: Session, text: str) -> None:
    """What the asker writes to a colleague, a mere emoji and thanks are no questions to us."""
    root = session.people.write("C1", "U1", ASKED)
    await session.settled()
    session.people.write("C1", "U1", text, thread=root)
    await session.settled()

    assert len(session.answerer.questions) == 1
    assert len(session.replies(root)) == 1


async def test_a8_a_long_thread_gives_its_latest_turns(session: Session) -> None:
    """More messages than one call returns: the turns are the last ones before the question, none later."""
    root = session.people.write("C1", "U1", ASKED)
    await session.settled()
    for number in range(230):
        session.people.write("C1", "U2", f"chatter {number}", thread=root, deliver=False)
    for number in range(6):
        session.people.write("C1", "U1", f"earlier {number}?", thread=root, deliver=False)
    session.answerer.release.clear()
    session.people.write("C1", "U1", "<@UBOT> and now?", thread=root)
    await session.until(lambda: len(session.answerer.questions) == 2)
    session.answerer.release.set()
    await session.settled()

    turns = [turn.text for turn in session.answerer.questions[1].turns]
    assert turns == [f"earlier {number}?" for number in range(1, 6)]


async def test_follow_ups_can_be_turned_off() -> None:
    """Then every question needs its mention."""
    async with slack_session(follow_ups=False) as session:
        root = session.people.write("C1", "U1", ASKED)
        await session.settled()
        session.people.write("C1", "U1", "and in Spain?", thread=root)
        await session.settled()

        assert len(session.answerer.questions) == 1


async def test_the_message_shortcut_answers_in_the_thread(session: Session) -> None:
    """ "Answer this" on anybody's message answers it there."""
    ts = session.people.write("C1", "U2", "How long is parental leave?", deliver=False)
    session.people.choose("U1", session.slack.workspace.message("C1", ts), "footnote_answer_this")
    await session.settled()

    assert len(session.replies(ts)) == 1
    (question,) = session.answerer.questions
    assert (question.text, question.asker) == ("How long is parental leave?", "U1")


RICH = {
    "type": "rich_text",
    "elements": [
        {
            "type": "rich_text_section",
            "elements": [
                {"type": "text", "text": "How long is "},
                {"type": "link", "url": "https://x.y", "text": "parental leave"},
                {"type": "text", "text": "?"},
            ],
        }
    ],
}
SECTION = {"type": "section", "text": {"type": "mrkdwn", "text": "How long is parental leave?"}}


@pytest.mark.parametrize(
    "fields",
    [
        {"blocks": [RICH]},
        {"blocks": [SECTION]},
        {"attachments": [{"text": "How long is parental leave?", "fallback": "x"}]},
        {"attachments": [{"fallback": "How long is parental leave?"}]},
        {"attachments": [{"blocks": [SECTION]}]},
    ],
    ids=["rich", "section", "attachment", "fallback", "blocks-in-attachment"],
)
async def test_the_message_shortcut_reads_what_apps_write(session: Session, fields: dict[str, Any]) -> None:
    """A message of blocks or attachments alone is answered like any other."""
    ts = session.people.write("C1", "U2", "", deliver=False)
    message = session.slack.workspace.message("C1", ts)
    message.update(fields)
    session.people.choose("U1", message, "footnote_answer_this")
    await session.settled()

    assert [question.text for question in session.answerer.questions] == ["How long is parental leave?"]


async def test_the_message_shortcut_says_when_it_was_asked_already(session: Session) -> None:
    """Chosen on a question that was answered: a private word, no second answer."""
    ts = session.people.write("C1", "U1", ASKED)
    await session.settled()
    session.people.choose("U2", session.slack.workspace.message("C1", ts), "footnote_answer_this")
    await session.until(lambda: session.slack.workspace.ephemerals)

    (note,) = session.slack.workspace.ephemerals
    assert (note["user"], "asked already" in shown_text(note)) == ("U2", True)
    assert len(session.replies(ts)) == 1


@pytest.mark.parametrize("fields", [{"subtype": "file_share", "files": [{"id": "F1"}]}, {"files": []}])
async def test_f51_a_message_of_files_alone_gets_a_how_to(session: Session, fields: dict[str, Any]) -> None:
    """Nothing is written beside the file: no search, no error."""
    channel = session.slack.workspace.direct("U1")
    ts = session.people.write(channel, "U1", "", deliver=False)
    message = {key: one for key, one in session.slack.workspace.message(channel, ts).items() if key != "at"}
    session.people.event(message | fields | {"channel_type": "im", "event_ts": ts})
    await session.settled()

    assert "Ask me a question" in shown_text(session.replies(ts)[0])
    assert session.answerer.questions == []


async def test_a7_the_longest_message_that_slack_takes_is_refused(session: Session) -> None:
    """40,000 characters, with what no database stores among them."""
    ts = session.people.write("C1", "U1", "<@UBOT> " + "x\x00" * 20_000)
    await session.settled()

    refusal = no_answer_text(NoAnswerReason.QUESTION_TOO_LONG, "en")
    assert refusal in shown_text(session.replies(ts)[0])


# --- for whose eyes ---


@pytest.mark.parametrize(
    ("channel", "user", "channel_kind", "asker_kind", "sees_everything"),
    [
        ("C1", "U1", ChannelKind.PUBLIC, AskerKind.MEMBER, True),
        ("C2", "U1", ChannelKind.PRIVATE, AskerKind.MEMBER, True),
        ("C3", "U1", ChannelKind.SHARED, AskerKind.MEMBER, False),
        ("C1", "UGUEST", ChannelKind.PUBLIC, AskerKind.GUEST, False),
        ("C1", "UEXT", ChannelKind.PUBLIC, AskerKind.EXTERNAL, False),
        ("C1", "UNKNOWN", ChannelKind.PUBLIC, AskerKind.EXTERNAL, False),
    ],
)
async def test_shr4_who_asks_where_decides_what_is_seen(
    session: Session,
    channel: str,
    user: str,
    channel_kind: ChannelKind,
    asker_kind: AskerKind,
    sees_everything: bool,
) -> None:
    """Shared channels, guests, people of other workspaces and unknown ones get the public pages only."""
    session.people.write(channel, user, ASKED)
    await session.settled()

    (place,) = session.audiences.places
    assert (place.channel_kind, place.asker_kind) == (channel_kind, asker_kind)
    (question,) = session.answerer.questions
    assert question.audience.admits((a_passage(2).candidate.page_id,)) is sees_everything


async def test_shr4_a_place_that_may_not_ask_is_told_so(session: Session) -> None:
    """A closed channel gets one polite line and no search."""
    session.audiences.closed = frozenset({"C1"})
    ts = session.people.write("C1", "U1", ASKED)
    await session.settled()

    assert "may not answer" in shown_text(session.replies(ts)[0])
    assert session.answerer.questions == []


async def test_shr4_a_channel_that_cannot_be_looked_up_is_shared() -> None:
    """Without the scope to read channels every channel counts as one with strangers."""
    async with slack_session(starts=False) as session:
        session.slack.workspace.scopes -= {"channels:read"}
        await session.start()
        session.people.write("C1", "U1", ASKED)
        await session.settled()

        (place,) = session.audiences.places
        assert place.channel_kind is ChannelKind.SHARED


async def test_user_groups_reach_the_audience(session: Session) -> None:
    """The groups that the asker is in, by Slack's list."""
    session.slack.workspace.groups = {"S1": ["U1", "U2"], "S2": ["U2"]}
    session.people.write("C1", "U1", ASKED)
    await session.settled()

    assert session.audiences.places[0].groups == frozenset({"S1"})


# --- /ask ---


async def test_ask_is_private(session: Session) -> None:
    """Only the asker sees the answer; it is not streamed, and nothing is posted."""
    name = session.people.command("C1", "U1", "/ask", "How long is parental leave?")
    await session.settled()

    (body,) = session.slack.response_urls[name].bodies
    assert body["response_type"] == "ephemeral"
    assert "sixteen weeks" in shown_text(body)
    assert session.slack.workspace.from_bot() == []
    assert session.slack.called("chat.startStream") == []
    assert session.audiences.places[0].channel_kind is ChannelKind.DIRECT


async def test_ask_without_a_question_explains_itself(session: Session) -> None:
    """A how-to, private, without a search."""
    name = session.people.command("C1", "U1", "/ask")
    await session.settled()

    assert "Ask me a question" in shown_text(session.slack.response_urls[name].bodies[0])
    assert session.answerer.questions == []


async def test_a_limit_is_told_to_the_asker_alone(session: Session) -> None:
    """Who asked too much gets a private note in the thread; the channel sees nothing."""
    reason = NoAnswerReason.LIMIT_REACHED
    session.answerer.answer_with = lambda _: NoAnswer(reason=reason, language="en", wait=90)
    ts = session.people.write("C1", "U1", ASKED)
    await session.settled()

    (note,) = session.slack.workspace.ephemerals
    assert (note["user"], note["thread_ts"]) == ("U1", ts)
    assert "again in 2 min" in shown_text(note)
    assert session.replies(ts) == []
