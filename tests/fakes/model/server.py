"""The server: checks requests as strictly as the originals, records them, answers as told."""

import asyncio
import json
import math
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, assert_never

from aiohttp import web

from adapters.embedders.hashing import HashingEmbedder
from tests.fakes.model.misbehaviour import (
    Chatting,
    Embedding,
    Failure,
    HtmlPage,
    NoNumbers,
    Reply,
    Silence,
    Vectors,
)
from tests.fakes.model.speech import Breath, HangUp, Step, steps
from tests.fakes.model.wire import OLLAMA, OPENAI, Dialect

EMBED_PARAMETERS = {"model", "input", "encoding_format", "dimensions", "user"}
CHAT_PARAMETERS = {
    "model",
    "messages",
    "stream",
    "stream_options",
    "temperature",
    "max_tokens",
    "max_completion_tokens",
    "seed",
    "stop",
    "top_p",
    "user",
}


@dataclass(frozen=True, slots=True)
class Recorded:
    """A request as it arrived."""

    path: str
    payload: Mapping[str, Any]
    headers: Mapping[str, str]

    @property
    def texts(self) -> Sequence[str]:
        """The texts to embed."""
        texts: Sequence[str] = self.payload["input"]
        return texts


@dataclass
class ModelServer:
    """Holds what is expected, what was asked, and what to do next."""

    models: set[str]
    dimensions: int = 768
    api_key: str | None = None
    context_length: int = 131_072
    url: str = ""
    fragment: int | None = None
    """Bytes written at once in a stream; null for whole events."""
    unsupported: set[str] = field(default_factory=set)
    """Parameters of a chat that this OpenAI model refuses with 400."""
    bad_texts: dict[str, int] = field(default_factory=dict)
    """Texts that make a whole batch fail with this status."""
    largest_batch: int = 2048
    requests: list[Recorded] = field(default_factory=list)
    answer: Callable[[Sequence[Mapping[str, str]]], str] = field(default=lambda _: "I do not know.")
    """What the model says to these messages when nothing was scripted."""
    _arrival: asyncio.Condition = field(default_factory=asyncio.Condition)
    _chats: deque[Chatting] = field(default_factory=deque)
    _embeddings: deque[Embedding] = field(default_factory=deque)

    def will(self, *next_answers: Chatting) -> None:
        """Script the next chats, one each."""
        self._chats.extend(next_answers)

    def will_embed(self, *next_answers: Embedding) -> None:
        """Script the next requests for embeddings, one each."""
        self._embeddings.extend(next_answers)

    def asked(self, path: str) -> list[Recorded]:
        """The requests that came to a path."""
        return [request for request in self.requests if request.path == path]

    async def has_received(self, count: int) -> None:
        """Wait until so many requests have come in."""
        async with asyncio.timeout(20), self._arrival:
            await self._arrival.wait_for(lambda: len(self.requests) >= count)

    @property
    def embedded(self) -> list[str]:
        """All texts that were sent to be embedded, in order."""
        return [
            text
            for request in self.requests
            if request.path in {"/api/embed", "/v1/embeddings"}
            for text in request.texts
        ]

    # --- routes --------------------------------------------------------------------------------------------

    def application(self) -> web.Application:
        """The routes of both APIs."""
        application = web.Application()
        application.router.add_post("/api/embed", self._handler(OLLAMA, self._embed))
        application.router.add_post("/api/chat", self._handler(OLLAMA, self._chat))
        application.router.add_post("/api/show", self._handler(OLLAMA, self._show))
        application.router.add_post("/v1/embeddings", self._handler(OPENAI, self._embed))
        application.router.add_post("/v1/chat/completions", self._handler(OPENAI, self._chat))
        return application

    def _handler(
        self,
        dialect: Dialect,
        handle: Callable[[web.Request, Recorded, Dialect], Awaitable[web.StreamResponse]],
    ) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def checked(request: web.Request) -> web.StreamResponse:
            body = await request.read()
            try:
                payload = json.loads(body.decode("utf-8"))
            except ValueError:
                return dialect.failure(400, "We could not parse the JSON body of your request.")
            recorded = Recorded(request.path, payload, dict(request.headers))
            async with self._arrival:
                self.requests.append(recorded)
                self._arrival.notify_all()
            if self.api_key is not None and request.headers.get("Authorization") != f"Bearer {self.api_key}":
                given = request.headers.get("Authorization", "").removeprefix("Bearer ")
                return dialect.failure(401, f"Incorrect API key provided: {given}.", "invalid_api_key")
            if payload.get("model") not in self.models:
                return dialect.failure(404, f'model "{payload.get("model")}" not found', "model_not_found")
            return await handle(request, recorded, dialect)

        return checked

    # --- embeddings ----------------------------------------------------------------------------------------

    async def _embed(self, _: web.Request, recorded: Recorded, dialect: Dialect) -> web.StreamResponse:
        if problem := self._problem_with_embedding(recorded, dialect):
            return problem
        size = int(recorded.payload.get("dimensions", self.dimensions))
        scripted = self._embeddings.popleft() if self._embeddings else Vectors()
        match scripted:
            case Vectors(dimensions, shuffled, missing):
                vectors = await _vectors(recorded.texts, dimensions or size)
                return dialect.embeddings(vectors[: len(vectors) - missing], shuffled=shuffled)
            case NoNumbers(positions, value):
                vectors = await _vectors(recorded.texts, size)
                for position in positions:
                    vectors[position] = [value] * size
                if dialect is OLLAMA and not math.isfinite(value):
                    # Ollama is written in Go, whose JSON encoder refuses NaN for the whole batch.
                    return dialect.failure(500, "failed to encode response: json: unsupported value: NaN")
                return dialect.embeddings(vectors, shuffled=False)
            case Silence(over=over):
                await over.wait()
                return dialect.embeddings(await _vectors(recorded.texts, size), shuffled=False)
            case HtmlPage() | Failure():
                return _plain(scripted, dialect)
            case _:
                assert_never(scripted)

    def _problem_with_embedding(self, recorded: Recorded, dialect: Dialect) -> web.Response | None:
        texts = recorded.payload.get("input")
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            return dialect.failure(400, "'input' must be an array of strings")
        if dialect is OPENAI:
            unknown = set(recorded.payload) - EMBED_PARAMETERS
            if unknown:
                return dialect.failure(400, f"Unrecognized request argument supplied: {min(unknown)}")
            if not texts or not all(texts):
                return dialect.failure(400, "'$.input' is invalid. Please check the API reference.")
        if len(texts) > self.largest_batch:
            return dialect.failure(413, f"batch size {len(texts)} > maximum allowed {self.largest_batch}")
        for text in texts:
            for bad, status in self.bad_texts.items():
                if bad in text:
                    return dialect.failure(status, f"cannot embed {text!r}")
        return None

    # --- chat ----------------------------------------------------------------------------------------------

    async def _show(self, request: web.Request, recorded: Recorded, dialect: Dialect) -> web.StreamResponse:
        assert (request.path, dialect) == ("/api/show", OLLAMA)
        return web.json_response(
            {
                "details": {"family": "llama", "parameter_size": "8.0B"},
                "parameters": 'stop "<|eot_id|>"',
                "model_info": {
                    "general.architecture": "llama",
                    "llama.context_length": self.context_length,
                    "llama.embedding_length": 4096,
                },
                "capabilities": ["completion"],
                "model": recorded.payload["model"],
            }
        )

    async def _chat(self, request: web.Request, recorded: Recorded, dialect: Dialect) -> web.StreamResponse:
        if problem := self._problem_with_chat(recorded, dialect):
            return problem
        scripted = self._chats.popleft() if self._chats else Reply(self.answer(recorded.payload["messages"]))
        if isinstance(scripted, HtmlPage | Failure):
            return _plain(scripted, dialect)
        if isinstance(scripted, Silence) and scripted.before_headers:
            await scripted.over.wait()
        usage = "stream_options" in recorded.payload
        response = web.StreamResponse(headers={"Content-Type": dialect.stream_type})
        await response.prepare(request)
        with suppress(ConnectionError):  # The other side may hang up.
            for step in steps(scripted, dialect, usage=usage):
                await self._take(step, request, response)
        return response

    async def _take(self, step: Step, request: web.Request, response: web.StreamResponse) -> None:
        match step:
            case bytes():
                size = self.fragment or max(len(step), 1)
                for start in range(0, len(step), size):
                    await response.write(step[start : start + size])
            case asyncio.Event():
                await step.wait()
            case Breath(seconds):
                await asyncio.sleep(seconds)
            case HangUp():
                assert request.transport is not None
                request.transport.abort()
            case _:
                assert_never(step)

    def _problem_with_chat(self, recorded: Recorded, dialect: Dialect) -> web.Response | None:
        payload = recorded.payload
        messages = payload.get("messages")
        if not messages or any(set(message) != {"role", "content"} for message in messages):
            return dialect.failure(400, "Invalid 'messages'")
        if payload.get("stream", dialect is OLLAMA) is not True:
            return dialect.failure(400, "this stand-in only streams")
        if dialect is OPENAI:
            unknown = set(payload) - CHAT_PARAMETERS
            if unknown:
                return dialect.failure(400, f"Unrecognized request argument supplied: {min(unknown)}")
            refused = set(payload) & self.unsupported
            if refused:
                return dialect.failure(400, f"Unsupported parameter: '{min(refused)}' is not supported here.")
        return None


async def _vectors(texts: Sequence[str], dimensions: int) -> list[list[float]]:
    embedder = HashingEmbedder(dimensions)
    return [(await embedder.embed_query(text)).astype(float).tolist() for text in texts]


def _plain(scripted: HtmlPage | Failure, dialect: Dialect) -> web.Response:
    if isinstance(scripted, HtmlPage):
        return web.Response(text=scripted.html, status=scripted.status, content_type="text/html")
    return dialect.failure(scripted.status, scripted.error, scripted.code, headers=scripted.headers)


@asynccontextmanager
async def model_server(
    *models: str, dimensions: int = 768, api_key: str | None = None
) -> AsyncIterator[ModelServer]:
    """A server that knows these models, on a free port of this machine."""
    server = ModelServer(models=set(models), dimensions=dimensions, api_key=api_key)
    runner = web.AppRunner(server.application(), access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        server.url = f"http://{host}:{port}"
        yield server
    finally:
        await runner.cleanup()
