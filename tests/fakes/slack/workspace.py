"""One workspace: people, channels, messages, tokens, views, uploads."""

import itertools
import time
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.slack.refusals import SlackRefusedError

TEAM, BOT_USER, BOT_ID, APP_ID = "T1", "UBOT", "B1", "A1"
BOT_TOKEN, APP_TOKEN, SIGNING_SECRET = "xoxb-test", "xapp-test", "shh-it-is-a-test"

ALL_SCOPES = frozenset(
    {
        *("app_mentions:read", "chat:write", "commands", "im:history", "im:write", "users:read"),
        *("users:read.email", "channels:read", "groups:read", "mpim:read", "channels:history"),
        *("groups:history", "mpim:history", "assistant:write", "files:write", "usergroups:read"),
    }
)


@dataclass(slots=True)
class Channel:
    """``kind`` is channel, group, im or mpim."""

    id: str
    name: str
    kind: str = "channel"
    is_ext_shared: bool = False
    has_bot: bool = True
    is_archived: bool = False


@dataclass(slots=True)
class Workspace:
    """Everything that Slack would keep."""

    scopes: frozenset[str] = ALL_SCOPES
    users: dict[str, dict[str, Any]] = field(default_factory=dict)
    channels: dict[str, Channel] = field(default_factory=dict)
    messages: list[dict[str, Any]] = field(default_factory=list)
    ephemerals: list[dict[str, Any]] = field(default_factory=list)
    statuses: list[tuple[str, str, str]] = field(default_factory=list)
    thinking: set[tuple[str, str]] = field(default_factory=set)
    """Threads under which a status stands: set by the app, cleared by it or by its next message there."""
    prompts: list[dict[str, Any]] = field(default_factory=list)
    homes: dict[str, dict[str, Any]] = field(default_factory=dict)
    modals: list[dict[str, Any]] = field(default_factory=list)
    uploads: dict[str, bytes] = field(default_factory=dict)
    groups: dict[str, list[str]] = field(default_factory=dict)
    _numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    def add_user(self, user: str, **fields: Any) -> str:
        """A person; fields as in ``users.info``."""
        base: dict[str, Any] = {
            "id": user,
            "team_id": TEAM,
            "name": user.lower(),
            "real_name": f"Person {user}",
            "deleted": False,
            "is_admin": False,
            "is_owner": False,
            "is_primary_owner": False,
            "is_restricted": False,
            "is_ultra_restricted": False,
            "is_bot": False,
            "locale": "en-US",
            "profile": {"display_name": f"person-{user.lower()}", "email": f"{user.lower()}@example.com"},
        }
        self.users[user] = base | fields
        return user

    def add_channel(self, channel: str, **fields: Any) -> str:
        """A channel; fields as in `Channel`."""
        self.channels[channel] = Channel(id=channel, name=fields.pop("name", channel.lower()), **fields)
        return channel

    def new_ts(self) -> str:
        """A ts that was never given before, later than all others."""
        return f"{int(time.time())}.{next(self._numbers):06d}"

    def channel(self, channel: str, *, reading: bool = False) -> Channel:
        """The channel, if the bot may be there.

        Raises:
            SlackRefusedError: ``channel_not_found``, ``not_in_channel`` or ``is_archived``.
        """
        found = self.channels.get(channel)
        if found is None:
            raise SlackRefusedError("channel_not_found")
        if not found.has_bot and not reading:
            raise SlackRefusedError("not_in_channel")
        if found.is_archived and not reading:
            raise SlackRefusedError("is_archived")
        return found

    def message(self, channel: str, ts: str) -> dict[str, Any]:
        """The message.

        Raises:
            SlackRefusedError: ``message_not_found``.
        """
        for message in self.messages:
            if message["channel"] == channel and message["ts"] == ts:
                return message
        raise SlackRefusedError("message_not_found")

    def thread(self, channel: str, thread: str) -> list[dict[str, Any]]:
        """A thread's messages, its root first."""
        return [
            message
            for message in self.messages
            if message["channel"] == channel and thread in (message["ts"], message.get("thread_ts"))
        ]

    def direct(self, user: str) -> str:
        """The channel of a person and the bot, made when it is needed."""
        channel = f"D{user}"
        if channel not in self.channels:
            self.add_channel(channel, kind="im")
        return channel

    def from_bot(self, channel: str = "", thread: str = "") -> list[dict[str, Any]]:
        """What the bot posted, in a channel or thread if given."""
        return [
            message
            for message in self.messages
            if message.get("user") == BOT_USER
            and channel in ("", message["channel"])
            and thread in ("", message.get("thread_ts"))
        ]
