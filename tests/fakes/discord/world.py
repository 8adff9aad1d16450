"""What there is in the stand-in: servers, channels, people, messages, interactions, and the time."""

import itertools
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.fakes.discord import permissions
from tests.fakes.discord.permissions import Overwrite

BOT_TOKEN = "fake.discord.token"
APPLICATION = 1_100_000_000_000_000_001
BOT_USER = 1_100_000_000_000_000_002
EPOCH = 1_420_070_400_000

TEXT, DIRECT, VOICE, PUBLIC_THREAD, PRIVATE_THREAD, FORUM = 0, 1, 2, 11, 12, 15
GATEWAY_MESSAGE_CONTENT_LIMITED = 1 << 19


class Clock:
    """The stand-in's time: the real one, moved forward by tests."""

    def __init__(self) -> None:
        self._ahead = timedelta()

    def now(self) -> datetime:
        """The current instant."""
        return datetime.now(UTC) + self._ahead

    def advance(self, seconds: float) -> None:
        """Let time pass at once."""
        self._ahead += timedelta(seconds=seconds)


@dataclass(slots=True)
class User:
    """An account."""

    id: int
    name: str
    is_bot: bool = False
    takes_direct_messages: bool = True

    def as_json(self) -> dict[str, Any]:
        """As the API gives it."""
        return {
            "id": str(self.id),
            "username": self.name,
            "global_name": self.name.title(),
            "discriminator": "0",
            "avatar": None,
            "bot": self.is_bot,
            "public_flags": 0,
            "flags": 0,
            "primary_guild": None,
        }


@dataclass(slots=True)
class Role:
    """A role of a server."""

    id: int
    name: str
    permissions: int = 0
    is_managed: bool = False

    def as_json(self) -> dict[str, Any]:
        """As the API gives it."""
        made: dict[str, Any] = {
            "id": str(self.id),
            "name": self.name,
            "permissions": str(self.permissions),
            "position": 1,
            "color": 0,
            "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
            "hoist": False,
            "managed": self.is_managed,
            "mentionable": True,
            "flags": 0,
        }
        return made | ({"tags": {"bot_id": str(BOT_USER)}} if self.is_managed else {})


@dataclass(slots=True)
class Channel:
    """A channel, a thread in one, or a direct message (``guild`` 0).

    Who is no moderator cannot write in a locked thread.
    """

    id: int
    name: str
    guild: int = 0
    type: int = TEXT
    parent: int = 0
    recipient: int = 0
    overwrites: dict[int, Overwrite] = field(default_factory=dict)
    is_locked: bool = False


@dataclass(slots=True)
class Guild:
    """A server."""

    id: int
    name: str
    owner: int
    everyone: int = permissions.MEMBER
    locale: str = "en-US"
    roles: dict[int, Role] = field(default_factory=dict)
    members: dict[int, set[int]] = field(default_factory=dict)
    pending: set[int] = field(default_factory=set)
    command_overrides: dict[str, set[int]] = field(default_factory=dict)
    """By command: users or roles whom the server lets run it although it is hidden by default."""


@dataclass(slots=True)
class Message:
    """A message; ``body`` is what the API gives. ``pinged`` is who was notified of it."""

    id: int
    channel: int
    author: int
    body: dict[str, Any]
    ephemeral_for: int = 0
    token: str = ""
    is_loading: bool = False
    pinged: frozenset[str] = frozenset()
    edits: int = 0


@dataclass(slots=True)
class Interaction:
    """What somebody did and the bot must acknowledge within three seconds."""

    id: int
    token: str
    type: int
    user: int
    channel: int
    guild: int
    made: datetime
    acknowledged: datetime | None = None
    response: int = 0
    data: dict[str, Any] = field(default_factory=dict)
    original: int = 0
    is_private: bool = False
    message: int = 0
    result: Any = None
    """Choices of an autocompletion, or a modal."""


class World:
    """Everything, with builders for tests."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.users: dict[int, User] = {BOT_USER: User(BOT_USER, "footnote", is_bot=True)}
        self.guilds: dict[int, Guild] = {}
        self.channels: dict[int, Channel] = {}
        self.messages: dict[int, Message] = {}
        self.interactions: dict[str, Interaction] = {}
        self.commands: dict[int, list[dict[str, Any]]] = {}
        self.grants_message_content = False
        self.is_bot_public = False
        self.shards = 1
        self._numbers = itertools.count(1)

    # --- ids ---

    def new_id(self) -> int:
        """A snowflake of this moment; later ones are larger."""
        milliseconds = int(self.clock.now().timestamp() * 1000) - EPOCH
        return (milliseconds << 22) | (next(self._numbers) & 0x3FFFFF)

    def shard_of(self, guild: int) -> int:
        """Direct messages belong to shard 0."""
        return (guild >> 22) % self.shards

    # --- builders ---

    def add_guild(self, name: str, *, shard: int | None = None) -> Guild:
        """A server with an owner and the bot in it; on a given shard if asked for."""
        guild_id = self.new_id()
        while shard is not None and self.shard_of(guild_id) != shard:
            guild_id += 1 << 22
        owner = self.add_user(f"owner of {name}")
        guild = Guild(id=guild_id, name=name, owner=owner.id)
        self.guilds[guild_id] = guild
        own = self.add_role(guild, "Footnote", is_managed=True)
        guild.members = {owner.id: set(), BOT_USER: {own.id}}
        return guild

    def add_role(self, guild: Guild, name: str, *, allows: int = 0, is_managed: bool = False) -> Role:
        """A role."""
        role = Role(id=self.new_id(), name=name, permissions=allows, is_managed=is_managed)
        guild.roles[role.id] = role
        return role

    def add_user(self, name: str) -> User:
        """An account without servers."""
        user = User(id=self.new_id(), name=name)
        self.users[user.id] = user
        return user

    def join(self, user: User, guild: Guild, *roles: Role) -> None:
        """Make somebody a member with roles."""
        guild.members[user.id] = {role.id for role in roles}

    def add_channel(
        self, guild: Guild, name: str, *, closed_to_everyone: bool = False, kind: int = TEXT
    ) -> Channel:
        """A channel; a closed one is seen by the bot alone, and by whom overwrites let in."""
        channel = Channel(id=self.new_id(), name=name, guild=guild.id, type=kind)
        if closed_to_everyone:
            channel.overwrites[guild.id] = Overwrite(deny=permissions.VIEW_CHANNEL)
            channel.overwrites[BOT_USER] = Overwrite(allow=permissions.VIEW_CHANNEL)
        self.channels[channel.id] = channel
        return channel

    def add_thread(self, parent: Channel, name: str, *, kind: int = PUBLIC_THREAD) -> Channel:
        """A thread of a channel, or a post of a forum."""
        thread = Channel(id=self.new_id(), name=name, guild=parent.guild, type=kind, parent=parent.id)
        self.channels[thread.id] = thread
        return thread

    def direct(self, user: int) -> Channel:
        """The direct message of a person and the bot."""
        for channel in self.channels.values():
            if channel.type == DIRECT and channel.recipient == user:
                return channel
        channel = Channel(id=self.new_id(), name="", type=DIRECT, recipient=user)
        self.channels[channel.id] = channel
        return channel

    # --- permissions ---

    def may(self, user: int, channel: Channel) -> int:
        """What somebody may do in a channel, as bits."""
        if channel.type == DIRECT:
            return permissions.MEMBER if user in (channel.recipient, BOT_USER) else 0
        guild = self.guilds[channel.guild]
        if user not in guild.members:
            return 0
        roles = guild.members[user]
        place = self.channels[channel.parent] if channel.parent else channel
        total = self.may_in_guild(user, guild)
        return permissions.in_channel(total, place.overwrites, guild=guild.id, roles=roles, user=user)

    def may_in_guild(self, user: int, guild: Guild) -> int:
        """What somebody may do in a server, as bits."""
        granted = [guild.roles[role].permissions for role in guild.members.get(user, ())]
        return permissions.base(guild.everyone, granted, is_owner=user == guild.owner)

    # --- what tests look at ---

    def from_bot(self, channel: int | None = None) -> list[Message]:
        """What the bot posted, in order, without what still shows "thinking"."""
        return [
            message
            for message in sorted(self.messages.values(), key=lambda one: one.id)
            if message.author == BOT_USER
            and not message.is_loading
            and (channel is None or message.channel == channel)
        ]


def shown_text(message: Message) -> str:
    """All that a person reads in a message: its content and its text displays."""
    return "\n".join(
        [message.body.get("content") or "", *_texts(message.body.get("components") or [])]
    ).strip()


def buttons(message: Message) -> dict[str, str]:
    """The custom ids of a message's buttons by the word in them."""
    found = (component for component in walk(message.body.get("components") or []) if component["type"] == 2)
    return {one["custom_id"].split(":")[1]: one["custom_id"] for one in found if "custom_id" in one}


def walk(components: list[dict[str, Any]]) -> "itertools.chain[dict[str, Any]]":
    """Every component, nested ones included."""
    nested = ([component, *walk(_children(component))] for component in components)
    return itertools.chain.from_iterable(nested)


def _children(component: dict[str, Any]) -> list[dict[str, Any]]:
    children = list(component.get("components") or [])
    return children + [component[key] for key in ("accessory", "component") if key in component]


def _texts(components: list[dict[str, Any]]) -> list[str]:
    return [component["content"] for component in walk(components) if component["type"] == 10]
