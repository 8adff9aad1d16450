"""What somebody asked, out of the shapes in which Discord delivers it."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta

import discord

from core.domain.places import AskerKind, ChannelKind, Place
from core.ports.chat import ClaimKey

PLATFORM = "discord"

_ASKING_TYPES = (discord.MessageType.default, discord.MessageType.reply)
_MENTION = re.compile(r"<(@!?|@&|#)(\d+)>")
_EMOJI = re.compile(r"<a?:(\w+):\d+>")
_SPACES = re.compile(r"[^\S\n]+")

GuildChannel = discord.abc.GuildChannel | discord.Thread


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question as it was delivered; strings only, so that it survives in a claim.

    ``channel`` is where it was asked and ``parent`` the channel of that thread, or the same. ``message`` is
    the message that asked, empty for a command. ``token`` lets us reply to an interaction, for 15 minutes.
    ``posts_in`` is a thread in which the answer is posted instead. ``private``: ``"yes"`` if only the asker
    sees the reply. ``kind`` and ``asker_kind`` are what the server told with the question; ``roles`` are
    parted by commas; ``name`` is how others see the asker. ``turns`` are earlier questions as JSON.
    ``again`` is the message whose place the new answer takes,
    and behind commas those that go with it.
    """

    event: str
    channel: str
    user: str
    text: str
    guild: str = ""
    parent: str = ""
    message: str = ""
    application: str = ""
    token: str = field(default="", repr=False)
    posts_in: str = ""
    private: str = ""
    kind: str = ChannelKind.SHARED
    asker_kind: str = AskerKind.EXTERNAL
    roles: str = ""
    language: str = ""
    name: str = ""
    turns: str = ""
    again: str = ""

    @property
    def key(self) -> ClaimKey:
        """The interaction or message; a message also by its place, as in Slack."""
        place = f"{self.channel}:{self.message}" if self.message else ""
        return ClaimKey(platform=PLATFORM, event=self.event, place=place)

    @property
    def is_private(self) -> bool:
        """Whether only the asker sees the reply."""
        return bool(self.private)

    @property
    def replaces(self) -> tuple[str, ...]:
        """The messages of the reply that the new answer takes the place of, the first one first."""
        return tuple(filter(None, self.again.split(",")))

    @property
    def is_direct(self) -> bool:
        """Whether it is a conversation of the asker and the bot."""
        return not self.guild

    @property
    def conversation(self) -> str:
        """Names the asker's thread, for follow-ups without a mention."""
        thread = self.posts_in or (self.channel if self.channel != self.parent else "")
        return f"{thread}:{self.user}" if thread and self.guild else ""

    @property
    def asked_at(self) -> datetime:
        """When Discord made the interaction or message."""
        return discord.utils.snowflake_time(int(self.event))

    def is_open(self, now: datetime, *, seconds: float) -> bool:
        """Whether a reply may still go to the interaction."""
        return bool(self.token) and now < self.asked_at + timedelta(seconds=seconds)

    def place(self) -> Place:
        """Where the reply will be read. A private reply is read by the asker alone."""
        place = self.channel_place()
        if self.is_private or self.is_direct:
            return replace(place, channel="", channel_kind=ChannelKind.DIRECT)
        return place

    def channel_place(self) -> Place:
        """The channel itself."""
        return Place(
            platform=PLATFORM,
            workspace=self.guild,
            channel=self.parent or self.channel,
            channel_kind=ChannelKind(self.kind),
            asker=self.user,
            asker_kind=AskerKind(self.asker_kind),
            groups=frozenset(role for role in self.roles.split(",") if role),
        )

    def earlier(self) -> tuple[str, ...]:
        """The asker's earlier questions, oldest first."""
        return tuple(json.loads(self.turns)) if self.turns else ()

    def as_payload(self) -> dict[str, str]:
        """For a claim, which forgets it when the question is answered."""
        return {name: text for name, text in asdict(self).items() if text}


def from_payload(payload: Mapping[str, str]) -> Asked:
    """What `Asked.as_payload` made; unknown fields of a newer version are left out.

    Raises:
        TypeError: fields are missing.
    """
    return Asked(**{name: text for name, text in payload.items() if name in Asked.__slots__})


def with_turns(asked: Asked, turns: Sequence[str]) -> Asked:
    """The question with what its asker asked before."""
    return replace(asked, turns=json.dumps(list(turns), ensure_ascii=False)) if turns else asked


def from_interaction(interaction: discord.Interaction, text: str, *, private: bool) -> Asked:
    """The question of a command, a menu, a button or a modal."""
    user, channel = interaction.user, interaction.channel
    guild = interaction.guild_id
    return Asked(
        event=str(interaction.id),
        channel=str(interaction.channel_id or ""),
        parent=str(parent_of(channel) or interaction.channel_id or ""),
        guild=str(guild or ""),
        user=str(user.id),
        text=clean(text),
        application=str(interaction.application_id),
        token=interaction.token,
        private="yes" if private else "",
        kind=channel_kind(channel) if guild else direct_kind(channel),
        asker_kind=asker_kind(user) if guild else AskerKind.EXTERNAL,
        roles=roles_of(user),
        language=_language(interaction.locale),
        name=user.display_name,
    )


def from_message(message: discord.Message, *, bot: discord.ClientUser) -> Asked:
    """The question in a message; ``from_person`` has been asked before."""
    channel = message.channel
    return Asked(
        event=str(message.id),
        channel=str(channel.id),
        parent=str(parent_of(channel) or channel.id),
        guild=str(message.guild.id) if message.guild else "",
        user=str(message.author.id),
        text=message_text(message, bot=bot),
        message=str(message.id),
        kind=channel_kind(channel) if message.guild else direct_kind(channel),
        asker_kind=asker_kind(message.author) if message.guild else AskerKind.EXTERNAL,
        roles=roles_of(message.author),
        name=message.author.display_name,
        language=_language(message.guild.preferred_locale) if message.guild else "",
    )


def _language(locale: discord.Locale) -> str:
    """For our own words: the asker's with a command, the server's with a message."""
    return str(locale.value).split("-", maxsplit=1)[0]


def is_from_person(message: discord.Message) -> bool:
    """Whether somebody newly said something: no bot, no webhook, no system message."""
    return not message.author.bot and message.webhook_id is None and message.type in _ASKING_TYPES


def mentions(message: discord.Message, *, bot: discord.ClientUser) -> bool:
    """Whether a message names the bot or its own role; replies to the bot do so, unless silenced."""
    if any(user.id == bot.id for user in message.mentions):
        return True
    own = message.guild.self_role if message.guild else None
    return own is not None and own.id in message.raw_role_mentions


def message_text(message: discord.Message, *, bot: discord.ClientUser) -> str:
    """What the person meant: without the bot's mention, others by name."""
    names = {f"@{user.id}": f"@{user.display_name}" for user in message.mentions}
    names |= {f"@&{role.id}": f"@{role.name}" for role in message.role_mentions}
    names |= {f"#{channel.id}": f"#{channel.name}" for channel in message.channel_mentions}
    own = message.guild.self_role if message.guild else None
    names[f"@{bot.id}"] = ""
    if own is not None:
        names[f"@&{own.id}"] = ""
    return clean(
        _MENTION.sub(lambda match: names.get(f"{match[1].replace('!', '')}{match[2]}", " "), message.content)
    )


def clean(text: str) -> str:
    """Without what only Discord understands, and without needless white space.

    >>> clean("  what   is <:nice:123> ?")
    'what is :nice: ?'
    """
    return _SPACES.sub(" ", _EMOJI.sub(r":\1:", text)).strip()


# --- what the server tells of people and channels ------------------------------------------------------


def parent_of(channel: object) -> int | None:
    """The id of a thread's channel."""
    return channel.parent_id if isinstance(channel, discord.Thread) else None


def channel_kind(channel: object) -> ChannelKind:
    """How widely a server's channel can be read; what cannot be learnt counts as the widest."""
    if isinstance(channel, discord.Thread):
        if channel.is_private():
            return ChannelKind.PRIVATE
        return channel_kind(channel.parent)
    if not isinstance(channel, discord.abc.GuildChannel):
        return ChannelKind.SHARED
    # Typed as if it were always there, which it is not in a server whose data never came.
    everybody: discord.Role | None = channel.guild.default_role
    if everybody is None:
        return ChannelKind.SHARED
    may = channel.permissions_for(everybody)
    return ChannelKind.PUBLIC if may.view_channel else ChannelKind.PRIVATE


def direct_kind(channel: object) -> ChannelKind:
    """A direct message is between two; a group of friends is none of ours."""
    return ChannelKind.SHARED if isinstance(channel, discord.GroupChannel) else ChannelKind.DIRECT


def asker_kind(user: discord.abc.User) -> AskerKind:
    """Members who have not accepted the server's rules yet are guests."""
    if not isinstance(user, discord.Member):
        return AskerKind.EXTERNAL
    return AskerKind.GUEST if user.pending else AskerKind.MEMBER


def roles_of(user: discord.abc.User) -> str:
    """The ids of a member's roles but the one that everybody has."""
    if not isinstance(user, discord.Member):
        return ""
    return ",".join(str(role.id) for role in user.roles if not role.is_default())
