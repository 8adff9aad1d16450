"""``GET /health``: whether the process can answer; ``GET /metrics``: figures for Prometheus."""

import asyncio
from contextlib import AsyncExitStack
from datetime import UTC, datetime

import structlog
from aiohttp import web

from adapters.metrics.prometheus import CONTENT_TYPE
from adapters.stores.ledger import PostgresLedger, open_ledger
from bot.wiring import App
from core.errors import FootnoteError
from core.ports.ledger import Fate, Looks, SyncLedger
from core.ports.watching import Standing

log = structlog.get_logger()


async def health_endpoint(app: App, stop: asyncio.Event) -> None:
    """Serve until ``stop`` is set."""
    async with AsyncExitStack() as stack:
        ledger: PostgresLedger | None = None
        try:
            ledger = await stack.enter_async_context(open_ledger(app.servers.database_url))
        except FootnoteError as error:
            log.warning("metrics will lack the state of the sync", reason=str(error))
        await _serve(health_app(app, ledger), app, stop)


async def _serve(application: web.Application, app: App, stop: asyncio.Event) -> None:
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, app.settings.http_host, app.settings.http_port).start()
        await stop.wait()
    finally:
        await runner.cleanup()


def health_app(app: App, ledger: SyncLedger | None = None) -> web.Application:
    """The web application: health is 200 while the index answers, else 503; metrics are always given.

    Neither tells any text, person or page.
    """
    started = datetime.now(UTC)

    async def metrics(_: web.Request) -> web.Response:
        try:
            app.watch.stands(await _standing(app, ledger), started=started)
        except FootnoteError as error:
            # What this process counted itself is told all the same.
            log.warning("metrics lack the state of the index", reason=str(error))
        return web.Response(body=app.watch.exposition(), headers={"Content-Type": CONTENT_TYPE})

    async def health(_: web.Request) -> web.Response:
        try:
            generation = await app.index.generation()
        except FootnoteError:
            return web.json_response({"ok": False}, status=503)
        return web.json_response({"ok": True, "generation": generation})

    application = web.Application()
    application.router.add_get("/health", health)
    application.router.add_get("/metrics", metrics)
    return application


async def _standing(app: App, ledger: SyncLedger | None) -> Standing:
    looks = await ledger.looks() if ledger is not None else Looks()
    totals = await ledger.totals() if ledger is not None else {}
    settings = app.settings
    minutes = settings.notion_sync_interval if settings.notion_token is not None else 0
    return Standing(
        generation=await app.index.generation(),
        last_look=looks.changes,
        interval=minutes * 60.0,
        pages={fate.value: totals.get(fate, 0) for fate in Fate},
        rules_refused=app.audiences.is_refused,
    )
