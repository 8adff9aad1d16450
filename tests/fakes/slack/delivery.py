"""How Slack delivers: over a socket or by signed HTTP, again when nobody acknowledged in time."""

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlencode
from uuid import uuid4

import aiohttp
from aiohttp import web
from slack_sdk.signature import SignatureVerifier

from tests.fakes.slack.workspace import SIGNING_SECRET

ACK_SECONDS = 3.0
OPEN_SECONDS = 10.0
RETRIES = 3


@dataclass(slots=True)
class Delivery:
    """One envelope and what became of it; times are monotonic."""

    kind: str
    payload: dict[str, Any]
    sent: list[float] = field(default_factory=list)
    acknowledged: float | None = None
    response: Any = None

    @property
    def seconds(self) -> float:
        """From the first sending to the acknowledgement."""
        if self.acknowledged is None:
            return float("inf")
        return self.acknowledged - self.sent[0]


class Carrier(Protocol):
    """Sends one envelope once."""

    async def send(self, delivery: Delivery, *, attempt: int, reason: str) -> bool:
        """Whether it was acknowledged in time."""


class SocketCarrier:
    """Socket Mode: each envelope goes to one of the open connections, in turn."""

    def __init__(self) -> None:
        self.sockets: list[web.WebSocketResponse] = []
        self.connections = 0
        self._waiting: dict[str, tuple[asyncio.Future[Any], web.WebSocketResponse]] = {}
        self._opened = asyncio.Event()
        self._turn = 0

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        """One connection of an app, for as long as it lasts."""
        socket = web.WebSocketResponse(heartbeat=10)
        await socket.prepare(request)
        self.connections += 1
        hello = {
            "type": "hello",
            "num_connections": len(self.sockets) + 1,
            "debug_info": {"host": "applink", "approximate_connection_time": 18060},
            "connection_info": {"app_id": "A1"},
        }
        await socket.send_str(json.dumps(hello))
        self.sockets.append(socket)
        self._opened.set()
        try:
            async for message in socket:
                if message.type is aiohttp.WSMsgType.TEXT:
                    self._acknowledged(json.loads(message.data))
        finally:
            self._closed(socket)
        return socket

    async def send(self, delivery: Delivery, *, attempt: int, reason: str) -> bool:
        """To the next connection; waits for one to open."""
        try:
            async with asyncio.timeout(OPEN_SECONDS):
                # One that opened may be cut before whoever waited for it has its turn.
                while not self.sockets:
                    await self._opened.wait()
        except TimeoutError:
            return False
        socket = self.sockets[self._turn % len(self.sockets)]
        self._turn += 1
        envelope: dict[str, Any] = {
            "envelope_id": str(uuid4()),
            "type": delivery.kind,
            "payload": delivery.payload,
            "accepts_response_payload": delivery.kind != "events_api",
        }
        if delivery.kind == "events_api":
            envelope |= {"retry_attempt": attempt, "retry_reason": reason}
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[envelope["envelope_id"]] = (future, socket)
        try:
            await socket.send_str(json.dumps(envelope))
            delivery.response = await asyncio.wait_for(future, timeout=ACK_SECONDS)
        except (TimeoutError, ConnectionError, RuntimeError):
            return False
        finally:
            self._waiting.pop(envelope["envelope_id"], None)
        return True

    async def drop(self) -> None:
        """Cut every connection without a word."""
        for socket in tuple(self.sockets):
            self._closed(socket)
            transport = socket._req.transport if socket._req is not None else None
            if transport is not None:
                transport.abort()

    async def ask_to_reconnect(self, reason: str = "refresh_requested") -> None:
        """What Slack sends some seconds before it closes a connection; ``warning`` is another reason."""
        warning = {"type": "disconnect", "reason": reason, "debug_info": {"host": "applink"}}
        for socket in tuple(self.sockets):
            await socket.send_str(json.dumps(warning))

    def _acknowledged(self, message: dict[str, Any]) -> None:
        if waiting := self._waiting.get(message.get("envelope_id", "")):
            future = waiting[0]
            if not future.done():
                future.set_result(message.get("payload"))

    def _closed(self, socket: web.WebSocketResponse) -> None:
        if socket in self.sockets:
            self.sockets.remove(socket)
        if not self.sockets:
            self._opened.clear()
        for future, used in tuple(self._waiting.values()):
            if used is socket and not future.done():
                future.set_exception(ConnectionResetError("the connection was cut"))


class HttpCarrier:
    """Signed requests to the app's URL, as Slack's own verifier signs them."""

    def __init__(self, url: str, *, secret: str = SIGNING_SECRET) -> None:
        self.url = url
        self.secret = secret
        self.statuses: list[int] = []

    async def send(self, delivery: Delivery, *, attempt: int, reason: str) -> bool:
        """One request; anything but 200 within three seconds is no acknowledgement."""
        headers = {"X-Slack-Retry-Num": str(attempt), "X-Slack-Retry-Reason": reason} if attempt else {}
        status, text = await self.post(delivery.kind, delivery.payload, headers=headers)
        delivery.response = text
        return status == 200

    async def post(
        self,
        kind: str,
        payload: dict[str, Any],
        *,
        headers: dict[str, str] | None = None,
        age: float = 0.0,
        secret: str = "",
        without: Sequence[str] = (),
    ) -> tuple[int, str]:
        """A signed request that is ``age`` seconds old, perhaps with another secret or ``without`` headers.

        Returns status and body.
        """
        if kind == "events_api":
            body, content_type = json.dumps(payload), "application/json"
        else:
            fields = payload if kind == "slash_commands" else {"payload": json.dumps(payload)}
            body, content_type = urlencode(fields), "application/x-www-form-urlencoded"
        stamp = str(int(time.time() - age))
        signature = SignatureVerifier(secret or self.secret).generate_signature(timestamp=stamp, body=body)
        signed = {
            "Content-Type": content_type,
            "X-Slack-Request-Timestamp": stamp,
            "X-Slack-Signature": str(signature),
        } | (headers or {})
        signed = {name: value for name, value in signed.items() if name not in without}
        timeout = aiohttp.ClientTimeout(total=ACK_SECONDS)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout) as session,
                session.post(self.url, data=body, headers=signed) as response,
            ):
                text = await response.text()
                self.statuses.append(response.status)
                return response.status, text
        except (aiohttp.ClientError, TimeoutError):
            self.statuses.append(0)
            return 0, ""


class Postman:
    """Delivers by a carrier, retries as the Events API does, and keeps the record."""

    def __init__(self, carrier: Carrier) -> None:
        self.carrier = carrier
        self.record: list[Delivery] = []
        self.retry_pauses = (0.0, 0.2, 0.5)
        """Slack's own are: at once, a minute, five minutes."""
        self._tasks: set[asyncio.Task[Delivery]] = set()

    def deliver(self, kind: str, payload: dict[str, Any]) -> "asyncio.Task[Delivery]":
        """Begin to deliver; the task ends with the acknowledgement or the last attempt."""
        delivery = Delivery(kind=kind, payload=payload)
        self.record.append(delivery)
        task = asyncio.create_task(self._deliver(delivery))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def idle(self) -> None:
        """Wait until everything was delivered or given up."""
        while self._tasks:
            await asyncio.gather(*tuple(self._tasks), return_exceptions=True)

    async def close(self) -> None:
        """Give up what is under way."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*tuple(self._tasks), return_exceptions=True)

    async def _deliver(self, delivery: Delivery) -> Delivery:
        retries = RETRIES if delivery.kind == "events_api" else 0
        for attempt in range(retries + 1):
            if attempt:
                await asyncio.sleep(self.retry_pauses[attempt - 1])
            delivery.sent.append(time.monotonic())
            if await self.carrier.send(delivery, attempt=attempt, reason="timeout" if attempt else ""):
                delivery.acknowledged = time.monotonic()
                break
        return delivery
