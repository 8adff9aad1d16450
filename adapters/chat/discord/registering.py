"""Tells Discord which commands there are, only when the set changed since it was told."""

import asyncio
import hashlib
import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import discord
from discord import app_commands

from adapters.chat.discord.calls import call
from core.errors import FootnoteError, TemporaryError

logger = logging.getLogger(__name__)

AGAIN_SECONDS = 600.0
"""After Discord was away, or made us wait too long."""

_GLOBAL = "global"


class CommandRecords(Protocol):
    """Remembers between starts which set of commands was registered last, by application and server."""

    async def get(self, key: str) -> str:
        """The hash of the set, empty if it is not known."""

    async def put(self, key: str, value: str) -> None:
        """Remember it."""

    async def keys(self) -> Sequence[str]:
        """Everything that is remembered."""


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

    async def keys(self) -> Sequence[str]:
        """As the protocol says."""
        return tuple(self._read())

    def _read(self) -> dict[str, str]:
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) else {}


class Registering:
    """Registers a tree's commands where they changed.

    With ``guild_ids`` they belong to those servers, where they appear at once. The global set is emptied
    then, and so are those of servers that are named no longer, so that nothing is offered twice.
    """

    def __init__(
        self, tree: app_commands.CommandTree[Any], *, guild_ids: Sequence[int], records: CommandRecords
    ) -> None:
        self._tree = tree
        self._records = records
        self._guilds = [discord.Object(guild_id) for guild_id in guild_ids]
        self.tried = asyncio.Event()
        for guild in self._guilds:
            tree.copy_global_to(guild=guild)
        if self._guilds:
            tree.clear_commands(guild=None)

    async def run(self) -> None:
        """Register all that changed; what Discord does not take for the moment later again.

        ``tried`` is set once everything was tried. A failure stops nothing: old commands go on working, and a
        bot without new ones is better than none (DSC-6).
        """
        while True:
            missing = [guild for guild in await self._places() if not await self._register_in(guild)]
            self.tried.set()
            if not missing:
                return
            await asyncio.sleep(AGAIN_SECONDS)

    async def joined(self, guild_id: int) -> None:
        """A server that the bot is added to knows nothing of what was registered there before."""
        guild = next((one for one in self._guilds if one.id == guild_id), None)
        if guild is not None:
            await self._records.put(self._key(guild), "")
            await self._register_in(guild)

    async def _places(self) -> Sequence[discord.Object | None]:
        """Everywhere and the servers named now, and behind them those that were named before."""
        named = {guild.id for guild in self._guilds}
        application = f"{self._tree.client.application_id or 0}:"
        known = [
            key.removeprefix(application) for key in await self._records.keys() if key.startswith(application)
        ]
        former = sorted({int(one) for one in known if one.isdecimal()} - named)
        return (None, *self._guilds, *(discord.Object(one) for one in former))

    def _key(self, guild: discord.Object | None) -> str:
        return f"{self._tree.client.application_id or 0}:{guild.id if guild else _GLOBAL}"

    async def _register_in(self, guild: discord.Object | None) -> bool:
        """False if it should be tried again."""
        key = self._key(guild)
        wanted = fingerprint(self._tree, self._tree.get_commands(guild=guild))
        if await self._records.get(key) == wanted:
            return True
        try:
            registered = await call("registering commands", self._tree.sync(guild=guild))
        except FootnoteError as error:
            logger.warning("commands could not be registered (%s): %s", key, error)
            return not isinstance(error, TemporaryError)
        await self._records.put(key, wanted)
        logger.info("%d commands are registered (%s)", len(registered), key)
        return True


def fingerprint(tree: app_commands.CommandTree[Any], commands: Sequence[Any]) -> str:
    """Changes with anything that Discord is told of the commands."""
    told = sorted(json.dumps(command.to_dict(tree), sort_keys=True, default=str) for command in commands)
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:16]
