"""Where a reply goes: to an interaction for 15 minutes, or to a channel."""

import logging
from typing import Any, Protocol

import discord

from adapters.chat.discord.asking import Asked
from adapters.chat.discord.calls import (
    CANNOT_REPLY,
    CLOSED,
    EXPIRED,
    UNKNOWN_MESSAGE,
    CallError,
    call,
)
from adapters.chat.discord.components import NO_MENTIONS, question_of, view_of
from adapters.chat.discord.render import Layout, Message, Plain
from core.errors import FootnoteError

logger = logging.getLogger(__name__)

ORIGINAL = "@original"
"""The first response to an interaction, by Discord's own name for it."""

NONCE_LENGTH = 25
SEARCHED = 50
"""Messages looked through for a reply that an earlier process posted."""


_FORBIDDEN = 403


class GoneError(FootnoteError):
    """Nothing can be shown there: the interaction's token expired, or the bot may not write there."""


class Surface(Protocol):
    """A place for the messages of one reply. Ids are Discord's, as texts."""

    async def send(self, message: Message, *, number: int) -> str:
        """Post message ``number`` of the reply, from 0; returns its id.

        Raises:
            GoneError: nothing can be shown there.
            FootnoteError: as `adapters.chat.discord.calls.call`.
        """

    async def edit(self, posted: str, message: Message) -> None:
        """Replace a posted message; raises as `send`."""

    async def delete(self, posted: str) -> None:
        """Remove a posted message; raises as `send`."""

    @property
    def where(self) -> str:
        """The channel's id; empty for an interaction."""

    @property
    def shows_question(self) -> bool:
        """Whether people see there what was asked."""

    @property
    def is_repeatable(self) -> bool:
        """Whether sending the same message again cannot lead to a second one."""

    @property
    def shows_busy(self) -> bool:
        """Whether people see anyway that something is being done."""

    async def begin(self) -> None:
        """Show that something is being done."""

    async def find(self, question: str) -> str:
        """The id of our finished reply to a question, empty if there is none; raises as `send`."""


class InteractionSurface:
    """Followups to an interaction; the first one takes the place of "thinking"."""

    where = ""
    shows_question = False
    is_repeatable = False

    def __init__(self, client: discord.Client, asked: Asked, *, private: bool = False) -> None:
        self._webhook = discord.Webhook.partial(int(asked.application), asked.token, client=client)
        # Only followups of an application can be private; the library takes any partial webhook for another.
        self._webhook.type = discord.WebhookType.application
        self._is_private = asked.is_private or private

    async def send(self, message: Message, *, number: int) -> str:  # noqa: ARG002 - followups take no nonce
        """As the protocol says; only the first followup is as private as the deferral by itself (DSC-2)."""
        sending = self._webhook.send(wait=True, ephemeral=self._is_private, **_sending(message))
        sent = await self._call("a followup", sending)
        return str(sent.id)

    async def edit(self, posted: str, message: Message) -> None:
        """As the protocol says."""
        await self._call("editing a followup", self._webhook.edit_message(int(posted), **_editing(message)))

    async def delete(self, posted: str) -> None:
        """As the protocol says."""
        await self._call("deleting a followup", self._webhook.delete_message(int(posted)))

    @property
    def shows_busy(self) -> bool:
        """Discord shows "thinking" since it was deferred."""
        return True

    async def begin(self) -> None:
        """Nothing."""

    async def withdraw(self) -> None:
        """Take the public "thinking" back, so that the next followup can be private; raises as `send`."""
        try:
            await self._call(
                "deleting a response",
                self._webhook.delete_message(ORIGINAL),  # type: ignore[arg-type]  # Discord's own name of it
            )
        except CallError as error:
            if error.code != UNKNOWN_MESSAGE:
                raise

    async def find(self, question: str) -> str:
        """As the protocol says; looks at the first response."""
        try:
            found = await self._call(
                "reading a response",
                self._webhook.fetch_message(ORIGINAL),  # type: ignore[arg-type]  # Discord's own name of it
            )
        except CallError as error:
            if error.code == UNKNOWN_MESSAGE:
                return ""
            raise
        return str(found.id) if question_of(found) == question else ""

    async def _call(self, what: str, work: Any) -> Any:
        try:
            return await call(what, work)
        except CallError as error:
            if error.code in EXPIRED:
                raise GoneError(str(error)) from error
            raise


class ChannelSurface:
    """Messages in a channel, the first one as a reply to the question where that was a message."""

    def __init__(self, client: discord.Client, asked: Asked, *, channel: str = "") -> None:
        self.where = channel or asked.posts_in or asked.channel
        self.shows_question = bool(asked.message) and self.where == asked.channel
        self.is_repeatable = True
        self._channel = client.get_partial_messageable(int(self.where))
        self._asked = asked
        self._client = client

    async def send(self, message: Message, *, number: int) -> str:
        """As the protocol says; Discord itself drops a message that it took already (``nonce``)."""
        # A preview and the final message that takes its number must not be taken for one another.
        arguments = {"nonce": f"{self._asked.event}-{number}"[-NONCE_LENGTH:], **_sending(message)}
        if number == 0 and self.shows_question:
            reference = discord.MessageReference(
                message_id=int(self._asked.message), channel_id=int(self.where), fail_if_not_exists=False
            )
            try:
                return await self._send({**arguments, "reference": reference, "mention_author": False})
            except CallError as error:
                if error.code != CANNOT_REPLY:
                    raise
                logger.info("without the channel's history a reply is a plain message: %s", error)
        return await self._send(arguments)

    async def _send(self, arguments: dict[str, Any]) -> str:
        return str((await self._call("posting", self._channel.send(**arguments))).id)

    async def edit(self, posted: str, message: Message) -> None:
        """As the protocol says."""
        partial = self._channel.get_partial_message(int(posted))
        await self._call("editing a message", partial.edit(**_editing(message)))

    async def delete(self, posted: str) -> None:
        """As the protocol says."""
        await self._call("deleting a message", self._channel.get_partial_message(int(posted)).delete())

    @property
    def shows_busy(self) -> bool:
        """Nothing tells before something is posted."""
        return False

    async def begin(self) -> None:
        """Show that we are typing."""
        await self._call("typing", self._channel.typing())

    async def find(self, question: str) -> str:
        """As the protocol says; looks through what was said since."""
        own = self._client.user.id if self._client.user else 0
        since = discord.Object(int(self._asked.event))

        async def read() -> list[discord.Message]:
            return [message async for message in self._channel.history(limit=SEARCHED, after=since)]

        for message in await self._call("reading a channel", read()):
            if message.author.id == own and question_of(message) == question:
                return str(message.id)
        return ""

    async def _call(self, what: str, work: Any) -> Any:
        try:
            return await call(what, work)
        except CallError as error:
            is_closed = error.status == _FORBIDDEN or error.code in CLOSED
            if is_closed and error.code != CANNOT_REPLY:
                raise GoneError(str(error)) from error
            raise


def _sending(message: Message) -> dict[str, Any]:
    view = view_of(message)
    arguments: dict[str, Any] = {"allowed_mentions": NO_MENTIONS}
    if view is not None:
        arguments["view"] = view
    match message:
        case Plain():
            return arguments | {"content": message.text, "suppress_embeds": True}
        case Layout():
            return arguments


def _editing(message: Message) -> dict[str, Any]:
    arguments: dict[str, Any] = {"allowed_mentions": NO_MENTIONS, "view": view_of(message)}
    match message:
        case Plain():
            return arguments | {"content": message.text}
        case Layout():
            return arguments | {"content": None}
