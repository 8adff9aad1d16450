"""Replies that only the asker sees, and the button that shares one of them in its channel."""

from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from adapters.chat.slack import blocks
from adapters.chat.slack.asking import Asked
from adapters.chat.slack.escaping import escaped, plain
from adapters.chat.slack.render import POSTED, Message, notice, render
from adapters.chat.slack.texts import Text, say
from core.domain.answers import Answer, Outcome
from core.domain.audiences import Audience
from core.ports import Clock

KEPT = 500
KEPT_MINUTES = 30
"""A response URL lives as long; the button with it."""

MAX_POSTS = 2
"""To one response URL; Slack allows five."""


@dataclass(frozen=True, slots=True)
class PrivateAnswer:
    """An answer that its asker may share."""

    asked: Asked
    answer: Answer
    until: datetime


class PrivateAnswers:
    """The private answers of the last half hour, in this process alone: they are never stored."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: OrderedDict[str, PrivateAnswer] = OrderedDict()

    def keep(self, asked: Asked, answer: Answer) -> None:
        """Remember an answer for its button."""
        until = self._clock.now() + timedelta(minutes=KEPT_MINUTES)
        self._kept[asked.event] = PrivateAnswer(asked=asked, answer=answer, until=until)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)

    def find(self, event: str, *, user: str) -> PrivateAnswer | None:
        """The answer, if it is this person's own and young enough."""
        known = self._kept.get(event)
        if known is None or known.asked.user != user or known.until <= self._clock.now():
            return None
        return known


def may_be_shared(answer: Answer, audience: Audience) -> bool:
    """Whether everybody in the channel may see every page that the answer rests on.

    All passages the writer had before it count, not only those it cites: its text may rest on any of them.
    """
    return all(audience.admits(passage.candidate.path) for passage in answer.retrieval.passages)


def private_bodies(asked: Asked, outcome: Outcome, *, can_share: bool) -> tuple[dict[str, Any], ...]:
    """What goes to the response URL: at most two posts, the last with the button."""
    messages = render(outcome, question_id=asked.event, room=POSTED, private=True)
    if len(messages) > MAX_POSTS:
        messages = (messages[0], messages[-1])
    bodies = [_body(message) for message in messages]
    if can_share:
        language = outcome.language
        share = blocks.button(
            say(Text.SHARE, language),
            action=blocks.SHARE,
            value=blocks.value(question=asked.event, language=language),
        )
        bodies[-1]["blocks"].append(blocks.buttons(share))
    return tuple(bodies)


def private_line(text: str) -> dict[str, Any]:
    """One line for the asker; ``text`` is mrkdwn."""
    return _body(notice(text))


def shared_messages(kept: PrivateAnswer, *, name: str) -> tuple[Message, ...]:
    """The answer for everybody, headed by who asked what; the name is text and pings nobody."""
    language = kept.answer.language
    question = plain(kept.asked.text, limit=500)
    head = blocks.context(say(Text.SHARED, language, person=escaped(name), question=escaped(question)))
    first, *others = render(kept.answer, question_id=kept.asked.event, room=POSTED)
    return (Message(text=first.text, blocks=(head, *first.blocks)), *others)


def _body(message: Message) -> dict[str, Any]:
    return {
        "response_type": "ephemeral",
        "replace_original": False,
        "text": message.text,
        "blocks": list(message.blocks),
    }
