"""What `footnote check` says of the rules."""

from collections.abc import AsyncIterator

from adapters.stores.facts import unknown_pages
from bot.findings import Finding, State
from bot.scopes.describing import FIRST_LINES, mappings, mentioned_pages
from bot.scopes.watching import USUAL_NAME, LiveAudiences, config_path
from bot.settings import Settings
from bot.wording import counted
from core.errors import FootnoteError

SUBJECT = "audiences"


async def audience_findings(settings: Settings, database_url: str | None) -> AsyncIterator[Finding]:
    """Whether the file is right, what each mapping means, and whether its pages are in the index."""
    path = config_path(settings.footnote_config)
    if path is None:
        yield _no_file(settings)
        return
    try:
        live = LiveAudiences(path)
    except FootnoteError as error:
        yield Finding(SUBJECT, State.FAIL, str(error), "correct that line; docs/audiences.md shows every key")
        return
    lines = tuple(mappings(live.rules))
    yield Finding(SUBJECT, State.OK, f"{path.name} is readable: {counted(len(live.rules.scopes), 'scope')}")
    for line in lines:
        yield Finding(SUBJECT, State.OK, line)
    if not lines:
        yield Finding(
            SUBJECT, State.WARN, f"{path.name} maps no place: chats see nothing", _three_lines(path.name)
        )
    if database_url is not None:
        async for finding in _unknown(live, database_url):
            yield finding


def _no_file(settings: Settings) -> Finding:
    if settings.slack_bot_token is None and settings.discord_token is None:
        return Finding(SUBJECT, State.OK, "the command line sees everything; no chat platform is set up")
    return Finding(
        SUBJECT,
        State.WARN,
        f"there is no {USUAL_NAME}: Slack and Discord see nothing, the command line everything",
        _three_lines(USUAL_NAME),
    )


def _three_lines(name: str) -> str:
    return f"to let every channel see everything, write into {name}:\n" + "\n".join(
        f"        {line}" for line in FIRST_LINES.splitlines()
    )


async def _unknown(live: LiveAudiences, url: str) -> AsyncIterator[Finding]:
    pages = mentioned_pages(live.file)
    try:
        missing = await unknown_pages(url, frozenset().union(*pages.values()))
    except FootnoteError:
        return  # The lines on the database say so already.
    for scope, ids in pages.items():
        if absent := sorted(ids & missing):
            yield Finding(
                SUBJECT,
                State.WARN,
                f"scope {scope}: not in the index: {', '.join(absent)}",
                "share these pages with the integration and run: footnote sync; or correct the ids",
            )
