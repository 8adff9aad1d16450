"""What people do in the workspace: they write, press, choose; Slack tells the app."""

import json
import time
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from tests.fakes.slack.blockkit import texts_of
from tests.fakes.slack.server import FakeSlack
from tests.fakes.slack.workspace import APP_ID, BOT_ID, BOT_USER, TEAM


class People:
    """Acts for people; every method returns once the act is done, delivery goes on behind it."""

    def __init__(self, slack: FakeSlack, *, with_message_events: bool = True, echo: bool = True) -> None:
        self._slack = slack
        self._with_message_events = with_message_events
        if echo:
            slack.methods.posted = self._echo

    def write(
        self,
        channel: str,
        user: str,
        text: str,
        *,
        thread: str = "",
        subtype: str = "",
        deliver: bool = True,
    ) -> str:
        """Write a message; a mention of the bot arrives as two events. Returns its ts."""
        workspace = self._slack.workspace
        message: dict[str, Any] = {
            "type": "message",
            "channel": channel,
            "user": user,
            "text": text,
            "ts": workspace.new_ts(),
            "team": TEAM,
        }
        if thread:
            message["thread_ts"] = thread
        if subtype:
            message["subtype"] = subtype
        workspace.messages.append(message | {"at": time.monotonic()})
        if deliver:
            self.announce(message)
        return str(message["ts"])

    def announce(self, message: Mapping[str, Any]) -> None:
        """Tell the app of a message, as Slack does with the subscriptions of the manifest."""
        kind = self._slack.workspace.channels[message["channel"]].kind
        if kind != "im" and f"<@{BOT_USER}>" in message.get("text", ""):
            mention = {name: value for name, value in message.items() if name != "subtype"}
            self.event(mention | {"type": "app_mention", "event_ts": message["ts"]})
        if kind == "im" or self._with_message_events:
            self.event(dict(message) | {"channel_type": kind, "event_ts": message["ts"]})

    def event(self, event: dict[str, Any], *, event_id: str = "", **envelope: Any) -> str:
        """Deliver any event; returns its id."""
        event_id = event_id or f"Ev{uuid4().hex[:10]}"
        channel = self._slack.workspace.channels.get(str(event.get("channel")))
        self._slack.postman.deliver(
            "events_api",
            {
                "token": "verification",
                "team_id": TEAM,
                "api_app_id": APP_ID,
                "event": event,
                "type": "event_callback",
                "event_id": event_id,
                "event_time": int(time.time()),
                "authorizations": [
                    {"enterprise_id": None, "team_id": TEAM, "user_id": BOT_USER, "is_bot": True}
                ],
                "is_ext_shared_channel": bool(channel and channel.is_ext_shared),
            }
            | envelope,
        )
        return event_id

    def command(self, channel: str, user: str, command: str, text: str = "") -> str:
        """Use a slash command; returns the name of its response URL."""
        url = self._slack.new_response_url(user=user, channel=channel)
        self._slack.postman.deliver(
            "slash_commands",
            {
                "token": "verification",
                "team_id": TEAM,
                "team_domain": "example",
                "channel_id": channel,
                "channel_name": self._slack.workspace.channels[channel].name,
                "user_id": user,
                "user_name": user.lower(),
                "command": command,
                "text": text,
                "api_app_id": APP_ID,
                "is_enterprise_install": "false",
                "response_url": url,
                "trigger_id": self._trigger(),
            },
        )
        return url.rsplit("/", 1)[-1]

    def press(
        self, user: str, shown: Mapping[str, Any], action_id: str, *, side: str = "", channel: str = ""
    ) -> str:
        """Press a button of a message, private body or view; ``side`` chooses a thumb.

        Returns the name of the response URL.
        """
        element = _find_action(shown, action_id)
        action: dict[str, Any] = {
            "type": element["type"],
            "action_id": action_id,
            "block_id": "b",
            "action_ts": self._slack.workspace.new_ts(),
        }
        value = element[f"{side}_button"]["value"] if side else element.get("value")
        if value is not None:
            action["value"] = value
        place = channel or str(shown.get("channel") or "")
        url = self._slack.new_response_url(user=user, channel=place)
        payload: dict[str, Any] = {
            "type": "block_actions",
            "user": {"id": user, "team_id": TEAM},
            "api_app_id": APP_ID,
            "team": {"id": TEAM},
            "trigger_id": self._trigger(),
            "response_url": url,
            "actions": [action],
        }
        if place:
            payload["channel"] = {"id": place}
            payload["container"] = {
                "type": "message",
                "channel_id": place,
                "message_ts": shown.get("ts", "1.0"),
                "is_ephemeral": "ts" not in shown,
            }
        if "ts" in shown:
            payload["message"] = {
                name: shown[name] for name in ("ts", "thread_ts", "text", "blocks") if name in shown
            }
        self._slack.postman.deliver("interactive", payload)
        return url.rsplit("/", 1)[-1]

    def choose(self, user: str, message: Mapping[str, Any], callback_id: str) -> None:
        """Choose a shortcut in a message's menu."""
        self._slack.postman.deliver(
            "interactive",
            {
                "type": "message_action",
                "callback_id": callback_id,
                "trigger_id": self._trigger(),
                "response_url": self._slack.new_response_url(user=user, channel=str(message["channel"])),
                "user": {"id": user, "team_id": TEAM},
                "team": {"id": TEAM},
                "channel": {"id": message["channel"]},
                "message": {name: value for name, value in message.items() if name not in ("channel", "at")},
            },
        )

    def submit(self, user: str, view: Mapping[str, Any], values: dict[str, Any]) -> None:
        """Send a modal."""
        self._slack.postman.deliver(
            "interactive",
            {
                "type": "view_submission",
                "user": {"id": user, "team_id": TEAM},
                "team": {"id": TEAM},
                "api_app_id": APP_ID,
                "trigger_id": self._trigger(),
                "view": dict(view) | {"state": {"values": values}},
            },
        )

    def open_home(self, user: str, *, tab: str = "home") -> None:
        """Look at the app's home or its messages."""
        channel = self._slack.workspace.direct(user)
        opened = {"type": "app_home_opened", "user": user, "channel": channel, "tab": tab}
        self.event(opened | {"event_ts": "1.0"})

    def _trigger(self) -> str:
        trigger = f"{uuid4().int % 10**12}.{uuid4().hex}"
        self._slack.methods.triggers.add(trigger)
        return trigger

    def _echo(self, message: dict[str, Any]) -> None:
        """The app hears its own messages too."""
        kind = self._slack.workspace.channels[message["channel"]].kind
        shown = ("type", "channel", "user", "bot_id", "app_id", "ts", "thread_ts", "text", "blocks")
        event = {name: message[name] for name in shown if name in message}
        self.event(json.loads(json.dumps(event)) | {"channel_type": kind, "event_ts": message["ts"]})


def shown_text(message: Mapping[str, Any]) -> str:
    """What a person reads: the blocks' texts, or the text where there are none or it was streamed."""
    parts = texts_of(message.get("blocks") or [])
    if not message.get("blocks") or (message.get("streamed") and not message.get("edits")):
        parts.insert(0, str(message.get("text") or ""))
    return "\n".join(parts)


def _find_action(shown: Mapping[str, Any], action_id: str) -> dict[str, Any]:
    for block in shown["blocks"]:
        for element in block.get("elements") or []:
            if element.get("action_id") == action_id:
                return dict(element)
    raise AssertionError(f"no {action_id} in {[block['type'] for block in shown['blocks']]}")


__all__ = ["BOT_ID", "People", "shown_text"]
