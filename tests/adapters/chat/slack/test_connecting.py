"""HTTP mode with real signatures, tokens that are refused, and what the check says."""

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import pytest
import yaml

from adapters.chat.slack import SlackSettings, check
from adapters.chat.slack.doctor import OPTIONAL_SCOPES, REQUIRED_SCOPES
from core.errors import ConfigurationError, RefusedError
from tests.adapters.chat.slack.harness import Session, slack_session
from tests.fakes.slack import APP_TOKEN, BOT_TOKEN, SIGNING_SECRET
from tests.fakes.slack.delivery import HttpCarrier

ASKED = "<@UBOT> How long is parental leave?"
MANIFEST = Path(__file__).parents[4] / "slack-manifest.yaml"


async def over_http(session: Session) -> HttpCarrier:
    """Start in HTTP mode on a free port."""
    chat = await session.start()
    return session.slack.deliver_by_http(f"http://127.0.0.1:{chat.port}/slack/events")


HTTP: dict[str, Any] = {"app_token": "", "signing_secret": SIGNING_SECRET, "http_port": 0}


async def test_slk10_http_mode_answers_once_in_spite_of_retries() -> None:
    """Events, a retry with its headers, a command and a button over signed HTTP."""
    async with slack_session(starts=False, **HTTP) as session:
        carrier = await over_http(session)
        ts = session.people.write("C1", "U1", ASKED)
        name = session.people.command("C1", "U1", "/ask", "How long is parental leave?")
        await session.settled()
        first = session.slack.postman.record[0]
        status, _ = await carrier.post("events_api", first.payload, headers={"X-Slack-Retry-Num": "1"})
        session.people.press("U2", session.replies(ts)[0], "footnote_feedback", side="positive")
        await session.until(lambda: session.feedback.judged)
        await session.settled()

        assert status == 200
        assert len(session.replies(ts)) == 1
        assert len(session.slack.response_urls[name].bodies) == 1
        assert set(carrier.statuses) == {200}


@pytest.mark.parametrize(("age", "secret"), [(0.0, "wrong"), (301.0, ""), (-301.0, "")])
async def test_slk10_a_bad_signature_or_an_old_one_is_refused(age: float, secret: str) -> None:
    """Wrong secret, more than five minutes old, from the future: 401, and nothing happens."""
    async with slack_session(starts=False, **HTTP) as session:
        carrier = await over_http(session)
        message = {"type": "app_mention", "channel": "C1", "user": "U1", "ts": "1.0", "text": ASKED}
        payload = {"type": "event_callback", "team_id": "T1", "event_id": "Ev1", "event": message}
        status, _ = await carrier.post("events_api", payload, age=age, secret=secret)

        assert status == 401
        assert session.table.rows == []


@pytest.mark.parametrize("without", ["X-Slack-Signature", "X-Slack-Request-Timestamp", "both"])
async def test_slk10_a_request_without_signature_is_refused(without: str) -> None:
    """Missing either header, or both: 401, and nothing happens."""
    async with slack_session(starts=False, **HTTP) as session:
        carrier = await over_http(session)
        names = ["X-Slack-Signature", "X-Slack-Request-Timestamp"] if without == "both" else [without]
        message = {"type": "app_mention", "channel": "C1", "user": "U1", "ts": "1.0", "text": ASKED}
        payload = {"type": "event_callback", "team_id": "T1", "event_id": "Ev1", "event": message}
        status, _ = await carrier.post("events_api", payload, without=names)

        assert status == 401
        assert session.table.rows == []


async def test_slk10_slacks_check_of_the_certificate_is_answered() -> None:
    """``ssl_check`` comes unsigned, gets 200, and does nothing else."""
    async with slack_session(starts=False, **HTTP) as session:
        carrier = await over_http(session)
        names = ["X-Slack-Signature", "X-Slack-Request-Timestamp"]
        status, _ = await carrier.post("slash_commands", {"ssl_check": "1", "token": "t"}, without=names)

        assert status == 200
        assert session.table.rows == []


@pytest.mark.parametrize("reason", ["warning", "refresh_requested"])
async def test_slk10_a_connection_that_slack_renews_loses_nothing(reason: str) -> None:
    """What comes before, while and after the connection is renewed is answered, each once."""
    async with slack_session() as session:
        first = session.people.write("C1", "U1", ASKED)
        await session.slack.socket.ask_to_reconnect(reason)
        second = session.people.write("C1", "U2", ASKED)
        await session.until(lambda: session.slack.socket.connections >= 2)
        third = session.people.write("C2", "U1", ASKED)
        await session.settled()

        assert [len(session.replies(thread)) for thread in (first, second, third)] == [1, 1, 1]


async def test_slk10_the_url_is_verified_if_it_is_signed() -> None:
    """Slack's challenge is answered, an unsigned one is not."""
    async with slack_session(starts=False, **HTTP) as session:
        carrier = await over_http(session)
        challenge = {"type": "url_verification", "challenge": "abc", "token": "t"}

        assert await carrier.post("events_api", challenge) == (200, '{"challenge": "abc"}')
        assert (await carrier.post("events_api", challenge, secret="wrong"))[0] == 401


async def test_what_nothing_listens_to_leaves_no_text_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """Unknown events are acknowledged, unknown commands are not; the log holds no body of either."""
    async with slack_session(starts=False, **HTTP) as session:
        carrier = await over_http(session)
        with caplog.at_level(logging.DEBUG):
            event: dict[str, Any] = {"type": "reaction_added", "user": "U1", "reaction": "private-thing"}
            known, _ = await carrier.post("events_api", {"type": "event_callback", "event": event})
            body = {"command": "/unknown", "text": "private-thing", "user_id": "U1", "team_id": "T1"}
            unknown, _ = await carrier.post("slash_commands", body)

        assert (known, unknown) == (200, 404)
        ours = [one for one in caplog.records if one.name.startswith(("adapters", "slack"))]
        assert not any("private-thing" in record.getMessage() for record in ours)


@pytest.mark.parametrize("changes", [{"bot_token": "xoxb-wrong"}, {"app_token": "xapp-wrong"}])
async def test_slk10_a_refused_token_ends_the_run_with_a_clear_word(changes: dict[str, Any]) -> None:
    """No endless attempts: an error that names the settings and no token."""
    async with slack_session(starts=False, **changes) as session:
        with pytest.raises(RefusedError, match="SLACK_BOT_TOKEN") as raised:
            await session.start()
        session.chats.clear()

        assert "xoxb" not in str(raised.value)
        assert "xapp" not in str(raised.value)


async def test_neither_sockets_nor_http_is_a_configuration_error() -> None:
    """One of the two must be set."""
    async with slack_session(starts=False, app_token="") as session:
        with pytest.raises(ConfigurationError, match="SLACK_APP_TOKEN"):
            await session.start()
        session.chats.clear()


async def test_a_slack_that_is_away_is_waited_for() -> None:
    """At the start it is tried again, and stopping ends the waiting."""
    async with slack_session(starts=False, base_url="http://127.0.0.1:9/api/") as session:
        starting = asyncio.create_task(session.start())
        await session.until(lambda: session.chats)
        await asyncio.sleep(0.1)
        await session.stop()
        starting.cancel()

        assert session.slack.calls == []


def test_secrets_are_not_in_the_repr() -> None:
    """Settings may be logged."""
    shown = repr(SlackSettings(bot_token="xoxb-1", app_token="xapp-1", signing_secret="sss"))

    assert not any(secret in shown for secret in ("xoxb-1", "xapp-1", "sss"))


# --- the check ---


async def test_the_check_is_content_with_a_complete_app() -> None:
    """Token, scopes and delivery, each one line."""
    async with slack_session(starts=False) as session:
        checks = await check(session.settings)

        assert [one.ok for one in checks] == [True] * 3
        assert "over Socket Mode" in checks[-1].detail


@pytest.mark.parametrize("scope", sorted(REQUIRED_SCOPES))
async def test_the_check_names_each_missing_scope(scope: str) -> None:
    """By its name and what it is for."""
    async with slack_session(starts=False) as session:
        session.slack.workspace.scopes -= {scope}
        checks = await check(session.settings)

        failed = [one for one in checks if not one.ok]
        assert [one.name for one in failed] == ["Slack scopes"]
        assert scope in failed[0].detail
        assert "install the app again" in failed[0].remedy


async def test_the_check_tells_what_optional_scopes_would_add() -> None:
    """Not an error, and still said."""
    async with slack_session(starts=False) as session:
        session.slack.workspace.scopes -= set(OPTIONAL_SCOPES)
        checks = await check(session.settings)

        assert all(one.ok for one in checks)
        assert {word for one in checks for word in one.detail.split()} >= set(OPTIONAL_SCOPES)


@pytest.mark.parametrize(
    ("changes", "name"),
    [({"bot_token": "xoxb-wrong"}, "Slack bot token"), ({"app_token": "xapp-wrong"}, "Slack events")],
)
async def test_the_check_says_which_token_is_wrong(changes: dict[str, Any], name: str) -> None:
    """With where to get the right one; Slack being away is told too."""
    async with slack_session(starts=False, **changes) as session:
        (failed,) = [one for one in await check(session.settings) if not one.ok]
        assert (failed.name, bool(failed.remedy)) == (name, True)
    away = SlackSettings(bot_token=BOT_TOKEN, app_token=APP_TOKEN, base_url="http://127.0.0.1:9/api/")
    (unreachable,) = await check(away)
    assert "cannot be reached" in unreachable.detail


# --- the manifest ---


def test_slk11_the_manifest_is_complete() -> None:
    """Agent view, events, commands, shortcuts, and exactly the scopes that the check knows."""
    manifest = yaml.safe_load(MANIFEST.read_text(encoding="utf-8"))

    assert "agent_view" in manifest["features"]
    assert "assistant_view" not in manifest["features"]
    commands = {command["command"] for command in manifest["features"]["slash_commands"]}
    assert commands == {"/ask", "/footnote", "/resync"}
    shortcuts = {shortcut["callback_id"] for shortcut in manifest["features"]["shortcuts"]}
    assert shortcuts == {"footnote_answer_this", "footnote_keep"}
    assert set(manifest["settings"]["event_subscriptions"]["bot_events"]) >= {
        "app_mention",
        "message.im",
        "app_home_opened",
    }
    assert set(manifest["oauth_config"]["scopes"]["bot"]) == set(REQUIRED_SCOPES) | set(OPTIONAL_SCOPES)
    assert manifest["settings"]["socket_mode_enabled"] is True
    assert "token" not in json.dumps(manifest).replace("token_rotation_enabled", "")
