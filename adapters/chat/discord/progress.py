"""A resync as people see it: one message that changes, for as long as the run takes and whoever shows it."""

import asyncio
import logging
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from typing import Self

import discord

from adapters.chat.discord.asking import PLATFORM
from adapters.chat.discord.calls import CLOSED, EXPIRED, CallError, call
from adapters.chat.discord.components import NO_MENTIONS
from adapters.chat.discord.progress_texts import INTERRUPTED, progress_text
from adapters.chat.holding import held
from core.errors import FootnoteError
from core.ports import Clock
from core.ports.chat import AbandonedClaim, Administration, ClaimKey, Claims, ClaimState

logger = logging.getLogger(__name__)

PROGRESS_SECONDS = 3.0
LAST_WORD_SECONDS = 3.0
TOKEN_MARGIN = 50.0
"""How long a token can still be used when `DiscordSettings.token_seconds` have passed."""

MOST_MESSAGES = 20
"""About one run in one channel: a run that went silent and was asked for again gets another message."""

NOTHING_SHOWN = "-"
RUN = "run"
"""In a claim's payload: what is to be done is to follow this run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressPlace:
    """The command that asked for a run, as it survives in a claim; all ids are Discord's."""

    event: str
    application: str
    token: str = field(repr=False)
    channel: str
    guild: str
    user: str

    @classmethod
    def of(cls, interaction: discord.Interaction) -> Self:
        """The place of a command in a server."""
        return cls(
            event=str(interaction.id),
            application=str(interaction.application_id),
            token=interaction.token,
            channel=str(interaction.channel_id or 0),
            guild=str(interaction.guild_id or 0),
            user=str(interaction.user.id),
        )

    @classmethod
    def from_payload(cls, payload: Mapping[str, str]) -> Self:
        """What was claimed; raises TypeError where fields are missing."""
        return cls(**{name: text for name, text in payload.items() if name in cls.__slots__})


class ProgressMessage:
    """One message that changes: the response to the command, and before its expiry one in the channel.

    Where the bot may not write in the channel, it goes on in the direct messages of whoever asked. ``shown``
    names the message for the next process: ``:id`` of a response, else ``channel:id``.
    """

    def __init__(
        self,
        place: ProgressPlace,
        *,
        client: discord.Client,
        clock: Clock,
        token_seconds: float,
        shown: str = "",
    ) -> None:
        self.place = place
        self.shown = shown
        self._client = client
        self._clock = clock
        asked = discord.utils.snowflake_time(int(place.event))
        self._until = asked + timedelta(seconds=token_seconds)
        self._gone = asked + timedelta(seconds=token_seconds + TOKEN_MARGIN)
        self._is_expired = False
        self._webhook = discord.Webhook.partial(int(place.application), place.token, client=client)

    async def show(self, text: str) -> None:
        """Show a text where the message is, or move it first.

        Raises:
            FootnoteError: it can be shown nowhere at the moment.
        """
        channel, _, message = self.shown.partition(":")
        if channel:
            moved = self._client.get_partial_messageable(int(channel)).get_partial_message(int(message))
            await call("showing progress", moved.edit(content=text, allowed_mentions=NO_MENTIONS))
            return
        if not self._is_expired and self._clock.now() < self._until:
            try:
                await self._respond(text)
            except CallError as error:
                if error.code not in EXPIRED:
                    raise
                logger.info("progress moves to the channel: %s", error)
                self._is_expired = True
            else:
                return
        await self._move(text)

    async def try_to_show(self, text: str) -> None:
        """Progress that cannot be shown must not end the following of it."""
        try:
            await self.show(text)
        except FootnoteError as error:
            logger.warning("progress cannot be shown: %s", error)

    async def _respond(self, text: str) -> None:
        """Edit the response; the first one takes the place of "thinking"."""
        if response := self.shown.removeprefix(":"):
            editing = self._webhook.edit_message(int(response), content=text, allowed_mentions=NO_MENTIONS)
            await call("showing progress", editing)
            return
        sending = self._webhook.send(text, wait=True, allowed_mentions=NO_MENTIONS, suppress_embeds=True)
        self.shown = f":{(await call('showing progress', sending)).id}"

    async def _move(self, text: str) -> None:
        place = self.place
        try:
            channel = self._client.get_partial_messageable(int(place.channel), guild_id=int(place.guild))
            posted = await self._post(channel, text)
        except CallError as error:
            if error.code not in CLOSED:
                raise
            logger.info("progress cannot be shown in the channel: %s", error)
            user = await call("looking up a user", self._client.fetch_user(int(place.user)))
            direct = await call("opening a direct message", user.create_dm())
            posted = await self._post(self._client.get_partial_messageable(direct.id), text)
        if self.shown and not self._is_expired and self._clock.now() < self._gone:
            with suppress(FootnoteError):
                # Nobody should wait below a message that changes no more.
                await self._respond(f"→ {posted.jump_url}")
        self.shown = f"{posted.channel.id}:{posted.id}"

    async def _post(self, channel: discord.PartialMessageable, text: str) -> discord.PartialMessage:
        sending = channel.send(text, allowed_mentions=NO_MENTIONS, suppress_embeds=True)
        return channel.get_partial_message((await call("posting progress", sending)).id)


class Following:
    """Shows runs in messages. Who follows one holds a claim on it, so that one message a channel shows it."""

    def __init__(
        self,
        *,
        client: discord.Client,
        administration: Administration,
        claims: Claims,
        clock: Clock,
        token_seconds: float,
        lease_seconds: float,
    ) -> None:
        self._client = client
        self._administration = administration
        self._claims = claims
        self._clock = clock
        self._token_seconds = token_seconds
        self._lease = lease_seconds

    def message(self, place: ProgressPlace, *, shown: str = "") -> ProgressMessage:
        """The message of a command, wherever it is by now."""
        return ProgressMessage(
            place, client=self._client, clock=self._clock, token_seconds=self._token_seconds, shown=shown
        )

    async def follow(self, run_id: int, message: ProgressMessage) -> None:
        """Show a run until it ends; nothing where another message in the channel shows it."""
        payload = {RUN: str(run_id), **asdict(message.place)}
        for number in range(1, MOST_MESSAGES + 1):
            key = ClaimKey(platform=PLATFORM, event=f"run:{run_id}:{message.place.channel}:{number}")
            state = await self._claims.claim(key, payload=payload, lease_seconds=self._lease)
            if state is ClaimState.TAKEN:
                await self._show(key, run_id, message)
            if state is not ClaimState.DONE:
                return

    async def go_on(self, claim: AbandonedClaim) -> None:
        """Go on with the message of a process that ended."""
        place = ProgressPlace.from_payload(claim.payload)
        await self._show(claim.key, int(claim.payload[RUN]), self.message(place, shown=claim.reply))

    async def _show(self, key: ClaimKey, run_id: int, message: ProgressMessage) -> None:
        noted, shown, last = "", 0.0, None
        try:
            async with held(self._claims, key, lease_seconds=self._lease):
                async for progress in self._administration.follow(run_id):
                    last = progress
                    if message.shown != noted:
                        noted = message.shown
                        await self._claims.extend(key, lease_seconds=self._lease, reply=noted)
                    if not progress.finished and time.monotonic() - shown >= PROGRESS_SECONDS:
                        shown = time.monotonic()
                        await message.try_to_show(progress_text(progress))
                if last is not None:
                    await message.try_to_show(progress_text(last))
            await self._claims.done(key, reply=message.shown or NOTHING_SHOWN)
        except asyncio.CancelledError:
            await self._hand_over(
                key, message, f"{progress_text(last)}\n{INTERRUPTED}" if last else INTERRUPTED
            )
            raise
        except FootnoteError as error:
            # Whoever takes the claim over tries again.
            logger.warning("run %d cannot be followed: %s", run_id, error)

    async def _hand_over(self, key: ClaimKey, message: ProgressMessage, text: str) -> None:
        """The next process goes on in the same message."""
        with suppress(FootnoteError, TimeoutError):
            async with asyncio.timeout(LAST_WORD_SECONDS):
                await message.try_to_show(text)
        with suppress(FootnoteError, TimeoutError):
            async with asyncio.timeout(LAST_WORD_SECONDS):
                await self._claims.extend(key, lease_seconds=0, reply=message.shown)
