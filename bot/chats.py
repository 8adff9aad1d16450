"""Settings to chat platforms: those whose tokens are set."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from adapters.chat.discord import DiscordChat, DiscordSettings, FileRecords
from adapters.chat.slack import SlackChat, SlackSettings
from adapters.chat.slack.judging import PageEditors
from bot.clock import SystemClock
from bot.insights import ChatInsights
from bot.operations import Operations
from bot.settings import Settings
from core.ports.chat import Claims, KeptAnswers, Suggestions
from core.ports.replies import GivenReplies

COMMAND_RECORDS = "discord-commands.json"
"""Below FOOTNOTE_HOME: which commands Discord was told of, so that it is told only of changes."""


class Chat(Protocol):
    """A platform that can be run."""

    @property
    def ready(self) -> asyncio.Event:
        """Set once it listens."""

    async def run(self, stop: asyncio.Event) -> None:
        """Until ``stop`` is set; then running answers end first.

        Raises:
            RefusedError, ConfigurationError: the platform will not have us.
        """


def slack_settings(settings: Settings) -> SlackSettings | None:
    """What Slack is told; null where no token is set."""
    if settings.slack_bot_token is None:
        return None
    app_token, secret = settings.slack_app_token, settings.slack_signing_secret
    return SlackSettings(
        bot_token=settings.slack_bot_token.get_secret_value(),
        app_token=app_token.get_secret_value() if app_token is not None else "",
        signing_secret=secret.get_secret_value() if secret is not None else "",
        base_url=settings.slack_base_url,
        http_host=settings.http_host,
        http_port=settings.slack_http_port,
        admins=frozenset(settings.slack_admins),
        expert=settings.slack_expert,
        follow_ups=settings.slack_follow_ups,
    )


def discord_settings(settings: Settings) -> DiscordSettings | None:
    """What Discord is told; null where no token is set. An id of the admins may be a person's or a role's."""
    if settings.discord_token is None:
        return None
    trusted = frozenset(int(one) for one in settings.discord_admins if one.isdecimal())
    return DiscordSettings(
        token=settings.discord_token.get_secret_value(),
        guild_ids=tuple(int(guild) for guild in settings.discord_guild_ids),
        base_url=settings.discord_base_url,
        gateway_url=settings.discord_gateway_url,
        admins=trusted,
        admin_roles=trusted,
        expert=settings.discord_expert,
        people=settings.people_in_discord,
        message_content=settings.discord_message_content,
    )


def make_chats(
    operations: Operations,
    *,
    claims: Claims,
    kept: KeptAnswers,
    suggestions: Suggestions,
    replies: GivenReplies,
    editors: PageEditors | None = None,
) -> Sequence[Chat]:
    """Every platform whose token is set; ``editors`` knows whom to call for a page.

    What the rules say of people is asked anew each time: the file may change while the chats run.
    """
    app = operations.app
    chats: list[Chat] = []
    if (slack := slack_settings(app.settings)) is not None:
        chats.append(
            SlackChat(
                slack,
                answerer=app.answerer,
                claims=claims,
                audiences=app.audiences,
                feedback=app.learning.feedback,
                administration=operations.administrator,
                clock=SystemClock(),
                insights=ChatInsights(app.learning.log, operations.jobs.runs),
                kept=kept,
                titles=app.store,
                editors=editors,
                digests=app.learning.digests,
                replies=replies,
            )
        )
    if (discord := discord_settings(app.settings)) is not None:
        chats.append(
            DiscordChat(
                discord,
                answerer=app.answerer,
                claims=claims,
                audiences=app.audiences,
                feedback=app.learning.feedback,
                administration=operations.administrator,
                clock=SystemClock(),
                suggestions=suggestions,
                editors=editors,
                digests=app.learning.digests,
                replies=replies,
                records=FileRecords(app.settings.footnote_home / COMMAND_RECORDS),
            )
        )
    return chats
