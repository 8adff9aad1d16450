"""Who may see what, decided from the rules that an administrator has written down. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never

from core.domain.audiences import EVERYTHING, NOTHING, Audience, Scope
from core.domain.places import AskerKind, ChannelKind, Place

CONSOLE = "console"
"""The command line: whoever can start it can read the database."""

Scopes = tuple[Scope, ...]


@dataclass(frozen=True, slots=True)
class NamedScope:
    """A scope with what people call it: ``Handbook minus Salaries``."""

    scope: Scope
    label: str


@dataclass(frozen=True, slots=True)
class PlatformRules:
    """What the places and people of one platform may see; all ids are the platform's own.

    ``default`` is for channels that nobody mapped, ``public`` for guests, for channels that reach beyond the
    workspace, and for direct messages of people nobody mapped. ``workspaces`` holds for all members of a
    workspace and all its channels that are not mapped themselves. ``shared_channels`` takes the place of
    ``public`` in a channel that reaches beyond the workspace. ``may_ask`` and ``ask_in`` allow everybody and
    every place where they are null. ``digest`` is the channel that is told of gaps every week.
    """

    default: Scopes = ()
    public: Scopes = ()
    workspaces: Mapping[str, Scopes] = field(default_factory=dict)
    channels: Mapping[str, Scopes] = field(default_factory=dict)
    shared_channels: Mapping[str, Scopes] = field(default_factory=dict)
    groups: Mapping[str, Scopes] = field(default_factory=dict)
    people: Mapping[str, Scopes] = field(default_factory=dict)
    may_ask: frozenset[str] | None = None
    ask_in: frozenset[str] | None = None
    admins: frozenset[str] = frozenset()
    digest: str = ""


@dataclass(frozen=True, slots=True)
class AudienceRules:
    """Everything that was written down; implements `core.ports.chat.Audiences`. Without rules: nothing."""

    scopes: Mapping[str, NamedScope] = field(default_factory=dict)
    platforms: Mapping[str, PlatformRules] = field(default_factory=dict)

    def audience_for(self, place: Place) -> Audience:
        """What channel and asker may both see; a reply that only the asker reads goes by the asker alone."""
        if place.platform == CONSOLE:
            return EVERYTHING
        if (rules := self.platforms.get(place.platform)) is None:
            return NOTHING
        if place.channel_kind is ChannelKind.DIRECT:
            return _audience(place, (_own(rules, place),))
        by_class = _class_of_asker(rules, place)
        return _audience(place, (*_channel(rules, place), *([] if by_class is None else [by_class])))

    def channel_audience(self, place: Place) -> Audience:
        """What everybody who can read the channel may see; for a direct message, what the asker may see."""
        if place.platform == CONSOLE:
            return EVERYTHING
        if (rules := self.platforms.get(place.platform)) is None:
            return NOTHING
        if place.channel_kind is ChannelKind.DIRECT:
            return self.audience_for(place)
        return _audience(place, _channel(rules, place))

    def may_ask(self, place: Place) -> bool:
        """Whether somebody of the list asks, in a place of the list."""
        if place.platform == CONSOLE:
            return True
        if (rules := self.platforms.get(place.platform)) is None:
            return False
        who = {place.asker, place.asker_kind.value, f"{place.asker_kind.value}s", *place.groups}
        direct = place.channel_kind is ChannelKind.DIRECT
        where = {place.workspace, "direct" if direct else place.channel} - {""}
        allowed_who = rules.may_ask is None or not who.isdisjoint(rules.may_ask)
        allowed_where = rules.ask_in is None or not where.isdisjoint(rules.ask_in)
        return allowed_who and allowed_where

    def explain(self, place: Place) -> str:
        """``C042 in T1 sees: Engineering, Handbook minus Salaries``, and why."""
        audience = self.audience_for(place)
        subject = _name(place)
        if audience.is_empty:
            return f"{subject} sees: nothing ({self._why(place)})"
        seen = "; and of that only: ".join(
            ", ".join(self._label(scope) for scope in group) for group in audience.groups
        )
        asking = "" if self.may_ask(place) else "; but nobody like this may ask here"
        return f"{subject} sees: {seen} ({self._why(place)}){asking}"

    def is_admin(self, place: Place) -> bool:
        """Whether the file names the asker, or one of the asker's groups, as an administrator."""
        rules = self.platforms.get(place.platform)
        return rules is not None and not rules.admins.isdisjoint({place.asker, *place.groups})

    def _label(self, scope: Scope) -> str:
        named = self.scopes.get(scope.name)
        return named.label if named is not None else scope.name

    def _why(self, place: Place) -> str:
        rules = self.platforms.get(place.platform)
        if place.platform == CONSOLE:
            return "the command line reads all that was synced"
        if rules is None:
            return f"no [{place.platform}] section is in force"
        if place.channel_kind is ChannelKind.DIRECT:
            return _why_own(rules, place)
        reason = _why_channel(rules, place)
        return reason if place.asker_kind is AskerKind.MEMBER else f"{reason}; {place.asker_kind}s: public"


def _audience(place: Place, groups: tuple[Scopes, ...]) -> Audience:
    return Audience(name=_name(place), groups=groups)


def _name(place: Place) -> str:
    if place.channel_kind is ChannelKind.DIRECT:
        subject = f"{place.asker} alone"
    else:
        subject = place.channel or "a channel without id"
    return f"{subject} in {place.workspace}" if place.workspace else subject


def _channel(rules: PlatformRules, place: Place) -> tuple[Scopes, ...]:
    """The channel's groups of scopes; one that reaches beyond the workspace gets no more than strangers."""
    match place.channel_kind:
        case ChannelKind.SHARED:
            if place.channel in rules.shared_channels:
                return (rules.shared_channels[place.channel],)
            mapped = rules.channels.get(place.channel)
            return (rules.public,) if mapped is None else (mapped, rules.public)
        case ChannelKind.PUBLIC | ChannelKind.PRIVATE:
            return (_first(rules.default, rules.channels, place.channel, rules.workspaces, place.workspace),)
        case ChannelKind.DIRECT:
            return (_own(rules, place),)
        case _:
            assert_never(place.channel_kind)


def _class_of_asker(rules: PlatformRules, place: Place) -> Scopes | None:
    """What the asker's class may see in a channel; null where it limits nothing."""
    match place.asker_kind:
        case AskerKind.MEMBER:
            return None
        case AskerKind.GUEST:
            return (*rules.public, *rules.people.get(place.asker, ()))
        case AskerKind.EXTERNAL:
            shared = place.channel_kind is ChannelKind.SHARED and place.channel in rules.shared_channels
            return None if shared else rules.public
        case _:
            assert_never(place.asker_kind)


def _own(rules: PlatformRules, place: Place) -> Scopes:
    """What a person may see where nobody else reads along."""
    by_name = rules.people.get(place.asker)
    match place.asker_kind:
        case AskerKind.MEMBER:
            sources = (
                by_name,
                *(rules.groups.get(group) for group in sorted(place.groups)),
                rules.workspaces.get(place.workspace),
            )
            mapped = [scopes for scopes in sources if scopes is not None]
            return _united(mapped) if mapped else rules.public
        case AskerKind.GUEST:
            # Groups and the workspace are made for colleagues; a guest counts only if named.
            return rules.public if by_name is None else by_name
        case AskerKind.EXTERNAL:
            return rules.public
        case _:
            assert_never(place.asker_kind)


def _why_own(rules: PlatformRules, place: Place) -> str:
    if place.asker_kind is AskerKind.EXTERNAL:
        return "people of other workspaces: public"
    if place.asker_kind is AskerKind.GUEST:
        return f"people.{place.asker}" if place.asker in rules.people else "guests: public"
    reasons = [
        *([f"people.{place.asker}"] if place.asker in rules.people else []),
        *(f"groups.{group}" for group in sorted(place.groups) if group in rules.groups),
        *([f"workspaces.{place.workspace}"] if place.workspace in rules.workspaces else []),
    ]
    return ", ".join(reasons) or "a person nobody mapped: public"


def _why_channel(rules: PlatformRules, place: Place) -> str:
    if place.channel_kind is ChannelKind.SHARED:
        if place.channel in rules.shared_channels:
            return f"shared_channels.{place.channel}"
        return "reaches beyond the workspace: public"
    if place.channel in rules.channels:
        return f"channels.{place.channel}"
    if place.workspace in rules.workspaces:
        return f"workspaces.{place.workspace}"
    return "a channel nobody mapped: default"


def _first(
    fallback: Scopes,
    channels: Mapping[str, Scopes],
    channel: str,
    workspaces: Mapping[str, Scopes],
    workspace: str,
) -> Scopes:
    if channel in channels:
        return channels[channel]
    return workspaces.get(workspace, fallback)


def _united(groups: list[Scopes]) -> Scopes:
    return tuple(dict.fromkeys(scope for group in groups for scope in group))
