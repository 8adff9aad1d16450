"""Tells Discord which commands there are, only when the set changed since it was told."""

import hashlib
import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import discord
from discord import app_commands

from adapters.chat.discord.calls import call
from core.errors import FootnoteError

logger = logging.getLogger(__name__)


class CommandRecords(Protocol):
    """Remembers between starts which set of commands was registered last, by application and server."""

    async def get(self, key: str) -> str:
        """The hash of the set, empty if it is not known."""

    async def put(self, key: str, value: str) -> None:
        """Remember it."""


class FileRecords:
    """Records in one small JSON file; a file that is lost or broken means one registration more."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def get(self, key: str) -> str:
        """As the protocol says."""
        return self._read().get(key, "")

    async def put(self, key: str, value: str) -> None:
        """As the protocol says."""
        records = self._read() | {key: value}
        unfinished = self._path.with_suffix(".new")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            unfinished.write_text(json.dumps(records, indent=1), encoding="utf-8")
            unfinished.replace(self._path)
        except OSError as error:
            logger.warning("which commands are registered cannot be noted: %s", error)

    def _read(self) -> dict[str, str]:
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) else {}


async def register(
    tree: app_commands.CommandTree[Any], *, guild_ids: Sequence[int], records: CommandRecords
) -> int:
    """Register the tree's commands where they changed; returns how many calls it took. Never raises.

    With ``guild_ids`` the commands belong to those servers, where they appear at once, and the global set
    is emptied, so that none is offered twice.
    """
    guilds = [discord.Object(guild_id) for guild_id in guild_ids]
    for guild in guilds:
        tree.copy_global_to(guild=guild)
    if guilds:
        tree.clear_commands(guild=None)
    return sum([await _register_in(tree, guild, records) for guild in (None, *guilds)])


def fingerprint(tree: app_commands.CommandTree[Any], commands: Sequence[Any]) -> str:
    """Changes with anything that Discord is told of the commands."""
    told = sorted(json.dumps(command.to_dict(tree), sort_keys=True, default=str) for command in commands)
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:16]


async def _register_in(
    tree: app_commands.CommandTree[Any], guild: discord.Object | None, records: CommandRecords
) -> int:
    key = f"{tree.client.application_id or 0}:{guild.id if guild else 'global'}"
    wanted = fingerprint(tree, tree.get_commands(guild=guild))
    if await records.get(key) == wanted:
        return 0
    try:
        registered = await call("registering commands", tree.sync(guild=guild))
    except FootnoteError as error:
        # Old commands go on working; a bot without new ones is better than none.
        logger.warning("commands could not be registered (%s): %s", key, error)
        return 1
    await records.put(key, wanted)
    logger.info("%d commands are registered (%s)", len(registered), key)
    return 1
