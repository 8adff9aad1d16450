"""``GET /health``: whether the process can answer, for compose and load balancers."""

import asyncio

from aiohttp import web

from bot.wiring import App
from core.errors import FootnoteError


async def health_endpoint(app: App, stop: asyncio.Event) -> None:
    """Serve until ``stop`` is set."""
    runner = web.AppRunner(health_app(app), access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, app.settings.http_host, app.settings.http_port).start()
        await stop.wait()
    finally:
        await runner.cleanup()


def health_app(app: App) -> web.Application:
    """The web application: 200 while the index answers, else 503."""

    async def health(_: web.Request) -> web.Response:
        try:
            generation = await app.index.generation()
        except FootnoteError:
            return web.json_response({"ok": False}, status=503)
        return web.json_response({"ok": True, "generation": generation})

    application = web.Application()
    application.router.add_get("/health", health)
    return application
