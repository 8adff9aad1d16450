"""What generators behind a network have in common: time limits, one second try, no empty or cut answers."""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import ClassVar

from adapters.transport import Endpoint, HttpClient
from core.errors import RateLimitedError, TemporaryError, UnavailableError
from core.ports import Prompt

_CHARACTERS_PER_TOKEN = 8
"""No language has tokens so long on average: more text than this means that the server ignores the limit."""
_MORE_ROOM = 4
_MOST_TOKENS = 10**9
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pace:
    """How long a reader waits, in seconds: for the first word, for the next one, and for everything.

    A sign of life is text or thinking; comments that only keep the connection open are none. Between the
    first try and the second we wait ``pause``, or as long as the service asks, but never above
    ``longest_pause``.
    """

    first: float = 30.0
    silence: float = 15.0
    total: float = 240.0
    pause: float = 0.3
    longest_pause: float = 5.0


@dataclass(frozen=True, slots=True)
class Manner:
    """How a model writes: at most so many tokens, and how freely (0 is always the likeliest word)."""

    answer_tokens: int = 800
    temperature: float = 0.1


DEFAULT_PACE = Pace()
DEFAULT_MANNER = Manner()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that one call cost."""

    prompt_tokens: int
    answer_tokens: int


def usage_of(prompt: object, answer: object) -> Usage | None:
    """What a service tells of a call; null where that is no number of tokens."""
    if not isinstance(prompt, int) or not isinstance(answer, int):
        return None
    return Usage(prompt, answer) if min(prompt, answer) >= 0 and max(prompt, answer) < _MOST_TOKENS else None


@dataclass(frozen=True, slots=True)
class Event:
    """One message of a stream. ``finish`` is set by the last: ``stop``, ``length`` or another reason."""

    text: str = ""
    thinking: bool = False
    finish: str | None = None
    usage: Usage | None = None


class StreamingGenerator(ABC):
    """Writes with a model behind a service; subclasses say how one request is made and read."""

    PROVIDER: ClassVar[str]
    """The word before the colon in LLM_MODEL."""
    BASE_URL: ClassVar[str]
    """Where the service is unless somebody says otherwise."""
    CONTEXT: ClassVar[int]
    """Tokens that prompt and answer may have together unless somebody says otherwise."""

    def __init__(
        self,
        client: HttpClient,
        model: str,
        *,
        base_url: str = "",
        api_key: str = "",
        context_tokens: int | None = None,
        manner: Manner = DEFAULT_MANNER,
        pace: Pace = DEFAULT_PACE,
        on_usage: Callable[[Usage], None] | None = None,
    ) -> None:
        """``model`` without provider. ``client`` stays the caller's.

        Raises:
            ConfigurationError: base URL or key cannot be used.
        """
        self._name = f"{self.PROVIDER}:{model}"
        self._model = model
        self._context_tokens = self.CONTEXT if context_tokens is None else context_tokens
        self._pace_of_lines = max(pace.first, pace.silence)
        self._endpoint = Endpoint(
            client,
            name=self._called(model),
            base_url=self._root(base_url or self.BASE_URL),
            api_key=api_key,
        )
        self._manner = manner
        self._pace = pace
        self._on_usage = on_usage

    @property
    def model(self) -> str:
        """The model's name as the setting has it; part of cache keys."""
        return self._name

    @property
    def context_tokens(self) -> int:
        """How many tokens prompt and answer may have together."""
        return self._context_tokens

    @staticmethod
    @abstractmethod
    def _called(model: str) -> str:
        """What messages call the service."""

    @staticmethod
    @abstractmethod
    def _root(base_url: str) -> str:
        """What the API's paths are added to, whatever form of the link people write."""

    @abstractmethod
    def _events(self, prompt: Prompt, room: int) -> AsyncGenerator[Event]:
        """One request, for an answer of at most ``room`` tokens.

        Raises:
            InvalidInputError, TemporaryError, RefusedError, ConfigurationError: as `core.errors` says.
        """

    async def write(self, prompt: Prompt) -> AsyncGenerator[str]:
        """The answer as it is written, piece by piece; an answer that hit the length limit ends in " …".

        What fails before the first word is tried once more, and so is an answer without any word, then with
        more room: models that think first may use all of it up (F68).

        Raises:
            TemporaryError: no answer, or not all of it: what was yielded must not be shown.
            RefusedError, ConfigurationError, InvalidInputError: as `core.errors` says.
        """
        room = self._manner.answer_tokens
        for is_last in (False, True):
            began = False
            try:
                async with aclosing(self._attempt(prompt, room)) as pieces:
                    async for piece in pieces:
                        began = True
                        yield piece
            except TemporaryError as error:
                pause = self._pause_after(error)
                if began or is_last or pause is None:
                    raise
                _log.warning("%s failed before its first word and is asked once more: %s", self._name, error)
                await asyncio.sleep(pause)
                continue
            if began:
                return
            _log.warning("%s wrote nothing in %d tokens", self._name, room)
            room *= _MORE_ROOM
        raise UnavailableError(f"{self._name} wrote nothing, twice; is it a chat model?")

    async def _attempt(self, prompt: Prompt, room: int) -> AsyncGenerator[str]:
        """Text without leading space, so that a first piece is a first word."""
        finish = None
        length = 0
        async with aclosing(self._paced(self._events(prompt, room))) as events:
            async for event in events:
                finish = event.finish or finish
                if event.usage is not None and self._on_usage is not None:
                    self._on_usage(event.usage)
                text = event.text if length else event.text.lstrip()
                if text:
                    yield text
                length += len(text)
                if length > room * _CHARACTERS_PER_TOKEN:
                    raise UnavailableError(f"{self._name} writes without end")
        if finish is None:
            raise UnavailableError(f"the answer of {self._name} was cut off")
        if finish == "length" and length:
            yield " …"

    async def _paced(self, events: AsyncGenerator[Event]) -> AsyncGenerator[Event]:
        now = asyncio.get_running_loop().time
        end = now() + self._pace.total
        deadline = now() + self._pace.first
        waiting_for = f"its first word within {self._pace.first:g} s"
        async with aclosing(events):
            while True:
                try:
                    async with asyncio.timeout_at(min(deadline, end)):
                        event = await anext(events)
                except StopAsyncIteration:
                    return
                except TimeoutError as error:
                    missing = waiting_for if deadline < end else f"all of it within {self._pace.total:g} s"
                    raise UnavailableError(f"{self._name} did not send {missing}") from error
                yield event
                if event.text or event.thinking:
                    # Set only now: what the reader took its time for is not the model's silence.
                    deadline = now() + self._pace.silence
                    waiting_for = f"its next word within {self._pace.silence:g} s"

    def _pause_after(self, error: TemporaryError) -> float | None:
        """Seconds until the second try; null where the service asks for more patience than a reader has."""
        if isinstance(error, RateLimitedError) and error.retry_after is not None:
            return error.retry_after if error.retry_after <= self._pace.longest_pause else None
        return self._pace.pause
