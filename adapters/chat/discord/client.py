"""The library's client with our handlers: what Discord delivers goes to whom it concerns."""

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Awaitable
from typing import Any

import discord
from discord import app_commands

from adapters.chat.discord.administering import Administering
from adapters.chat.discord.answering import Answering
from adapters.chat.discord.asking import PLATFORM
from adapters.chat.discord.calls import ALREADY_ACKNOWLEDGED, EXPIRED, CallError
from adapters.chat.discord.commands import add_administering, add_asking, add_keeping, offer
from adapters.chat.discord.components import NO_MENTIONS, question_of
from adapters.chat.discord.custom_ids import Button, Pressed, read_button_id
from adapters.chat.discord.directory import Directory
from adapters.chat.discord.judging import Judging
from adapters.chat.discord.marking import Marking
from adapters.chat.discord.parts import Parts
from adapters.chat.discord.progress import RUN, Following
from adapters.chat.discord.registering import CommandRecords, Registering
from adapters.chat.discord.settings import DiscordSettings
from adapters.chat.discord.taking import Taking
from adapters.chat.discord.texts import Text, say
from adapters.chat.discord.whispering import whisper
from adapters.chat.running import Running

logger = logging.getLogger(__name__)

REGISTER_SECONDS = 10.0
TAKE_OVER_LIMIT = 10


def intents_for(*, message_content: bool) -> discord.Intents:
    """Servers, their messages and direct messages; nothing that must be granted, unless asked for."""
    intents = discord.Intents.none()
    intents.guilds = True
    intents.guild_messages = True
    intents.dm_messages = True
    intents.message_content = message_content
    return intents


class Tree(app_commands.CommandTree["FootnoteClient"]):
    """The command tree whose failures reach the user as one short message, and the log with an id."""

    async def interaction_check(self, interaction: discord.Interaction["FootnoteClient"], /) -> bool:
        """As the library calls it before anything else.

        Suggestions are given here and end here: the library takes one that comes too late for an error.
        """
        if interaction.type is discord.InteractionType.autocomplete:
            await offer(interaction, interaction.client.taking)
            return False
        return True

    async def on_error(
        self, interaction: discord.Interaction["FootnoteClient"], error: app_commands.AppCommandError, /
    ) -> None:
        """As the library calls it."""
        cause = error.original if isinstance(error, app_commands.CommandInvokeError) else error
        await report(interaction, cause)


class FootnoteClient(discord.AutoShardedClient):
    """Footnote's connection to Discord, with all shards of one bot."""

    def __init__(
        self, parts: Parts, *, settings: DiscordSettings, records: CommandRecords, **options: Any
    ) -> None:
        super().__init__(
            intents=options.pop("intents", None) or intents_for(message_content=settings.message_content),
            allowed_mentions=NO_MENTIONS,
            shard_count=settings.shards,
            chunk_guilds_at_startup=False,
            max_messages=None,
            heartbeat_timeout=settings.heartbeat_seconds,
            guild_ready_timeout=settings.guild_seconds,
            **options,
        )
        self._settings = settings
        self.running = Running()
        self.marking = Marking(client=self, replies=parts.replies)
        directory = Directory(self, settings=settings, clock=parts.clock)
        self._claims = parts.claims
        self._following = Following(
            client=self,
            administration=parts.administration,
            claims=parts.claims,
            clock=parts.clock,
            token_seconds=settings.token_seconds,
            lease_seconds=settings.lease_seconds,
        )
        self.answering = Answering(
            client=self,
            settings=settings,
            answerer=parts.answerer,
            claims=parts.claims,
            audiences=parts.audiences,
            directory=directory,
            clock=parts.clock,
            running=self.running,
            marking=self.marking,
        )
        self.taking = Taking(
            client=self,
            settings=settings,
            answering=self.answering,
            audiences=parts.audiences,
            directory=directory,
            clock=parts.clock,
            suggestions=parts.suggestions,
            running=self.running,
        )
        self._judging = Judging(
            client=self,
            settings=settings,
            feedback=parts.feedback,
            claims=parts.claims,
            editors=parts.editors,
        )
        administering = Administering(
            settings=settings,
            administration=parts.administration,
            audiences=parts.audiences,
            following=self._following,
            running=self.running,
        )
        self.tree = Tree(self)
        add_asking(self.tree, self.taking)
        add_keeping(self.tree, self._judging)
        add_administering(self.tree, administering)
        self._registered: asyncio.Task[None] | None = None
        self.registering = Registering(self.tree, guild_ids=settings.guild_ids, records=records)

    async def take_over(self) -> None:
        """Go on with what other processes left behind: questions, and messages that show a sync."""
        if self.running.is_draining:
            return
        abandoned = await self._claims.take_over(
            PLATFORM, lease_seconds=self._settings.lease_seconds, limit=TAKE_OVER_LIMIT
        )
        for claim in abandoned:
            if RUN in claim.payload:
                self.running.start_show(self._following.go_on(claim))
            else:
                self.running.start(self.answering.take_over(claim))

    async def setup_hook(self) -> None:
        """Called by the library once, after login and before it connects.

        Commands should be there when we are; but nobody waits long for them, since mentions need none.
        """
        self._registered = asyncio.create_task(self.registering.run())
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.registering.tried.wait(), timeout=REGISTER_SECONDS)

    async def close(self) -> None:
        """As the library calls it too, when it gives a connection up: running answers end first."""
        if self._registered is not None:
            self._registered.cancel()
        await self.running.drain(self._settings.drain_seconds)
        await super().close()

    # --- what Discord delivers ---

    async def on_message(self, message: discord.Message) -> None:
        """As the library calls it."""
        with self.running.handling():
            await self.taking.message(message)

    async def on_guild_join(self, guild: discord.Guild) -> None:
        """As the library calls it."""
        await self.registering.joined(guild.id)

    async def on_interaction(self, interaction: discord.Interaction[Any]) -> None:
        """Buttons and modals, known by their custom ids alone, so they survive restarts."""
        if interaction.type not in (discord.InteractionType.component, discord.InteractionType.modal_submit):
            return
        data: Any = interaction.data or {}
        pressed = read_button_id(str(data.get("custom_id") or ""))
        if pressed is None:
            return
        if not is_genuine(interaction, pressed, bot=self.user):
            logger.warning("refused: %d used a button that is not there", interaction.user.id)
            return
        is_modal = interaction.type is discord.InteractionType.modal_submit
        with self.running.handling():
            await reported(interaction, self._react(interaction, pressed, is_modal=is_modal))

    async def on_error(self, event_method: str, /, *args: Any, **kwargs: Any) -> None:  # noqa: ARG002 - the library calls it so
        """What failed in a handler, without what it was called with: that holds people's words."""
        logger.exception("something in Discord could not be done (%s)", event_method)

    async def _react(
        self, interaction: discord.Interaction[Any], pressed: Pressed, *, is_modal: bool
    ) -> None:
        match pressed.button, is_modal:
            case Button.GOOD | Button.BAD, False:
                await self._judging.thumb(interaction, pressed)
            case Button.BAD, True:
                await self._judging.reason(interaction, pressed)
            case Button.CONTINUE, False:
                await self.taking.ask_on(interaction, pressed)
            case Button.CONTINUE, True:
                await self.taking.go_on(interaction)
            case Button.EXPERT, False:
                await self._judging.call_expert(interaction, pressed)
            case Button.AGAIN, False:
                await self.taking.again(interaction, pressed)
            case Button.SHARE, False:
                await self.taking.share(interaction, pressed)
            case _:
                logger.info("an unknown component was used")


def is_genuine(
    interaction: discord.Interaction[Any], pressed: Pressed, *, bot: discord.abc.User | None
) -> bool:
    """Whether the message below which something was pressed or opened is ours and about that question.

    Discord checks presses against the message, but takes what a modal's custom id says from the client.
    """
    message = interaction.message
    if message is None or bot is None or message.author.id != bot.id:
        return False
    return question_of(message) == pressed.question


async def reported(interaction: discord.Interaction[Any], work: Awaitable[None]) -> None:
    """Do something for an interaction; whatever fails is told briefly, and logged with an id."""
    try:
        await work
    except Exception as error:  # noqa: BLE001 - nobody else would hear of it
        await report(interaction, error)


async def report(interaction: discord.Interaction[Any], error: BaseException) -> None:
    """One short message to the user and the whole story in the log, tied by an id (DSC-9)."""
    if isinstance(error, CallError) and error.code in EXPIRED:
        logger.warning("interaction %d came too late: %s", interaction.id, error)
        return
    if isinstance(error, CallError) and error.code == ALREADY_ACKNOWLEDGED:
        logger.info("interaction %d is another process's", interaction.id)
        return
    incident = secrets.token_hex(4)
    logger.error("interaction %d failed, incident %s", interaction.id, incident, exc_info=error)
    await whisper(interaction, say(Text.FAILED, str(interaction.locale.value), id=incident))
