"""``GET /health``: whether the process can answer; ``GET /metrics``: figures for Prometheus."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from datetime import datetime

import structlog
from aiohttp import web

from adapters.metrics.prometheus import CONTENT_TYPE
from adapters.stores.ledger import PostgresLedger, open_ledger
from bot.clock import SystemClock
from bot.wiring import App
from bot.work import source_name
from core.errors import ConfigurationError, FootnoteError
from core.ports.ledger import Fate, Looks, SyncLedger
from core.ports.watching import Standing

log = structlog.get_logger()

MAX_BODY = 1_000_000
"""Bytes of a request; what Notion delivers is a few thousand."""


_now = SystemClock().now


async def health_endpoint(
    app: App,
    stop: asyncio.Event,
    *,
    routes: Sequence[web.RouteDef] = (),
    now: Callable[[], datetime] = _now,
) -> None:
    """Serve until ``stop`` is set; ``routes`` are served beside. ``now`` is by the clock that dates looks.

    Raises:
        ConfigurationError: the port cannot be had.
    """
    async with AsyncExitStack() as stack:
        ledger: PostgresLedger | None = None
        try:
            ledger = await stack.enter_async_context(open_ledger(app.servers.database_url))
        except FootnoteError as error:
            log.warning("metrics will lack the state of the sync", reason=str(error))
        application = health_app(app, ledger, now=now)
        application.add_routes(routes)
        await _serve(application, app, stop)


async def _serve(application: web.Application, app: App, stop: asyncio.Event) -> None:
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    try:
        await _listen(runner, app.settings.http_host, app.settings.http_port)
        await stop.wait()
    finally:
        await runner.cleanup()


async def _listen(runner: web.AppRunner, host: str, port: int) -> None:
    try:
        await web.TCPSite(runner, host, port).start()
    except OSError as error:
        raise ConfigurationError(
            f"HTTP_PORT: {host}:{port} cannot be listened on ({error.strerror}); set another one"
        ) from error
    log.info("listening", http=f"{host}:{runner.addresses[0][1]}")


def health_app(
    app: App, ledger: SyncLedger | None = None, *, now: Callable[[], datetime] = _now
) -> web.Application:
    """The web application: health is 200 while the index answers, else 503; metrics are always given.

    Neither tells any text, person or page.
    """
    started = now()

    async def metrics(_: web.Request) -> web.Response:
        try:
            app.watch.stands(await _standing(app, ledger), started=started, now=now())
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

    application = web.Application(client_max_size=MAX_BODY)
    application.router.add_get("/health", health)
    application.router.add_get("/metrics", metrics)
    return application


async def _standing(app: App, ledger: SyncLedger | None) -> Standing:
    looks = await ledger.looks(source_name(app.settings)) if ledger is not None else Looks()
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
