"""Discord as one thing to run: connects, listens, answers, drains."""

import asyncio
import contextlib
import logging
from dataclasses import replace
from pathlib import Path

import discord

from adapters.chat.discord.addresses import point_at
from adapters.chat.discord.calls import call
from adapters.chat.discord.client import FootnoteClient
from adapters.chat.discord.digesting import post_digests
from adapters.chat.discord.doctor import identify, intent_check
from adapters.chat.discord.judging import PageEditors
from adapters.chat.discord.parts import Parts
from adapters.chat.discord.registering import CommandRecords, FileRecords
from adapters.chat.discord.settings import DiscordSettings
from core.errors import ConfigurationError, FootnoteError, RefusedError, TemporaryError, UnavailableError
from core.ports import Answerer, Clock
from core.ports.chat import Administration, Audiences, Claims, Digests, Feedback, Suggestions
from core.ports.replies import GivenReplies

logger = logging.getLogger(__name__)

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
CLOSE_SECONDS = 10.0
RECORDS = Path(".footnote") / "discord-commands.json"


class DiscordChat:
    """Footnote in Discord. Several processes may run it side by side on the same claims."""

    def __init__(  # noqa: PLR0913 - one port each, given by name at one place
        self,
        settings: DiscordSettings,
        *,
        answerer: Answerer,
        claims: Claims,
        audiences: Audiences,
        feedback: Feedback,
        administration: Administration,
        clock: Clock,
        suggestions: Suggestions | None = None,
        editors: PageEditors | None = None,
        records: CommandRecords | None = None,
        digests: Digests | None = None,
        replies: GivenReplies | None = None,
    ) -> None:
        self._settings = settings
        self._parts = Parts(
            answerer=answerer,
            claims=claims,
            audiences=audiences,
            feedback=feedback,
            administration=administration,
            clock=clock,
            suggestions=suggestions,
            editors=editors,
            digests=digests,
            replies=replies,
        )
        self._records = records or FileRecords(RECORDS)
        self.ready = asyncio.Event()

    async def run(self, stop: asyncio.Event) -> None:
        """Serve until ``stop`` is set, then take nothing more and let running answers end.

        Raises:
            RefusedError: Discord does not accept the token.
            ConfigurationError: Discord refuses what the settings ask for.
        """
        point_at(self._settings)
        pause = FIRST_PAUSE
        while not stop.is_set():
            self.ready.clear()
            try:
                await self._serve(stop)
            except TemporaryError as error:
                logger.warning("%s; trying again in %.0f s", error, pause)
                await _wait(stop, pause)
                pause = FIRST_PAUSE if self.ready.is_set() else min(pause * 2, LONGEST_PAUSE)

    def make_client(self, settings: DiscordSettings) -> FootnoteClient:
        """A client that is not connected yet."""
        return FootnoteClient(self._parts, settings=settings, records=self._records)

    async def _serve(self, stop: asyncio.Event) -> None:
        """One connected client, until stopped or until the library gives up.

        Raises:
            RefusedError, ConfigurationError: Discord does not want us.
            UnavailableError: the connection ended.
        """
        client = await self._prepared(stop)
        if client is None:
            return
        try:
            connecting = asyncio.create_task(client.connect(reconnect=True))
            watching = asyncio.create_task(self._look_after(client, stop))
            stopping = asyncio.create_task(stop.wait())
            try:
                tasks = {connecting, watching, stopping}
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                if connecting.done():
                    _explain(connecting)
                if watching.done():
                    # A bot that looks after nothing any more must not go on as if it did.
                    watching.result()
            finally:
                for task in (watching, stopping):
                    task.cancel()
                await asyncio.gather(watching, stopping, return_exceptions=True)
                await self._close(client)
                connecting.cancel()
                await asyncio.gather(connecting, return_exceptions=True)
        finally:
            if not client.is_closed():
                await self._close(client)

    async def _prepared(self, stop: asyncio.Event) -> FootnoteClient | None:
        """A client that is logged in; null if we were stopped before Discord answered."""
        preparing = asyncio.create_task(self._logged_in())
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({preparing, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
            if not preparing.done():
                preparing.cancel()
                await asyncio.gather(preparing, return_exceptions=True)
        return None if preparing.cancelled() else preparing.result()

    async def _logged_in(self) -> FootnoteClient:
        client = self.make_client(await self._granted())
        try:
            await self._log_in(client)
        except BaseException:
            await client.close()
            raise
        return client

    async def _granted(self) -> DiscordSettings:
        """The settings without what the portal has not granted: better less than no bot (F64)."""
        if not self._settings.message_content:
            return self._settings
        found = await identify(self._settings)
        checked = intent_check(self._settings, found)
        if checked.ok:
            return self._settings
        logger.warning("Discord: %s. To change that, %s", checked.detail, checked.remedy)
        return replace(self._settings, message_content=False)

    async def _log_in(self, client: FootnoteClient) -> None:
        try:
            await call("logging in", client.login(self._settings.token))
        except discord.LoginFailure as error:
            raise RefusedError(
                "Discord does not accept DISCORD_TOKEN: copy the token from the developer portal, page Bot"
            ) from error

    async def _close(self, client: FootnoteClient) -> None:
        """Also lets running answers end; those that take too long are handed over."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(client.close(), timeout=self._settings.drain_seconds + CLOSE_SECONDS)

    async def _look_after(self, client: FootnoteClient, stop: asyncio.Event) -> None:
        """Once connected and until stopped, take over what others left behind, and post what is due."""
        await client.wait_until_ready()
        self.ready.set()
        logger.info("Discord is connected as %s, %d shards", client.user, client.shard_count)
        while not stop.is_set():
            try:
                await client.take_over()
                if self._parts.digests is not None:
                    await post_digests(client, self._parts.digests)
                await client.marking.mark_changed()
            except FootnoteError as error:
                logger.warning("abandoned questions and digests cannot be looked for: %s", error)
            await _wait(stop, self._settings.lease_seconds / 4)


def _explain(connecting: "asyncio.Task[None]") -> None:
    """Why the library ended by itself, as one of ours.

    Raises:
        ConfigurationError: the portal has not granted an intent.
        RefusedError: the token was reset.
        UnavailableError: anything else; another attempt may help.
    """
    error = connecting.exception()
    if isinstance(error, discord.PrivilegedIntentsRequired):
        raise ConfigurationError(
            "Discord refuses the intents: switch on Message Content Intent in the developer portal, "
            "page Bot, or DISCORD_MESSAGE_CONTENT off"
        ) from error
    if isinstance(error, discord.LoginFailure) or (
        isinstance(error, discord.ConnectionClosed) and error.code == 4004  # noqa: PLR2004 - authentication failed
    ):
        raise RefusedError("Discord does not accept DISCORD_TOKEN any more") from error
    raise UnavailableError(f"Discord: the connection ended ({type(error).__name__})") from error


async def _wait(event: asyncio.Event, seconds: float) -> None:
    """Until the event, but no longer."""
    try:
        await asyncio.wait_for(event.wait(), timeout=seconds)
    except TimeoutError:
        return
