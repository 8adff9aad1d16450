"""The App Home: what Footnote can do, what one asked lately, and for administrators how things are."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

from slack_sdk.errors import SlackClientError

from adapters.chat.slack import blocks
from adapters.chat.slack.administering import Administering, status_text
from adapters.chat.slack.blocks import Block
from adapters.chat.slack.charts import has_matplotlib, satisfaction_line, satisfaction_png
from adapters.chat.slack.directory import Directory
from adapters.chat.slack.escaping import escaped, plain
from adapters.chat.slack.splitting import split
from adapters.chat.slack.texts import Text, say
from adapters.chat.slack.web import CallError, SlackWeb, call
from core.errors import FootnoteError
from core.ports.chat import (
    Administration,
    Audiences,
    DailyVerdicts,
    IndexStatus,
    Insights,
    ResyncKind,
    Usage,
)

logger = logging.getLogger(__name__)

DAYS = 14
RECENT = 5
LISTED = 5
LINE = 150

HIDDEN = (
    "What was asked is not shown: its readers could see more than you see by yourself. "
    "In their channel, `/footnote gaps` shows it."
)

SUGGESTED = (
    ("Leave", "How do I book leave?"),
    ("Equipment", "Who do I ask for a new laptop?"),
)
"""Titles and messages of the prompts that Slack offers beside the conversation."""


class Home:
    """Publishes the home view and the suggested prompts."""

    def __init__(
        self,
        *,
        web: SlackWeb,
        directory: Directory,
        administering: Administering,
        administration: Administration,
        audiences: Audiences,
        insights: Insights | None,
    ) -> None:
        self._web = web
        self._directory = directory
        self._administering = administering
        self._administration = administration
        self._audiences = audiences
        self._insights = insights
        self._charts: dict[tuple[DailyVerdicts, ...], str] = {}

    async def publish(self, user: str) -> None:
        """Draw the home of one person; what cannot be read is said to be missing."""
        person = await self._directory.person(user)
        shown = home_blocks(person.language, await self._recent(user))
        if await self._administering.is_admin(user):
            shown += await self._for_admins(user)
        try:
            await self._put(user, shown)
        except CallError as error:
            without = [block for block in shown if block["type"] != "image"]
            if len(without) == len(shown):
                raise
            # A picture that Slack has not looked through yet, or no longer has.
            logger.info("a home is shown without its chart: %s", error)
            self._charts = {}
            await self._put(user, without)

    async def _put(self, user: str, shown: list[Block]) -> None:
        view = {"type": "home", "blocks": shown[:100]}
        await call(self._web.patient, "views.publish", user_id=user, view=view)

    async def suggest(self, *, channel: str, thread: str = "") -> None:
        """Offer some first questions; without a thread in the agent surface, in one for older assistants."""
        prompts = [{"title": title, "message": message} for title, message in SUGGESTED]
        where = {"thread_ts": thread} if thread else {}
        try:
            await call(
                self._web.patient,
                "assistant.threads.setSuggestedPrompts",
                channel_id=channel,
                prompts=prompts,
                **where,
            )
        except FootnoteError as error:
            logger.info("prompts cannot be suggested: %s", error)

    async def _recent(self, user: str) -> Sequence[str]:
        if self._insights is None:
            return ()
        try:
            return await self._insights.recent_questions(person=user, limit=RECENT)
        except FootnoteError as error:
            logger.warning("recent questions cannot be read: %s", error)
            return ()

    async def _for_admins(self, user: str) -> list[Block]:
        viewer = self._audiences.audience_for(await self._directory.own_place(user))
        usage = None
        try:
            status = await self._administration.status()
            if self._insights is not None:
                usage = await self._insights.usage(days=DAYS, viewer=viewer)
        except FootnoteError as error:
            return [blocks.section(f":warning: The index cannot be asked: {escaped(str(error))}")]
        chart = await self._chart(usage.verdicts) if usage is not None else None
        return admin_blocks(status, usage, chart=chart)

    async def _chart(self, verdicts: tuple[DailyVerdicts, ...]) -> str | None:
        """The id of an uploaded picture, drawn once for the same figures; null where there can be none."""
        if not has_matplotlib() or not any(one.good + one.bad for one in verdicts):
            return None
        if verdicts not in self._charts:
            try:
                picture = await asyncio.to_thread(satisfaction_png, verdicts)
                found = await self._web.patient.files_upload_v2(
                    filename="satisfaction.png", file=picture, title="Satisfaction", request_file_info=False
                )
            except (SlackClientError, OSError, TimeoutError) as error:
                logger.info("a chart cannot be uploaded: %s", type(error).__name__)
                return None
            self._charts = {verdicts: str(found["files"][0]["id"])}
        return self._charts[verdicts]


def home_blocks(language: str, recent: Sequence[str]) -> list[Block]:
    """What everybody sees."""
    shown = [_header("Footnote"), blocks.section(escaped(say(Text.HOW_TO, language)))]
    if recent:
        lines = "\n".join(f"• {escaped(plain(question, limit=LINE))}" for question in recent)
        shown += [_header(say(Text.YOU_ASKED, language)), blocks.section(lines)]
    return shown


def admin_blocks(status: IndexStatus, usage: Usage | None, *, chart: str | None) -> list[Block]:
    """What administrators see besides."""
    shown: list[Block] = [{"type": "divider"}, _header("Index")]
    shown += [blocks.section(piece) for piece in split(status_text(status), limit=2_900)]
    shown.append(
        blocks.buttons(
            blocks.button("Sync changes", action=f"{blocks.RESYNC}_{ResyncKind.CHANGES}"),
            blocks.button("Sync everything", action=f"{blocks.RESYNC}_{ResyncKind.FULL}"),
        )
    )
    if usage is None:
        return shown
    if usage.last_syncs:
        shown += [_header("Last syncs"), blocks.section(_listed(usage.last_syncs))]
    shown.append(_header(f"Questions in {DAYS} days: {usage.questions}"))
    if usage.top_questions:
        top = [f"{count} × {question}" for question, count in usage.top_questions]
        shown.append(blocks.section(f"*Most asked*\n{_listed(top)}"))
    elif usage.questions:
        shown.append(blocks.section(HIDDEN))
    if usage.unanswered:
        shown.append(blocks.section(f"*Not answered*\n{_listed(usage.unanswered)}"))
    shown.append(blocks.section(f"*Satisfaction* {satisfaction_line(usage.verdicts)}"))
    if chart is not None:
        shown.append({"type": "image", "slack_file": {"id": chart}, "alt_text": "Good and bad answers a day"})
    return shown


def _header(text: str) -> dict[str, Any]:
    return {"type": "header", "text": {"type": "plain_text", "text": plain(text, limit=150)}}


def _listed(texts: Sequence[str]) -> str:
    return "\n".join(f"• {escaped(plain(text, limit=LINE))}" for text in texts[:LISTED])
