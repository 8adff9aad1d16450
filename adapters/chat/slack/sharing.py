"""The button under a private answer: to the channel, if everybody there may see what it rests on."""

from collections.abc import Mapping
from typing import Any

from adapters.chat.slack import blocks
from adapters.chat.slack.asking import PLATFORM
from adapters.chat.slack.directory import Directory
from adapters.chat.slack.escaping import escaped
from adapters.chat.slack.private import KEPT_SECONDS, asked_in, private_line, shared_messages
from adapters.chat.slack.texts import Text, say
from adapters.chat.slack.web import CallError, SlackWeb
from core.errors import FootnoteError
from core.ports import PageTitles
from core.ports.chat import Audiences, KeptAnswer, KeptAnswers


class Sharing:
    """Posts kept private answers in their channels."""

    def __init__(
        self,
        *,
        web: SlackWeb,
        kept: KeptAnswers,
        titles: PageTitles,
        directory: Directory,
        audiences: Audiences,
    ) -> None:
        self._web = web
        self._kept = kept
        self._titles = titles
        self._directory = directory
        self._audiences = audiences

    async def share(self, body: Mapping[str, Any]) -> None:
        """Post an answer once, or say privately why not.

        What the channel may see is decided anew: rules may have changed and pages moved since.
        """
        chosen = blocks.read_value(str(body["actions"][0].get("value") or ""))
        language = chosen.get("language", "")
        url = str(body.get("response_url") or "")
        user = str(body["user"]["id"])
        kept = await self._kept.take(PLATFORM, chosen.get("question", ""), person=user)
        if kept is None:
            await self._tell(url, say(Text.SHARE_EXPIRED, language))
            return
        try:
            refusal = await self._post(kept, user=user, language=language)
        except FootnoteError:
            await self._kept.keep(kept, seconds=KEPT_SECONDS)
            raise
        if refusal:
            await self._kept.keep(kept, seconds=KEPT_SECONDS)
            await self._tell(url, refusal)
        else:
            await self._web.respond(url, {"delete_original": True})

    async def _post(self, kept: KeptAnswer, *, user: str, language: str) -> str:
        """Post it; returns why it may not be posted there, empty if it was."""
        asked = asked_in(kept)
        place = await self._directory.channel_place(asked)
        if not self._audiences.may_ask(place):
            return say(Text.NOT_HERE, language)
        readers = self._audiences.channel_audience(place)
        titles = await self._titles.titles(kept.pages, audience=readers)
        if any(titles.get(page) is None for page in kept.pages):
            return say(Text.NOT_SHARED, language)
        first, *others = shared_messages(kept, name=(await self._directory.person(user)).name)
        try:
            thread = await self._web.post(channel=asked.channel, message=first)
        except CallError as error:
            return say(Text.CANNOT_POST, language, code=error.code)
        for message in others:
            await self._web.post(channel=asked.channel, message=message, thread=thread)
        return ""

    async def _tell(self, url: str, text: str) -> None:
        await self._web.respond(url, private_line(escaped(text)))
