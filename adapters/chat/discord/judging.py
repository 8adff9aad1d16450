"""What people say of an answer: thumbs, a reason, an expert's help, and what the expert wrote."""

import logging

import discord

from adapters.chat.discord.answering import whisper
from adapters.chat.discord.asking import is_from_person, message_text
from adapters.chat.discord.calls import call
from adapters.chat.discord.components import question_of, reason_modal, submitted_text
from adapters.chat.discord.custom_ids import Button, Pressed, button_id
from adapters.chat.discord.escaping import escaped
from adapters.chat.discord.settings import DiscordSettings
from adapters.chat.discord.texts import Text, say
from core.errors import FootnoteError
from core.ports.chat import Feedback, Verdict

logger = logging.getLogger(__name__)

SEARCHED = 50
"""Messages of a thread that are looked through for the answered question."""


class Judging:
    """Takes thumbs, calls experts, keeps suggestions."""

    def __init__(self, *, client: discord.Client, settings: DiscordSettings, feedback: Feedback) -> None:
        self._client = client
        self._settings = settings
        self._feedback = feedback

    async def thumb(self, interaction: discord.Interaction, pressed: Pressed) -> None:
        """A thumb: stored; thumbs-down opens the question why."""
        person = str(interaction.user.id)
        if pressed.button is Button.GOOD:
            await whisper(interaction, say(Text.THANKS, pressed.language))
            await self._feedback.judge(question_id=pressed.question, person=person, verdict=Verdict.GOOD)
            return
        modal = reason_modal(
            button_id(Button.BAD, pressed.question, pressed.language, about=pressed.about), pressed.language
        )
        await call("opening a modal", interaction.response.send_modal(modal))
        await self._feedback.judge(question_id=pressed.question, person=person, verdict=Verdict.BAD)

    async def reason(self, interaction: discord.Interaction, pressed: Pressed) -> None:
        """What the modal says, stored with the verdict."""
        said = submitted_text(interaction.data).strip()
        await whisper(interaction, say(Text.THANKS, pressed.language))
        await self._feedback.judge(
            question_id=pressed.question, person=str(interaction.user.id), verdict=Verdict.BAD, reason=said
        )

    async def call_expert(self, interaction: discord.Interaction, pressed: Pressed) -> None:
        """Call the configured person or role below the answer."""
        name = self._settings.expert
        if not name:
            await whisper(interaction, say(Text.NO_EXPERT, pressed.language))
            return
        line = escaped(say(Text.EXPERT_CALLED, pressed.language, expert="{expert}"))
        # The one mention we ever write: of somebody whom the settings name, and nobody else is pinged.
        target = [discord.Object(int(name.removeprefix("&")))]
        only = discord.AllowedMentions(
            everyone=False,
            replied_user=False,
            roles=target if name.startswith("&") else False,
            users=False if name.startswith("&") else target,
        )
        await call(
            "calling an expert",
            interaction.response.send_message(
                line.replace("{expert}", f"<@{name}>"), allowed_mentions=only, suppress_embeds=True
            ),
        )

    async def keep(self, interaction: discord.Interaction, message: discord.Message) -> None:
        """A person's answer becomes a suggestion for the page's owner."""
        language = str(interaction.locale.value)
        await call("acknowledging", interaction.response.defer(ephemeral=True, thinking=True))
        bot = self._client.user
        text = message_text(message, bot=bot) if bot is not None else ""
        question = ""
        if text and is_from_person(message):
            question = await self._question_answered_by(message)
        if not question:
            await whisper(interaction, say(Text.NOTHING_TO_KEEP, language))
            return
        await self._feedback.suggest(question_id=question, person=str(message.author.id), text=text)
        await whisper(interaction, say(Text.KEPT, language))

    async def _question_answered_by(self, message: discord.Message) -> str:
        """The question of the answer it replies to, or of our last answer before it in a thread."""
        channel = self._client.get_partial_messageable(message.channel.id)
        try:
            if message.reference is not None and message.reference.message_id is not None:
                referenced = await call(
                    "reading a message", channel.fetch_message(message.reference.message_id)
                )
                if self._is_ours(referenced) and (question := question_of(referenced)):
                    return question
            if not isinstance(message.channel, discord.Thread | discord.DMChannel):
                return ""

            async def read() -> list[discord.Message]:
                return [one async for one in channel.history(limit=SEARCHED, before=message)]

            for earlier in await call("reading a thread", read()):
                if self._is_ours(earlier) and (question := question_of(earlier)):
                    return question
        except FootnoteError as error:
            logger.info("the question of an answer cannot be found: %s", error)
        return ""

    def _is_ours(self, message: discord.Message) -> bool:
        return self._client.user is not None and message.author.id == self._client.user.id
