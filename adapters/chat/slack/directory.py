"""Who asks and where, as Slack's own server knows it; whatever cannot be learnt is taken for a stranger."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from adapters.chat.slack.asking import PLATFORM, Asked
from adapters.chat.slack.web import SlackWeb, call
from core.domain.places import AskerKind, ChannelKind, Place
from core.errors import FootnoteError
from core.ports import Clock

logger = logging.getLogger(__name__)

USER_SECONDS = 60
"""Short: whoever lost their rights must not keep them here."""

CHANNEL_SECONDS = 300
GROUP_SECONDS = 300
_KEPT = 5_000

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Person:
    """What ``users.info`` says, as far as it matters."""

    id: str
    kind: AskerKind
    is_admin: bool
    language: str
    name: str = ""


class Directory:
    """Looks up people, channels and user groups, and remembers them briefly."""

    def __init__(self, web: SlackWeb, *, clock: Clock, team: str, enterprise: str = "") -> None:
        self._web = web
        self._team = team
        self._enterprise = enterprise
        self._people: _Remembered[Person] = _Remembered(clock, seconds=USER_SECONDS)
        self._channels: _Remembered[ChannelKind] = _Remembered(clock, seconds=CHANNEL_SECONDS)
        self._groups: _Remembered[Mapping[str, frozenset[str]]] = _Remembered(clock, seconds=GROUP_SECONDS)

    async def person(self, user: str) -> Person:
        """The person, or a stranger without any rights where Slack does not tell."""
        try:
            return await self._people.get(user, lambda: self._read_person(user))
        except FootnoteError as error:
            logger.warning("cannot look up a Slack user, taken for a stranger: %s", error)
            return Person(id=user, kind=AskerKind.EXTERNAL, is_admin=False, language="")

    async def place(self, asked: Asked) -> Place:
        """Where the reply will be read. A private reply is read by the asker alone."""
        person = await self.person(asked.user)
        alone = asked.is_private or asked.is_direct
        return Place(
            platform=PLATFORM,
            workspace=asked.team,
            channel="" if alone else asked.channel,
            channel_kind=ChannelKind.DIRECT if alone else await self._kind(asked),
            asker=asked.user,
            asker_kind=person.kind,
            groups=await self._groups_of(asked.user),
        )

    async def channel_place(self, asked: Asked) -> Place:
        """The channel itself, for a reply that was private and is to be shared."""
        person = await self.person(asked.user)
        return Place(
            platform=PLATFORM,
            workspace=asked.team,
            channel=asked.channel,
            channel_kind=ChannelKind.DIRECT if asked.is_direct else await self._kind(asked),
            asker=asked.user,
            asker_kind=person.kind,
            groups=await self._groups_of(asked.user),
        )

    async def own_place(self, user: str) -> Place:
        """Where only this person reads."""
        return Place(
            platform=PLATFORM,
            workspace=self._team,
            channel="",
            channel_kind=ChannelKind.DIRECT,
            asker=user,
            asker_kind=(await self.person(user)).kind,
            groups=await self._groups_of(user),
        )

    async def _kind(self, asked: Asked) -> ChannelKind:
        if asked.is_shared:
            return ChannelKind.SHARED
        try:
            return await self._channels.get(asked.channel, lambda: self._read_channel(asked.channel))
        except FootnoteError as error:
            logger.warning("cannot look up a Slack channel, taken for a shared one: %s", error)
            return ChannelKind.SHARED

    async def _read_person(self, user: str) -> Person:
        found = await call(self._web.patient, "users.info", user=user, include_locale=True)
        data = found.get("user") or {}
        kind = self._person_kind(data)
        is_admin = any(data.get(flag) is True for flag in ("is_admin", "is_owner", "is_primary_owner"))
        usable = kind is AskerKind.MEMBER and not data.get("deleted") and not data.get("is_bot")
        return Person(
            id=user,
            kind=kind,
            is_admin=is_admin and usable and data.get("id") == user,
            language=str(data.get("locale") or "").split("-")[0],
            name=str((data.get("profile") or {}).get("display_name") or data.get("real_name") or ""),
        )

    def _person_kind(self, data: Mapping[str, Any]) -> AskerKind:
        enterprise = (data.get("enterprise_user") or {}).get("enterprise_id")
        ours = data.get("team_id") == self._team or (self._enterprise and enterprise == self._enterprise)
        if not ours or data.get("is_stranger"):
            return AskerKind.EXTERNAL
        if data.get("is_restricted") or data.get("is_ultra_restricted"):
            return AskerKind.GUEST
        return AskerKind.MEMBER

    async def _read_channel(self, channel: str) -> ChannelKind:
        found = await call(self._web.patient, "conversations.info", channel=channel)
        data = found.get("channel") or {}
        if data.get("is_ext_shared") or data.get("is_pending_ext_shared") or data.get("pending_shared"):
            return ChannelKind.SHARED
        if data.get("is_im"):
            return ChannelKind.DIRECT
        if data.get("is_private") or data.get("is_mpim") or data.get("is_group"):
            return ChannelKind.PRIVATE
        return ChannelKind.PUBLIC if data.get("is_channel") else ChannelKind.SHARED

    async def _groups_of(self, user: str) -> frozenset[str]:
        """User groups; none where the scope usergroups:read was not granted."""
        try:
            members = await self._groups.get("", self._read_groups)
        except FootnoteError:
            self._groups.put("", {})
            return frozenset()
        return frozenset(group for group, users in members.items() if user in users)

    async def _read_groups(self) -> Mapping[str, frozenset[str]]:
        found = await call(self._web.patient, "usergroups.list", include_users=True)
        return {
            str(group["id"]): frozenset(group.get("users") or []) for group in found.get("usergroups") or []
        }


class _Remembered(Generic[T]):
    """Values under keys for some seconds, read once however many ask; the oldest are dropped first."""

    def __init__(self, clock: Clock, *, seconds: float) -> None:
        self._clock = clock
        self._for = timedelta(seconds=seconds)
        self._values: OrderedDict[str, tuple[datetime, T]] = OrderedDict()
        self._locks: dict[str, asyncio.Lock] = {}

    async def get(self, key: str, read: Callable[[], Awaitable[T]]) -> T:
        lock = self._locks.setdefault(key, asyncio.Lock())
        try:
            async with lock:
                known = self._values.get(key)
                if known is not None and known[0] > self._clock.now():
                    return known[1]
                return self.put(key, await read())
        finally:
            if not lock.locked():
                self._locks.pop(key, None)

    def put(self, key: str, value: T) -> T:
        self._values[key] = (self._clock.now() + self._for, value)
        self._values.move_to_end(key)
        if len(self._values) > _KEPT:
            self._values.popitem(last=False)
        return value
