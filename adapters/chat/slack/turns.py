"""What somebody asked earlier in a thread."""

import logging

from adapters.chat.slack.asking import Asked, question_text
from adapters.chat.slack.web import SlackWeb
from core.domain.questions import Turn
from core.domain.smalltalk import asks_nothing
from core.errors import FootnoteError

logger = logging.getLogger(__name__)

MAX_TURNS = 5


async def earlier_turns(web: SlackWeb, asked: Asked, *, bot_user: str) -> tuple[Turn, ...]:
    """The asker's own earlier questions of the thread, oldest first; none where it cannot be read."""
    if asked.is_private or not asked.thread or asked.thread == asked.message:
        return ()
    try:
        messages = await web.thread(channel=asked.channel, thread=asked.thread)
    except FootnoteError as error:
        logger.info("a thread's earlier turns cannot be read: %s", error)
        return ()
    turns: list[Turn] = []
    was_answered = asked.is_direct
    for message in messages:
        if message.get("user") == bot_user:
            was_answered = True
        # What was written later is no earlier turn: a question may be taken over after a while.
        elif message.get("user") == asked.user and str(message.get("ts")) < asked.message:
            text = str(message.get("text") or "")
            if was_answered or f"<@{bot_user}" in text:
                turns.append(Turn(text=question_text(text, bot_user=bot_user)))
    return tuple(turn for turn in turns if not asks_nothing(turn.text))[-MAX_TURNS:]
