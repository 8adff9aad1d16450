"""The button under a marked reply: its question once more, answered in its place."""

from collections.abc import Mapping
from typing import Any

from adapters.chat.slack.answering import Answering
from adapters.chat.slack.directory import Directory
from adapters.chat.slack.escaping import escaped
from adapters.chat.slack.marking import again, thread_of
from adapters.chat.slack.render import notice
from adapters.chat.slack.texts import Text, say
from adapters.chat.slack.web import SlackWeb


class AskingAgain:
    """Asks what was asked, for whoever presses: what the new answer may rest on is decided anew."""

    def __init__(self, *, web: SlackWeb, answering: Answering, directory: Directory, bot_user: str) -> None:
        self._web = web
        self._answering = answering
        self._directory = directory
        self._bot_user = bot_user

    async def ask(self, body: Mapping[str, Any]) -> None:
        """Ask again; a question that was deleted meanwhile is told to the person alone.

        Raises:
            FootnoteError: the question cannot be read or noted.
        """
        asked = again(body, await thread_of(self._web, body), bot_user=self._bot_user)
        if asked is None:
            user = str(body["user"]["id"])
            language = (await self._directory.person(user)).language
            line = notice(escaped(say(Text.QUESTION_GONE, language)))
            channel = str(body["channel"]["id"])
            thread = str((body.get("message") or {}).get("thread_ts") or "")
            await self._web.whisper(channel=channel, user=user, message=line, thread=thread)
            return
        await self._answering.take(asked)
