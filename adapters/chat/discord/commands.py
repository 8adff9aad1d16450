"""The commands and menus that Footnote offers in Discord."""

import logging
from collections.abc import Sequence
from typing import Any

import discord
from discord import app_commands

from adapters.chat.discord.administering import Administering
from adapters.chat.discord.asking import from_interaction
from adapters.chat.discord.calls import ACK_SECONDS, call
from adapters.chat.discord.escaping import plain
from adapters.chat.discord.judging import Judging
from adapters.chat.discord.splitting import cut
from adapters.chat.discord.taking import Taking
from core.errors import FootnoteError
from core.ports.chat import ResyncKind

logger = logging.getLogger(__name__)

CHOICES = 25
CHOICE_LENGTH = 100
MANAGE_SERVER = discord.Permissions(manage_guild=True)


Interaction = discord.Interaction[Any]


def add_asking(tree: app_commands.CommandTree[Any], taking: Taking) -> None:
    """``/ask`` and "Answer this", for everybody."""

    @app_commands.allowed_installs(guilds=True, users=False)
    @app_commands.allowed_contexts(guilds=True, dms=True, private_channels=False)
    @app_commands.describe(question="What you would like to know", private="Show the answer to you alone")
    @tree.command(name="ask", description="Ask the wiki a question")
    async def ask(interaction: Interaction, question: str, private: bool = False) -> None:
        asked = from_interaction(interaction, question, private=private)
        await taking.command(interaction, asked)

    @ask.autocomplete("question")
    async def declared(_: Interaction, __: str) -> list[app_commands.Choice[str]]:
        # Tells Discord that there are suggestions; `offer` gives them before the library would ask here.
        return []

    @app_commands.allowed_installs(guilds=True, users=False)
    @app_commands.allowed_contexts(guilds=True, dms=True, private_channels=False)
    @tree.context_menu(name="Answer this")
    async def answer_this(interaction: Interaction, message: discord.Message) -> None:
        await taking.menu(interaction, message)


async def offer(interaction: Interaction, taking: Taking) -> None:
    """Suggestions for what is being typed. One that comes too late, or second, is no failure."""
    typed = str(getattr(interaction.namespace, "question", None) or "")
    found = choices(await taking.suggest(interaction, typed))
    try:
        await call("suggesting", interaction.response.autocomplete(found), seconds=ACK_SECONDS)
    except FootnoteError as error:
        logger.info("a suggestion came to nothing: %s", error)


def choices(texts: Sequence[str]) -> list[app_commands.Choice[str]]:
    """At most 25 different texts of at most 100 characters, none of them blank."""
    fitting: dict[str, str] = {}
    for text in texts:
        value = cut(plain(text, limit=CHOICE_LENGTH), CHOICE_LENGTH)
        if any(character.isprintable() and not character.isspace() for character in value):
            fitting.setdefault(value.casefold(), value)
    return [app_commands.Choice(name=text, value=text) for text in tuple(fitting.values())[:CHOICES]]


def add_keeping(tree: app_commands.CommandTree[Any], judging: Judging) -> None:
    """ "Keep as answer", for what an expert wrote."""

    @app_commands.allowed_installs(guilds=True, users=False)
    @app_commands.allowed_contexts(guilds=True, dms=False, private_channels=False)
    @tree.context_menu(name="Keep as answer")
    async def keep(interaction: Interaction, message: discord.Message) -> None:
        await judging.keep(interaction, message)


def add_administering(tree: app_commands.CommandTree[Any], administering: Administering) -> None:
    """The administrators' verbs: hidden from others by default, and checked again when they run."""

    @tree.command(name="resync", description="Read what changed in Notion")
    @app_commands.describe(full="Read everything, not only what changed")
    async def resync(interaction: Interaction, full: bool = False) -> None:
        await administering.resync(interaction, ResyncKind.FULL if full else ResyncKind.CHANGES)

    @tree.command(name="reembed", description="Make all vectors again")
    async def reembed(interaction: Interaction) -> None:
        await administering.resync(interaction, ResyncKind.REEMBED)

    @tree.command(name="status", description="Show how the index is")
    async def status(interaction: Interaction) -> None:
        await administering.status(interaction)

    @tree.command(name="gaps", description="Show what was asked and not answered well")
    async def gaps(interaction: Interaction) -> None:
        await administering.gaps(interaction)

    @tree.command(name="scope", description="Show which pages this channel sees")
    async def scope(interaction: Interaction) -> None:
        await administering.scope(interaction)

    @tree.command(name="why", description="Explain what is known of one page")
    @app_commands.describe(link="A link to the page, or its id")
    async def why(interaction: Interaction, link: str) -> None:
        await administering.why(interaction, link)

    for command in (resync, reembed, status, gaps, scope, why):
        command.default_permissions = MANAGE_SERVER
        command.guild_only = True
        command.allowed_installs = app_commands.AppInstallationType(guild=True, user=False)
        command.allowed_contexts = app_commands.AppCommandContext(guild=True, dm_channel=False)
