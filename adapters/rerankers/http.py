"""Rerankers behind HTTP: TEI on one's own machine, and the hosted ones of Cohere, Voyage and Jina."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from adapters.transport import Endpoint, Patience
from core.errors import ConfigurationError, UnavailableError

PATIENCE = Patience(seconds=5.0, attempts=1)
"""One attempt: whoever asks is waiting, and goes on without the reranker."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one service is asked: where, under which names, and where in the answer the scores are.

    ``rows`` is null where the answer is the list itself.
    """

    base_url: str
    path: str
    texts: str
    rows: str | None
    score: str
    needs_model: bool = True
    extra: Mapping[str, Any] | None = None


DIALECTS: Mapping[str, Dialect] = {
    "tei": Dialect("", "/rerank", "texts", None, "score", needs_model=False, extra={"truncate": True}),
    "cohere": Dialect("https://api.cohere.com", "/v2/rerank", "documents", "results", "relevance_score"),
    "voyage": Dialect("https://api.voyageai.com", "/v1/rerank", "documents", "data", "relevance_score"),
    "jina": Dialect(
        "https://api.jina.ai",
        "/v1/rerank",
        "documents",
        "results",
        "relevance_score",
        extra={"return_documents": False},
    ),
}
"""By the word before the colon in RERANKER."""


class HttpReranker:
    """A reranker of one of the known services."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        setting: str,
        *,
        base_url: str = "",
        api_key: str = "",
        patience: Patience = PATIENCE,
    ) -> None:
        """``setting`` is ``service:model``, or ``tei`` with a base URL; ``client`` stays the caller's.

        Raises:
            ConfigurationError: it names no service, lacks the model or the base URL, or the key is unusable.
        """
        service, _, self._model = setting.strip().partition(":")
        dialect = DIALECTS.get(service.lower())
        if dialect is None or (dialect.needs_model and not self._model):
            raise ConfigurationError(
                f"RERANKER: {setting!r} names no reranker: expected tei with RERANKER_BASE_URL, "
                "cohere:MODEL, voyage:MODEL, jina:MODEL, flashrank:FOLDER or sentences"
            )
        base = (base_url or dialect.base_url).rstrip("/")
        if not base:
            raise ConfigurationError("RERANKER_BASE_URL is not set: where does the reranker listen?")
        self._dialect = dialect
        self._patience = patience
        self.model = setting.strip()
        self._endpoint = Endpoint(
            client,
            name=f"the reranker {self.model}",
            base_url=base,
            api_key=api_key,
            setting="RERANKER_BASE_URL",
            key_setting="RERANKER_API_KEY",
        )

    async def rerank(self, question: str, passages: Sequence[str]) -> Sequence[float]:
        """A score for each passage in the order given.

        Raises:
            InvalidInputError, TemporaryError, RefusedError, ConfigurationError: as `Endpoint.post`.
            UnavailableError: the answer lacks the score of a passage.
        """
        dialect = self._dialect
        payload: dict[str, Any] = {"query": question, dialect.texts: list(passages), **(dialect.extra or {})}
        if dialect.needs_model:
            payload["model"] = self._model
        if dialect.rows is None:
            rows: Any = await self._endpoint.post_for_list(dialect.path, payload, patience=self._patience)
        else:
            rows = (await self._endpoint.post(dialect.path, payload, patience=self._patience)).get(
                dialect.rows
            )
        scores = _by_place(rows, dialect.score)
        if scores.keys() != set(range(len(passages))):
            raise UnavailableError(
                f"{self._endpoint.service} answered without one score for each of {len(passages)} passages"
            )
        return [scores[place] for place in range(len(passages))]


def _by_place(rows: Any, name: str) -> dict[int, float]:
    if not isinstance(rows, list):
        return {}
    return {
        row["index"]: _finite(row[name])
        for row in rows
        if isinstance(row, dict) and type(row.get("index")) is int and type(row.get(name)) in {int, float}
    }


def _finite(score: float) -> float:
    """The score, not a number where it is too large to be one; whoever asked looks for that."""
    try:
        return float(score)
    except OverflowError:
        return math.nan
