"""Replies that only the asker sees, and the button that shares one of them in its channel."""

import json
from typing import Any

from adapters.chat.slack import blocks
from adapters.chat.slack.asking import PLATFORM, Asked, from_payload
from adapters.chat.slack.escaping import escaped, plain
from adapters.chat.slack.render import POSTED, Message, notice, render
from adapters.chat.slack.texts import Text, say
from core.domain.answers import Answer, Outcome
from core.domain.audiences import Audience
from core.ports.chat import KeptAnswer

KEPT_SECONDS = 30 * 60.0
"""A response URL lives as long; the button with it."""

MAX_POSTS = 2
"""To one response URL; Slack allows five."""


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


def kept_answer(asked: Asked, answer: Answer) -> KeptAnswer:
    """An answer as its button will need it, whichever process is asked then."""
    messages = render(answer, question_id=asked.event, room=POSTED)
    body = {
        "asked": asked.as_payload(),
        "language": answer.language,
        "messages": [{"text": one.text, "blocks": list(one.blocks)} for one in messages],
    }
    return KeptAnswer(
        platform=PLATFORM,
        event=asked.event,
        person=asked.user,
        pages=tuple(dict.fromkeys(one.candidate.page_id for one in answer.retrieval.passages)),
        body=json.dumps(body, ensure_ascii=False),
    )


def asked_in(kept: KeptAnswer) -> Asked:
    """The question of a kept answer."""
    return from_payload(json.loads(kept.body)["asked"])


def shared_messages(kept: KeptAnswer, *, name: str) -> tuple[Message, ...]:
    """The answer for everybody, headed by who asked what; the name is text and pings nobody."""
    body = json.loads(kept.body)
    question = plain(asked_in(kept).text, limit=500)
    head = blocks.context(
        say(Text.SHARED, body["language"], person=escaped(name), question=escaped(question))
    )
    messages = [Message(text=one["text"], blocks=tuple(one["blocks"])) for one in body["messages"]]
    first, *others = messages
    return (Message(text=first.text, blocks=(head, *first.blocks)), *others)


def _body(message: Message) -> dict[str, Any]:
    return {
        "response_type": "ephemeral",
        "replace_original": False,
        "text": message.text,
        "blocks": list(message.blocks),
    }
