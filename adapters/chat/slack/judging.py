"""What people say of an answer: thumbs, a reason, an expert's help, and what the expert wrote."""

import logging
from collections.abc import Mapping
from typing import Any, Protocol

from adapters.chat.slack import blocks
from adapters.chat.slack.asking import PLATFORM, question_text, text_of
from adapters.chat.slack.directory import Directory
from adapters.chat.slack.escaping import escaped
from adapters.chat.slack.finding import ANSWERED
from adapters.chat.slack.render import Message, notice
from adapters.chat.slack.settings import SlackSettings
from adapters.chat.slack.texts import Text, say
from adapters.chat.slack.web import SlackWeb, call
from core.errors import FootnoteError
from core.ports.chat import ClaimKey, Claims, ClaimState, Feedback, Verdict

logger = logging.getLogger(__name__)

CALL_SECONDS = 60.0
EXPERT_CALL = {"event_type": "footnote_expert", "event_payload": {}}
"""Metadata: a message of ours that is no part of an answer."""


class PageEditors(Protocol):
    """Knows who last edited a page."""

    async def email_of_last_editor(self, page_id: str) -> str:
        """Their e-mail address; empty if it is not known."""


class Judging:
    """Takes thumbs, calls experts, keeps suggestions."""

    def __init__(
        self,
        *,
        web: SlackWeb,
        settings: SlackSettings,
        feedback: Feedback,
        claims: Claims,
        directory: Directory,
        editors: PageEditors | None,
        bot_user: str,
    ) -> None:
        self._web = web
        self._settings = settings
        self._feedback = feedback
        self._claims = claims
        self._directory = directory
        self._editors = editors
        self._bot_user = bot_user

    async def thumb(self, body: Mapping[str, Any]) -> None:
        """A thumb: stored; thumbs-down opens the question why."""
        chosen = blocks.read_value(str(body["actions"][0].get("value") or ""))
        question, language = chosen.get("question", ""), chosen.get("language", "")
        if not question or chosen.get("verdict") not in tuple(Verdict):
            return
        verdict = Verdict(chosen["verdict"])
        user = str(body["user"]["id"])
        if verdict is Verdict.BAD:
            # First, since a trigger lasts three seconds.
            await self._ask_why(str(body.get("trigger_id") or ""), question=question, language=language)
        await self._feedback.judge(question_id=question, person=user, verdict=verdict)
        if verdict is Verdict.GOOD:
            await self._whisper(body, notice(escaped(say(Text.THANKS, language))))
        else:
            await self._whisper(body, self._expert_offer(question, language, page=chosen.get("page", "")))

    async def _ask_why(self, trigger: str, *, question: str, language: str) -> None:
        view = blocks.reason_modal(question_id=question, language=language)
        try:
            await call(self._web.patient, "views.open", trigger_id=trigger, view=view)
        except FootnoteError as error:
            logger.info("the reason cannot be asked for, the verdict counts: %s", error)

    async def is_answered(self, body: Mapping[str, Any]) -> None:
        """Somebody chose "Answer this" on a message that was asked already."""
        language = (await self._directory.person(str(body["user"]["id"]))).language
        await self._whisper(body, notice(escaped(say(Text.ALREADY, language))))

    async def reason(self, body: Mapping[str, Any]) -> None:
        """What the modal says, stored with the verdict."""
        view = body["view"]
        hidden = blocks.read_value(str(view.get("private_metadata") or ""))
        said = view["state"]["values"]["reason"]["reason"].get("value") or ""
        if question := hidden.get("question"):
            await self._feedback.judge(
                question_id=question, person=str(body["user"]["id"]), verdict=Verdict.BAD, reason=str(said)
            )

    async def call_expert(self, body: Mapping[str, Any]) -> None:
        """Tag the page's last editor, or the configured person, in the thread."""
        chosen = blocks.read_value(str(body["actions"][0].get("value") or ""))
        language = chosen.get("language", "")
        question = chosen.get("question", "")
        expert = await self._expert(chosen.get("page", ""))
        if not expert:
            await self._whisper(body, notice(escaped(say(Text.NO_EXPERT, language))))
            return
        # One call a question, however many press however often: a button must not ring at somebody's desk.
        key = ClaimKey(platform=PLATFORM, event=f"expert:{question}")
        if await self._claims.claim(key, payload={}, lease_seconds=CALL_SECONDS) is not ClaimState.TAKEN:
            await self._whisper(body, notice(escaped(say(Text.EXPERT_ASKED, language))))
            return
        channel, thread = _place(body)
        text = escaped(say(Text.EXPERT_CALLED, language, expert="{expert}"))
        # The one mention we ever write: of somebody whom the settings or the page name, never a text.
        message = notice(text.replace("{expert}", expert))
        ts = await self._web.post(channel=channel, message=message, thread=thread, metadata=EXPERT_CALL)
        await self._claims.done(key, reply=ts)

    async def keep(self, body: Mapping[str, Any]) -> None:
        """A person's answer in the thread becomes a suggestion for the page's owner."""
        message = body.get("message") or {}
        channel = str(body["channel"]["id"])
        user = str(body["user"]["id"])
        language = (await self._directory.person(user)).language
        thread = str(message.get("thread_ts") or "")
        text = question_text(text_of(message), bot_user=self._bot_user)
        question = await self._question_above(channel, thread, before=str(message.get("ts") or ""))
        if not question or not text or message.get("user") in (None, self._bot_user) or message.get("bot_id"):
            line = Text.NOTHING_TO_KEEP
        else:
            await self._feedback.suggest(question_id=question, person=str(message["user"]), text=text)
            line = Text.KEPT
        await self._web.whisper(
            channel=channel, user=user, message=notice(escaped(say(line, language))), thread=thread
        )

    async def _question_above(self, channel: str, thread: str, *, before: str) -> str:
        """The last question that we answered in the thread before a message."""
        if not thread:
            return ""
        found = ""
        for message in await self._web.thread(channel=channel, thread=thread):
            metadata = message.get("metadata") or {}
            if metadata.get("event_type") == ANSWERED and str(message.get("ts")) < before:
                found = str((metadata.get("event_payload") or {}).get("question") or found)
        return found

    async def _expert(self, page: str) -> str:
        if self._editors is not None and page:
            try:
                if email := await self._editors.email_of_last_editor(page):
                    found = await call(self._web.patient, "users.lookupByEmail", email=email)
                    return f"<@{found['user']['id']}>"
            except FootnoteError as error:
                logger.info("a page's editor is not known in Slack: %s", error)
        expert = self._settings.expert
        if not expert:
            return ""
        return f"<!subteam^{expert}>" if expert.startswith("S") else f"<@{expert}>"

    def _expert_offer(self, question: str, language: str, *, page: str) -> Message:
        label = say(Text.ASK_EXPERT, language)
        packed = blocks.value(question=question, language=language, page=page)
        offer = blocks.buttons(blocks.button(label, action=blocks.EXPERT, value=packed))
        text = escaped(say(Text.THANKS, language))
        return Message(text=text, blocks=(blocks.section(text), offer))

    async def _whisper(self, body: Mapping[str, Any], message: Message) -> None:
        channel, thread = _place(body)
        user = str(body["user"]["id"])
        try:
            await self._web.whisper(channel=channel, user=user, message=message, thread=thread)
        except FootnoteError as error:
            logger.info("a thank-you could not be said: %s", error)


def _place(body: Mapping[str, Any]) -> tuple[str, str]:
    """Channel and thread of the message whose button was pressed."""
    message = body.get("message") or {}
    container = body.get("container") or {}
    channel = str((body.get("channel") or {}).get("id") or container.get("channel_id") or "")
    thread = message.get("thread_ts") or container.get("thread_ts") or message.get("ts")
    return channel, str(thread or container.get("message_ts") or "")
