"""Given replies whose source says something else by now: marked once, with a button that asks again."""

from collections.abc import Mapping, Sequence
from typing import Any

from adapters.chat.marking import mark_each
from adapters.chat.slack import blocks
from adapters.chat.slack.asking import PLATFORM, Asked, question_text, text_of
from adapters.chat.slack.escaping import escaped
from adapters.chat.slack.finding import ANSWERED
from adapters.chat.slack.render import REFUSED_BLOCKS, UPDATED, Message
from adapters.chat.slack.splitting import octets, split
from adapters.chat.slack.web import CallError, SlackWeb
from core.domain.answers import Answer
from core.domain.phrases import Phrase, phrase
from core.errors import FootnoteError
from core.ports.replies import ChangedReply, GivenReplies, ReplyPlace

MAX_BLOCKS = 50
_GONE = frozenset({"message_not_found", "cant_update_message", "edit_window_closed", "is_inactive"})


class Marking:
    """Remembers what was answered where, and marks it when the platform's turn comes."""

    def __init__(self, *, web: SlackWeb, replies: GivenReplies | None) -> None:
        self._web = web
        self._replies = replies

    async def given(self, asked: Asked, ts: str, answer: Answer) -> None:
        """An answer was posted for everybody in its place, or in our conversation."""
        if self._replies is not None and ts and not asked.is_private:
            await self._replies.given(place_of(asked, ts), answer)

    async def mark_changed(self) -> None:
        """As `mark_each`.

        Raises:
            TemporaryError: nothing can be known of them now.
        """
        if self._replies is not None:
            await mark_each(self._replies, PLATFORM, self._mark, _is_final)

    async def _mark(self, changed: ChangedReply) -> None:
        place = changed.place
        found = await self._web.thread(channel=place.channel, thread=place.thread, oldest=place.message)
        message = next((one for one in found if one.get("ts") == place.message), None)
        if message is None or is_marked(message):
            # Somebody deleted it, or another process marked it and could not say so.
            return
        marked = marked_message(message, place, language=changed.language)
        try:
            await self._web.update(
                channel=place.channel,
                ts=place.message,
                message=marked,
                metadata=message.get("metadata") or None,
            )
        except CallError as error:
            if error.code not in REFUSED_BLOCKS:
                raise
            # Too long to be edited: the mark stands below it.
            line = mark(changed.language)
            alone = Message(text=line, blocks=_mark_blocks(place, line, language=changed.language))
            await self._web.post(channel=place.channel, message=alone, thread=place.thread)


def _is_final(error: FootnoteError) -> bool:
    return isinstance(error, CallError) and (error.is_of_place or error.code in _GONE)


def place_of(asked: Asked, ts: str) -> ReplyPlace:
    """Where a reply to a question stands."""
    return ReplyPlace(
        platform=PLATFORM,
        workspace=asked.team,
        channel=asked.channel,
        message=ts,
        thread=asked.thread,
        question=asked.message,
    )


def mark(language: str) -> str:
    """``The source has changed since.``, as mrkdwn."""
    return f":warning: *{escaped(phrase(Phrase.SOURCE_CHANGED, language))}*"


def is_marked(message: Mapping[str, Any]) -> bool:
    """Whether the button is there already."""
    return any(
        element.get("action_id") == blocks.AGAIN
        for block in message.get("blocks") or []
        for element in block.get("elements") or []
    )


def marked_message(message: Mapping[str, Any], place: ReplyPlace, *, language: str) -> Message:
    """The reply as it is, under the mark and the button."""
    line = mark(language)
    head = _mark_blocks(place, line, language=language)
    shown = tuple(dict(block) for block in message.get("blocks") or ())[: MAX_BLOCKS - len(head)]
    left = UPDATED.text - octets(line) - 2
    text = split(str(message.get("text") or "") or "…", limit=left, size=octets)
    return Message(text=f"{line}\n\n{text[0] if text else ''}".strip(), blocks=(*head, *shown))


def again(body: Mapping[str, Any], thread: Sequence[Mapping[str, Any]], *, bot_user: str) -> Asked | None:
    """The question of a marked reply, asked by whoever pressed; null if it is not in its thread any more."""
    chosen = blocks.read_value(str(body["actions"][0].get("value") or ""))
    found = next((one for one in thread if one.get("ts") == chosen.get("question")), None)
    if found is None:
        return None
    reply = chosen.get("reply", "")
    # A mark that stands below its reply goes with the former answer.
    pressed = str((body.get("message") or {}).get("ts") or reply)
    below = [pressed] if pressed != reply else []
    return Asked(
        event=str(body.get("trigger_id") or ""),
        team=str((body.get("team") or {}).get("id") or ""),
        channel=str(body["channel"]["id"]),
        user=str(body["user"]["id"]),
        text=question_text(text_of(found), bot_user=bot_user),
        message=chosen["question"],
        thread=chosen.get("thread", ""),
        again=",".join((reply, *_further_parts(thread, reply, bot_user=bot_user), *below)),
    )


async def thread_of(web: SlackWeb, body: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The thread of the reply whose button was pressed; empty if the button does not name it.

    Raises:
        FootnoteError: it cannot be read.
    """
    thread = blocks.read_value(str(body["actions"][0].get("value") or "")).get("thread", "")
    return await web.thread(channel=str(body["channel"]["id"]), thread=thread) if thread else ()


def _further_parts(thread: Sequence[Mapping[str, Any]], reply: str, *, bot_user: str) -> list[str]:
    """The ts of what the answer went on with behind its first message, by our own metadata."""
    ours = [one for one in thread if one.get("user") == bot_user]
    first = next((one for one in ours if one.get("ts") == reply), {})
    if not (question := _answers(first)):
        return []
    return [str(one["ts"]) for one in ours if str(one["ts"]) > reply and _answers(one) == question]


def _answers(message: Mapping[str, Any]) -> str:
    metadata = message.get("metadata") or {}
    if metadata.get("event_type") != ANSWERED:
        return ""
    return str((metadata.get("event_payload") or {}).get("question") or "")


def _mark_blocks(place: ReplyPlace, line: str, *, language: str) -> tuple[blocks.Block, ...]:
    value = blocks.value(question=place.question, thread=place.thread, reply=place.message, language=language)
    button = blocks.button(phrase(Phrase.ASK_AGAIN, language), action=blocks.AGAIN, value=value)
    return (blocks.section(line), blocks.buttons(button))
