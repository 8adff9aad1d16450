"""Where questions come from: commands, menus, mentions, direct messages, threads, and the Continue button."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace

import discord

from adapters.chat.discord.answering import MAX_TURNS, Answering
from adapters.chat.discord.asking import (
    Asked,
    clean,
    from_interaction,
    from_message,
    is_from_person,
    mentions,
    message_text,
    with_turns,
)
from adapters.chat.discord.calls import THREAD_EXISTS, CallError, call
from adapters.chat.discord.components import (
    asked_in,
    asker_of,
    custom_ids,
    question_modal,
    question_of,
    submitted_text,
)
from adapters.chat.discord.custom_ids import Button, Pressed, button_id, read_button_id
from adapters.chat.discord.directory import Directory
from adapters.chat.discord.escaping import CUT, plain
from adapters.chat.discord.settings import DiscordSettings
from adapters.chat.discord.splitting import cut
from adapters.chat.discord.texts import Text, say
from adapters.chat.discord.whispering import whisper
from adapters.chat.running import Running
from core.domain.smalltalk import asks_nothing
from core.errors import FootnoteError
from core.ports import Clock
from core.ports.chat import Audiences, Suggestions

logger = logging.getLogger(__name__)

SUGGEST_SECONDS = 1.5
CHOICES = 25
READ_SECONDS = 5.0
"""Earlier turns are worth no more waiting."""

GO_ON_SECONDS = 1.0
"""Both the thread and the turns of a next question are had before Discord is told that an answer comes."""

DIRECT_MINUTES = 60
"""In direct messages what was asked longer ago belongs to another conversation."""

SEARCHED = 30
PARTS = 12
"""Messages behind the first of an answer among which its others are looked for."""

THREAD_NAME_LENGTH = 90


class Taking:
    """Makes questions of what Discord delivers and hands them on to be answered."""

    def __init__(
        self,
        *,
        client: discord.Client,
        settings: DiscordSettings,
        answering: Answering,
        audiences: Audiences,
        directory: Directory,
        clock: Clock,
        suggestions: Suggestions | None,
        running: Running,
    ) -> None:
        self._client = client
        self._settings = settings
        self._answering = answering
        self._audiences = audiences
        self._directory = directory
        self._clock = clock
        self._suggestions = suggestions
        self._running = running

    # --- commands and menus ---

    async def command(self, interaction: discord.Interaction, asked: Asked) -> None:
        """``/ask``."""
        with self._running.handling():
            await self._answering.take_interaction(interaction, asked)

    async def menu(self, interaction: discord.Interaction, message: discord.Message) -> None:
        """ "Answer this": whoever chose it is the asker, whatever the message's author may see."""
        bot = self._client.user
        text = message_text(message, bot=bot) if bot is not None else message.content
        if not text:
            await whisper(interaction, say(Text.NOTHING_TO_ANSWER, str(interaction.locale.value)))
            return
        asked = from_interaction(interaction, text, private=False)
        with self._running.handling():
            await self._answering.take_interaction(interaction, asked)

    async def suggest(self, interaction: discord.Interaction, typed: str) -> Sequence[str]:
        """What somebody could ask who has typed so much: within what they may see, or nothing."""
        if self._suggestions is None:
            return ()
        # What is chosen is shown where the answer is: in the channel, unless "private" was chosen before.
        private = bool(getattr(interaction.namespace, "private", False))
        asked = from_interaction(interaction, typed, private=private)
        try:
            async with asyncio.timeout(SUGGEST_SECONDS):
                place = await self._directory.place(asked)
                if not self._audiences.may_ask(place):
                    return ()
                audience = self._audiences.audience_for(place)
                return await self._suggestions.suggest(typed, audience=audience, limit=CHOICES)
        except (FootnoteError, TimeoutError) as error:
            logger.info("nothing can be suggested: %s", type(error).__name__)
            return ()

    # --- messages ---

    async def message(self, message: discord.Message) -> None:
        """A mention, a direct message, or a follow-up in a thread; nothing else is read."""
        bot = self._client.user
        if bot is None or not is_from_person(message):
            return
        asked = from_message(message, bot=bot)
        is_asked = asked.is_direct or mentions(message, bot=bot)
        if not is_asked and not await self._goes_on(message, asked):
            return
        turns = await self._earlier(message) if asked.text else ()
        await self._answering.take_message(with_turns(asked, turns))

    async def _goes_on(self, message: discord.Message, asked: Asked) -> bool:
        """Without the intent the content is empty, and nothing can be said of it; thanks need no answer."""
        return not asks_nothing(message.content) and await self._answering.is_follow_up(asked)

    # --- the Continue button ---

    async def ask_on(self, interaction: discord.Interaction, pressed: Pressed) -> None:
        """Open the modal for the next question."""
        custom_id = button_id(Button.CONTINUE, pressed.question, pressed.language)
        await call(
            "opening a modal",
            interaction.response.send_modal(question_modal(custom_id, pressed.language)),
        )

    async def go_on(self, interaction: discord.Interaction) -> None:
        """The next question, as it was written into the modal."""
        message = interaction.message
        private = message is not None and message.flags.ephemeral
        asked = from_interaction(interaction, submitted_text(interaction.data), private=private)
        if message is not None:
            # Both leave the process, within Discord's three seconds for the first response.
            turns, thread = await asyncio.gather(
                self._turns_of(message, user=asked.user), self._thread_for(asked, message)
            )
            asked = replace(with_turns(asked, turns), posts_in=thread)
        await self._answering.take_interaction(interaction, asked)

    # --- the Share button ---

    async def share(self, interaction: discord.Interaction, pressed: Pressed) -> None:
        """Ask for everybody what was asked privately: what the channel may see is decided anew.

        The private answer itself is not carried over: it may rest on what only its asker may see.
        """
        message = interaction.message
        user = str(interaction.user.id)
        text = self._answering.recent.text(pressed.question, user=user)
        if not text and message is not None:
            text = asked_in(message)
        if not text or text.endswith(CUT):
            await whisper(interaction, say(Text.ASK_AGAIN, pressed.language))
            return
        await self._answering.take_interaction(
            interaction, from_interaction(interaction, text, private=False)
        )

    # --- the button under a reply whose source has changed ---

    async def again(self, interaction: discord.Interaction, pressed: Pressed) -> None:
        """Ask what was asked, for whoever presses: what the new answer may rest on is decided anew."""
        try:
            async with asyncio.timeout(GO_ON_SECONDS):
                text, replaced = await self._marked(interaction.message, pressed.question)
        except (FootnoteError, TimeoutError) as error:
            logger.info("a question cannot be read again: %s", error)
            text, replaced = "", ()
        if not text or text.endswith(CUT):
            await whisper(interaction, say(Text.ASK_AGAIN, pressed.language))
            return
        asked = replace(from_interaction(interaction, text, private=False), again=",".join(replaced))
        await self._answering.take_interaction(interaction, asked)

    async def _marked(self, pressed: discord.Message | None, question: str) -> tuple[str, tuple[str, ...]]:
        """What a marked reply answers, and the ids of its messages; empty if the question is gone.

        Raises:
            FootnoteError: Discord cannot be read.
        """
        bot = self._client.user
        if pressed is None or bot is None:
            return "", ()
        asking = await self._replied_to_by(pressed)
        # A mark that had no room in its reply stands below it.
        is_below = asking is not None and asking.author.id == bot.id
        reply = asking if asking is not None and is_below else pressed
        asking = await self._replied_to_by(reply) if is_below else asking
        text = asked_in(reply)
        if not text and asking is not None:
            text = asked_in(asking) if asking.author.id == bot.id else message_text(asking, bot=bot)
        parts = await self._further_parts(reply, question, but=pressed.id)
        ids = (reply.id, *parts, *([pressed.id] if is_below else []))
        return text, tuple(map(str, ids))

    async def _replied_to_by(self, message: discord.Message) -> discord.Message | None:
        reference = message.reference
        if reference is None or not reference.message_id:
            return None
        channel = self._client.get_partial_messageable(message.channel.id)
        return await call("reading a message", channel.fetch_message(reference.message_id))

    async def _further_parts(self, reply: discord.Message, question: str, *, but: int) -> Sequence[int]:
        """What an answer went on with, up to its buttons; nothing if another answer stands between."""
        bot = self._client.user
        if bot is None or any(
            (one := read_button_id(custom_id)) is not None and one.button is Button.GOOD
            for custom_id in custom_ids(reply)
        ):
            return ()
        channel = self._client.get_partial_messageable(reply.channel.id)

        async def read() -> list[discord.Message]:
            return [one async for one in channel.history(limit=PARTS, after=reply)]

        parts: list[int] = []
        for message in await call("reading a channel", read()):
            if message.author.id != bot.id or message.id == but:
                continue
            parts.append(message.id)
            if of := question_of(message):
                return parts if of == question else ()
        return ()

    async def _thread_for(self, asked: Asked, message: discord.Message) -> str:
        """The thread below an answer in a server's channel; empty where the reply stays where it is."""
        channel = message.channel
        if asked.is_private or not isinstance(channel, discord.TextChannel):
            return ""
        me: discord.Member | None = channel.guild.me
        if me is None:
            return ""
        permissions = channel.permissions_for(me)
        if not (permissions.create_public_threads and permissions.send_messages_in_threads):
            return ""
        name = cut(plain(asked.text, limit=THREAD_NAME_LENGTH), THREAD_NAME_LENGTH) or "Footnote"
        opening = channel.get_partial_message(message.id).create_thread(name=name)
        try:
            return str((await call("opening a thread", opening, seconds=GO_ON_SECONDS)).id)
        except FootnoteError as error:
            if isinstance(error, CallError) and error.code == THREAD_EXISTS:
                # A thread has the id of the message below which it was opened.
                return str(message.id)
            logger.info("no thread can be opened: %s", error)
            return ""

    # --- earlier turns: the asker's own words, never the context given to a model ---

    async def _earlier(self, message: discord.Message) -> tuple[str, ...]:
        """What the author asked before, in this thread or direct message, or up the chain of replies."""
        try:
            async with asyncio.timeout(READ_SECONDS):
                if isinstance(message.channel, discord.Thread | discord.DMChannel):
                    return await self._asked_before(message)
                return await self._replied_to(message.reference, message.channel.id, str(message.author.id))
        except (FootnoteError, TimeoutError) as error:
            logger.info("earlier turns cannot be read: %s", error)
            return ()

    async def _asked_before(self, message: discord.Message) -> tuple[str, ...]:
        channel = self._client.get_partial_messageable(message.channel.id)

        async def read() -> list[discord.Message]:
            return [one async for one in channel.history(limit=SEARCHED, before=message)]

        turns: list[str] = []
        for earlier in await call("reading a thread", read()):
            age = message.created_at - earlier.created_at
            if isinstance(message.channel, discord.DMChannel) and age.total_seconds() > DIRECT_MINUTES * 60:
                break
            turns.append(self._asked_in(earlier, user=str(message.author.id)))
        return _last(turns[::-1])

    def _asked_in(self, message: discord.Message, *, user: str) -> str:
        """What a person asked in a message of theirs, or what the header of one of ours says."""
        bot = self._client.user
        if bot is None:
            return ""
        if message.author.id == bot.id:
            known = self._answering.recent.text(question_of(message), user=user)
            return known or (asked_in(message) if asker_of(message) == user else "")
        if str(message.author.id) != user:
            return ""
        if message.guild is None or mentions(message, bot=bot) or self._settings.message_content:
            return message_text(message, bot=bot)
        return ""

    async def _turns_of(self, answer: discord.Message, *, user: str) -> tuple[str, ...]:
        """The question of the answer on which somebody goes on, and those before it."""
        try:
            async with asyncio.timeout(GO_ON_SECONDS):
                if text := self._asked_in(answer, user=user):
                    return _last([text])
                return await self._replied_to(answer.reference, answer.channel.id, user)
        except (FootnoteError, TimeoutError) as error:
            logger.info("earlier turns cannot be read: %s", error)
            return ()

    async def _replied_to(
        self, reference: discord.MessageReference | None, channel_id: int, user: str
    ) -> tuple[str, ...]:
        """The person's questions up the chain of replies, oldest first."""
        channel = self._client.get_partial_messageable(channel_id)
        turns: list[str] = []
        while reference is not None and reference.message_id and len(turns) < MAX_TURNS * 2:
            try:
                message = await call("reading a message", channel.fetch_message(reference.message_id))
            except FootnoteError as error:
                logger.info("an earlier message cannot be read: %s", error)
                break
            turns.append(self._asked_in(message, user=user))
            reference = message.reference
        return _last(turns[::-1])


def _last(turns: Sequence[str]) -> tuple[str, ...]:
    return tuple(text for text in map(clean, turns) if not asks_nothing(text))[-MAX_TURNS:]
