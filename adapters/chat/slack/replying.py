"""One reply as it comes into being: a status, text that streams, and the finished messages."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from enum import Enum, auto

from adapters.chat.slack import blocks
from adapters.chat.slack.asking import Asked
from adapters.chat.slack.escaping import escaped, inert
from adapters.chat.slack.finding import INTENDED, begun_metadata, find_reply, metadata
from adapters.chat.slack.mrkdwn import mrkdwn
from adapters.chat.slack.render import POSTED, REFUSED_BLOCKS, UPDATED, Message, Room, notice, plain_messages
from adapters.chat.slack.settings import Pace
from adapters.chat.slack.splitting import split
from adapters.chat.slack.texts import Text, say
from adapters.chat.slack.web import CallError, SlackWeb
from core.errors import FootnoteError, RateLimitedError, UnavailableError

logger = logging.getLogger(__name__)

STREAM_LENGTH = 11_000
"""Characters of a streamed message; Slack takes 12,000."""

NO_STREAMS_SECONDS = 3600.0
"""How long streaming is not tried again where the workspace does not have it."""

Render = Callable[[Room], tuple[Message, ...]]
"""Draws the finished reply for the room that its first message has."""


class _Mode(Enum):
    SILENT = auto()
    """Nothing was posted yet."""
    STREAM = auto()
    EDIT = auto()
    """A message of ours is replaced as it grows."""


class Reply:
    """The `core.ports.Progress` of one question, and its end.

    What is shown in between is left out whenever Slack limits it; what is shown at the end is not. ``begun``
    is told when the first message is about to be posted, and its ts as soon as there is one.
    """

    def __init__(
        self,
        web: SlackWeb,
        asked: Asked,
        *,
        language: str,
        pace: Pace,
        begun: Callable[[str], Awaitable[None]],
        bot_user: str,
        existing: str = "",
    ) -> None:
        self._web = web
        self._bot_user = bot_user
        self._asked = asked
        self._language = language
        self._pace = pace
        self._begun = begun
        self._mode = _Mode.EDIT if existing else _Mode.SILENT
        self.ts = existing
        self._is_streaming = bool(existing)
        self._wanted = ""
        self._shown = ""
        self._fresh = asyncio.Event()
        self._closing = asyncio.Event()
        self._pump: asyncio.Task[None] | None = None
        self._has_status = False

    # --- core.ports.Progress ---

    async def stage(self, name: str) -> None:
        """Say under the thread what is being done."""
        status = Text.WRITING if name == "write" else Text.SEARCHING
        self._has_status = True
        await self._web.set_status(
            channel=self._asked.channel, thread=self._asked.thread, status=say(status, self._language)
        )

    async def text(self, so_far: str) -> None:
        """Note what can be shown; a task of its own shows it, so that Slack never slows the writing."""
        self._wanted = inert(so_far)
        self._fresh.set()
        if self._pump is None:
            self._pump = asyncio.create_task(self._show_as_it_grows())

    # --- the end ---

    async def finish(self, render: Render) -> str:
        """Show the outcome; returns the ts of its first message."""
        await self._settle()
        if self._mode is _Mode.SILENT:
            return await self._post_all(render(POSTED))
        if self._is_streaming:
            await self._stop(render(UPDATED)[-1])
        return await self._replace(render)

    async def say_instead(self, text: str) -> str:
        """One line in place of an answer; ``text`` is mrkdwn."""
        return await self.finish(lambda _: (notice(text),))

    async def interrupt(self) -> str:
        """We are being stopped: say so where the reply will be, for whoever goes on with it."""
        line = notice(escaped(say(Text.RESTARTING, self._language)))
        await self._settle()
        if self._mode is _Mode.SILENT:
            self.ts = await self._post_unfinished(line)
            return self.ts
        if self._is_streaming:
            await self._stop(None)
        await self._web.update(channel=self._asked.channel, ts=self.ts, message=line)
        return self.ts

    async def close(self) -> None:
        """Leave no task and no status behind."""
        await self._settle()
        if self._has_status:
            await self._web.set_status(channel=self._asked.channel, thread=self._asked.thread, status="")

    # --- in between ---

    async def _show_as_it_grows(self) -> None:
        if await self._is_closing_within(self._pace.quick):
            return
        while not self._closing.is_set():
            await self._fresh.wait()
            self._fresh.clear()
            if self._closing.is_set() or not self._wanted:
                continue
            try:
                await self._show()
            except RateLimitedError as error:
                await self._is_closing_within(error.retry_after or self._pace.edit)
            except FootnoteError as error:
                logger.info("an answer cannot be shown as it grows: %s", error)
                return
            await self._is_closing_within(
                self._pace.stream if self._mode is _Mode.STREAM else self._pace.edit
            )

    async def _show(self) -> None:
        match self._mode:
            case _Mode.SILENT:
                await self._begin()
            case _Mode.STREAM:
                await self._append()
            case _Mode.EDIT:
                if self._web.edits.take():
                    await self._web.edit(channel=self._asked.channel, ts=self.ts, message=self._preview())
                    self._shown = self._wanted

    async def _begin(self) -> None:
        if self._web.stream_calls.is_closed:
            await self._begin_edited()
            return
        if not self._web.streams.take():
            # Many ask at once: their answers are posted whole, with one call each.
            return
        text = self._wanted[:STREAM_LENGTH]
        await self._begun(INTENDED)
        try:
            ts = await self._web.start_stream(
                channel=self._asked.channel,
                thread=self._asked.thread,
                team=self._asked.team,
                user=self._asked.user,
                text=text,
            )
        except UnavailableError:
            # Perhaps it began all the same: then it must not be left open.
            if not (ts := await self._begun_unheard()):
                raise
        except RateLimitedError as error:
            self._web.streams.close(error.retry_after or self._pace.edit)
            return
        except CallError as error:
            logger.info("streaming is not to be had here: %s", error)
            self._web.stream_calls.close(NO_STREAMS_SECONDS)
            await self._begin_edited()
            return
        self._mode, self._is_streaming, self._shown, self.ts = _Mode.STREAM, True, text, ts
        self._has_status = False  # Slack takes it away with our next message.
        await self._begun(ts)

    async def _begin_edited(self) -> None:
        if not self._web.edited.take():
            return
        wanted = self._wanted
        self.ts = await self._post_unfinished(self._preview())
        self._mode, self._shown = _Mode.EDIT, wanted
        await self._begun(self.ts)

    async def _append(self) -> None:
        wanted = self._wanted[:STREAM_LENGTH]
        # A checked text may change its mind; what was streamed cannot, and the end replaces it all.
        if not wanted.startswith(self._shown) or wanted == self._shown:
            return
        try:
            await self._web.append(channel=self._asked.channel, ts=self.ts, text=wanted[len(self._shown) :])
        except CallError as error:
            # The stream expired: the message stays, and is edited from here on.
            logger.info("a stream ended early: %s", error)
            self._mode, self._is_streaming = _Mode.EDIT, False
            return
        self._shown = wanted

    def _preview(self) -> Message:
        piece = split(self._wanted, limit=UPDATED.markdown, size=UPDATED.size)[0]
        return Message(
            text=mrkdwn(piece)[: UPDATED.markdown // 4] or "…", blocks=(blocks.markdown(f"{piece} …"),)
        )

    # --- endings ---

    async def _settle(self) -> None:
        """Let the call that is under way end: its ts must not be lost."""
        self._closing.set()
        self._fresh.set()
        if self._pump is not None:
            pump, self._pump = self._pump, None
            await asyncio.gather(pump, return_exceptions=True)

    async def _is_closing_within(self, seconds: float) -> bool:
        try:
            await asyncio.wait_for(self._closing.wait(), timeout=seconds)
        except TimeoutError:
            return False
        return True

    async def _stop(self, last: Message | None) -> None:
        """End the stream whole: the rest of the text and the sources, should the edit that follows fail."""
        self._is_streaming = False
        wanted = self._wanted[:STREAM_LENGTH]
        rest = wanted[len(self._shown) :] if wanted.startswith(self._shown) else ""
        shown = [block for block in last.blocks if block["type"] != "markdown"] if last is not None else []
        try:
            await self._web.stop_stream(channel=self._asked.channel, ts=self.ts, text=rest, blocks=shown)
        except FootnoteError as error:
            logger.info("a stream could not be ended: %s", error)

    async def _replace(self, render: Render) -> str:
        """Make the message that was begun the first of the finished ones."""
        first, *others = render(UPDATED)
        of = len(others) + 1
        try:
            await self._update_plainly(first, of=of)
        except CallError as error:
            logger.warning("the message of a reply could not be replaced: %s", error)
            await self._discard()
            return await self._post_all(render(POSTED))
        for part, message in enumerate(others, start=2):
            await self._post_plainly(message, part=part, of=of)
        return self.ts

    async def _discard(self) -> None:
        try:
            await self._web.delete(channel=self._asked.channel, ts=self.ts)
        except FootnoteError as error:
            logger.info("a replaced message could not be deleted: %s", error)

    async def _update_plainly(self, message: Message, *, of: int) -> None:
        marked = metadata(self._asked, of=of)
        try:
            await self._web.update(channel=self._asked.channel, ts=self.ts, message=message, metadata=marked)
        except CallError as error:
            if error.code not in REFUSED_BLOCKS:
                raise
            first, *others = plain_messages((message,))
            await self._web.update(channel=self._asked.channel, ts=self.ts, message=first, metadata=marked)
            for other in others:
                await self._post(other)

    async def _post_all(self, messages: tuple[Message, ...]) -> str:
        for part, message in enumerate(messages, start=1):
            ts = await self._post_plainly(message, part=part, of=len(messages))
            if part == 1:
                self.ts = ts
                await self._begun(ts)
        return self.ts

    async def _post_plainly(self, message: Message, *, part: int, of: int) -> str:
        """Post; where Slack refuses the blocks, the same in the plainest form."""
        try:
            return await self._post(message, part=part, of=of)
        except CallError as error:
            if error.code not in REFUSED_BLOCKS:
                raise
            logger.warning("Slack refused the blocks of a reply (%s); posted plainly", error.code)
        first, *others = plain_messages((message,))
        ts = await self._post(first, part=part, of=of)
        for other in others:
            await self._post(other)
        return ts

    async def _post(self, message: Message, *, part: int = 0, of: int = 0) -> str:
        """Post once; after a connection that broke, look whether it was accepted before doing it again.

        Without a ``part`` the message belongs to the one before.
        """
        where = self._asked
        marked = metadata(where, part=part, of=of) if part else None
        self._has_status = False  # Slack takes it away with our next message.
        try:
            return await self._web.post(
                channel=where.channel, message=message, thread=where.thread, metadata=marked
            )
        except UnavailableError:
            found = await find_reply(self._web, where, bot_user=self._bot_user)
            if part in found.parts:
                return found.parts[part]
            return await self._web.post(
                channel=where.channel, message=message, thread=where.thread, metadata=marked
            )

    async def _post_unfinished(self, message: Message) -> str:
        """Post what will be replaced, marked so that it is found again."""
        self._has_status = False
        marked = begun_metadata(self._asked)
        await self._begun(INTENDED)
        try:
            return await self._web.post(
                channel=self._asked.channel, message=message, thread=self._asked.thread, metadata=marked
            )
        except UnavailableError:
            if not (ts := await self._begun_unheard()):
                raise
            return ts

    async def _begun_unheard(self) -> str:
        """The message that Slack took though we did not hear of it; empty if there is none."""
        found = await find_reply(self._web, self._asked, bot_user=self._bot_user)
        return found.begun[0] if found.begun else ""
