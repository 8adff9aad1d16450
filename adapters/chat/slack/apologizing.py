"""One polite line to whoever waits for something that failed, with an id that the log has too."""

import logging
import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Mapping
from typing import Any

from adapters.chat.slack.asking import Asked
from adapters.chat.slack.directory import Directory
from adapters.chat.slack.escaping import escaped
from adapters.chat.slack.private import private_line
from adapters.chat.slack.render import notice
from adapters.chat.slack.texts import Text, say
from adapters.chat.slack.web import SlackWeb
from core.errors import FootnoteError

logger = logging.getLogger(__name__)

TOLD_AT = 2
_REMEMBERED = 1_000


class Apologizing:
    """Tells people privately that something did not work."""

    def __init__(self, *, web: SlackWeb, directory: Directory) -> None:
        self._web = web
        self._directory = directory
        self._failures: OrderedDict[str, int] = OrderedDict()

    async def unless_done(self, work: Awaitable[None], body: Mapping[str, Any]) -> None:
        """Do what a command, button or shortcut asked for; where it fails, its user learns of it."""
        try:
            await work
        except Exception as error:
            incident = secrets.token_hex(4)
            if isinstance(error, FootnoteError):
                logger.warning("incident %s: %s", incident, error)
            else:
                logger.exception("incident %s", incident)
            await self._tell(body, incident)

    async def not_taken(self, asked: Asked, incident: str) -> None:
        """A question could not be noted, and Slack brings it again: told once, at the second failure.

        A database that hesitated for a moment is nothing to tell of. Where many ask, not all are told.
        """
        key = asked.key.place or asked.event
        self._failures[key] = self._failures.get(key, 0) + 1
        if len(self._failures) > _REMEMBERED:
            self._failures.popitem(last=False)
        if self._failures[key] != TOLD_AT:
            return
        language = (await self._directory.person(asked.user)).language
        line = notice(escaped(say(Text.NOT_TAKEN, language, id=incident)))
        await self._web.whisper(
            channel=asked.channel, user=asked.user, message=line, thread=asked.thread, waits=False
        )

    async def _tell(self, body: Mapping[str, Any], incident: str) -> None:
        user = str(body.get("user_id") or (body.get("user") or {}).get("id") or "")
        language = (await self._directory.person(user)).language
        line = escaped(say(Text.FAILED, language, id=incident))
        try:
            if url := body.get("response_url"):
                await self._web.respond(str(url), private_line(line))
            elif user:
                await self._web.post(channel=user, message=notice(line))
        except FootnoteError as error:
            logger.warning("incident %s could not be told: %s", incident, error)
