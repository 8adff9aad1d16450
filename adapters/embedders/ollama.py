"""Embeddings from Ollama's ``/api/embed``."""

from collections.abc import Sequence
from typing import Any

from adapters.embedders.remote import RemoteEmbedder
from adapters.transport import Patience, ollama_base
from core.domain.profiles import requested_dimensions
from core.errors import UnavailableError


class OllamaEmbedder(RemoteEmbedder):
    """Embeds with a model that Ollama has pulled."""

    BASE_URL = "http://localhost:11434"

    @staticmethod
    def _called(model: str) -> str:
        return f"Ollama's embedding model {model}"

    @staticmethod
    def _root(base_url: str) -> str:
        return ollama_base(base_url)

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
