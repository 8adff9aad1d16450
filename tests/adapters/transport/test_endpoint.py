"""Exchanges that fail, and what is made of them."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import pytest

from adapters.transport import (
    AnsweredError,
    Endpoint,
    Patience,
    UnreachableError,
    failure_in,
    http_client,
)
from core.errors import (
    ConfigurationError,
    FootnoteError,
    InvalidInputError,
    PermanentError,
    RateLimitedError,
    RefusedError,
    UnavailableError,
)

KEY = "sk-live-0123456789abcdef"
QUICK = Patience(seconds=2.0, attempts=3, first_wait=0.001, longest_wait=5.0)
PAYLOAD = {
    "model": "a-model-with-a-long-name",
    "input": ["The salary of the chief engineer is confidential."],
}
HTML = "<html><style>p{}</style><body><h1>Sign in to &amp; continue</h1></body></html>"

Handler = Callable[[httpx.Request], httpx.Response]


class Script:
    """Answers requests one after the other and counts them."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


def ok() -> httpx.Response:
    """What a service in good health answers."""
    return httpx.Response(200, json={"fine": True})


def endpoint(handler: Handler, *, key: str = KEY) -> Endpoint:
    """An endpoint whose client is answered by a function."""
    client = httpx.AsyncClient(transport=httpx.MockTransport(handler))
    return Endpoint(client, name="the model", base_url="https://user:pass@models.example/v1", api_key=key)


async def post(handler: Handler, *, patience: Patience = QUICK) -> dict[str, Any]:
    """One exchange."""
    return await endpoint(handler).post("/embeddings", PAYLOAD, patience=patience)


async def failure(handler: Handler, *, patience: Patience = QUICK) -> FootnoteError:
    """The error of one exchange; no message may hold the key, the link's password, or what was sent."""
    with pytest.raises(FootnoteError) as caught:
        await post(handler, patience=patience)
    message = str(caught.value)
    for secret in (KEY, "user:pass", "salary", "engineer"):
        assert secret not in message
    return caught.value


async def test_a_request_carries_key_and_json() -> None:
    """And goes to the path below the base URL; the key wins over a name in that URL."""
    script = Script(ok())

    assert await post(script) == {"fine": True}

    (request,) = script.requests
    assert request.url.path == "/v1/embeddings"
    assert request.headers["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("status", [401, 402, 403])
async def test_t21_refused_credentials_are_one_call(status: int) -> None:
    """Never tried again, and the message names the setting but not the key."""
    script = Script(httpx.Response(status, json={"error": {"message": f"Incorrect API key provided: {KEY}"}}))

    error = await failure(script)

    assert isinstance(error, RefusedError)
    assert "LLM_API_KEY" in str(error)
    assert len(script.requests) == 1


async def test_t21_a_spent_account_is_refused_though_it_is_called_a_rate_limit() -> None:
    """OpenAI answers 429 to accounts without money; waiting never helps."""
    body = {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}
    script = Script(httpx.Response(429, json=body))

    assert isinstance(await failure(script), RefusedError)
    assert len(script.requests) == 1


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "Incorrect API key provided: sk-other*****cdef. See the docs."}},
        {"error": "Bearer sk-other-123456 is not valid"},
    ],
)
async def test_t22_what_looks_like_a_key_is_masked(body: dict[str, object]) -> None:
    """Services repeat the key in part; parts are secret too."""
    error = await failure(Script(httpx.Response(401, json=body)))

    assert "[key]" in str(error)
    assert "sk-other" not in str(error)


async def test_t22_a_page_instead_of_json_says_so() -> None:
    """A wrong base URL answers HTML with status 200: the message shows its words and where to look."""
    error = await failure(Script(httpx.Response(200, html=HTML)))

    assert isinstance(error, UnavailableError)
    assert "text/html instead of JSON: Sign in to & continue" in str(error)
    assert "LLM_BASE_URL" in str(error)
    assert "/v1" in str(error)


@pytest.mark.parametrize("content", ['{"data": [1, 2', "[1, 2]", '"text"', ""])
async def test_t22_json_of_another_form_is_not_called_something_else(content: str) -> None:
    """JSON that is cut off, or no object, is said to be that."""
    headers = {"Content-Type": "application/json"}

    error = await failure(Script(httpx.Response(200, content=content, headers=headers)))

    assert isinstance(error, UnavailableError)
    assert "answered broken or unexpected JSON: " in str(error)


async def test_t22_a_page_with_404_points_to_the_base_url() -> None:
    """The path does not exist, so the base is wrong."""
    error = await failure(Script(httpx.Response(404, html="<h1>Not Found</h1>")))

    assert isinstance(error, ConfigurationError)
    assert "LLM_BASE_URL" in str(error)


async def test_t22_json_with_404_points_to_the_model() -> None:
    """The API is there, the model is not."""
    body = {"error": 'model "llama9" not found, try pulling it first'}
    error = await failure(Script(httpx.Response(404, json=body)))

    assert isinstance(error, ConfigurationError)
    assert 'model "llama9" not found' in str(error)
    assert "installed" in str(error)


async def test_t22_a_redirect_names_its_target() -> None:
    """Following it would lose the body."""
    moved = httpx.Response(301, headers={"Location": "https://models.example/v2"})

    error = await failure(Script(moved))

    assert isinstance(error, ConfigurationError)
    assert "https://models.example/v2" in str(error)


async def test_a_complaint_that_repeats_the_text_is_not_shown() -> None:
    """Page text never gets into messages, and from there into logs."""
    body = {"error": "too long: 'The salary of the chief engineer is conf...'"}

    error = await failure(Script(httpx.Response(400, json=body)))

    assert isinstance(error, InvalidInputError)
    assert "repeats the text" in str(error)


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_wrong_input_is_told_apart_and_not_tried_again(status: int) -> None:
    """So that an embedder can look for the bad text."""
    script = Script(httpx.Response(status, json={"error": "input is invalid"}))

    assert isinstance(await failure(script), InvalidInputError)
    assert len(script.requests) == 1


@pytest.mark.parametrize("body", [b"", b"null", b"[1]", b"{", b"\xff", b"[" * 50_000])
async def test_something_else_than_an_object_is_unavailable(body: bytes) -> None:
    """Whatever it is, it is no answer and no crash."""
    assert isinstance(await failure(Script(httpx.Response(200, content=body))), UnavailableError)


@pytest.mark.parametrize("status", [500, 502, 503, 529, 408])
async def test_a_service_in_trouble_is_tried_again(status: int) -> None:
    """As often as the patience says, then its error is raised."""
    script = Script(httpx.Response(status, json={"error": "overloaded"}))

    assert isinstance(await failure(script), AnsweredError)
    assert len(script.requests) == 3


async def test_it_may_recover_meanwhile() -> None:
    """The second attempt's answer is the answer."""
    script = Script(httpx.Response(503), httpx.ConnectError("refused"), ok())

    assert await post(script) == {"fine": True}


@pytest.mark.parametrize(
    "error",
    [
        httpx.ConnectError("refused"),
        httpx.ConnectTimeout("slow"),
        httpx.ReadTimeout("slow"),
        httpx.RemoteProtocolError("Server disconnected without sending a response."),
        httpx.ReadError("reset"),
        httpx.WriteError("broken pipe"),
        httpx.PoolTimeout("full"),
    ],
)
async def test_t32_a_connection_that_dies_before_a_response_is_tried_again(error: Exception) -> None:
    """A stale keep-alive socket costs nothing but the second try."""
    assert await post(Script(error, ok())) == {"fine": True}
    assert isinstance(await failure(Script(error)), UnreachableError)


class BrokenBody(httpx.AsyncByteStream):
    """A response that begins and breaks."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b'{"fine": '
        raise httpx.ReadError("reset")


async def test_t32_a_response_that_began_is_not_asked_for_again() -> None:
    """What was begun may have been done and paid for."""
    script = Script(httpx.Response(200, stream=BrokenBody()))

    error = await failure(script)

    assert isinstance(error, UnavailableError)
    assert "broke off" in str(error)
    assert len(script.requests) == 1


@pytest.mark.parametrize("as_date", [False, True])
async def test_retry_after_is_honoured(as_date: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pause is the one asked for, in seconds or as a date."""
    pauses: list[float] = []
    real_sleep = asyncio.sleep

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        await real_sleep(0)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=4), usegmt=True)
    busy = httpx.Response(429, headers={"Retry-After": date if as_date else "4"})

    assert await post(Script(busy, ok())) == {"fine": True}
    assert pauses == [pytest.approx(4, abs=1.1)]


async def test_too_long_a_pause_is_handed_on() -> None:
    """A question is not kept waiting for minutes: the caller learns how long, and decides."""
    script = Script(httpx.Response(429, headers={"Retry-After": "600"}))

    error = await failure(script)

    assert isinstance(error, RateLimitedError)
    assert error.retry_after == 600
    assert len(script.requests) == 1


@pytest.mark.parametrize("header", ["soon", "-5", "", "nan", "Mon, 99 Foo"])
async def test_an_odd_retry_after_is_ignored(header: str) -> None:
    """The usual backoff applies."""
    script = Script(httpx.Response(429, headers={"Retry-After": header}))

    error = await failure(script)

    assert isinstance(error, RateLimitedError)
    assert error.retry_after is None
    assert len(script.requests) == 3


async def test_t20_a_call_that_hangs_was_logged_and_ends(caplog: pytest.LogCaptureFixture) -> None:
    """The log line is there before the answer is, and the time limit is a total one."""
    logged: list[str] = []

    async def hang(request: httpx.Request) -> httpx.Response:
        logged.extend(caplog.messages)
        await asyncio.Event().wait()
        raise AssertionError(request)

    client = httpx.AsyncClient(transport=httpx.MockTransport(hang))
    hanging = Endpoint(client, name="the model", base_url="https://models.example/v1", api_key=KEY)
    with caplog.at_level(logging.DEBUG), pytest.raises(UnreachableError, match=r"within 0\.05 s"):
        await hanging.post("/embeddings", PAYLOAD, patience=Patience(seconds=0.05, attempts=1))

    assert any("the model" in line and "/v1/embeddings" in line for line in logged)
    assert not any(KEY in line or "salary" in line for line in caplog.messages)


async def test_a_drip_of_bytes_does_not_defeat_the_time_limit() -> None:
    """A response that never ends, with never a pause long enough for the read timeout."""

    class Drip(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            while True:
                await asyncio.sleep(0.01)
                yield b" "

    with pytest.raises(UnavailableError, match="broke off"):
        await post(Script(httpx.Response(200, stream=Drip())), patience=Patience(seconds=0.1, attempts=1))


@pytest.mark.parametrize("key", ["sk-abc\n", "sk-\u2013abc", "schlüssel"])
def test_a_key_with_impossible_characters_is_refused_at_once(key: str) -> None:
    """A line break or a typographic dash comes from copying; the message does not show the key."""
    with pytest.raises(ConfigurationError, match="copy it again") as caught:
        endpoint(Script(ok()), key=key)
    assert key.strip() not in str(caught.value)


async def test_half_a_surrogate_pair_can_be_sent() -> None:
    """Text cut in the middle of an emoji is no reason to fail."""
    script = Script(ok())

    await endpoint(script).post("/x", {"input": ["half \ud83e"]}, patience=QUICK)

    assert b"half ?" in script.requests[0].content


async def test_t32_idle_connections_are_recycled_and_every_wait_is_bounded() -> None:
    """The pool drops idle sockets sooner than load balancers do, and no time limit is left open."""
    async with http_client() as client:
        limits = client.timeout
        pool = client._transport._pool  # type: ignore[attr-defined]  # the public API does not show it

    assert None not in (limits.connect, limits.read, limits.write, limits.pool)
    assert pool._keepalive_expiry <= 15


async def lines_of(*pieces: bytes, kind: str = "text/event-stream") -> list[str]:
    """The lines of a stream that arrives in these pieces."""

    class Pieces(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            for piece in pieces:
                yield piece

    script = Script(httpx.Response(200, headers={"Content-Type": kind}, stream=Pieces()))
    return [line async for line in endpoint(script).lines("/chat", PAYLOAD, seconds=2.0)]


async def test_lines_survive_any_cut() -> None:
    """Also inside a character, a CRLF or a JSON string with the other line separators of Unicode."""
    text = "data: Grüße 🦊\r\n\r\ndata: a\u2028b\u0085c\x0bd\nlast"
    data = text.encode()
    whole = ["data: Grüße 🦊", "", "data: a\u2028b\u0085c\x0bd", "last"]

    for cut in range(len(data) + 1):
        assert await lines_of(data[:cut], data[cut:]) == whole
    assert await lines_of(*(bytes([byte]) for byte in data)) == whole


async def test_a_page_instead_of_a_stream_says_so() -> None:
    """As for other responses."""
    with pytest.raises(UnavailableError, match="instead of JSON"):
        await lines_of(HTML.encode(), kind="text/html")


async def test_a_line_without_end_is_cut_off() -> None:
    """A broken server cannot fill the memory."""
    with pytest.raises(UnavailableError, match="without end"):
        await lines_of(*[bytes(1024 * 1024)] * 6)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, RefusedError),
        (429, RateLimitedError),
        (400, InvalidInputError),
        (500, AnsweredError),
        (404, PermanentError),
    ],
)
async def test_a_stream_that_is_refused_raises_the_same_errors(
    status: int, kind: type[FootnoteError]
) -> None:
    """Before the first line."""
    script = Script(httpx.Response(status, json={"error": "no"}))
    with pytest.raises(kind):
        async for _ in endpoint(script).lines("/chat", PAYLOAD, seconds=2.0):
            pass


def test_a_service_is_shown_without_its_key() -> None:
    """Whoever prints it tells no secret."""
    assert KEY not in repr(endpoint(lambda _: ok()).service)


async def test_t22_a_redirect_tells_no_credentials() -> None:
    """Where a service has moved to is shown without names, passwords and parameters."""
    moved = httpx.Response(307, headers={"Location": "https://user:pass@other.example/v1?key=salary"})

    found = await failure(lambda _: moved)

    assert "has moved to https://other.example/v1:" in str(found)


@pytest.mark.parametrize("code", ["9" * 5000, "007", "-1", "²²²", 10**30, None, {}])
def test_an_odd_code_in_an_error_object_is_the_services_own_fault(code: object) -> None:
    """What is no status of HTTP says nothing of the input."""
    service = endpoint(lambda _: ok()).service

    assert isinstance(failure_in({"code": code, "message": "no"}, service, sent=PAYLOAD), AnsweredError)
