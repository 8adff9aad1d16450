"""Answers from any server with OpenAI's ``/v1/chat/completions``, streamed as server-sent events."""

import json
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from functools import cached_property
from typing import Any

from adapters.generators.sse import data_of
from adapters.generators.streaming import Event, StreamingGenerator, Usage, usage_of
from adapters.transport import failure_in, openai_base
from core.errors import ConfigurationError, InvalidInputError, UnavailableError
from core.ports import Prompt

_END = "[DONE]"
_log = logging.getLogger(__name__)


class OpenAIGenerator(StreamingGenerator):
    """Writes with OpenAI or whatever speaks its language: vLLM, LM Studio, OpenRouter, Groq, Mistral.

    Models differ in the parameters they accept. One that a model complains about is left out from then on,
    ``max_tokens`` after ``max_completion_tokens`` was tried in its place.
    """

    PROVIDER = "openai"
    BASE_URL = "https://api.openai.com/v1"
    CONTEXT = 16_384
    """The API does not tell a model's window; this fits into all that are sold today."""

    @cached_property
    def _refused_parameters(self) -> set[str]:
        """What the model complained about so far."""
        return set()

    @staticmethod
    def _called(model: str) -> str:
        return f"the model {model}"

    @staticmethod
    def _root(base_url: str) -> str:
        return openai_base(base_url)

    async def probe(self) -> int:
        """Have the model begin a short answer and hang up: is it there, is the key accepted?

        Returns `context_tokens`, which only the setting can tell.

        Raises:
            TemporaryError, RefusedError, ConfigurationError: as `core.errors` says.
        """
        prompt = Prompt(system="Answer in one word.", user="Are you there?")
        try:
            async with aclosing(self._paced(self._events(prompt, self._manner.answer_tokens))) as events:
                async for _ in events:
                    break
        except InvalidInputError as error:
            raise ConfigurationError(f"{self._name} cannot be used; {error}") from error
        return self._context_tokens

    async def _events(self, prompt: Prompt, room: int) -> AsyncGenerator[Event]:
        while True:
            payload = self._payload(prompt, room)
            try:
                async with aclosing(self._request(payload)) as events:
                    async for event in events:
                        yield event
                return
            except InvalidInputError as error:
                refused = _parameter_in(str(error), payload)
                if refused is None:
                    raise
                _log.info("%s does not take %s; leaving it out", self._name, refused)
                self._refused_parameters.add(refused)

    def _payload(self, prompt: Prompt, room: int) -> dict[str, Any]:
        optional = {
            "temperature": self._manner.temperature,
            "stream_options": {"include_usage": True},
            # Newer OpenAI models know the long name only, most other servers the short one only.
            "max_completion_tokens" if "max_tokens" in self._refused_parameters else "max_tokens": room,
        }
        return {
            "model": self._model,
            "messages": [
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": prompt.user},
            ],
            "stream": True,
            **{name: value for name, value in optional.items() if name not in self._refused_parameters},
        }

    async def _request(self, payload: Mapping[str, Any]) -> AsyncGenerator[Event]:
        finished = False
        lines = self._endpoint.lines("/chat/completions", payload, seconds=self._pace_of_lines)
        async with aclosing(data_of(lines)) as data:
            async for one in data:
                if one.strip() == _END:
                    if not finished:  # Some servers never name a reason.
                        yield Event(finish="stop")
                    return
                event = self._event(one, payload)
                finished = finished or event.finish is not None
                yield event

    def _event(self, data: str, payload: Mapping[str, Any]) -> Event:
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise UnavailableError(f"{self._endpoint.service} sent an event that is no JSON") from error
        if not isinstance(chunk, dict):
            raise UnavailableError(f"{self._endpoint.service} sent an event that is no JSON object")
        if chunk.get("error"):
            raise failure_in(chunk["error"], self._endpoint.service, sent=payload)
        choice = _first(chunk.get("choices"))
        delta = choice.get("delta")
        delta = delta if isinstance(delta, dict) else {}
        return Event(
            text=_text(delta.get("content")),
            thinking=bool(_text(delta.get("reasoning_content")) or _text(delta.get("reasoning"))),
            finish=_text(choice.get("finish_reason")) or None,
            usage=_usage(chunk.get("usage")),
        )


def _parameter_in(complaint: str, payload: Mapping[str, Any]) -> str | None:
    """The optional parameter that the server complains about."""
    # The longer name first: it contains the shorter one's last word.
    optional = ("max_completion_tokens", "max_tokens", "temperature", "stream_options")
    return next((name for name in optional if name in payload and name in complaint), None)


def _first(choices: object) -> Mapping[str, Any]:
    """The first choice; the chunk that tells the usage has none."""
    if not isinstance(choices, list) or not choices:
        return {}
    choice: object = choices[0]
    return choice if isinstance(choice, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _usage(usage: object) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    return usage_of(usage.get("prompt_tokens"), usage.get("completion_tokens"))
