"""Who may do what to the index from Slack, and what they see."""

import logging
from collections.abc import Sequence
from datetime import date

import pytest

from core.domain.audiences import EVERYTHING, Audience
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

    assert "3 pages, 9 passages, 1 waiting; last sync 2026-03-01 09:30" in status
    assert ":x: notion: token &lt;refused&gt; → set NOTION_TOKEN" in status
    assert "4 × Where is &lt;!channel&gt; the VPN? (nearest: Network)" in gaps
    assert scope == "This channel (public) sees &lt;everything&gt; &amp; more."
    assert "was seen today" in why
    assert "/footnote resync" in usage
    assert control_tokens([status, gaps, scope, why, usage]) == []
    assert session.slack.workspace.from_bot() == []


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

        for part in ("3 pages, 9 passages", "3 pages read", "9 × How do I book leave?", "Where is the moon?"):
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


async def test_the_home_works_without_pictures_and_insights() -> None:
    """Without the scope to upload, or without insights, the rest is shown."""
    async with slack_session(starts=False) as session:
        session.insights = ScriptedInsights()
        session.slack.workspace.scopes -= {"files:write"}
        await session.start()
        assert "% good of 104" in await home_of(session, "UADMIN")
    async with slack_session() as session:
        assert "3 pages, 9 passages" in await home_of(session, "UADMIN")
