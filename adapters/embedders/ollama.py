"""Embeddings from Ollama's ``/api/embed``."""

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
from adapters.transport import Endpoint, Patience, ollama_base
from core.domain.models import ModelProfile
from core.domain.profiles import requested_dimensions, split_setting
from core.errors import UnavailableError


class OllamaEmbedder(RemoteEmbedder):
    """Embeds with a model that Ollama has pulled."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        profile: ModelProfile,
        *,
        base_url: str = "http://localhost:11434",
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
            name=f"Ollama's embedding model {self._model}",
            base_url=ollama_base(base_url),
            api_key=api_key,
            setting="EMBEDDING_BASE_URL (or LLM_BASE_URL)",
            key_setting="EMBEDDING_API_KEY (or LLM_API_KEY)",
        )

    async def _request(self, texts: Sequence[str], patience: Patience) -> Sequence[Any]:
        payload: dict[str, Any] = {"model": self._model, "input": list(texts), "truncate": True}
        size = requested_dimensions(self._profile)
        if size is not None:
            payload["dimensions"] = size
        answer = await self._endpoint.post("/api/embed", payload, patience=patience)
        rows = answer.get("embeddings")
        if not isinstance(rows, list) or len(rows) != len(texts):
            found = len(rows) if isinstance(rows, list) else "no"
            raise UnavailableError(
                f"{self._endpoint.service} answered {found} vectors for {len(texts)} texts"
            )
        return rows
