"""What people say of an answer: thumbs, a reason, an expert's help, and what the expert wrote."""

import logging
from typing import Protocol

import discord

from adapters.chat.discord.asking import PLATFORM, is_from_person, message_text
from adapters.chat.discord.calls import call
from adapters.chat.discord.components import (
    expert_offer,
    question_of,
    reason_modal,
    submitted_text,
    without_button,
)
from adapters.chat.discord.custom_ids import Button, Pressed, button_id
from adapters.chat.discord.escaping import escaped
from adapters.chat.discord.settings import DiscordSettings
from adapters.chat.discord.texts import Text, say
from adapters.chat.discord.whispering import whisper
from core.errors import FootnoteError
from core.ports.chat import ClaimKey, Claims, ClaimState, Feedback, Verdict

logger = logging.getLogger(__name__)

SEARCHED = 50
"""Messages of a thread that are looked through for the answered question."""


CALL_LEASE_SECONDS = 60.0


class PageEditors(Protocol):
    """Knows who last edited a page."""

    async def email_of_last_editor(self, page_id: str) -> str:
        """Their e-mail address; empty if it is not known."""


class Judging:
    """Takes thumbs, calls experts, keeps suggestions."""

    def __init__(
        self,
        *,
        client: discord.Client,
        settings: DiscordSettings,
        feedback: Feedback,
        claims: Claims,
        editors: PageEditors | None,
    ) -> None:
        self._client = client
        self._settings = settings
        self._feedback = feedback
        self._claims = claims
        self._editors = editors

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
        """What the modal says, stored with the verdict; where others see the answer, an expert is offered."""
        said = submitted_text(interaction.data).strip()
        answer = interaction.message
        is_public = answer is not None and interaction.guild_id is not None and not answer.flags.ephemeral
        offer = expert_offer(pressed, answer=answer.id) if answer is not None and is_public else None
        await whisper(interaction, say(Text.THANKS, pressed.language), view=offer)
        await self._feedback.judge(
            question_id=pressed.question, person=str(interaction.user.id), verdict=Verdict.BAD, reason=said
        )

    async def call_expert(self, interaction: discord.Interaction, pressed: Pressed) -> None:
        """Call whoever last edited the page, or whom the settings name, below the answer; once."""
        await call("acknowledging", interaction.response.defer())
        expert = await self._expert(pressed.about)
        if not expert:
            await whisper(interaction, say(Text.NO_EXPERT, pressed.language))
            return
        key = ClaimKey(platform=PLATFORM, event=f"expert:{pressed.question}")
        if await self._claims.claim(key, payload={}, lease_seconds=CALL_LEASE_SECONDS) is ClaimState.TAKEN:
            sent = await self._call(interaction, pressed, expert)
            await self._claims.done(key, reply=str(sent.id))
        else:
            await whisper(interaction, say(Text.EXPERT_WAS_CALLED, pressed.language))
        if interaction.message is not None:
            view = without_button(interaction.message, Button.EXPERT)
            await call("switching a button off", interaction.edit_original_response(view=view))

    async def _call(
        self, interaction: discord.Interaction, pressed: Pressed, expert: str
    ) -> discord.WebhookMessage:
        """A message of its own, since an edit notifies nobody."""
        line = escaped(say(Text.EXPERT_CALLED, pressed.language, expert="{expert}"))
        answer = pressed.answer or (interaction.message.id if interaction.message is not None else 0)
        where = f"https://discord.com/channels/{interaction.guild_id}/{interaction.channel_id}/{answer}"
        # The one mention we ever write: of somebody whom the settings name, and nobody else is pinged.
        target = [discord.Object(int(expert.removeprefix("&")))]
        only = discord.AllowedMentions(
            everyone=False,
            replied_user=False,
            roles=target if expert.startswith("&") else False,
            users=False if expert.startswith("&") else target,
        )
        return await call(
            "calling an expert",
            interaction.followup.send(
                f"{line.replace('{expert}', f'<@{expert}>')}\n{where}",
                allowed_mentions=only,
                suppress_embeds=True,
                wait=True,
            ),
        )

    async def _expert(self, page: str) -> str:
        """The id to mention; empty if there is nobody."""
        if self._editors is not None and page and self._settings.people:
            try:
                email = await self._editors.email_of_last_editor(page)
            except FootnoteError as error:
                logger.info("a page's editor cannot be looked up: %s", error)
            else:
                if known := self._settings.people.get(email.strip().lower()):
                    return str(known)
        return self._settings.expert

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
