"""Settings choose the models, and what must be learned of them is learned at start."""

import pytest
from pydantic import SecretStr

from adapters.embedders.hashing import HashingEmbedder
from adapters.generators.ollama import OllamaGenerator
from adapters.generators.openai_http import OpenAIGenerator
from adapters.stores.memory import MemoryStore
from adapters.transport import http_client
from bot.settings import Settings
from bot.wiring import (
    chunking_for,
    embedding_key,
    learn_window,
    make_enricher,
    make_generator,
    open_embedder,
    ranking_for,
)
from core.errors import ConfigurationError
from core.services.chunking import ChunkSettings
from tests.core.services.found import ScriptedGenerator
from tests.fakes.model import model_server


async def test_the_size_of_an_unknown_model_is_asked_at_start() -> None:
    """The index is named after it, so it must be known before anything else."""
    async with model_server("own-model", dimensions=123) as server, http_client() as client:
        for provider in ("ollama", "openai"):
            settings = Settings(embedding_model=f"{provider}:own-model", embedding_base_url=server.url)
            async with open_embedder(settings, client) as embedder:
                assert embedder.profile.dimensions == 123


async def test_a_known_model_is_not_asked_at_start() -> None:
    """Footnote starts though the model's server is still starting."""
    async with model_server("bge-m3", dimensions=1024) as server, http_client() as client:
        settings = Settings(embedding_model="ollama:bge-m3", embedding_base_url=server.url)
        async with open_embedder(settings, client) as embedder:
            assert embedder.profile.dimensions == 1024
        assert server.requests == []


async def test_one_base_url_and_key_serve_chat_and_embeddings() -> None:
    """As in Niles: the embedder takes the chat model's unless it has its own."""
    async with (
        model_server("bge-m3", "gpt", dimensions=1024, api_key="sk-1") as server,
        http_client() as client,
    ):
        settings = Settings(
            embedding_model="openai:bge-m3",
            llm_model="openai:gpt",
            llm_base_url=server.url,
            llm_api_key=SecretStr("sk-1"),
        )
        async with open_embedder(settings, client) as embedder:
            await embedder.embed_query("x")
        generator = make_generator(settings, client)

        assert isinstance(generator, OpenAIGenerator)
        assert await generator.probe() > 0


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"llm_model": "openai:gpt"}, "sk-chat"),
        ({"llm_model": "openai:gpt", "embedding_api_key": "sk-own"}, "sk-own"),
        ({"llm_model": "openai:gpt", "llm_base_url": "https://a.example/v1"}, "sk-chat"),
        (
            {
                "llm_model": "openai:gpt",
                "llm_base_url": "https://a.example/v1",
                "embedding_base_url": "https://a.example/embeddings",
            },
            "sk-chat",
        ),
        ({"embedding_base_url": "https://b.example"}, "sk-chat"),
        ({"llm_model": "openai:gpt", "embedding_base_url": "https://b.example"}, ""),
        (
            {
                "llm_model": "openai:gpt",
                "llm_base_url": "https://a.example/v1",
                "embedding_base_url": "http://a.example/v1",
            },
            "",
        ),
        ({"llm_model": "ollama:llama3.1:8b"}, ""),
    ],
    ids=range(8),
)
def test_the_chat_models_key_goes_to_no_other_server(given: dict[str, str], key: str) -> None:
    """It serves the embedder where one service is both, or where there is no chat model."""
    settings = Settings.from_mapping({"embedding_model": "openai:bge-m3", "llm_api_key": "sk-chat", **given})

    assert embedding_key(settings) == key


async def test_an_ollama_models_own_window_bounds_the_prompt() -> None:
    """Learned at start; a server that is away costs nothing but the knowledge."""
    async with http_client() as client:
        async with model_server("small") as server:
            server.context_length = 2048
            settings = Settings(llm_model="ollama:small", llm_base_url=server.url)
            there, away = make_generator(settings, client), make_generator(settings, client)
            await learn_window(there)
        await learn_window(away)

    assert isinstance(there, OllamaGenerator)
    assert there.context_tokens == 2048
    assert away is not None
    assert away.context_tokens == 8192


async def test_the_hashing_model_can_be_chosen_by_setting() -> None:
    """For tests and load runs."""
    async with (
        http_client() as client,
        open_embedder(Settings(embedding_model="hashing:64"), client) as embedder,
    ):
        assert isinstance(embedder, HashingEmbedder)
        assert embedder.profile.dimensions == 64


@pytest.mark.parametrize("name", ["NOTION_SUMMARIES", "NOTION_CONTEXTS"])
def test_texts_about_pages_need_a_model_that_writes_them(name: str) -> None:
    """Without one the start says so, instead of indexing without them."""
    settings = Settings.from_mapping({name: "on"})

    with pytest.raises(ConfigurationError, match=f"{name}=on needs a chat model"):
        make_enricher(settings, None, MemoryStore())
    assert make_enricher(Settings(), None, MemoryStore()) is None
    assert make_enricher(settings, ScriptedGenerator(), MemoryStore()) is not None


def test_an_index_with_texts_of_a_model_is_another_one() -> None:
    """Its contract names them; without them it is that of before, and contexts leave room for a sentence."""
    embedder = HashingEmbedder(64)
    plain = chunking_for(Settings(), embedder)
    both = chunking_for(Settings(notion_summaries="on", notion_contexts="on"), embedder)

    assert (
        plain.version == ChunkSettings(size=600, overlap=100, max_input_tokens=plain.max_input_tokens).version
    )
    assert both.version == f"{plain.version}/contexts+summaries"
    assert len(both.passage_prefix) > len(plain.passage_prefix) + 100


def test_short_forms_are_expanded_where_that_is_set() -> None:
    """Off by default."""
    assert ranking_for(Settings(notion_acronyms="on"), HashingEmbedder(64)).acronyms
    assert not ranking_for(Settings(), HashingEmbedder(64)).acronyms
