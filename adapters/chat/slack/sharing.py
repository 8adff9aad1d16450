"""The button under a private answer: to the channel, if everybody there may see what it rests on."""

from collections.abc import Mapping
from typing import Any

from adapters.chat.slack import blocks
from adapters.chat.slack.directory import Directory
from adapters.chat.slack.escaping import escaped
from adapters.chat.slack.private import PrivateAnswers, may_be_shared, private_line, shared_messages
from adapters.chat.slack.texts import Text, say
from adapters.chat.slack.web import CallError, SlackWeb
from core.ports.chat import Audiences


async def share(
    body: Mapping[str, Any],
    *,
    web: SlackWeb,
    answers: PrivateAnswers,
    directory: Directory,
    audiences: Audiences,
) -> None:
    """Post a kept private answer in its channel, or say privately why not.

    What the channel may see is decided anew: pages may have moved since the answer was given.
    """
    chosen = blocks.read_value(str(body["actions"][0].get("value") or ""))
    language = chosen.get("language", "")
    url = str(body.get("response_url") or "")
    user = str(body["user"]["id"])
    kept = answers.find(chosen.get("question", ""), user=user)
    if kept is None:
        await web.respond(url, private_line(escaped(say(Text.SHARE_EXPIRED, language))))
        return
    place = await directory.channel_place(kept.asked)
    if not may_be_shared(kept.answer, audiences.channel_audience(place)):
        await web.respond(url, private_line(escaped(say(Text.NOT_SHARED, language))))
        return
    name = (await directory.person(user)).name
    first, *others = shared_messages(kept, name=name)
    try:
        thread = await web.post(channel=kept.asked.channel, message=first)
        for message in others:
            await web.post(channel=kept.asked.channel, message=message, thread=thread)
    except CallError as error:
        hint = f"Slack does not let me post there ({error.code}). Please invite me to the channel."
        await web.respond(url, private_line(escaped(hint)))
        return
    await web.respond(url, {"delete_original": True})
