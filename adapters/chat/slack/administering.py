"""``/footnote`` and ``/resync``: who may, and what each verb does."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from adapters.chat.slack import blocks
from adapters.chat.slack.asking import from_command
from adapters.chat.slack.directory import Directory
from adapters.chat.slack.escaping import escaped, unescaped
from adapters.chat.slack.mrkdwn import mrkdwn
from adapters.chat.slack.progress import Progress
from adapters.chat.slack.render import notice
from adapters.chat.slack.settings import SlackSettings
from adapters.chat.slack.splitting import split
from adapters.chat.slack.texts import Text, say
from adapters.chat.slack.web import SlackWeb
from core.domain.places import Place
from core.errors import InvalidInputError
from core.ports.chat import (
    Administration,
    Audiences,
    Gap,
    IndexStatus,
    ResyncKind,
    ResyncTicket,
)

logger = logging.getLogger(__name__)

GAPS = 10
MAX_TEXT = 2_900
MAX_PIECES = 4
"""Of a private reply, each as long as ``MAX_TEXT``: all blocks of a message hold about 13,200 characters."""

USAGE = """*What administrators can do*
• `/footnote resync` reads what changed in Notion; `resync full` reads everything
• `/footnote reembed` makes all vectors again
• `/footnote status` shows how the index is
• `/footnote gaps` shows what was asked and not answered well
• `/footnote scope` shows which pages this channel sees
• `/footnote why LINK` explains one page"""

VERBS = frozenset({"resync", "reembed", "status", "gaps", "scope", "why", "help"})
_KINDS = {"": ResyncKind.CHANGES, "full": ResyncKind.FULL}


class Administering:
    """Carries out what administrators ask, after it has looked up that they are."""

    def __init__(
        self,
        *,
        web: SlackWeb,
        settings: SlackSettings,
        administration: Administration,
        audiences: Audiences,
        directory: Directory,
        progress: Progress,
        bot_user: str,
    ) -> None:
        self._web = web
        self._settings = settings
        self._administration = administration
        self._audiences = audiences
        self._directory = directory
        self._bot_user = bot_user
        self._progress = progress

    async def is_admin(self, user: str) -> bool:
        """Whether settings or rules name the person, or Slack says that they administer the workspace."""
        if user in self._settings.admins or (await self._directory.person(user)).is_admin:
            return True
        return self._audiences.is_admin(await self._directory.own_place(user))

    async def command(self, body: Mapping[str, Any]) -> None:
        """One of the verbs; the reply is private."""
        words = str(body.get("text") or "").split()
        if body.get("command") == "/resync":
            words = ["resync", *words]
        user = str(body["user_id"])
        verb = words[0].lower() if words else "help"
        if not await self.is_admin(user):
            logger.warning("refused: %s wanted %s", user, _loggable(verb))
            language = (await self._directory.person(user)).language
            await self._tell(body, escaped(say(Text.ADMINS_ONLY, language)))
            return
        logger.info("allowed: %s does %s", user, _loggable(verb))
        try:
            await self._do(verb, [word.lower() for word in words[1:]], " ".join(words[1:]), body)
        except InvalidInputError as error:
            await self._tell(body, escaped(str(error)))

    async def button(self, kind: ResyncKind, *, user: str) -> None:
        """A resync from the home; the same people may, and its progress goes to them."""
        if not await self.is_admin(user):
            logger.warning("refused: %s pressed resync", user)
            language = (await self._directory.person(user)).language
            await self._web.post(channel=user, message=notice(escaped(say(Text.ADMINS_ONLY, language))))
            return
        logger.info("allowed: %s pressed resync", user)
        ticket = await self._administration.resync(kind, asked_by=f"slack:{user}")
        self._progress.begin(ticket.run_id, user=user, channel="")

    async def _do(self, verb: str, words: list[str], rest: str, body: Mapping[str, Any]) -> None:
        user, channel = str(body["user_id"]), str(body["channel_id"])
        match verb, words:
            case ("resync", ([] | ["full"])):
                await self._resync(_KINDS["full" if words else ""], body, user=user, channel=channel)
            case ("reembed", []):
                await self._resync(ResyncKind.REEMBED, body, user=user, channel=channel)
            case ("status", []):
                await self._tell(body, status_text(await self._administration.status()))
            case ("gaps", []):
                viewer = self._audiences.audience_for(await self._place(body))
                found = await self._administration.gaps(viewer=viewer, limit=GAPS)
                await self._tell(body, gaps_text(found))
            case ("scope", []):
                await self._tell(body, escaped(self._audiences.explain(await self._place(body))))
            case ("why", [_]):
                await self._tell(
                    body, mrkdwn(await self._administration.why(unescaped(rest.strip("<>").split("|")[0])))
                )
            case _:
                await self._tell(body, USAGE)

    async def _place(self, body: Mapping[str, Any]) -> Place:
        return await self._directory.channel_place(from_command(body, bot_user=self._bot_user))

    async def _resync(self, kind: ResyncKind, body: Mapping[str, Any], *, user: str, channel: str) -> None:
        ticket = await self._administration.resync(kind, asked_by=f"slack:{user}")
        await self._tell(body, ticket_text(ticket))
        self._progress.begin(ticket.run_id, user=user, channel=channel)

    async def _tell(self, body: Mapping[str, Any], text: str) -> None:
        pieces = split(text, limit=MAX_TEXT)[:MAX_PIECES]
        await self._web.respond(
            str(body["response_url"]),
            {
                "response_type": "ephemeral",
                "text": pieces[0],
                "blocks": [blocks.section(piece) for piece in pieces],
            },
        )


def _loggable(verb: str) -> str:
    """What somebody typed is theirs; only our own words get into the log."""
    return verb if verb in VERBS else "something else"


def ticket_text(ticket: ResyncTicket) -> str:
    """What a request for a resync led to."""
    if not ticket.joined:
        return f"Sync {ticket.run_id} begins; a message shows its progress."
    upgraded = " It became a full one." if ticket.upgraded else ""
    return f"A sync is running already (run {ticket.run_id}); yours joined it.{upgraded}"


def status_text(status: IndexStatus) -> str:
    """The index's health as lines of mrkdwn."""
    last = f"{status.last_sync:%Y-%m-%d %H:%M}" if status.last_sync else "never"
    lines = [
        f"*Index*: {status.pages} pages, {status.chunks} passages, {status.pending} waiting; last sync {last}"
    ]
    for check in status.checks:
        sign = ":white_check_mark:" if check.ok else ":x:"
        remedy = f" → {escaped(check.remedy)}" if check.remedy and not check.ok else ""
        lines.append(f"{sign} {escaped(check.name)}: {escaped(check.detail)}{remedy}")
    return "\n".join(lines)


def gaps_text(gaps: Sequence[Gap]) -> str:
    """What was asked and not answered well, most frequent first."""
    if not gaps:
        return "No gaps: everything asked lately was answered well."
    lines = ["*Asked and not answered well*"]
    for gap in gaps:
        example = escaped(" ".join(gap.examples[0].split())[:200]) if gap.examples else "…"
        pages = ", ".join(escaped(title) for title, _ in gap.nearest_pages[:2])
        lines.append(f"• {gap.count} × {example}" + (f" (nearest: {pages})" if pages else ""))
    return "\n".join(lines)
