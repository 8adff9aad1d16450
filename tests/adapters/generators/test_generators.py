"""Both chat APIs, well-behaved and not: every case runs against either."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import replace

import httpx
import pytest

from adapters.generators.ollama import OllamaGenerator
from adapters.generators.openai_http import OpenAIGenerator
from adapters.generators.streaming import Manner, Pace, Usage, usage_of
from adapters.transport import http_client
from core.errors import ConfigurationError, RateLimitedError, RefusedError, UnavailableError
from core.ports import Generator, Prompt
from tests.fakes.model import (
    Chatting,
    Cut,
    Endless,
    ErrorInStream,
    Failure,
    HtmlPage,
    ModelServer,
    Reply,
    Silence,
    model_server,
)

MODEL = "llama3.1:8b"
PROMPT = Prompt(system="Answer from the sources.", user="[1] Thirty days.\n\nHow many days? 🦊")
ANSWER = "Sie haben dreißig Tage [1]. 🦊 У вас тридцать дней."
PACE = Pace(first=5.0, silence=5.0, total=10.0, pause=0.001, longest_pause=0.05)

Chat = OllamaGenerator | OpenAIGenerator


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    """The pooled client that all adapters share."""
    async with http_client() as opened:
        yield opened


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    """A model server without a script."""
    async with model_server(MODEL) as running:
        yield running


@pytest.fixture(params=[OllamaGenerator, OpenAIGenerator], ids=["ollama", "openai"])
def make(
    request: pytest.FixtureRequest, client: httpx.AsyncClient, server: ModelServer
) -> Callable[..., Chat]:
    """Makes the adapter under test, with short time limits."""

    def build(pace: Pace = PACE, **settings: object) -> Chat:
        chat: Chat = request.param(client, MODEL, base_url=server.url, pace=pace, **settings)
        return chat

    return build


@pytest.fixture
def generator(make: Callable[..., Chat]) -> Chat:
    """The adapter under test."""
    return make()


def chats(server: ModelServer) -> int:
    """How often a chat was asked for."""
    return len(server.asked("/api/chat")) + len(server.asked("/v1/chat/completions"))


async def written(generator: Generator) -> str:
    """All of an answer."""
    return "".join([piece async for piece in generator.write(PROMPT)])


async def collect(generator: Generator, pieces: list[str]) -> None:
    """Gather the pieces of an answer, as far as it comes."""
    async for piece in generator.write(PROMPT):
        pieces.append(piece)  # noqa: PERF401  # a comprehension would lose them when the stream fails


async def test_an_answer_is_streamed_piece_by_piece(generator: Chat, server: ModelServer) -> None:
    """As the model writes it, the prompt's two parts going to system and user."""
    server.will(Reply(ANSWER, pieces=6))

    pieces = [piece async for piece in generator.write(PROMPT)]

    assert "".join(pieces) == ANSWER
    assert len(pieces) == 6
    (request,) = server.requests
    assert request.payload["messages"] == [
        {"role": "system", "content": PROMPT.system},
        {"role": "user", "content": PROMPT.user},
    ]


@pytest.mark.parametrize("size", [1, 2, 3, 7])
async def test_a_stream_may_be_cut_anywhere(generator: Chat, server: ModelServer, size: int) -> None:
    """Inside a character, a line end, a number: the text is the same."""
    server.fragment = size
    server.will(Reply(ANSWER + "\u2028\u0085\r\n\ttabs"))

    assert await written(generator) == ANSWER + "\u2028\u0085\r\n\ttabs"


async def test_89_ollama_is_told_the_window_and_the_limits(
    client: httpx.AsyncClient, server: ModelServer
) -> None:
    """Without num_ctx Ollama would silently drop the start of the prompt."""
    generator = OllamaGenerator(
        client, MODEL, base_url=server.url, context_tokens=6000, manner=Manner(500, 0.2)
    )

    await written(generator)

    (request,) = server.asked("/api/chat")
    assert request.payload["options"] == {"num_ctx": 6000, "num_predict": 500, "temperature": 0.2}
    assert generator.model == f"ollama:{MODEL}"


@pytest.mark.parametrize(("window", "used"), [(131_072, 8192), (4096, 4096)])
async def test_the_window_is_the_models_own_where_it_is_smaller(
    client: httpx.AsyncClient, server: ModelServer, window: int, used: int
) -> None:
    """Ollama tells it; a larger one is not used in full, since it costs memory."""
    server.context_length = window
    generator = OllamaGenerator(client, MODEL, base_url=server.url)

    assert await generator.probe() == used
    assert generator.context_tokens == used


async def test_t22_the_probe_finds_a_missing_model(client: httpx.AsyncClient, server: ModelServer) -> None:
    """Start-up and the doctor say so, not the first question."""
    with pytest.raises(ConfigurationError, match=r"qwen9.*not found"):
        await OllamaGenerator(client, "qwen9", base_url=server.url).probe()
    with pytest.raises(ConfigurationError, match=r"qwen9.*not found"):
        await OpenAIGenerator(client, "qwen9", base_url=server.url).probe()


async def test_t22_the_probe_finds_a_wrong_key_and_a_wrong_base_url(
    client: httpx.AsyncClient, server: ModelServer
) -> None:
    """Each with what to do about it."""
    server.api_key = "sk-right"
    with pytest.raises(RefusedError, match="LLM_API_KEY"):
        await OpenAIGenerator(client, MODEL, base_url=server.url, api_key="sk-wrong-key").probe()
    with pytest.raises(ConfigurationError, match=r"LLM_BASE_URL right\? .*/v1"):
        await OpenAIGenerator(client, MODEL, base_url=f"{server.url}/wrong").probe()


async def test_the_probe_of_a_good_model_asks_once_and_hangs_up(
    client: httpx.AsyncClient, server: ModelServer
) -> None:
    """An endless answer is not waited for."""
    server.will(Endless())

    assert await OpenAIGenerator(client, MODEL, base_url=server.url).probe() == 16_384
    assert chats(server) == 1


@pytest.mark.parametrize(
    ("text", "finish"), [(None, "length"), ("", "stop"), ("   ", "stop"), ("\n \n", "content_filter")]
)
async def test_f68_an_empty_answer_is_asked_for_once_more_with_more_room(
    generator: Chat, server: ModelServer, text: str | None, finish: str
) -> None:
    """A model that thinks may use up its room before the first word."""
    server.will(Reply(text, finish=finish, thinking="hmm " * 5), Reply(ANSWER))

    assert await written(generator) == ANSWER
    rooms = [
        request.payload.get("max_tokens") or request.payload["options"]["num_predict"]
        for request in server.requests
    ]
    assert rooms == [800, 3200]


@pytest.mark.parametrize(("text", "finish"), [(None, "length"), ("   ", "stop")])
async def test_f68_a_second_empty_answer_is_an_error(
    generator: Chat, server: ModelServer, text: str | None, finish: str
) -> None:
    """Never an empty post: the caller quotes instead."""
    server.will(*[Reply(text, finish=finish)] * 3)

    with pytest.raises(UnavailableError, match="wrote nothing"):
        await written(generator)
    assert chats(server) == 2


async def test_an_answer_that_hit_the_limit_shows_it(generator: Chat, server: ModelServer) -> None:
    """Its last sentence is not passed off as whole."""
    server.will(Reply("Thirty days, and if you", finish="length"))

    assert await written(generator) == "Thirty days, and if you …"


async def test_thinking_is_no_part_of_the_answer(generator: Chat, server: ModelServer) -> None:
    """It only shows that the model is alive (F71)."""
    server.will(Reply(ANSWER, thinking="The user wants to know"))

    assert await written(generator) == ANSWER


@pytest.mark.parametrize("abruptly", [False, True])
async def test_a_cut_stream_is_an_error_and_not_an_answer(
    generator: Chat, server: ModelServer, abruptly: bool
) -> None:
    """Half a sentence can say the opposite; after the first word nothing is tried again."""
    server.will(Cut("You may not", abruptly=abruptly))
    pieces: list[str] = []

    with pytest.raises(UnavailableError, match=r"cut off|broke off"):
        await collect(generator, pieces)

    assert "".join(pieces) == "You may not"
    assert chats(server) == 1


@pytest.mark.parametrize(
    "first",
    [
        HtmlPage(),
        HtmlPage(status=502),
        Failure(500, "out of memory"),
        Failure(503, "loading"),
        Failure(429, "slow down", headers={"Retry-After": "0.01"}),
        ErrorInStream("the model runner has stopped"),
        Cut(""),
    ],
)
async def test_what_fails_before_the_first_word_is_tried_once_more(
    generator: Chat, server: ModelServer, first: Chatting
) -> None:
    """And the reader notices nothing but the time."""
    server.will(first, Reply(ANSWER))

    assert await written(generator) == ANSWER


async def test_it_is_tried_only_once_more(generator: Chat, server: ModelServer) -> None:
    """Then the extractive answer takes over."""
    server.will(*[Failure(503, "loading")] * 3)

    with pytest.raises(UnavailableError, match="503"):
        await written(generator)
    assert chats(server) == 2


async def test_a_pause_longer_than_a_readers_patience_is_handed_on(
    generator: Chat, server: ModelServer
) -> None:
    """The caller quotes at once instead of waiting a minute."""
    server.will(Failure(429, "slow down", headers={"Retry-After": "60"}))

    with pytest.raises(RateLimitedError) as caught:
        await written(generator)
    assert caught.value.retry_after == 60
    assert chats(server) == 1


@pytest.mark.parametrize("status", [401, 402, 403])
async def test_t21_refused_credentials_are_one_call(
    generator: Chat, server: ModelServer, status: int
) -> None:
    """There is nothing to try again."""
    server.will(Failure(status, "no credit"))

    with pytest.raises(RefusedError):
        await written(generator)
    assert chats(server) == 1


@pytest.mark.parametrize("text", ["", "Thirty"])
async def test_an_error_inside_a_stream_that_began_well_is_an_error(
    generator: Chat, server: ModelServer, text: str
) -> None:
    """Status 200 was sent before the model failed."""
    error = {"message": "Provider returned error", "code": 502}
    server.will(*[ErrorInStream(error, text=text)] * 2)

    with pytest.raises(UnavailableError, match="Provider returned error"):
        await written(generator)
    assert chats(server) == (1 if text else 2)


async def test_an_error_inside_a_stream_keeps_its_meaning(
    client: httpx.AsyncClient, server: ModelServer
) -> None:
    """A router's 402 is a refused account, not a hiccup."""
    server.will(ErrorInStream({"message": "Insufficient credits", "code": 402}))

    with pytest.raises(RefusedError, match="Insufficient credits"):
        await written(OpenAIGenerator(client, MODEL, base_url=server.url, pace=PACE))


async def test_silence_before_the_first_word_ends_in_time(
    make: Callable[..., Chat], server: ModelServer
) -> None:
    """Whether the response has begun or not, and though comments keep the connection warm."""
    silences = [Silence(before_headers=True), Silence(comments=True)]
    server.will(*silences)
    generator = make(replace(PACE, first=0.1))

    with pytest.raises(UnavailableError, match=r"first word within 0\.1 s|did not answer within"):
        await written(generator)

    for silence in silences:
        silence.over.set()
    assert chats(server) == 2


@pytest.mark.parametrize("text", ["", "Thirty"])
async def test_messages_without_text_are_silence_too(
    make: Callable[..., Chat], server: ModelServer, text: str
) -> None:
    """However many come; thinking is something else."""
    silences = [Silence(text, murmurs=True), Silence(text, murmurs=True)]
    server.will(*silences)
    generator = make(replace(PACE, silence=0.1) if text else replace(PACE, first=0.2))

    with pytest.raises(
        UnavailableError, match=r"next word within 0\.1 s" if text else r"first word within 0\.2 s"
    ):
        await written(generator)
    for silence in silences:
        silence.over.set()


async def test_a_model_that_never_comes_to_an_end_is_left(
    make: Callable[..., Chat], server: ModelServer
) -> None:
    """Also where every word is in time."""
    server.will(*[Endless("word ")] * 2)
    slow = make(replace(PACE, total=0.3), manner=Manner(answer_tokens=10**9))

    with pytest.raises(UnavailableError, match=r"all of it within 0\.3 s"):
        await written(slow)


async def test_silence_after_the_first_word_ends_in_time(
    make: Callable[..., Chat], server: ModelServer
) -> None:
    """And is not tried again."""
    silence = Silence("Thirty", comments=True)
    server.will(silence)
    generator = make(replace(PACE, silence=0.1))

    with pytest.raises(UnavailableError, match=r"next word within 0\.1 s"):
        await written(generator)
    silence.over.set()
    assert chats(server) == 1


async def test_a_slow_reader_is_not_the_models_silence(
    make: Callable[..., Chat], server: ModelServer
) -> None:
    """Editing a message on a platform takes its time."""
    server.will(Reply(ANSWER, pieces=4))
    text = ""
    async for piece in make(replace(PACE, silence=0.3)).write(PROMPT):
        text += piece
        await asyncio.sleep(0.4)

    assert text == ANSWER


async def test_endless_repetition_ends(make: Callable[..., Chat], server: ModelServer) -> None:
    """A server that ignores the length limit is hung up on."""
    server.will(Endless("and so on "))
    generator = make(manner=Manner(answer_tokens=50))

    with pytest.raises(UnavailableError, match="without end"):
        await written(generator)


async def test_leaving_early_hangs_up(generator: Chat, server: ModelServer) -> None:
    """The connection is free for the next question, and the model stops writing."""
    server.will(Endless("word "), Reply(ANSWER))
    async with aclosing(generator.write(PROMPT)) as pieces:
        async for _ in pieces:
            break

    assert await written(generator) == ANSWER


async def test_the_cost_is_told(make: Callable[..., Chat], server: ModelServer) -> None:
    """Tokens of prompt and answer, for budgets and metrics."""
    told: list[Usage] = []
    server.will(Reply(ANSWER))

    await written(make(on_usage=told.append))

    assert told == [Usage(prompt_tokens=26, answer_tokens=12)]


@pytest.mark.parametrize(
    ("unsupported", "left"),
    [
        ({"max_tokens"}, {"max_completion_tokens", "temperature", "stream_options"}),
        ({"temperature"}, {"max_tokens", "stream_options"}),
        ({"stream_options"}, {"max_tokens", "temperature"}),
        ({"max_tokens", "max_completion_tokens", "temperature", "stream_options"}, set()),
    ],
)
async def test_a_parameter_the_model_does_not_take_is_left_out_for_good(
    client: httpx.AsyncClient, server: ModelServer, unsupported: set[str], left: set[str]
) -> None:
    """Providers and models differ; the second question knows what the first one learned."""
    server.unsupported = unsupported
    generator = OpenAIGenerator(client, MODEL, base_url=server.url, pace=PACE)
    server.will(Reply(ANSWER), Reply(ANSWER))
    await written(generator)
    learned = chats(server)

    assert await written(generator) == ANSWER
    assert chats(server) == learned + 1
    assert set(server.requests[-1].payload) - {"model", "messages", "stream"} == left


@pytest.mark.parametrize("body", [b"data: {broken\n\n", b"data: [1]\n\n", b'{"error": {"message": "odd"}}'])
async def test_nonsense_in_a_stream_is_unavailable(body: bytes) -> None:
    """Whatever arrives instead of events, no foreign exception comes out."""
    handler = httpx.MockTransport(
        lambda _: httpx.Response(200, headers={"Content-Type": "text/event-stream"}, content=body)
    )
    async with httpx.AsyncClient(transport=handler) as client:
        with pytest.raises(UnavailableError):
            await written(OpenAIGenerator(client, MODEL, base_url="http://models.example", pace=PACE))
        with pytest.raises(UnavailableError):
            await written(OllamaGenerator(client, MODEL, base_url="http://models.example", pace=PACE))


@pytest.mark.parametrize(
    "stream",
    [
        b'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}',
        b'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\ndata: [DONE]\n\n',
        b": hello\n\nevent: message\nid: 1\n"
        b'data: {"choices":\ndata: [{"delta":{"content":"Hi"}}]}\n\ndata:[DONE]\n\n',
        b'data: {"choices":[{"delta":{"role":"assistant"}}]}\r\n\r\n'
        b'data: {"choices":[{"delta":{"content":"Hi"}}]}\r\n\r\ndata: [DONE]\r\n\r\n',
        b'data: {"choices":[]}\n\ndata: {"choices":[{"text":1}]}\n\n'
        b'data: {"choices":[{"delta":{"content":"Hi"}}],"error":null}\n\ndata: [DONE]\n\n',
    ],
    ids=["no line end", "no finish reason", "several data lines", "crlf", "odd chunks"],
)
async def test_dialects_of_server_sent_events_are_understood(stream: bytes) -> None:
    """As different servers write them."""
    handler = httpx.MockTransport(
        lambda _: httpx.Response(200, headers={"Content-Type": "text/event-stream"}, content=stream)
    )
    async with httpx.AsyncClient(transport=handler) as client:
        assert await written(OpenAIGenerator(client, MODEL, base_url="http://models.example")) == "Hi"


@pytest.mark.parametrize("kind", [OllamaGenerator, OpenAIGenerator])
async def test_an_answer_nested_without_end_is_no_answer(kind: type[Chat]) -> None:
    """JSON that no parser follows to its end is an error of ours."""
    body = b"data: " * (kind is OpenAIGenerator) + b"[" * 200_000 + b"\n\n"
    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=body))
    async with httpx.AsyncClient(transport=transport) as client:
        with pytest.raises(UnavailableError, match="no JSON"):
            await written(kind(client, MODEL, base_url="http://models.example", pace=PACE))


@pytest.mark.parametrize(
    ("prompt", "answer"), [(-1, 5), (5, -1), (10**30, 5), ("5", 5), (None, 5), (5, None), (5, 5.0)]
)
def test_what_is_no_number_of_tokens_is_not_counted(prompt: object, answer: object) -> None:
    """Figures of a service go into budgets and counters, which take no nonsense."""
    assert usage_of(prompt, answer) is None
