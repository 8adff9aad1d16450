"""Points the library at other addresses than Discord's: the one thing about it that is set from outside."""

import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from adapters.chat.discord.settings import DiscordSettings


def point_at(settings: DiscordSettings) -> None:
    """Use the addresses of the settings, for all clients of this process."""
    Route.BASE = settings.base_url.rstrip("/")
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(settings.gateway_url)
