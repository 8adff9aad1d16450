"""Permissions as bits, and how roles and overwrites add up to them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

CREATE_INVITE = 1 << 0
ADMINISTRATOR = 1 << 3
MANAGE_GUILD = 1 << 5
VIEW_CHANNEL = 1 << 10
SEND_MESSAGES = 1 << 11
EMBED_LINKS = 1 << 14
ATTACH_FILES = 1 << 15
READ_HISTORY = 1 << 16
USE_COMMANDS = 1 << 31
MANAGE_THREADS = 1 << 34
CREATE_THREADS = 1 << 35
SEND_IN_THREADS = 1 << 38

EVERYTHING = (1 << 52) - 1
MEMBER = (
    VIEW_CHANNEL
    | SEND_MESSAGES
    | EMBED_LINKS
    | ATTACH_FILES
    | READ_HISTORY
    | USE_COMMANDS
    | CREATE_THREADS
    | SEND_IN_THREADS
)
"""What everybody may do in a new server."""


@dataclass(frozen=True, slots=True)
class Overwrite:
    """What a channel allows or denies a role (or a member, by the same ids)."""

    allow: int = 0
    deny: int = 0


def base(everyone: int, roles: Iterable[int], *, is_owner: bool) -> int:
    """The permissions of a member in the whole server."""
    total = everyone
    for role in roles:
        total |= role
    return EVERYTHING if is_owner or total & ADMINISTRATOR else total


def in_channel(
    total: int, overwrites: Mapping[int, Overwrite], *, guild: int, roles: Iterable[int], user: int
) -> int:
    """The permissions of a member in one channel: everybody's overwrite, then roles', then the member's."""
    if total & ADMINISTRATOR:
        return EVERYTHING
    total = _apply(total, overwrites.get(guild))
    mine = [overwrites[role] for role in roles if role in overwrites]
    deny = allow = 0
    for overwrite in mine:
        deny |= overwrite.deny
        allow |= overwrite.allow
    total = total & ~deny | allow
    total = _apply(total, overwrites.get(user))
    return total if total & VIEW_CHANNEL else 0


def _apply(total: int, overwrite: Overwrite | None) -> int:
    return total if overwrite is None else total & ~overwrite.deny | overwrite.allow
