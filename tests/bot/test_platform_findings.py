"""What ``footnote check`` says of platforms and of the webhook."""

from datetime import UTC, datetime

from adapters.jobs.tokens import StoredToken, StoredTokens
from bot.chats import discord_settings, slack_settings
from bot.findings import Finding, State
from bot.platform_findings import describe_tokens, platform_findings
from bot.settings import Settings
from tests.fakes.slack import APP_TOKEN, BOT_TOKEN, running_slack

EARLY, LATE = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 2, tzinfo=UTC)


def by_subject(findings: list[Finding]) -> dict[str, Finding]:
    """Findings by what they are about."""
    return {finding.subject: finding for finding in findings}


async def test_slack_is_asked_for_each_missing_scope() -> None:
    """The platform itself is asked; a scope that is missing is named."""
    async with running_slack() as slack:
        slack.workspace.scopes = frozenset(slack.workspace.scopes) - {"users:read"}
        settings = Settings.from_mapping(
            {"SLACK_BOT_TOKEN": BOT_TOKEN, "SLACK_APP_TOKEN": APP_TOKEN, "SLACK_BASE_URL": slack.api_url}
        )
        found = by_subject(list(await platform_findings(settings)))

    assert found["Slack bot token"].state is State.OK
    assert found["Slack scopes"].state is State.FAIL
    assert "users:read" in found["Slack scopes"].detail
    assert found["Discord"].state is State.WARN


async def test_what_is_off_is_a_warning_only() -> None:
    """Nobody has to have both platforms."""
    found = await platform_findings(Settings())

    assert [(finding.subject, finding.state) for finding in found] == [
        ("Slack", State.WARN),
        ("Discord", State.WARN),
    ]


def test_not17_a_token_is_shown_until_the_first_event_came() -> None:
    """Then no more; one that came later is shown with what to do about it."""
    fresh, used = StoredToken("secret_1", EARLY, None), StoredToken("secret_1", EARLY, LATE)
    offered = StoredToken("secret_2", LATE, None)

    assert describe_tokens(StoredTokens()).state is State.OK
    assert "secret_1" in describe_tokens(StoredTokens(fresh)).remedy
    working = describe_tokens(StoredTokens(used))
    assert (working.state, "secret" in f"{working.detail}{working.remedy}") == (State.OK, False)
    assert "NOTION_WEBHOOK_TOKEN=secret_2" in describe_tokens(StoredTokens(used, offered)).remedy


def test_settings_reach_the_platforms() -> None:
    """Ids, admins of the settings, and secrets that no repr shows."""
    settings = Settings.from_mapping(
        {
            "SLACK_BOT_TOKEN": "xoxb-1",
            "SLACK_SIGNING_SECRET": "shh",
            "SLACK_ADMINS": "U1",
            "DISCORD_TOKEN": "d-token",
            "DISCORD_GUILD_IDS": "11,12",
            "DISCORD_ADMINS": "42",
            "DISCORD_MESSAGE_CONTENT": "true",
            "DISCORD_EXPERT": "&77",
            "DISCORD_PEOPLE": "Ada@Example.org:43, bob@example.org : 44",
        }
    )

    slack = slack_settings(settings)
    discord = discord_settings(settings)

    assert slack is not None
    assert discord is not None
    assert (slack.admins, slack.uses_sockets, slack.http_port) == (frozenset({"U1"}), False, 3000)
    assert discord.guild_ids == (11, 12)
    assert discord.admins == discord.admin_roles == frozenset({42})
    assert discord.message_content
    assert discord.expert == "&77"
    assert discord.people == {"ada@example.org": 43, "bob@example.org": 44}
    assert "shh" not in repr(slack)
    assert "d-token" not in repr(discord)
    assert (slack_settings(Settings()), discord_settings(Settings())) == (None, None)
