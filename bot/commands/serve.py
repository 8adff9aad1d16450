"""``footnote serve``: the bot, until a signal ends it."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from bot.clock import SystemClock
from bot.health import health_endpoint
from bot.learning import keep_the_log_short
from bot.masking import masked_source, must_read_all, note_masking
from bot.settings import Settings
from bot.syncing import open_source
from bot.wiring import App, open_app
from core.errors import ConfigurationError, RefusedError, TemporaryError
from core.ports import PageSource
from core.services.syncing import Syncer

log = structlog.get_logger()

SECONDS_PER_MINUTE = 60


async def run_serve(settings: Settings) -> int:
    """Run everything that is configured; returns when a signal asks for it.

    Raises:
        ConfigurationError: nothing to do is configured.
    """
    if settings.notion_token is None and settings.slack_bot_token is None and settings.discord_token is None:
        raise ConfigurationError(
            "nothing to serve: set NOTION_TOKEN to sync, and SLACK_BOT_TOKEN or DISCORD_TOKEN to chat; "
            "footnote demo shows everything without any of them"
        )
    async with open_app(settings) as app, stop_signal() as stop, asyncio.TaskGroup() as tasks:
        tasks.create_task(health_endpoint(app, stop))
        tasks.create_task(app.audiences.watch(stop))
        tasks.create_task(keep_the_log_short(settings, app.learning, stop))
        if settings.notion_token is not None and settings.notion_sync_interval > 0:
            tasks.create_task(sync_on_a_timer(app, stop))
        log.info("serving", http=f"{settings.http_host}:{settings.http_port}")
        await stop.wait()
        log.info("stopping")
    return 0


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


async def sync_on_a_timer(app: App, stop: asyncio.Event) -> None:
    """Sync now and after every interval; a failed run is logged and tried again at the next."""
    async with open_source(app.settings, None) as source:
        while not stop.is_set():
            await _sync_once(app, source)
            try:
                async with asyncio.timeout(app.settings.notion_sync_interval * SECONDS_PER_MINUTE):
                    await stop.wait()
            except TimeoutError:
                continue


async def _sync_once(app: App, source: PageSource) -> None:
    try:
        full = await must_read_all(app)
    except TemporaryError as error:
        log.error("sync failed", reason=str(error))
        return
    syncer = Syncer(
        source=await masked_source(app, source),
        writer=app.writer,
        embedder=app.embedder,
        chunk_settings=app.chunk_settings,
        clock=SystemClock(),
        calibrator=app.calibrator,
    )
    try:
        report = await syncer.run(full=full)
        await note_masking(app, report, full=full)
    except (TemporaryError, RefusedError) as error:
        log.error("sync failed", reason=str(error))
        return
    log.info(
        "synced",
        listed=report.listed,
        changed=report.changed,
        removed=report.removed,
        pending=report.pending,
        failed=len(report.failed),
        requests=report.requests,
    )
