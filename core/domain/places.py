"""Where somebody asks and what is known of them: what decides who may see which pages."""

from dataclasses import dataclass
from enum import StrEnum


class ChannelKind(StrEnum):
    """How widely a reply can be read."""

    PUBLIC = "public"
    """Anybody of the workspace or server can join."""
    PRIVATE = "private"
    """Members by invitation."""
    DIRECT = "direct"
    """The asker and the bot alone, private replies in a channel included."""
    SHARED = "shared"
    """Reaches beyond the workspace: Slack Connect and the like."""


class AskerKind(StrEnum):
    """How much of a colleague the asker is."""

    MEMBER = "member"
    GUEST = "guest"
    """Restricted accounts: Slack guests."""
    EXTERNAL = "external"
    """People of another workspace in a shared channel."""


@dataclass(frozen=True, slots=True)
class Place:
    """One asker in one channel, by the platform's own ids, taken from the server side and never from text.

    ``groups`` are the asker's Slack user groups or Discord roles. ``channel`` is empty in a direct message.
    """

    platform: str
    workspace: str
    channel: str
    channel_kind: ChannelKind
    asker: str
    asker_kind: AskerKind = AskerKind.MEMBER
    groups: frozenset[str] = frozenset()
