"""Discord, with Discord's own manners: commands, mentions, menus, threads, components, buttons."""

from adapters.chat.discord.chat import DiscordChat
from adapters.chat.discord.doctor import check
from adapters.chat.discord.registering import CommandRecords, FileRecords
from adapters.chat.discord.settings import DiscordSettings

__all__ = ["CommandRecords", "DiscordChat", "DiscordSettings", "FileRecords", "check"]
