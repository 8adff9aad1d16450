"""What of a reply is in the thread already: for whoever takes a question over, or lost a connection."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from adapters.chat.slack.asking import Asked, mentions
from adapters.chat.slack.web import SlackWeb

ANSWERED = "footnote_answer"
"""Metadata of finished messages: the sure sign, for whoever takes a question over, that it was answered."""

INTENDED = "?"
"""In a claim, in place of a message's ts: something is about to be posted, and perhaps was.

Without it or a ts nothing was posted, and nobody need look.
"""

BEGUN = "footnote_begun"
"""Metadata of a message that is still being written."""


@dataclass(frozen=True, slots=True)
class Found:
    """Our messages for one question, by ts. ``parts`` are finished ones by number, of ``of`` in all.

    ``begun`` are unfinished ones that say so, or that can be nobody else's.
    """

    parts: Mapping[int, str] = field(default_factory=dict)
    of: int = 0
    begun: tuple[str, ...] = ()

    @property
    def finished(self) -> str:
        """The first message of a whole answer, empty where a part is missing."""
        return self.parts[1] if self.of and set(self.parts) >= set(range(1, self.of + 1)) else ""

    @property
    def pieces(self) -> tuple[str, ...]:
        """Everything that an answer begun anew takes the place of, oldest first."""
        return tuple(sorted({*self.parts.values(), *self.begun}))


def metadata(asked: Asked, *, part: int = 1, of: int = 1) -> dict[str, Any]:
    """What marks one finished message of an answer."""
    payload = {"message": asked.message, "question": asked.event, "part": part, "of": of}
    return {"event_type": ANSWERED, "event_payload": payload}


def begun_metadata(asked: Asked) -> dict[str, Any]:
    """What marks a message that will be an answer."""
    return {
        "event_type": BEGUN,
        "event_payload": {"message": asked.message, "question": asked.event},
    }


async def find_reply(web: SlackWeb, asked: Asked, *, bot_user: str) -> Found:
    """Look for our messages to a question.

    Raises:
        FootnoteError: the thread could not be read, so nothing is known.
    """
    return found_in(
        await web.thread(channel=asked.channel, thread=asked.thread, oldest=asked.message),
        asked,
        bot_user=bot_user,
    )


def found_in(messages: Sequence[Mapping[str, Any]], asked: Asked, *, bot_user: str) -> Found:
    """Our messages to a question among those of its thread."""
    parts: dict[int, str] = {}
    of, begun, unmarked, is_asked_again = 0, [], [], False
    for message in messages:
        ts = str(message.get("ts") or "")
        if message.get("user") != bot_user:
            is_asked_again |= ts > asked.message and mentions(message, bot_user=bot_user)
            continue
        marked = message.get("metadata") or {}
        payload = marked.get("event_payload") or {}
        if marked.get("event_type") in (ANSWERED, BEGUN) and payload.get("message") == asked.message:
            if marked["event_type"] == ANSWERED:
                parts[int(payload.get("part") or 1)] = ts
                of = int(payload.get("of") or 1)
            else:
                begun.append(ts)
        elif not marked.get("event_type") and ts > asked.message:
            unmarked.append(ts)
    if len(unmarked) == 1 and not is_asked_again:
        # A stream cannot be marked before it ends; in a thread with one question it can only be ours.
        begun += unmarked
    return Found(parts=parts, of=of, begun=tuple(begun))
