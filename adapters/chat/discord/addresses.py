"""Points the library at other addresses than Discord's: the one thing about it that is set from outside."""

import logging

import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from adapters.chat.discord.settings import DiscordSettings


class _AboutVoice(logging.Filter):
    """Drops the library's warnings that nothing is installed for speaking, which we never do."""

    def filter(self, record: logging.LogRecord) -> bool:
        return "voice will NOT be supported" not in record.getMessage()


_ABOUT_VOICE = _AboutVoice()


def point_at(settings: DiscordSettings) -> None:
    """Use the addresses of the settings, for all clients of this process."""
    logging.getLogger("discord.client").addFilter(_ABOUT_VOICE)
    Route.BASE = settings.base_url.rstrip("/")
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(settings.gateway_url)
