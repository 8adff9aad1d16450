"""``footnote serve``: the bot, until a signal ends it."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import structlog

from adapters.sources.notion_editors import NotionEditors
from adapters.stores.claims import open_claims
from adapters.stores.given_replies import open_given_replies
from adapters.stores.kept_answers import open_kept_answers
from adapters.stores.suggestions import open_suggestions
from bot.chats import make_chats
from bot.clock import SystemClock
from bot.health import health_endpoint
from bot.learning import keep_the_log_short
from bot.loops import settle
from bot.notion import notion_source, open_notion
from bot.operations import Operations, open_operations
from bot.settings import Settings
from bot.together import Runner, run_together
from bot.waking import wake
from bot.webhook import NotionWebhook
from bot.wiring import open_app
from core.errors import ConfigurationError
from core.services.given_replies import RememberedReplies, watch_sources
from core.services.popular import keep_answered
from core.services.prechecking import PrecheckedClaims

log = structlog.get_logger()


async def run_serve(settings: Settings) -> int:
    """Run everything that is configured; returns when a signal asks for it.

    Raises:
        ConfigurationError: nothing to do is configured.
        FootnoteError: a part cannot go on, such as a chat whose token was refused; all others were ended.
    """
    if settings.notion_token is None and settings.slack_bot_token is None and settings.discord_token is None:
        raise ConfigurationError(
            "nothing to serve: set NOTION_TOKEN to sync, and SLACK_BOT_TOKEN or DISCORD_TOKEN to chat; "
            "footnote demo shows everything without any of them"
        )
    async with AsyncExitStack() as stack:
        app = await stack.enter_async_context(open_app(settings))
        operations = await stack.enter_async_context(open_operations(app))
        runners = await _runners(operations, stack)
        stop = await stack.enter_async_context(stop_signal())
        settle()
        log.info("serving", parts=len(runners))
        await run_together(runners, stop)
    return 0


async def _runners(operations: Operations, stack: AsyncExitStack) -> list[Runner]:
    """All parts that are configured: web, rules, log, chats, worker."""
    app, settings = operations.app, operations.app.settings
    claims = await stack.enter_async_context(open_claims(app.servers.database_url))
    kept = await stack.enter_async_context(open_kept_answers(app.servers.database_url))
    book = await stack.enter_async_context(open_given_replies(app.servers.database_url))
    replies = RememberedReplies(book, clock=SystemClock(), days=settings.answer_marked_days)
    suggestions = await stack.enter_async_context(open_suggestions(app.servers.database_url))
    webhook = NotionWebhook(
        hints=operations.jobs.hints,
        tokens=operations.jobs.tokens,
        token=settings.notion_webhook_token.get_secret_value() if settings.notion_webhook_token else "",
        comments=settings.notion_comments != "off",
    )
    routes = webhook.routes() if settings.notion_token else []
    api = await stack.enter_async_context(open_notion(settings, app.redis)) if settings.notion_token else None
    editors = NotionEditors(api) if api is not None else None
    chats = make_chats(
        operations,
        claims=PrecheckedClaims(claims, app.cache),
        kept=kept,
        suggestions=suggestions,
        replies=replies,
        editors=editors,
    )
    now = api.time.now if api is not None else SystemClock().now
    runners: list[Runner] = [
        lambda stop: health_endpoint(app, stop, routes=routes, now=now),
        app.audiences.watch,
        lambda stop: wake(app.embedder, app.reader, stop),
        lambda stop: keep_the_log_short(settings, app.learning, stop),
        lambda stop: keep_answered(app.popular, app.index.generation, stop),
        lambda stop: watch_sources(replies, app.index.generation, stop),
        *(chat.run for chat in chats),
    ]
    if api is not None:
        source = notion_source(api, settings)
        runners.append(operations.worker(source, is_scheduled=settings.notion_sync_interval > 0).run)
    return runners


@asynccontextmanager
async def stop_signal() -> AsyncIterator[asyncio.Event]:
    """An event that SIGINT and SIGTERM set."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)
    for number in signals:
        loop.add_signal_handler(number, stop.set)
    try:
        yield stop
    finally:
        for number in signals:
            loop.remove_signal_handler(number)
