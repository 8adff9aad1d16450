"""The HTTP server around a workspace."""

from __future__ import annotations

import asyncio
import json
import os
import time as clock
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any
from uuid import uuid4

from aiohttp import web

from tests.fakes.notion import faults as trouble
from tests.fakes.notion import routes
from tests.fakes.notion.api import Api, Call
from tests.fakes.notion.behaviour import Behaviour
from tests.fakes.notion.errors import ApiError, restricted, validation
from tests.fakes.notion.files import FileStore
from tests.fakes.notion.limits import Limits
from tests.fakes.notion.openapi import OpenApi
from tests.fakes.notion.paging import Pager
from tests.fakes.notion.present import CURRENT, OLDER, Presenter
from tests.fakes.notion.recording import keep
from tests.fakes.notion.richtext import Json
from tests.fakes.notion.workspace import Workspace

TOKEN = "ntn_stand_in_token"
_PATIENCE = 5.0  # seconds that a stopping server waits for requests under way
_MAX_BODY = 500_000  # bytes; Notion's limit for a request body


@dataclass(slots=True)
class RequestRecord:
    """One request as it came, and how it ended. The token is not kept."""

    number: int
    at: float  # of the server's ``time``
    method: str
    path: str
    route: str  # ``METHOD template``, empty for an unknown endpoint
    query: dict[str, list[str]]
    body: Any
    headers: dict[str, str]  # names in lower case
    params: dict[str, str] = field(default_factory=dict)
    status: int = 0
    early: bool = False  # came although a 429 or 529 had asked for a pause
    answer: Any = None  # kept if the server's ``keep_answers`` is on

    def value(self, key: str) -> Any:
        """A parameter from the body or the query string, None if it was not sent."""
        if isinstance(self.body, dict) and key in self.body:
            return self.body[key]
        return self.query.get(key, [None])[0]


class NotionServer:
    """Serves a workspace on loopback; use it with ``async with``.

    ``url`` goes into the client's ``base_url``, ``token`` into ``auth``. ``time`` is the clock of
    rate limits and request times: give the one that the code under test sleeps by.
    """

    def __init__(
        self,
        workspace: Workspace | None = None,
        *,
        token: str = TOKEN,
        time: Callable[[], float] = clock.monotonic,
        keep_answers: bool = False,
    ) -> None:
        self.workspace = workspace or Workspace()
        self.tokens = {token}
        self.token = token
        self.behaviour = Behaviour()
        self.faults = trouble.Faults()
        self.limits = Limits(time)
        self.pager = Pager()
        self.keep_answers = keep_answers
        self.requests: list[RequestRecord] = []
        self.complaints: list[str] = []
        """Requests refused as malformed: a client of ours must never be in here."""
        self.port = 0
        self._time = time
        self._api = Api(self.workspace, self.behaviour, self.pager)
        self._files = FileStore(self.workspace)
        self._openapi = _official_document()
        self._runner: web.AppRunner | None = None

    # -- running ------------------------------------------------------------------------------------

    @property
    def url(self) -> str:
        """The address of the server, without ``/v1``."""
        return f"http://127.0.0.1:{self.port}"

    async def start(self, port: int = 0) -> None:
        """Listen on loopback; port 0 takes a free one."""
        application = web.Application(client_max_size=_MAX_BODY)
        application.router.add_route("*", "/{tail:.*}", self._handle)
        application.on_response_prepare.append(self._date)
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=_PATIENCE)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", port)
        await site.start()
        self._runner = runner
        self.port = runner.addresses[0][1]
        self._files.base = self.url

    async def stop(self) -> None:
        """Stop listening: connections are refused until ``start(port=server.port)``."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None
            keep(self.requests, str(self.port))

    async def __aenter__(self) -> NotionServer:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.stop()

    # -- what happened ------------------------------------------------------------------------------

    @property
    def counts(self) -> Counter[str]:
        """Requests by endpoint, file downloads included."""
        return Counter(request.route for request in self.requests)

    @property
    def total(self) -> int:
        """Requests to the API, file downloads left out."""
        return sum(1 for request in self.requests if request.path.startswith("/v1/"))

    def forget(self) -> None:
        """Start counting anew."""
        self.requests.clear()
        self.complaints.clear()

    def calls(self, route: str) -> list[RequestRecord]:
        """The requests to one endpoint, such as ``routes.SEARCH``, in order."""
        return [request for request in self.requests if request.route == route]

    @property
    def early(self) -> list[RequestRecord]:
        """Requests that ignored a pause asked for with Retry-After."""
        return [request for request in self.requests if request.early]

    def revoke_token(self) -> None:
        """Every further request is 401, until a token is put into ``tokens`` again."""
        self.tokens.clear()

    async def _date(self, request: web.Request, response: web.StreamResponse) -> None:
        """The server dates its answers by its own clock, the one that dates edits."""
        del request
        date = self.behaviour.date_header(self.workspace.clock.now())
        response.headers.popall("Date", None)
        if date is not None:
            response.headers["Date"] = date

    # -- one request --------------------------------------------------------------------------------

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        record = await self._record(request)
        actions = self.faults.striking(record)
        for action in actions:
            if isinstance(action, trouble.Slow):
                await asyncio.sleep(action.seconds)
        for action in actions:
            if isinstance(action, trouble.Drop):
                return await self._drop(request, record, action, actions)
            if isinstance(action, trouble.Answer):
                return self._scripted(record, action)
        if record.route == routes.FILE:
            response = self._files.download(
                record.params["file_id"], {key: values[0] for key, values in record.query.items()}
            )
            record.status = response.status
            return response
        return self._respond(record, request, actions)

    async def _record(self, request: web.Request) -> RequestRecord:
        raw = await request.read()
        body: Any = None
        if raw:
            try:
                body = json.loads(raw)
            except ValueError:
                body = raw
        query = {key: request.query.getall(key) for key in request.query}
        hidden = ("authorization", "cookie")
        sent = {key.lower(): value for key, value in request.headers.items()}
        headers = {key: value for key, value in sent.items() if key not in hidden}
        record = RequestRecord(
            len(self.requests), self._time(), request.method, request.path, "", query, body, headers
        )
        record.early = self.limits.too_early()
        if request.path.startswith("/files/"):
            file_id, _, name = request.path.removeprefix("/files/").partition("/")
            record.route, record.params = routes.FILE, {"file_id": file_id, "name": name}
        else:
            try:
                route, record.params = routes.find(request.method, request.path)
                record.route = route.key
            except ApiError:
                record.route = ""
        self.requests.append(record)
        return record

    def _scripted(self, record: RequestRecord, action: trouble.Answer) -> web.Response:
        record.status = action.status
        self.limits.told_to_wait(action.headers.get("Retry-After"))
        headers = {**action.headers, "Content-Type": action.content_type}
        return web.Response(status=action.status, body=action.body, headers=headers)

    async def _drop(
        self,
        request: web.Request,
        record: RequestRecord,
        action: trouble.Drop,
        actions: list[trouble.Action],
    ) -> web.StreamResponse:
        """Close the connection, before the answer or within it."""
        if action.sent is None:
            if request.transport is not None:
                request.transport.abort()
            return web.Response(status=499)
        whole = self._respond(record, request, actions)
        body = whole.body if isinstance(whole.body, bytes) else b""
        response = web.StreamResponse(status=whole.status, headers={"Content-Type": "application/json"})
        response.content_length = len(body)
        await response.prepare(request)
        await response.write(body[: action.sent])
        if request.transport is not None:
            request.transport.close()
        return response

    def _respond(
        self, record: RequestRecord, request: web.Request, actions: list[trouble.Action]
    ) -> web.Response:
        request_id = str(uuid4())
        headers = {"x-notion-request-id": request_id}
        try:
            answer = self._answer(record, request, actions)
            answer["request_id"] = request_id
            record.status = 200
        except ApiError as error:
            answer, record.status = error.body(request_id), error.status
            headers.update(error.headers)
            self.limits.told_to_wait(error.headers.get("Retry-After"))
            if error.code in ("validation_error", "invalid_json", "missing_version", "invalid_request_url"):
                self.complaints.append(f"{record.method} {record.path}: {error.message}")
        if self.keep_answers:
            record.answer = answer
        return web.json_response(answer, status=record.status, headers=headers)

    def _answer(self, record: RequestRecord, request: web.Request, actions: list[trouble.Action]) -> Json:
        version = self._admit(request)
        self.limits.spend()
        route, params = routes.find(record.method, record.path)
        params = routes.check_path(params)
        if not route.name or (route.right and route.right not in self.behaviour.rights):
            raise restricted()
        query = routes.check_query(route, record.query)
        body: Json = {}
        if route.body is not None:
            body = routes.check_body(route, self._json(request, record.body))
        if self._openapi is not None:
            complaint = self._openapi.complaint(route.key, query, body)
            if complaint:
                raise validation(f"official OpenAPI document: {complaint}")
        refuse = any(isinstance(action, trouble.RefuseCursor) for action in actions)
        if refuse and record.value("start_cursor"):
            raise validation(f"The start_cursor provided is invalid: {record.value('start_cursor')}")
        answer: Json = getattr(self._api, route.name)(Call(self._presenter(version), params, query, body))
        for action in actions:
            if isinstance(action, trouble.Change):
                answer = action.change(record, answer)
        return answer

    def _presenter(self, version: str) -> Presenter:
        rights = self.behaviour.rights
        return Presenter(
            self.workspace,
            version,
            lambda file_id: self._files.sign(file_id, self.behaviour.file_lifetime),
            emails="read_emails" in rights,
            names="read_users" in rights,
            inherit_trash=self.behaviour.inherit_trash,
        )

    def _admit(self, request: web.Request) -> str:
        """The API version of a request with a good token. ApiError 401 or 400."""
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme != "Bearer" or token not in self.tokens:
            raise ApiError(401, "unauthorized", "API token is invalid.")
        version = request.headers.get("Notion-Version")
        shown = f'`"{version}"`' if version else "`undefined`"
        if version not in (CURRENT, OLDER):
            wanted = f'`"{OLDER}"` or `"{CURRENT}"`' if version else "defined"
            raise ApiError(
                400,
                "validation_error" if version else "missing_version",
                "Notion-Version header failed validation: Notion-Version header should be "
                f"{wanted}, instead was {shown}.",
            )
        return version

    def _json(self, request: web.Request, body: Any) -> Any:
        if isinstance(body, bytes) or (body is not None and "json" not in request.content_type):
            raise ApiError(400, "invalid_json", "Error parsing JSON body.")
        return {} if body is None else body


def _official_document() -> OpenApi | None:
    """The checks of the official document, if ``FOOTNOTE_SPECS`` names a folder that holds it."""
    folder = os.environ.get("FOOTNOTE_SPECS")
    path = Path(folder) / "notion-openapi.json" if folder else None
    return OpenApi(path) if path is not None and path.is_file() else None
