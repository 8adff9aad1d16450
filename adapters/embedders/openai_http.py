"""Embeddings from any server with OpenAI's ``/v1/embeddings``."""

from collections.abc import Sequence
from typing import Any

import httpx

from adapters.embedders.remote import (
    BATCH,
    CONCURRENCY,
    PASSAGES_PATIENCE,
    QUERY_PATIENCE,
    RemoteEmbedder,
)
from adapters.transport import Endpoint, Patience, openai_base
from core.domain.models import ModelProfile
from core.domain.profiles import requested_dimensions, split_setting
from core.errors import UnavailableError


class OpenAIEmbedder(RemoteEmbedder):
    """Embeds with OpenAI, or with whatever speaks its language: vLLM, TEI, LM Studio, LiteLLM."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        profile: ModelProfile,
        *,
        base_url: str = "https://api.openai.com/v1",
        api_key: str = "",
        batch: int = BATCH,
        concurrency: int = CONCURRENCY,
        query_patience: Patience = QUERY_PATIENCE,
        passages_patience: Patience = PASSAGES_PATIENCE,
    ) -> None:
        """``client`` stays the caller's.

        Raises:
            ConfigurationError: base URL or key cannot be used.
        """
        super().__init__(
            profile,
            batch=batch,
            concurrency=concurrency,
            query_patience=query_patience,
            passages_patience=passages_patience,
        )
        self._model = split_setting(profile.name)[1]
        self._endpoint = Endpoint(
            client,
            name=f"the embedding model {self._model}",
            base_url=openai_base(base_url),
            api_key=api_key,
            setting="EMBEDDING_BASE_URL (or LLM_BASE_URL)",
            key_setting="EMBEDDING_API_KEY (or LLM_API_KEY)",
        )

    async def _request(self, texts: Sequence[str], patience: Patience) -> Sequence[Any]:
        payload: dict[str, Any] = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        size = requested_dimensions(self._profile)
        if size is not None:
            payload["dimensions"] = size
        answer = await self._endpoint.post("/embeddings", payload, patience=patience)
        rows = _in_order(answer.get("data"), len(texts))
        if rows is None:
            raise UnavailableError(
                f"{self._endpoint.service} answered without one vector for each of {len(texts)} texts"
            )
        return rows


def _in_order(data: Any, count: int) -> list[Any] | None:
    """The vectors by their ``index``, which need not be the order they come in; null if one is missing."""
    if not isinstance(data, list):
        return None
    by_index = {
        item["index"]: item["embedding"]
        for item in data
        if isinstance(item, dict) and isinstance(item.get("index"), int) and "embedding" in item
    }
    if len(data) != count or set(by_index) != set(range(count)):
        return None
    return [by_index[position] for position in range(count)]
