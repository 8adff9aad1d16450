"""The stand-in as a server on loopback: Web API, Socket Mode, response URLs, uploads."""

import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.fakes.slack.arguments import check_arguments
from tests.fakes.slack.blockkit import check_blocks
from tests.fakes.slack.delivery import HttpCarrier, Postman, SocketCarrier
from tests.fakes.slack.limits import Limits
from tests.fakes.slack.methods import Methods
from tests.fakes.slack.refusals import SlackRateLimitedError, SlackRefusedError
from tests.fakes.slack.workspace import APP_TOKEN, BOT_TOKEN, Workspace

RESPONSE_POSTS, RESPONSE_SECONDS = 5, 1800.0


@dataclass(slots=True)
class ResponseUrl:
    """What came to one response URL."""

    user: str
    channel: str
    made: float = field(default_factory=time.monotonic)
    bodies: list[dict[str, Any]] = field(default_factory=list)


@dataclass(slots=True)
class Fault:
    """What the next calls of a method meet: a refusal, a rate limit, an HTTP status, or a cut connection."""

    code: str = ""
    retry_after: int = 0
    status: int = 0
    cut: str = ""
    times: int = 1


class FakeSlack:
    """One Slack. ``calls`` is the record of the Web API: method and arguments in order."""

    def __init__(self) -> None:
        self.workspace = Workspace()
        self.limits = Limits()
        self.methods = Methods(self.workspace, self.limits)
        self.socket = SocketCarrier()
        self.postman = Postman(self.socket)
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.response_urls: dict[str, ResponseUrl] = {}
        self.url = ""
        self._faults: dict[str, list[Fault]] = {}

    @property
    def api_url(self) -> str:
        """For ``SLACK_BASE_URL``."""
        return f"{self.url}/api/"

    def provoke(self, method: str, fault: Fault) -> None:
        """Let the next calls of a method fail; ``response_url`` stands for posts to any such."""
        self._faults.setdefault(method, []).append(fault)

    def called(self, method: str) -> list[dict[str, Any]]:
        """The arguments of every call of a method."""
        return [arguments for name, arguments in self.calls if name == method]

    def deliver_by_http(self, url: str) -> HttpCarrier:
        """From here on send signed requests instead of socket messages."""
        carrier = HttpCarrier(url)
        self.postman.carrier = carrier
        return carrier

    def new_response_url(self, *, user: str, channel: str) -> str:
        """A URL that takes five posts within half an hour."""
        name = f"R{len(self.response_urls) + 1}"
        self.response_urls[name] = ResponseUrl(user=user, channel=channel)
        return f"{self.url}/response/{name}"

    def app(self) -> web.Application:
        """The routes."""
        app = web.Application(client_max_size=2**24)
        app.router.add_route("*", "/api/{method}", self._api)
        app.router.add_get("/socket", self._socket)
        app.router.add_post("/response/{name}", self._response)
        app.router.add_post("/upload/{file}", self._upload)
        return app

    # --- handlers ---

    async def _api(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        arguments = await _arguments(request)
        token = _token(request, arguments)
        fault = self._next_fault(method)
        if fault is not None and fault.cut == "before":
            _abort(request)
        if fault is not None and (fault.status or fault.retry_after):
            return _limited(fault.retry_after) if fault.retry_after else web.Response(status=fault.status)
        try:
            result = self._call(method, token, arguments, fault)
        except SlackRefusedError as refusal:
            body = {"ok": False, "error": refusal.code, **refusal.details}
            return web.json_response(body, headers=self._scope_headers(method))
        except SlackRateLimitedError as limit:
            return _limited(limit.retry_after)
        if fault is not None and fault.cut == "after":
            _abort(request)
        return web.json_response({"ok": True, **result}, headers=self._scope_headers(method))

    def _call(
        self, method: str, token: str, arguments: dict[str, Any], fault: Fault | None
    ) -> dict[str, Any]:
        known = check_arguments(method, frozenset(arguments))
        self.calls.append((method, arguments))
        wanted = APP_TOKEN if method == "apps.connections.open" else BOT_TOKEN
        if not token:
            raise SlackRefusedError("not_authed")
        if token != wanted:
            kind = "not_allowed_token_type" if token in (APP_TOKEN, BOT_TOKEN) else "invalid_auth"
            raise SlackRefusedError(kind)
        if known.scope and known.scope not in self.workspace.scopes:
            provided = ",".join(sorted(self.workspace.scopes))
            raise SlackRefusedError("missing_scope", needed=known.scope, provided=provided)
        if fault is not None and fault.code:
            raise SlackRefusedError(fault.code)
        self.limits.call(method, per_minute=known.per_minute)
        if method == "apps.connections.open":
            return {"url": f"{self.url.replace('http', 'ws', 1)}/socket?ticket=t"}
        return self.methods.handle(method, arguments)

    async def _socket(self, request: web.Request) -> web.WebSocketResponse:
        return await self.socket.serve(request)

    async def _response(self, request: web.Request) -> web.Response:
        known = self.response_urls.get(request.match_info["name"])
        if known is None:
            return web.json_response({"ok": False, "error": "invalid_url"}, status=404)
        fault = self._next_fault("response_url")
        if fault is not None and (fault.status or fault.retry_after):
            return _limited(fault.retry_after) if fault.retry_after else web.Response(status=fault.status)
        if (
            fault is not None
            or time.monotonic() - known.made > RESPONSE_SECONDS
            or len(known.bodies) >= RESPONSE_POSTS
        ):
            return web.json_response({"ok": False, "error": "used_url"}, status=404)
        body = await request.json()
        allowed = {
            "text", "blocks", "response_type", "replace_original", "delete_original", "thread_ts",
            "unfurl_links", "unfurl_media", "metadata",
        }  # fmt: skip
        try:
            if unknown := set(body) - allowed:
                raise SlackRefusedError("invalid_arguments", unknown=sorted(unknown))
            if body.get("blocks") is not None:
                check_blocks(body["blocks"])
            if not body.get("text") and not body.get("blocks") and not body.get("delete_original"):
                raise SlackRefusedError("no_text")
        except SlackRefusedError as refusal:
            return web.json_response({"ok": False, "error": refusal.code, **refusal.details}, status=400)
        known.bodies.append(body)
        return web.Response(text="ok")

    async def _upload(self, request: web.Request) -> web.Response:
        data = await request.read()
        taken = self.methods.upload(request.match_info["file"], data)
        return web.Response(text=f"OK - {len(data)}", status=200 if taken else 404)

    def _next_fault(self, method: str) -> Fault | None:
        waiting = self._faults.get(method) or []
        if not waiting:
            return None
        waiting[0].times -= 1
        return waiting.pop(0) if waiting[0].times <= 0 else waiting[0]

    def _scope_headers(self, method: str) -> dict[str, str]:
        if method == "apps.connections.open":
            return {}
        return {"x-oauth-scopes": ",".join(sorted(self.workspace.scopes))}


@asynccontextmanager
async def running_slack(slack: FakeSlack | None = None, *, port: int = 0) -> AsyncIterator[FakeSlack]:
    """A stand-in that listens on a port of this machine."""
    slack = slack or FakeSlack()
    runner = web.AppRunner(slack.app(), access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    slack.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    slack.methods.base_url = slack.url
    try:
        yield slack
    finally:
        await slack.postman.close()
        await slack.socket.drop()
        await runner.cleanup()


async def _arguments(request: web.Request) -> dict[str, Any]:
    if request.content_type == "application/json":
        found = await request.json()
        given = dict(found) if isinstance(found, Mapping) else {}
    else:
        given = {name: _decoded(value) for name, value in (await request.post()).items()}
    given |= {name: _decoded(value) for name, value in request.query.items()}
    return given


def _decoded(value: object) -> Any:
    """Forms carry lists and objects as JSON."""
    text = str(value)
    if text[:1] in "[{":
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def _token(request: web.Request, arguments: dict[str, Any]) -> str:
    header = request.headers.get("Authorization", "")
    given = str(arguments.pop("token", "") or "")
    return header.removeprefix("Bearer ") if header.startswith("Bearer ") else given


def _limited(retry_after: int) -> web.Response:
    return web.json_response(
        {"ok": False, "error": "ratelimited"}, status=429, headers={"Retry-After": str(retry_after)}
    )


def _abort(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()
    raise ConnectionResetError("cut on purpose")
