"""Where a question's reply will be read, by what Discord's server tells; what cannot be learnt sees least."""

import logging
from collections import OrderedDict
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import discord

from adapters.chat.discord.asking import Asked, asker_kind, roles_of
from adapters.chat.discord.calls import call
from adapters.chat.discord.settings import DiscordSettings
from core.domain.places import AskerKind, Place
from core.errors import FootnoteError
from core.ports import Clock

logger = logging.getLogger(__name__)

MEMBER_SECONDS = 60
"""Short: whoever lost a role must not keep it here."""

_KEPT = 5_000
_LOOKED_IN = 10


@dataclass(frozen=True, slots=True)
class Membership:
    """A person in one of our servers; empty for strangers."""

    guild: str = ""
    kind: AskerKind = AskerKind.EXTERNAL
    roles: frozenset[str] = frozenset()


class Directory:
    """Knows places; in a direct message by what the asker is in our servers."""

    def __init__(self, client: discord.Client, *, settings: DiscordSettings, clock: Clock) -> None:
        self._client = client
        self._settings = settings
        self._clock = clock
        self._known: OrderedDict[int, tuple[datetime, Membership]] = OrderedDict()

    async def place(self, asked: Asked) -> Place:
        """Where the reply will be read."""
        place = asked.place()
        if not asked.is_direct:
            return place
        member = await self._membership(int(asked.user))
        return replace(place, workspace=member.guild, asker_kind=member.kind, groups=member.roles)

    def home_guilds(self) -> tuple[int, ...]:
        """The servers whose roles count: those of the settings, else the one that the bot is in.

        In several servers without a setting none counts: a stranger's server must not open anything.
        """
        if self._settings.guild_ids:
            return self._settings.guild_ids[:_LOOKED_IN]
        guilds = tuple(guild.id for guild in self._client.guilds)
        return guilds if len(guilds) == 1 else ()

    async def _membership(self, user: int) -> Membership:
        now = self._clock.now()
        known = self._known.get(user)
        if known is not None and known[0] > now:
            return known[1]
        found = Membership()
        for guild_id in self.home_guilds():
            found = await self._look_up(guild_id, user)
            if found.guild:
                break
        self._known[user] = (now + timedelta(seconds=MEMBER_SECONDS), found)
        self._known.move_to_end(user)
        if len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return found

    async def _look_up(self, guild_id: int, user: int) -> Membership:
        """Asked of the server each time: without the members' intent the library's own copy is stale."""
        guild = self._client.get_guild(guild_id)
        if guild is None:
            return Membership()
        try:
            member = await call("looking up a member", guild.fetch_member(user))
        except FootnoteError as error:
            logger.info("a person is taken for a stranger: %s", error)
            return Membership()
        roles = frozenset(role for role in roles_of(member).split(",") if role)
        return Membership(guild=str(guild_id), kind=asker_kind(member), roles=roles)
