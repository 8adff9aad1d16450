"""The rules in words: what each mapped place sees, for `footnote check` and `footnote scope`."""

from collections.abc import Iterator

from bot.scopes.reading import FootnoteFile
from core.domain.ids import PageId
from core.domain.places import AskerKind, ChannelKind, Place
from core.services.audiences import AudienceRules, PlatformRules, Scopes

FIRST_LINES = """[scopes.all]
include = "everything"
[slack]            # or [discord]
default = ["all"]  # channels that nobody mapped
[slack.workspaces] # or [discord.guilds]: direct messages and private replies
# T0123456 = ["all"]  # with the id of yours"""
"""What to write to begin with: members in any channel see everything that was synced, strangers nothing."""


def mappings(rules: AudienceRules) -> Iterator[str]:
    """One line for each mapping, in the order of the file's sections."""
    for platform, own in rules.platforms.items():
        yield from (f"{platform}: {line}" for line in _of_platform(rules, platform, own))


def mentioned_pages(file: FootnoteFile) -> dict[str, frozenset[PageId]]:
    """The pages and data sources that each scope names."""
    return {
        name: (named.scope.include or frozenset()) | named.scope.exclude
        for name, named in file.rules.scopes.items()
    }


def _of_platform(rules: AudienceRules, platform: str, own: PlatformRules) -> Iterator[str]:
    yield f"channels nobody mapped see: {_labels(rules, own.default)}"
    yield f"guests, shared channels and people nobody mapped see: {_labels(rules, own.public)}"
    for workspace in own.workspaces:
        place = Place(platform, workspace, "", ChannelKind.DIRECT, "anybody")
        yield rules.explain(place)
    for channel in own.channels:
        yield rules.explain(Place(platform, "", channel, ChannelKind.PUBLIC, "anybody"))
    for channel in own.shared_channels:
        yield rules.explain(Place(platform, "", channel, ChannelKind.SHARED, "anybody", AskerKind.EXTERNAL))
    for group in own.groups:
        yield f"members of {group} see, where nobody reads along: {_labels(rules, own.groups[group])}"
    for person in own.people:
        yield rules.explain(Place(platform, "", "", ChannelKind.DIRECT, person))
    if own.digest:
        yield f"the weekly digest of gaps goes to {own.digest}"
    if own.may_ask is not None:
        yield f"only these may ask: {', '.join(sorted(own.may_ask)) or 'nobody'}"
    if own.ask_in is not None:
        yield f"and only here: {', '.join(sorted(own.ask_in)) or 'nowhere'}"


def _labels(rules: AudienceRules, scopes: Scopes) -> str:
    return ", ".join(rules.scopes[scope.name].label for scope in scopes) or "nothing"
