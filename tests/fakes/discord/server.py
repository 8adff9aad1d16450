"""The stand-in as a server on loopback: REST API and gateway, with faults to order."""

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.fakes.discord.gateway import Gateway
from tests.fakes.discord.limits import Limited, Limits
from tests.fakes.discord.people import People
from tests.fakes.discord.posting import Posting
from tests.fakes.discord.refusals import DiscordRefusedError, unauthorized
from tests.fakes.discord.rest import Handler, Rest, read_body
from tests.fakes.discord.world import BOT_TOKEN, World

_WITHOUT_TOKEN = re.compile(r"^/(interactions|webhooks)/")


@dataclass(frozen=True, slots=True)
class Call:
    """One request that came in, and what it got."""

    method: str
    path: str
    body: Any
    status: int
    answer: Any = None


@dataclass(slots=True)
class Fault:
    """What the next matching requests meet: a status with a code, or a connection cut after acceptance.

    ``seconds`` is how long an answer takes; one that ``cuts_after`` acceptance comes late instead.
    """

    method: str
    pattern: str
    status: int = 500
    code: int = 0
    cuts_after: bool = False
    retry_after: float = 0.05
    is_global: bool = False
    seconds: float = 0.0
    times: int = 1
    skips: int = 0
    """How many matching requests are let through first."""


class FakeDiscord:
    """One Discord. ``calls`` is the record of the REST API."""

    def __init__(self) -> None:
        self.world = World()
        self.gateway = Gateway(self.world)
        self.posting = Posting(self.world, self.gateway.dispatch)
        self.rest = Rest(self.world, self.posting)
        self.rest.on_thread = self.gateway.announce_thread
        self.people = People(self.world, self.posting, self.gateway)
        self.limits = Limits()
        self.calls: list[Call] = []
        self.api_url = ""
        self.gateway_url = ""
        self._faults: list[Fault] = []

    def provoke(self, fault: Fault) -> None:
        """Let the next requests that match fail."""
        self._faults.append(fault)

    def called(self, method: str, pattern: str) -> list[Call]:
        """The requests whose path matches."""
        return [call for call in self.calls if call.method == method and re.search(pattern, call.path)]

    def serve(self, handler: Handler, bucket: str) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        """A route of aiohttp's around one handler."""

        async def served(request: web.Request) -> web.StreamResponse:
            path = request.path.removeprefix("/api/v10")
            body, files = await read_body(request)
            status, shown, headers = await self._answered(request, handler, bucket, body)
            # As Discord's proxies do: a 429 without it the client takes for a ban, and does not wait.
            headers = headers | {"Via": "1.1 stand-in"}
            self.rest.files.extend(files)
            self.calls.append(Call(method=request.method, path=path, body=body, status=status, answer=shown))
            fault = self._fault(request.method, path, after=True)
            if fault is not None and fault.seconds:
                await asyncio.sleep(fault.seconds)
            elif fault is not None and request.transport is not None:
                request.transport.abort()
            if status in (401, 403, 429):
                self.limits.invalid += 1
            if shown is None:
                return web.Response(status=status, headers=headers)
            # Without a charset, as Discord does: the client compares the whole content type.
            return web.Response(
                body=json.dumps(shown).encode(),
                status=status,
                headers=headers,
                content_type="application/json",
            )

        return served

    async def _answered(
        self, request: web.Request, handler: Handler, bucket: str, body: Any
    ) -> tuple[int, Any, dict[str, str]]:
        path = request.path.removeprefix("/api/v10")
        fault = self._fault(request.method, path, after=False)
        if fault is not None:
            await asyncio.sleep(fault.seconds)
            told = {"code": fault.code, "message": "provoked", "retry_after": fault.retry_after}
            limited = {"global": True} if fault.is_global else {}
            headers = {"X-RateLimit-Global": "true", "X-RateLimit-Scope": "global"} if fault.is_global else {}
            return fault.status, told | limited, headers
        tokenless = _WITHOUT_TOKEN.match(path) is not None
        about = request.match_info.get("token") or request.match_info.get("channel") or ""
        try:
            if not tokenless and request.headers.get("Authorization") != f"Bot {BOT_TOKEN}":
                raise unauthorized()
            headers = self.limits.count(bucket, about, counts_globally=not tokenless)
            status, shown = await handler(request, body)
        except DiscordRefusedError as error:
            return error.status, error.body, {}
        except Limited as limited:
            told = {
                "message": "You are being rate limited.",
                "retry_after": limited.retry_after,
                "global": limited.is_global,
            }
            return 429, told, limited.headers
        return status, shown, headers

    def _fault(self, method: str, path: str, *, after: bool) -> Fault | None:
        for fault in self._faults:
            if fault.method == method and fault.cuts_after == after and re.search(fault.pattern, path):
                if fault.skips > 0:
                    fault.skips -= 1
                    continue
                fault.times -= 1
                if fault.times <= 0:
                    self._faults.remove(fault)
                return fault
        return None


@asynccontextmanager
async def running_discord() -> AsyncIterator[FakeDiscord]:
    """A stand-in on a free port."""
    fake = FakeDiscord()
    app = web.Application()
    for method, path, handler, bucket in fake.rest.routes():
        app.router.add_route(method, f"/api/v10{path}", fake.serve(handler, bucket))
    app.router.add_get("/gateway/", fake.gateway.connect)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    fake.api_url = f"http://127.0.0.1:{port}/api/v10"
    fake.gateway_url = fake.gateway.url = fake.rest.gateway_url = f"ws://127.0.0.1:{port}/gateway/"
    delivering = asyncio.create_task(fake.gateway.deliver())
    try:
        yield fake
    finally:
        delivering.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await delivering
        await runner.cleanup()
