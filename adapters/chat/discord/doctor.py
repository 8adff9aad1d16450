"""What ``footnote check`` tells of Discord: the token, the invite link, what the portal has granted."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import discord

from adapters.chat.discord.addresses import point_at
from adapters.chat.discord.calls import CallError, call
from adapters.chat.discord.settings import DiscordSettings
from adapters.chat.reaching import remedy
from core.errors import ConfigurationError, FootnoteError, RefusedError
from core.ports.chat import StatusCheck

logger = logging.getLogger(__name__)

PERMISSIONS = discord.Permissions(
    view_channel=True,
    send_messages=True,
    send_messages_in_threads=True,
    create_public_threads=True,
    embed_links=True,
    attach_files=True,
    read_message_history=True,
)
"""Answer in channels and threads, show charts, and read back what was said in a thread; nothing else."""

SCOPES = ("bot", "applications.commands")


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the token belongs to, what the portal lets it do, and which servers of the settings miss it."""

    application: int
    name: str
    may_read_messages: bool
    is_public: bool
    missing_guilds: tuple[int, ...] = ()


def invite_link(application: int) -> str:
    """Where an administrator adds the bot to a server, with exactly the permissions it needs."""
    return discord.utils.oauth_url(application, permissions=PERMISSIONS, scopes=SCOPES)


async def identify(settings: DiscordSettings) -> Identity:
    """Ask Discord who we are, without connecting to the gateway.

    Raises:
        RefusedError: the token is not accepted.
        UnavailableError, CallError: Discord cannot be asked.
    """
    point_at(settings)
    async with discord.Client(intents=discord.Intents.none()) as client:
        try:
            await call("logging in", client.login(settings.token))
        except discord.LoginFailure as error:
            raise RefusedError(
                "Discord does not accept DISCORD_TOKEN: copy the token from the developer portal, page Bot"
            ) from error
        application = await call("reading the application", client.application_info())
        flags = application.flags
        return Identity(
            application=application.id,
            name=application.name,
            may_read_messages=flags.gateway_message_content or flags.gateway_message_content_limited,
            is_public=application.bot_public,
            missing_guilds=tuple([one for one in settings.guild_ids if not await _is_in(client, one)]),
        )


async def _is_in(client: discord.Client, guild: int) -> bool:
    try:
        await call("reading a server", client.fetch_guild(guild, with_counts=False))
    except CallError:
        return False
    return True


async def check(settings: DiscordSettings) -> Sequence[StatusCheck]:
    """The checks of one Discord application. Never raises."""
    try:
        found = await identify(settings)
    except (FootnoteError, ConfigurationError) as error:
        return (
            StatusCheck(
                name="Discord token",
                ok=False,
                detail=str(error),
                remedy=remedy(
                    error, if_refused="copy the token from the developer portal, page Bot, into DISCORD_TOKEN"
                ),
            ),
        )
    return (
        StatusCheck(name="Discord token", ok=True, detail=f"{found.name} ({found.application})"),
        StatusCheck(name="Discord permissions", ok=True, detail=str(PERMISSIONS.value)),
        StatusCheck(name="Discord invite link", ok=True, detail=invite_link(found.application)),
        _servers_check(settings, found),
        intent_check(settings, found),
    )


def _servers_check(settings: DiscordSettings, found: Identity) -> StatusCheck:
    """Whether the bot is in the servers of the settings; without any, whether strangers could add it."""
    name = "Discord servers"
    if found.missing_guilds:
        missing = ", ".join(map(str, found.missing_guilds))
        return StatusCheck(
            name=name,
            ok=False,
            detail=f"the bot is not in {missing}",
            remedy="open the invite link as an administrator of that server, or correct DISCORD_GUILD_IDS",
        )
    if settings.guild_ids:
        return StatusCheck(name=name, ok=True, detail=f"the bot is in all {len(settings.guild_ids)} of them")
    if found.is_public:
        return StatusCheck(
            name=name,
            ok=False,
            detail="anybody can add the bot to a server of theirs, and whoever manages that administers it",
            remedy="switch Public Bot off in the developer portal, page Bot, or set DISCORD_GUILD_IDS",
        )
    return StatusCheck(
        name=name, ok=True, detail="any that its owner adds it to (DISCORD_GUILD_IDS is not set)"
    )


def intent_check(settings: DiscordSettings, found: Identity) -> StatusCheck:
    """Whether what the settings ask for was granted; without it, mentions and commands still work."""
    if not settings.message_content:
        return StatusCheck(name="Discord message content", ok=True, detail="not asked for, not needed")
    if found.may_read_messages:
        return StatusCheck(name="Discord message content", ok=True, detail="granted")
    return StatusCheck(
        name="Discord message content",
        ok=False,
        detail="asked for, but not granted: follow-ups in threads need a mention",
        remedy="switch on Message Content Intent in the developer portal, page Bot",
    )
