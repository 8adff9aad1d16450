"""Who may do what to the index from Slack, and what they see."""

import logging
from collections.abc import Sequence
from datetime import date
from functools import partial

import pytest

from adapters.chat.slack.administering import VERBS
from adapters.chat.slack.charts import every_day, satisfaction_png
from core.domain.audiences import EVERYTHING, Audience
from core.errors import UnavailableError
from core.ports.chat import DailyVerdicts, ResyncKind, Usage
from tests.adapters.chat.slack.harness import PUBLIC_PAGES, Session, slack_session
from tests.fakes.slack.blockkit import control_tokens, texts_of
from tests.fakes.slack.people import shown_text
from tests.fakes.slack.server import Fault


def bodies(session: Session, name: str) -> list[dict[str, object]]:
    """What came to a response URL."""
    return session.slack.response_urls[name].bodies


async def said(
    session: Session, user: str, text: str, *, command: str = "/footnote", channel: str = "C1"
) -> str:
    """Use a command and wait for its first private reply."""
    name = session.people.command(channel, user, command, text)
    await session.until(lambda: bodies(session, name))
    assert bodies(session, name)[0]["response_type"] == "ephemeral"
    return str(bodies(session, name)[0]["text"])


@pytest.mark.parametrize("user", ["U1", "UGUEST", "UEXT", "UNKNOWN"])
@pytest.mark.parametrize(
    ("command", "text"), [("/footnote", "resync full"), ("/resync", ""), ("/footnote", "status")]
)
async def test_slk8_others_are_refused_and_nothing_is_queued(
    session: Session, caplog: pytest.LogCaptureFixture, user: str, command: str, text: str
) -> None:
    """Members, guests, strangers and unknown people get a polite private refusal, and an audit line."""
    with caplog.at_level(logging.INFO):
        reply = await said(session, user, text, command=command)

    assert "only administrators" in reply
    assert session.administration.requests == []
    assert session.slack.workspace.from_bot() == []
    assert any(f"refused: {user}" in record.getMessage() for record in caplog.records)


@pytest.mark.parametrize("user", ["U1", "UGUEST", "UEXT", "UNKNOWN"])
@pytest.mark.parametrize("verb", sorted(VERBS - {"help"}))
async def test_t16_every_verb_is_refused_to_everybody_else(session: Session, verb: str, user: str) -> None:
    """A verb added tomorrow is tested here too; nobody learns anything but that they may not."""
    reply = await said(session, user, f"{verb} https://www.notion.so/x")

    assert reply == "Sorry, only administrators of this workspace may do that."
    assert session.administration.requests == []
    assert session.administration.gap_viewers == []
    assert session.slack.workspace.from_bot() == []


async def test_t16_buttons_refuse_whoever_is_no_administrator(session: Session) -> None:
    """The home of an administrator cannot be pressed by others, whatever their client sends."""
    home = {
        "blocks": [
            {
                "type": "actions",
                "elements": [
                    {
                        "type": "button",
                        "action_id": f"footnote_resync_{kind}",
                        "text": {"type": "plain_text", "text": "x"},
                    }
                    for kind in ("changes", "full", "reembed")
                ],
            }
        ]
    }
    for kind in ("changes", "full", "reembed"):
        session.people.press("U1", home, f"footnote_resync_{kind}", channel="C1")
    direct = session.slack.workspace.direct("U1")
    await session.until(lambda: len(session.slack.workspace.from_bot(direct)) == 3)

    assert session.administration.requests == []
    assert all("only administrators" in one["text"] for one in session.slack.workspace.from_bot(direct))


async def test_sy18_the_servers_word_counts_not_the_payloads() -> None:
    """Whoever Slack no longer calls an administrator is refused, and everybody if it cannot be asked."""
    async with slack_session() as session:
        session.slack.provoke("users.info", Fault(code="internal_error", times=5))
        assert "only administrators" in await said(session, "UADMIN", "resync")
    async with slack_session() as session:
        session.slack.workspace.users["UADMIN"]["deleted"] = True
        assert "only administrators" in await said(session, "UADMIN", "resync")
    async with slack_session() as session:
        session.slack.workspace.users["UEXT"]["is_admin"] = True
        assert "only administrators" in await said(session, "UEXT", "resync")
        assert session.administration.requests == []


async def test_slk8_settings_name_administrators_too() -> None:
    """An id in the settings is enough."""
    async with slack_session(admins=frozenset({"U2"})) as session:
        await said(session, "U2", "resync")

        assert session.administration.requests == [(ResyncKind.CHANGES, "slack:U2")]


@pytest.mark.parametrize(
    ("command", "text", "kind"),
    [
        ("/footnote", "resync", ResyncKind.CHANGES),
        ("/footnote", "Resync  FULL", ResyncKind.FULL),
        ("/footnote", "reembed", ResyncKind.REEMBED),
        ("/resync", "", ResyncKind.CHANGES),
        ("/resync", "full", ResyncKind.FULL),
    ],
)
async def test_slk8_a_resync_shows_its_progress_in_one_message(
    session: Session, command: str, text: str, kind: ResyncKind
) -> None:
    """Acknowledged privately; one message in the channel is updated up to the final report."""
    reply = await said(session, "UADMIN", text, command=command)
    await session.until(
        lambda: any("is done" in message["text"] for message in session.slack.workspace.from_bot("C1"))
    )

    assert "Sync 1 begins" in reply
    assert session.administration.requests == [(kind, "slack:UADMIN")]
    (message,) = session.slack.workspace.from_bot("C1")
    assert f"Sync 1 ({kind}) is done: 4 of 4 pages" in shown_text(message)


async def test_slk8_progress_goes_to_the_admin_where_the_bot_is_no_member(session: Session) -> None:
    """In a channel without the bot the report is a direct message."""
    session.slack.workspace.channels["C1"].has_bot = False
    await said(session, "UADMIN", "resync")
    await session.until(lambda: session.slack.workspace.from_bot("DUADMIN"))

    assert session.slack.workspace.from_bot("C1") == []


async def test_slk8_a_second_resync_joins_the_first() -> None:
    """One run, one progress message, and a private word to the second administrator."""
    async with slack_session(admins=frozenset({"U2"})) as session:
        session.administration.step_seconds = 0.3
        await said(session, "UADMIN", "resync")
        second = await said(session, "U2", "resync full")
        await session.until(
            lambda: any("is done" in message["text"] for message in session.slack.workspace.from_bot("C1"))
        )

        assert "running already (run 1); yours joined it. It became a full one." in second
        assert len(session.slack.workspace.from_bot("C1")) == 1


async def test_slk8_a_run_with_many_steps_edits_seldom() -> None:
    """Progress every fiftieth of a second makes no more edits than Slack allows."""
    async with slack_session(limits=True) as session:
        session.administration.steps, session.administration.step_seconds = 150, 0.02
        await said(session, "UADMIN", "resync")
        await session.until(
            lambda: any("is done" in message["text"] for message in session.slack.workspace.from_bot("C1"))
        )

        assert 1 <= len(session.slack.called("chat.update")) <= 4


async def test_t26_gaps_show_an_administrator_no_more_than_the_place_may_see(session: Session) -> None:
    """In a channel of the team everything, in one shared with strangers only what is public."""
    await said(session, "UADMIN", "gaps")
    await said(session, "UADMIN", "gaps", channel="C3")

    assert session.administration.gap_viewers == [EVERYTHING, PUBLIC_PAGES]


async def test_the_other_verbs_answer_privately(session: Session) -> None:
    """Status, gaps, scope, why and help; what they show is inert."""
    status = await said(session, "UADMIN", "status")
    gaps = await said(session, "UADMIN", "gaps")
    scope = await said(session, "UADMIN", "scope")
    why = await said(session, "UADMIN", "why https://www.notion.so/Page-00000000000040008000000000000001")
    usage = await said(session, "UADMIN", "dance")

    assert "34 pages, 90 passages, 3 waiting; last sync 2026-03-01 09:30" in status
    assert ":x: notion: token &lt;refused&gt; → set NOTION_TOKEN" in status
    assert "4 × Where is &lt;!channel&gt; the VPN? (nearest: Network)" in gaps
    assert scope == "This channel (public) sees &lt;everything&gt; &amp; more."
    assert "was seen today" in why
    assert "/footnote resync" in usage
    assert control_tokens([status, gaps, scope, why, usage]) == []
    assert session.slack.workspace.from_bot() == []


@pytest.mark.parametrize("error", [UnavailableError("db:5432 is away"), RuntimeError("secret")])
@pytest.mark.parametrize("verb", ["status", "resync"])
async def test_slk9_a_verb_that_fails_is_told(session: Session, verb: str, error: Exception) -> None:
    """One private line with an id, without internals."""
    session.administration.error = error
    told = await said(session, "UADMIN", verb)

    assert "(id " in told
    assert str(error) not in told
    assert session.slack.workspace.from_bot() == []


async def test_slk8_administrators_of_the_rules_follow_the_rules(session: Session) -> None:
    """Whom the file names is asked when a command is used, not when the bot was started."""
    assert "only administrators" in await said(session, "U2", "status")
    session.audiences.admins = frozenset({"U2"})
    assert "34 pages" in await said(session, "U2", "status")
    session.audiences.admins = frozenset()
    assert "only administrators" in await said(session, "U2", "status")


async def test_slk8_what_somebody_typed_is_not_logged(
    session: Session, caplog: pytest.LogCaptureFixture
) -> None:
    """The audit line has our own words alone."""
    with caplog.at_level(logging.INFO):
        await said(session, "U1", "salaries of everybody")
        await said(session, "UADMIN", "salaries of everybody")

    messages = [record.getMessage() for record in caplog.records]
    assert any("refused: U1 wanted something else" in message for message in messages)
    assert any("allowed: UADMIN does something else" in message for message in messages)
    assert not any("salaries" in message for message in messages)


async def test_a_long_explanation_arrives_whole(session: Session) -> None:
    """More than one section holds."""
    lines = [f"line {number} {'x' * 40}" for number in range(120)]
    session.administration.explanation = "\n\n".join(lines)
    name = session.people.command("C1", "UADMIN", "/footnote", "why https://www.notion.so/x")
    await session.until(lambda: bodies(session, name))

    shown = shown_text(bodies(session, name)[0])
    assert [f"line {number} " in shown for number in range(120)] == [True] * 120


async def test_slk8_progress_is_gone_on_with_by_the_next_process() -> None:
    """The bot is stopped in the middle of a sync and started anew: the same message gets the final report."""
    async with slack_session(drain_seconds=0.1) as session:
        session.administration.steps, session.administration.step_seconds = 6, 0.5
        await said(session, "UADMIN", "resync")
        await session.until(lambda: session.slack.workspace.from_bot("C1"))
        await session.stop()
        (begun,) = session.slack.workspace.from_bot("C1")
        assert "is done" not in shown_text(begun)

        session.administration.step_seconds = 0.01
        await session.start()
        await session.until(lambda: "is done" in shown_text(session.slack.workspace.from_bot("C1")[0]))
        await session.settled()

        assert len(session.slack.workspace.from_bot()) == 1


async def test_slk8_two_processes_show_one_message() -> None:
    """Two administrators of one channel reach two processes: one run, one message."""
    async with slack_session(admins=frozenset({"U2"})) as session:
        await session.start()
        session.administration.step_seconds = 0.3
        await said(session, "UADMIN", "resync")
        await said(session, "U2", "resync")
        await session.settled()

        assert len(session.slack.workspace.from_bot("C1")) == 1


async def test_slk8_a_run_that_ended_and_goes_on_gets_another_message(session: Session) -> None:
    """Nothing was heard of a run, its message ended; asked for again, it is shown again."""

    def are_posted(count: int) -> bool:
        return len(session.slack.workspace.from_bot("C1")) == count

    for count in (1, 2):
        await said(session, "UADMIN", "resync")
        await session.until(partial(are_posted, count))
        await session.settled()
        session.administration.running = 1

    assert all("is done" in shown_text(one) for one in session.slack.workspace.from_bot("C1"))


# --- the home ---


class ScriptedInsights:
    """Two weeks."""

    def __init__(self) -> None:
        self.viewers: list[Audience] = []

    async def recent_questions(self, *, person: str, limit: int) -> Sequence[str]:
        """The person's own."""
        return [f"What does {person} <!here> ask?"][:limit]

    async def usage(self, *, days: int, viewer: Audience) -> Usage:
        """Some figures."""
        self.viewers.append(viewer)
        return Usage(
            questions=42,
            top_questions=(("How do I book leave?", 9),),
            unanswered=("Where is the moon?",),
            verdicts=tuple(DailyVerdicts(date(2026, 3, day), good=day, bad=1) for day in range(1, days)),
            last_syncs=("2026-03-01 09:30: 3 pages read",),
        )


async def home_of(session: Session, user: str) -> str:
    """Open the home and read it."""
    session.people.open_home(user)
    await session.until(lambda: user in session.slack.workspace.homes)
    return "\n".join(texts_of(session.slack.workspace.homes[user]["blocks"]))


async def test_the_home_of_a_member_shows_what_it_can_do() -> None:
    """What Footnote does and what one asked lately; nothing of the index."""
    async with slack_session(starts=False) as session:
        session.insights = ScriptedInsights()
        await session.start()
        home = await home_of(session, "U1")

        assert "Ask me a question" in home
        assert "What does U1" in home
        assert "passages" not in home
        assert control_tokens([home]) == []


async def test_the_home_of_an_administrator_shows_how_things_are() -> None:
    """Health, syncs, questions, satisfaction as an uploaded picture, and buttons that sync."""
    async with slack_session(starts=False) as session:
        session.insights = ScriptedInsights()
        await session.start()
        home = await home_of(session, "UADMIN")

        for part in (
            "34 pages, 90 passages",
            "3 pages read",
            "9 × How do I book leave?",
            "Where is the moon?",
        ):
            assert part in home
        assert "% good of 104" in home
        (picture,) = session.slack.workspace.uploads.values()
        assert picture.startswith(b"\x89PNG")

        view = session.slack.workspace.homes["UADMIN"]
        session.people.press("UADMIN", view, "footnote_resync_full")
        await session.until(lambda: session.slack.workspace.from_bot("DUADMIN"))
        assert session.administration.requests == [(ResyncKind.FULL, "slack:UADMIN")]


async def test_slk8_the_homes_buttons_are_for_administrators() -> None:
    """Somebody who forges the press is refused."""
    async with slack_session(starts=False) as session:
        session.insights = ScriptedInsights()
        await session.start()
        await home_of(session, "UADMIN")
        view = session.slack.workspace.homes["UADMIN"]
        session.people.press("U1", view, "footnote_resync_full")
        await home_of(session, "U1")

        assert session.administration.requests == []
        await session.until(lambda: session.slack.workspace.from_bot("DU1"))
        assert "only administrators" in shown_text(session.slack.workspace.from_bot("DU1")[0])


async def test_the_home_shows_an_administrator_what_they_may_see() -> None:
    """Texts are asked for with the administrator's own eyes, not the bot's."""
    async with slack_session(starts=False, admins=frozenset({"UGUEST"})) as session:
        insights = ScriptedInsights()
        session.insights = insights
        await session.start()
        await home_of(session, "UADMIN")
        await home_of(session, "UGUEST")

        assert insights.viewers == [EVERYTHING, PUBLIC_PAGES]


@pytest.mark.parametrize("code", ["invalid_blocks", "invalid_arguments"])
async def test_the_home_is_shown_without_a_picture_that_slack_refuses(code: str) -> None:
    """A file that Slack has not looked through yet costs the picture, not the home."""
    async with slack_session(starts=False) as session:
        session.insights = ScriptedInsights()
        session.slack.provoke("views.publish", Fault(code=code))
        await session.start()
        assert "% good of 104" in await home_of(session, "UADMIN")
        kinds = [block["type"] for block in session.slack.workspace.homes["UADMIN"]["blocks"]]

        assert "image" not in kinds


async def test_the_home_of_a_guest_shows_nothing_of_the_index() -> None:
    """Guests and people of other workspaces see what everybody sees."""
    async with slack_session(starts=False) as session:
        session.insights = ScriptedInsights()
        await session.start()
        for user in ("UGUEST", "UEXT"):
            home = await home_of(session, user)
            assert "Ask me a question" in home
            assert "passages" not in home


def test_a_chart_has_a_bar_for_every_day() -> None:
    """Days on which nothing was judged are there, so that the axis is time."""
    given = (DailyVerdicts(date(2026, 3, 1), good=2, bad=0), DailyVerdicts(date(2026, 3, 4), good=0, bad=1))

    shown = every_day(given)

    assert [(one.day.day, one.good, one.bad) for one in shown] == [(1, 2, 0), (2, 0, 0), (3, 0, 0), (4, 0, 1)]
    assert every_day(()) == ()
    assert satisfaction_png(given).startswith(b"\x89PNG")


async def test_the_home_works_without_pictures_and_insights() -> None:
    """Without the scope to upload, or without insights, the rest is shown."""
    async with slack_session(starts=False) as session:
        session.insights = ScriptedInsights()
        session.slack.workspace.scopes -= {"files:write"}
        await session.start()
        assert "% good of 104" in await home_of(session, "UADMIN")
    async with slack_session() as session:
        assert "34 pages, 90 passages" in await home_of(session, "UADMIN")
