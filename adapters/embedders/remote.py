"""What embedders behind a network have in common: batches, bounded concurrency, isolating bad texts."""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, ClassVar, TypeVar

import numpy as np

from adapters.embedders.vectors import sendable, unit_vector
from adapters.transport import AnsweredError, Endpoint, HttpClient, Patience
from core.domain.models import ModelProfile, Vector
from core.domain.profiles import UNKNOWN_DIMENSIONS, split_setting
from core.errors import ConfigurationError, FootnoteError, InvalidInputError, RefusedError, UnavailableError

BATCH = 32
"""Texts in one request (inventory rows 45 and X18)."""
CONCURRENCY = 2
"""Requests with passages at once; a local model computes one at a time anyway."""

QUERY_PATIENCE = Patience(seconds=20.0, attempts=2)
"""Somebody is waiting, and words alone can answer; enough for Ollama to load a model."""
PASSAGES_PATIENCE = Patience(seconds=180.0, attempts=4, longest_wait=60.0)
"""A batch of long passages on a small machine takes a minute."""

_SAMPLE = "How many vacation days do I have?"
_T = TypeVar("_T")
_log = logging.getLogger(__name__)


class RemoteEmbedder(ABC):
    """Embeds through a service; subclasses say how one request is made.

    The first request goes alone: credentials that are refused cost one call, not one for each page of a
    workspace (inventory SY20, T21).
    """

    BASE_URL: ClassVar[str]
    """Where the service is unless somebody says otherwise."""

    def __init__(
        self,
        client: HttpClient,
        profile: ModelProfile,
        *,
        base_url: str = "",
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
        self._profile = profile
        self._model = split_setting(profile.name)[1]
        self._endpoint = Endpoint(
            client,
            name=self._called(self._model),
            base_url=self._root(base_url or self.BASE_URL),
            api_key=api_key,
            setting="EMBEDDING_BASE_URL (or LLM_BASE_URL)",
            key_setting="EMBEDDING_API_KEY (or LLM_API_KEY)",
        )
        self._batch = batch
        self._slots = asyncio.Semaphore(concurrency)
        self._query_patience = query_patience
        self._passages_patience = passages_patience
        self._first = asyncio.Lock()
        self._accepted = False
        self._calls = 0
        self._refusal: tuple[int, RefusedError] | None = None
        """The last refusal, and the number of the last call that was waiting when it came."""

    @property
    def profile(self) -> ModelProfile:
        """Names the space and how the model is used."""
        return self._profile

    @staticmethod
    @abstractmethod
    def _called(model: str) -> str:
        """What messages call the service."""

    @staticmethod
    @abstractmethod
    def _root(base_url: str) -> str:
        """What the API's paths are added to, whatever form of the link people write."""

    @abstractmethod
    async def _request(self, texts: Sequence[str], patience: Patience) -> Sequence[Any]:
        """One request: the numbers of each text, in order, as the service sent them.

        Raises:
            InvalidInputError: the service refuses these texts.
            TemporaryError, RefusedError, ConfigurationError: as `core.errors` says.
        """

    async def probe(self) -> ModelProfile:
        """Ask once: is the service there, the key accepted, the model known, the size of vectors right?

        Dimensions of a model that we do not know are learned here; call this before anything is embedded.

        Raises:
            TemporaryError, RefusedError, ConfigurationError: as `core.errors` says.
        """
        try:
            rows = await self._numbers(
                [self._profile.query_prefix + _SAMPLE], self._query_patience, self._next_call()
            )
        except InvalidInputError as error:
            raise ConfigurationError(f"{self._profile.name} cannot be used; {error}") from error
        if self._profile.dimensions == UNKNOWN_DIMENSIONS:
            self._profile = replace(self._profile, dimensions=len(rows[0]))
        self._checked(rows)
        return self._profile

    async def embed_query(self, text: str) -> Vector:
        """The vector of a question; the query prefix is added here.

        Raises:
            TemporaryError, RefusedError, ConfigurationError: as `core.errors` says.
        """
        prepared = self._profile.query_prefix + (sendable(text) or " ")
        try:
            (vector,) = await self._embed([prepared], self._query_patience, self._next_call())
        except InvalidInputError as error:
            raise UnavailableError(f"{self._profile.name} refuses the question; {error}") from error
        if vector is None:
            raise UnavailableError(f"{self._profile.name} gave no usable vector for the question")
        return vector

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """The vectors of passages, in order; null where the model refuses that one text.

        Raises:
            TemporaryError, RefusedError, ConfigurationError: nothing could be embedded.
        """
        prepared = [self._profile.passage_prefix + (sendable(text) or " ") for text in texts]
        batches = [prepared[start : start + self._batch] for start in range(0, len(prepared), self._batch)]
        work = partial(self._embed_batch, call=self._next_call())
        vectors = list(chain.from_iterable(await _all_or_nothing(work, batches)))
        refused = sum(vector is None for vector in vectors)
        if refused:
            _log.warning("%s gave no vector for %d of %d texts", self._profile.name, refused, len(texts))
        return vectors

    async def _embed_batch(self, texts: Sequence[str], *, call: int) -> Sequence[Vector | None]:
        try:
            async with self._slots:
                _log.info("embedding %d texts with %s", len(texts), self._profile.name)
                return await self._embed(texts, self._passages_patience, call)
        except (InvalidInputError, AnsweredError) as error:
            await self._blame_the_texts_or_raise(error, call)
        return await self._isolate(texts, call)

    async def _blame_the_texts_or_raise(self, error: FootnoteError, call: int) -> None:
        """Return if an ordinary sentence can be embedded: then something in the batch cannot."""
        try:
            await self._embed([self._profile.passage_prefix + _SAMPLE], self._once(), call)
        except InvalidInputError:
            raise ConfigurationError(
                f"{self._profile.name} refuses every text, so nothing was embedded; {error}"
            ) from error

    async def _isolate(self, texts: Sequence[str], call: int) -> list[Vector | None]:
        """Halve the batch until the bad texts are alone; they get null, all others their vectors."""
        if len(texts) == 1:
            return [None]
        middle = len(texts) // 2
        vectors: list[Vector | None] = []
        for half in (texts[:middle], texts[middle:]):
            try:
                async with self._slots:
                    vectors += await self._embed(half, self._once(), call)
            except (InvalidInputError, AnsweredError):
                vectors += await self._isolate(half, call)
        return vectors

    def _next_call(self) -> int:
        self._calls += 1
        return self._calls

    def _once(self) -> Patience:
        return replace(self._passages_patience, attempts=1)

    async def _embed(self, texts: Sequence[str], patience: Patience, call: int) -> list[Vector | None]:
        return self._checked(await self._numbers(texts, patience, call))

    async def _numbers(self, texts: Sequence[str], patience: Patience, call: int) -> Sequence[Any]:
        if self._accepted:
            return await self._request(texts, patience)
        async with self._first:
            if self._refusal is not None and self._refusal[0] >= call:
                raise RefusedError(str(self._refusal[1])) from self._refusal[1]
            try:
                numbers = await self._request(texts, patience)
            except RefusedError as error:
                # Everybody who queued up while this was refused is answered by it.
                self._refusal = (self._calls, error)
                raise
            self._accepted = True
            return numbers

    def _checked(self, rows: Sequence[Any]) -> list[Vector | None]:
        wanted = self._profile.dimensions
        vectors = []
        for row in rows:
            try:
                numbers = np.asarray(row, dtype=np.float64)
            except (TypeError, ValueError, OverflowError) as error:
                raise UnavailableError(
                    f"{self._profile.name} answered something that is no vector"
                ) from error
            if numbers.shape != (wanted,):
                raise ConfigurationError(
                    f"{self._profile.name} answered vectors of {numbers.size} dimensions where {wanted} are "
                    "configured: the server has another model behind this name. Name the right one in "
                    "EMBEDDING_MODEL, or set EMBEDDING_DIMENSIONS and run: footnote reembed"
                )
            vectors.append(unit_vector(numbers))
        return vectors


async def _all_or_nothing(
    work: Callable[[Sequence[str]], Awaitable[_T]], batches: Sequence[Sequence[str]]
) -> list[_T]:
    """The results in order; the first failure stops the rest and is raised as it is."""
    tasks = [asyncio.ensure_future(work(batch)) for batch in batches]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
