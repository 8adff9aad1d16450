"""One reply as it comes into being: "thinking", text that grows by edits, and the finished messages."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import ParamSpec, TypeVar

from adapters.chat.discord.calls import INVALID_FORM, UNKNOWN_MESSAGE, CallError
from adapters.chat.discord.reaching import Surfaces
from adapters.chat.discord.render import Layout, Message, Plain, Reply, as_layouts, as_plain, preview
from adapters.chat.discord.surfaces import GoneError, Surface
from core.errors import FootnoteError, RateLimitedError, UnavailableError

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

QUICK_SECONDS = 0.4
"""An answer that is complete so soon is posted whole."""

PATIENCE = 5
PAUSE_SECONDS = 2.0

DELIVERY_SECONDS = 5.0
"""For the end of a delivery, when whoever delivers has to stop."""

TYPING_SECONDS = 8.0
"""Discord shows typing for ten."""


class Replying:
    """The `core.ports.Progress` of one question, and its end.

    What is shown in between is left out whenever it cannot be shown; what is shown at the end is not.
    ``begun`` is told the id of the first message as soon as there is one. Where one of the ``surfaces`` takes
    nothing more, the whole reply goes to the next; behind the last one nothing is shown.
    """

    def __init__(
        self,
        surfaces: Surfaces,
        *,
        begun: Callable[[str], Awaitable[None]],
        existing: str = "",
        question: str = "",
        layout: bool = True,
        edit_seconds: float = 1.5,
    ) -> None:
        self._surfaces = surfaces
        self._begun = begun
        self._question = question
        self._layout = layout
        self._edit_seconds = edit_seconds
        self.first = existing
        self._wanted = ""
        self._shown = ""
        self._fresh = asyncio.Event()
        self._closing = asyncio.Event()
        self._pump: asyncio.Task[None] | None = None
        self._busy: asyncio.Task[None] | None = None
        self._first_is_layout = False
        self.is_finished = False
        self._numbered_from = 0

    # --- core.ports.Progress ---

    async def stage(self, name: str) -> None:  # noqa: ARG002 - Discord shows one state: busy
        """Show that something is being done."""
        if self._busy is None and not self.first and self._surface and not self._surface.shows_busy:
            self._busy = asyncio.create_task(self._look_busy())

    async def text(self, so_far: str) -> None:
        """Note what can be shown; a task of its own shows it, so that Discord never slows the writing."""
        self._wanted = so_far
        self._fresh.set()
        if self._pump is None:
            self._pump = asyncio.create_task(self._show_as_it_grows())

    # --- the end ---

    async def finish(self, reply: Reply) -> str:
        """Show the outcome; returns the id of its first message, empty if it could be shown nowhere.

        Whoever is cancelled meanwhile waits a little longer: what is on its way to Discord arrives anyway,
        and must not be taken for something that is still to be done. ``is_finished`` tells.

        Raises:
            FootnoteError: Discord did not take it.
        """
        finishing = asyncio.ensure_future(self._finish(reply))
        try:
            return await asyncio.shield(finishing)
        except asyncio.CancelledError:
            await asyncio.wait({finishing}, timeout=DELIVERY_SECONDS)
            finishing.cancel()
            await asyncio.gather(finishing, return_exceptions=True)
            raise

    async def _finish(self, reply: Reply) -> str:
        await self._settle()
        surface = self._surface or await self._surfaces.advance()
        while surface is not None:
            try:
                await self._deliver(replace(reply, header="") if surface.shows_question else reply)
                break
            except GoneError as error:
                logger.warning("question %s cannot be answered there: %s", self._question, error)
            surface, self.first = await self._surfaces.advance(), ""
        self.is_finished = True
        return self.first

    async def interrupt(self, text: str) -> str:
        """We are being stopped: say so where the reply will be, for whoever goes on with it."""
        await self._settle()
        if self._surface is None:
            return self.first
        line = Plain(text)
        if self.first:
            await self._surface.edit(self.first, line)
        else:
            self.first = await self._surface.send(line, number=0)
        return self.first

    async def close(self) -> None:
        """Leave no task behind."""
        await self._settle()

    async def withdraw(self) -> None:
        """Take back what was shown so far: the outcome is shown elsewhere."""
        await self._settle()
        await self._discard()

    @property
    def where(self) -> str:
        """The id of the channel in which the reply is; empty for a response to an interaction."""
        return self._surface.where if self._surface is not None else ""

    @property
    def _surface(self) -> Surface | None:
        return self._surfaces.current

    # --- in between ---

    async def _look_busy(self) -> None:
        while not self._closing.is_set() and self._surface is not None:
            try:
                await self._surface.begin()
            except FootnoteError as error:
                logger.info("typing cannot be shown: %s", error)
                return
            await self._is_closing_within(TYPING_SECONDS)

    async def _show_as_it_grows(self) -> None:
        if await self._is_closing_within(QUICK_SECONDS):
            return
        while not self._closing.is_set():
            await self._fresh.wait()
            self._fresh.clear()
            if self._closing.is_set() or not self._wanted or self._surface is None:
                continue
            try:
                await self._show(self._surface)
            except RateLimitedError as error:
                await self._is_closing_within(error.retry_after or self._edit_seconds)
            except FootnoteError as error:
                logger.info("an answer cannot be shown as it grows: %s", error)
                return
            await self._is_closing_within(self._edit_seconds)

    async def _show(self, surface: Surface) -> None:
        shown = preview(self._wanted)
        if shown == self._shown:
            return
        self._shown = shown
        if self.first:
            await surface.edit(self.first, Plain(shown))
        else:
            self.first = await surface.send(Plain(shown), number=0)
            await self._begun(self.first)

    # --- endings ---

    async def _settle(self) -> None:
        """Let the call that is under way end: the id it brings must not be lost."""
        self._closing.set()
        self._fresh.set()
        for task in (self._pump, self._busy):
            if task is not None:
                await asyncio.gather(task, return_exceptions=True)
        self._pump = self._busy = None

    async def _is_closing_within(self, seconds: float) -> bool:
        try:
            await asyncio.wait_for(self._closing.wait(), timeout=seconds)
        except TimeoutError:
            return False
        return True

    async def _deliver(self, reply: Reply) -> str:
        if self._layout:
            try:
                return await self._deliver_all(as_layouts(reply))
            except CallError as error:
                if error.code != INVALID_FORM:
                    raise
                logger.warning("Discord refused the layout of a reply; posted plainly: %s", error)
            if self._first_is_layout:
                # A layout cannot become plain text again.
                await self._discard()
        return await self._deliver_all(as_plain(reply))

    async def _deliver_all(self, messages: Sequence[Message]) -> str:
        assert self._surface is not None  # noqa: S101 - every caller has looked
        await self._deliver_first(self._surface, messages[0])
        for number, message in enumerate(messages[1:], start=self._numbered_from + 1):
            try:
                await _patiently(self._surface.send, message, number=number)
            except UnavailableError:
                if not self._surface.is_repeatable:
                    raise
                await self._surface.send(message, number=number)
        return self.first

    async def _discard(self) -> None:
        """Take back the first message; what replaces it must not be taken for it."""
        discarded, self.first = self.first, ""
        self._numbered_from += 50
        if self._surface is not None and discarded:
            try:
                await self._surface.delete(discarded)
            except FootnoteError as error:
                logger.info("a replaced message could not be deleted: %s", error)

    async def _deliver_first(self, surface: Surface, message: Message) -> None:
        if self.first:
            try:
                await _patiently(surface.edit, self.first, message)
            except CallError as error:
                if error.code != UNKNOWN_MESSAGE:
                    raise
                # Somebody deleted the unfinished message.
                self.first = ""
                self._numbered_from += 50
        if not self.first:
            self.first = await self._send_once(surface, message)
            await self._begun(self.first)
        self._first_is_layout = isinstance(message, Layout)

    async def _send_once(self, surface: Surface, message: Message) -> str:
        """Post once; after a connection that broke, look whether it was accepted before doing it again."""
        try:
            return await _patiently(surface.send, message, number=self._numbered_from)
        except UnavailableError:
            if found := await surface.find(self._question):
                return found
            return await surface.send(message, number=self._numbered_from)


async def _patiently(do: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
    """What must be shown in the end: when even the library gave up on a rate limit, once more and later."""
    for _ in range(PATIENCE):
        try:
            return await do(*args, **kwargs)
        except RateLimitedError as error:
            logger.info("%s; trying again", error)
            await asyncio.sleep(error.retry_after or PAUSE_SECONDS)
    return await do(*args, **kwargs)
