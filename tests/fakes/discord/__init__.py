"""A Discord for tests: as strict as the original where that matters, and easy to provoke.

`FakeDiscord` holds servers and people and serves the REST API (version 10) and the gateway on loopback; the
real client is pointed at it by addresses alone. Written from Discord's documented shapes.
"""

from tests.fakes.discord.people import ImpossibleError, People
from tests.fakes.discord.server import Call, FakeDiscord, Fault, running_discord
from tests.fakes.discord.world import (
    APPLICATION,
    BOT_TOKEN,
    BOT_USER,
    Channel,
    Guild,
    Interaction,
    Message,
    Role,
    User,
    World,
    buttons,
    shown_text,
)

__all__ = [
    "APPLICATION",
    "BOT_TOKEN",
    "BOT_USER",
    "Call",
    "Channel",
    "FakeDiscord",
    "Fault",
    "Guild",
    "ImpossibleError",
    "Interaction",
    "Message",
    "People",
    "Role",
    "User",
    "World",
    "buttons",
    "running_discord",
    "shown_text",
]
