"""Embeddings from any server with OpenAI's ``/v1/embeddings``."""

from collections.abc import Sequence
from typing import Any

from adapters.embedders.remote import RemoteEmbedder
from adapters.transport import Patience, openai_base
from core.domain.profiles import requested_dimensions
from core.errors import UnavailableError


class OpenAIEmbedder(RemoteEmbedder):
    """Embeds with OpenAI, or with whatever speaks its language: vLLM, TEI, LM Studio, LiteLLM."""

    BASE_URL = "https://api.openai.com/v1"

    @staticmethod
    def _called(model: str) -> str:
        return f"the embedding model {model}"

    @staticmethod
    def _root(base_url: str) -> str:
        return openai_base(base_url)

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
