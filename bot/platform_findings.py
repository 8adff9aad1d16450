"""What `footnote check` finds of the chat platforms and of Notion's webhook."""

from collections.abc import Sequence

from adapters.chat import discord, slack
from adapters.jobs.opening import open_jobs
from adapters.jobs.tokens import StoredTokens
from bot.chats import discord_settings, slack_settings
from bot.findings import Finding, State
from bot.settings import Settings
from core.errors import SchemaError
from core.ports.chat import StatusCheck

_MERELY_USEFUL = frozenset({"Discord message content", "Discord servers"})
"""What works in another way without."""

_WEBHOOK = "Notion webhook"


async def platform_findings(settings: Settings) -> Sequence[Finding]:
    """Tokens, scopes, permissions and the invite link, asked of the platforms themselves."""
    findings: list[Finding] = []
    if (for_slack := slack_settings(settings)) is not None:
        findings += [_finding(check) for check in await slack.check(for_slack)]
    else:
        findings.append(_off("Slack"))
    if (for_discord := discord_settings(settings)) is not None:
        findings += [_finding(check) for check in await discord.check(for_discord)]
    else:
        findings.append(_off("Discord"))
    return findings


async def webhook_finding(settings: Settings, url: str) -> Finding:
    """Whether events come in; shows a token that is still to be pasted into Notion.

    Raises:
        UnavailableError, RefusedError: the database cannot be asked.
    """
    if settings.notion_webhook_token is not None:
        return Finding(_WEBHOOK, State.OK, "events are checked with NOTION_WEBHOOK_TOKEN")
    try:
        async with open_jobs(url) as jobs:
            stored = await jobs.tokens.read()
    except SchemaError:
        stored = StoredTokens()
    return describe_tokens(stored)


def describe_tokens(stored: StoredTokens) -> Finding:
    """What is stored, and what the operator has to do."""
    trusted, offered = stored.trusted, stored.offered
    if trusted is None:
        return Finding(
            _WEBHOOK,
            State.OK,
            "not set up: edits are seen at the next sync; docs/sync.md says how to be told",
        )
    if trusted.used_at is None:
        return Finding(
            _WEBHOOK,
            State.WARN,
            f"a verification token came at {trusted.received_at:%Y-%m-%d %H:%M} UTC, and no event yet",
            f"paste it into the subscription's page in Notion: {trusted.token}",
        )
    if offered is not None and offered.received_at > trusted.received_at:
        return Finding(
            _WEBHOOK,
            State.WARN,
            f"events come in; another token came at {offered.received_at:%Y-%m-%d %H:%M} UTC, not believed",
            f"only if you made the subscription again: set NOTION_WEBHOOK_TOKEN={offered.token}",
        )
    return Finding(_WEBHOOK, State.OK, "events come in and are signed")


def _finding(check: StatusCheck) -> Finding:
    bad = State.WARN if check.name in _MERELY_USEFUL else State.FAIL
    return Finding(check.name, State.OK if check.ok else bad, check.detail, check.remedy)


def _off(name: str) -> Finding:
    return Finding(name, State.WARN, "off: no token is set", f"see docs/{name.lower()}.md to turn it on")
