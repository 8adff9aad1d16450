"""Given replies whose source says something else by now: marked once, with a button that asks again."""

from typing import Any

import discord

from adapters.chat.discord.asking import PLATFORM, Asked
from adapters.chat.discord.calls import CLOSED, INVALID_FORM, UNKNOWN_MESSAGE, CallError, call
from adapters.chat.discord.components import NO_MENTIONS
from adapters.chat.discord.custom_ids import Button, button_id, read_button_id
from adapters.chat.discord.escaping import escaped, plain
from adapters.chat.discord.render import CONTENT_LENGTH
from adapters.chat.discord.splitting import characters
from adapters.chat.marking import mark_each
from core.domain.answers import Answer
from core.domain.phrases import Phrase, phrase
from core.errors import FootnoteError
from core.ports.replies import ChangedReply, GivenReplies, ReplyPlace

_FORBIDDEN = 403


class Marking:
    """Remembers what was answered where, and marks it when the platform's turn comes."""

    def __init__(self, *, client: discord.Client, replies: GivenReplies | None) -> None:
        self._client = client
        self._replies = replies

    async def given(self, asked: Asked, *, channel: str, message: str, answer: Answer) -> None:
        """An answer was posted for everybody in its place, or in direct messages."""
        if self._replies is not None and message and not asked.is_private:
            place = ReplyPlace(
                platform=PLATFORM,
                workspace=asked.guild,
                channel=channel or asked.channel,
                message=message,
                question=asked.event,
            )
            await self._replies.given(place, answer)

    async def mark_changed(self) -> None:
        """As `mark_each`.

        Raises:
            TemporaryError: nothing can be known of them now.
        """
        if self._replies is not None:
            await mark_each(self._replies, PLATFORM, self._mark, _is_final)

    async def _mark(self, changed: ChangedReply) -> None:
        place, language = changed.place, changed.language
        channel = self._client.get_partial_messageable(int(place.channel))
        message = await call("reading a reply", channel.fetch_message(int(place.message)))
        if is_marked(message):
            # Another process marked it and could not say so.
            return
        try:
            await call("marking a reply", message.edit(**_marked(message, place, language)))
        except (CallError, ValueError) as error:
            if isinstance(error, CallError) and error.code != INVALID_FORM:
                raise
            # There is no room in it: the mark stands below.
            view = discord.ui.View(timeout=None)
            view.add_item(_button(place, language))
            view.stop()
            posting = message.reply(
                _line(language), view=view, mention_author=False, allowed_mentions=NO_MENTIONS
            )
            await call("marking below a reply", posting)


def _is_final(error: FootnoteError) -> bool:
    return isinstance(error, CallError) and (
        error.code in CLOSED | {UNKNOWN_MESSAGE} or error.status == _FORBIDDEN
    )


def is_marked(message: discord.Message) -> bool:
    """Whether the button is there already."""
    view = _view_of(message)
    return any(
        (pressed := read_button_id(item.custom_id or "")) is not None and pressed.button is Button.AGAIN
        for item in view.walk_children()
        if isinstance(item, discord.ui.Button)
    )


def _marked(message: discord.Message, place: ReplyPlace, language: str) -> dict[str, Any]:
    """The reply as it is, under the mark and the button.

    Raises:
        ValueError: there is no room.
    """
    old = _view_of(message)
    if isinstance(old, discord.ui.LayoutView):
        marked = discord.ui.LayoutView(timeout=None)
        marked.add_item(discord.ui.TextDisplay(_line(language)))
        marked.add_item(discord.ui.ActionRow(_button(place, language)))
        for item in tuple(old.children):
            old.remove_item(item)
            marked.add_item(item)
        marked.stop()
        return {"view": marked, "allowed_mentions": NO_MENTIONS}
    content = f"{_line(language)}\n\n{message.content}"
    if characters(content) > CONTENT_LENGTH:
        raise ValueError("the text has no room for a mark")
    old.add_item(_button(place, language))
    old.stop()
    return {"content": content, "view": old, "allowed_mentions": NO_MENTIONS}


def _view_of(message: discord.Message) -> discord.ui.LayoutView | discord.ui.View:
    if message.flags.components_v2:
        return discord.ui.LayoutView.from_message(message, timeout=None)
    return discord.ui.View.from_message(message, timeout=None)


def _line(language: str) -> str:
    return f"⚠️ **{escaped(phrase(Phrase.SOURCE_CHANGED, language))}**"


def _button(place: ReplyPlace, language: str) -> discord.ui.Button[Any]:
    return discord.ui.Button(
        style=discord.ButtonStyle.primary,
        label=plain(phrase(Phrase.ASK_AGAIN, language), limit=80),
        custom_id=button_id(Button.AGAIN, place.question, language),
    )
