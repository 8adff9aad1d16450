"""A resync as people see it: one message that changes, for as long as the run takes."""

import asyncio
import logging
import time
from contextlib import suppress
from datetime import timedelta
from enum import Enum, auto

import discord

from adapters.chat.discord.calls import CLOSED, EXPIRED, CallError, call
from adapters.chat.discord.components import NO_MENTIONS
from adapters.chat.discord.escaping import escaped, plain
from core.errors import FootnoteError
from core.ports import Clock
from core.ports.chat import Administration, ResyncTicket, SyncProgress

logger = logging.getLogger(__name__)

PROGRESS_SECONDS = 3.0
LAST_WORD_SECONDS = 3.0
TOKEN_MARGIN = 50.0
"""How long a token can still be used when `DiscordSettings.token_seconds` have passed."""

INTERRUPTED = (
    "This process is being restarted; the sync itself goes on. `/status` and `/resync` show how far it is."
)


class _Where(Enum):
    """Where the message is now; it only ever moves downwards."""

    INTERACTION = auto()
    CHANNEL = auto()
    DIRECT = auto()


class ProgressMessage:
    """One message that changes: the response to the command, and before its expiry one in the channel.

    Where the bot may not write in the channel, it goes on in the direct messages of whoever asked.
    """

    def __init__(
        self,
        interaction: discord.Interaction,
        *,
        client: discord.Client,
        clock: Clock,
        token_seconds: float,
    ) -> None:
        self._interaction = interaction
        self._client = client
        self._clock = clock
        self._until = interaction.created_at + timedelta(seconds=token_seconds)
        self._where = _Where.INTERACTION
        self._moved: discord.PartialMessage | None = None

    @property
    def channel(self) -> int:
        """Where it was asked for."""
        return self._interaction.channel_id or 0

    async def show(self, text: str) -> None:
        """Show a text where the message is, or move it first.

        Raises:
            FootnoteError: it can be shown nowhere at the moment.
        """
        if self._where is _Where.INTERACTION and self._clock.now() >= self._until:
            self._where = _Where.CHANNEL
        if self._where is _Where.INTERACTION:
            try:
                await self._respond(text)
            except CallError as error:
                if error.code not in EXPIRED:
                    raise
                logger.info("progress moves to the channel: %s", error)
                self._where = _Where.CHANNEL
            else:
                return
        if self._moved is not None:
            await call("showing progress", self._moved.edit(content=text, allowed_mentions=NO_MENTIONS))
            return
        await self._move(text)

    async def try_to_show(self, text: str) -> None:
        """Progress that cannot be shown must not end the following of it."""
        try:
            await self.show(text)
        except FootnoteError as error:
            logger.warning("progress cannot be shown: %s", error)

    async def _respond(self, text: str) -> None:
        editing = self._interaction.edit_original_response(content=text, allowed_mentions=NO_MENTIONS)
        await call("showing progress", editing)

    async def _move(self, text: str) -> None:
        if self._where is _Where.CHANNEL:
            try:
                guild = self._interaction.guild_id
                channel = self._client.get_partial_messageable(self.channel, guild_id=guild)
                posted = await self._post(channel, text)
            except CallError as error:
                if error.code not in CLOSED:
                    raise
                logger.info("progress cannot be shown in the channel: %s", error)
                self._where = _Where.DIRECT
        if self._where is _Where.DIRECT:
            direct = await call("opening a direct message", self._interaction.user.create_dm())
            posted = await self._post(self._client.get_partial_messageable(direct.id), text)
        self._moved = posted
        if self._clock.now() < self._until + timedelta(seconds=TOKEN_MARGIN):
            with suppress(FootnoteError):
                # Nobody should wait below a message that changes no more.
                await self._respond(f"→ {posted.jump_url}")

    async def _post(self, channel: discord.PartialMessageable, text: str) -> discord.PartialMessage:
        sending = channel.send(text, allowed_mentions=NO_MENTIONS, suppress_embeds=True)
        return channel.get_partial_message((await call("posting progress", sending)).id)


class Following:
    """Shows runs: one message in a channel for each; a second request there is merely told that it joined."""

    def __init__(self, administration: Administration) -> None:
        self._administration = administration
        self._followed: set[tuple[int, int]] = set()

    async def follow(self, ticket: ResyncTicket, message: ProgressMessage) -> None:
        """Until the run ends, or this process does: then the message says so."""
        key = (ticket.run_id, message.channel)
        if key in self._followed:
            return
        self._followed.add(key)
        shown, last = 0.0, None
        try:
            async for progress in self._administration.follow(ticket.run_id):
                last = progress
                if not progress.finished and time.monotonic() - shown >= PROGRESS_SECONDS:
                    shown = time.monotonic()
                    await message.try_to_show(progress_text(progress))
            if last is not None:
                await message.try_to_show(progress_text(last))
        except asyncio.CancelledError:
            await _last_word(message, f"{progress_text(last)}\n{INTERRUPTED}" if last else INTERRUPTED)
            raise
        except FootnoteError as error:
            logger.warning("run %d cannot be followed: %s", ticket.run_id, error)
            await _last_word(
                message, "How far the sync is cannot be read at the moment; `/status` shows it later."
            )
        finally:
            self._followed.discard(key)


async def _last_word(message: ProgressMessage, text: str) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(message.try_to_show(text), timeout=LAST_WORD_SECONDS)


def ticket_text(ticket: ResyncTicket) -> str:
    """What a request for a resync led to."""
    if not ticket.joined:
        return f"Sync {ticket.run_id} begins; this message shows its progress."
    upgraded = " It became a full one." if ticket.upgraded else ""
    return f"A sync is running already (run {ticket.run_id}); yours joined it.{upgraded}"


def progress_text(progress: SyncProgress) -> str:
    """How far a run is, with a bar where the total is known."""
    count = f"{progress.done}" if progress.total is None else f"{progress.done} of {progress.total}"
    failed = f", {progress.failed} failed" if progress.failed else ""
    if progress.finished:
        sign = "⚠️" if progress.failed else "✅"
        head = f"{sign} Sync {progress.run_id} ({progress.kind}) is done: {count} pages{failed}."
    else:
        bar = _bar(progress.done, progress.total)
        head = f"⏳ Sync {progress.run_id} ({progress.kind}): {bar}{count} pages{failed} …"
    return f"{head}\n{escaped(plain(progress.message, limit=500))}".strip()


def _bar(done: int, total: int | None) -> str:
    if not total:
        return ""
    filled = min(10, done * 10 // total)
    return "▰" * filled + "▱" * (10 - filled) + " "
