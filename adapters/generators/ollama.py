"""Answers from Ollama's ``/api/chat``, streamed as one JSON object a line."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

from adapters.generators.streaming import Event, StreamingGenerator, Usage, usage_of
from adapters.transport import Patience, failure_in, ollama_base
from core.errors import UnavailableError
from core.ports import Prompt

_PROBE_PATIENCE = Patience(seconds=5.0, attempts=1)


class OllamaGenerator(StreamingGenerator):
    """Writes with a model that Ollama has pulled."""

    PROVIDER = "ollama"
    BASE_URL = "http://localhost:11434"
    CONTEXT = 8192
    """Ollama reserves memory for the whole window, so a model's full 128k is rarely wanted."""

    @staticmethod
    def _called(model: str) -> str:
        return f"Ollama's model {model}"

    @staticmethod
    def _root(base_url: str) -> str:
        return ollama_base(base_url)

    async def probe(self) -> int:
        """Ask Ollama for the model: is it there, and how large is its window? Returns `context_tokens`.

        The window used is the smaller one of the model's own and the one configured.

        Raises:
            TemporaryError, RefusedError, ConfigurationError: as `core.errors` says.
        """
        shown = await self._endpoint.post("/api/show", {"model": self._model}, patience=_PROBE_PATIENCE)
        window = _window(shown.get("model_info"))
        if window is not None:
            self._context_tokens = min(self._context_tokens, window)
        return self._context_tokens

    async def _events(self, prompt: Prompt, room: int) -> AsyncGenerator[Event]:
        payload = {
            "model": self._model,
            "messages": [
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": prompt.user},
            ],
            "stream": True,
            "options": {
                # Without it Ollama uses 4,096 tokens or fewer and silently drops the start of the prompt.
                "num_ctx": self._context_tokens,
                "num_predict": room,
                "temperature": self._manner.temperature,
            },
        }
        async with aclosing(self._endpoint.lines("/api/chat", payload, seconds=self._pace_of_lines)) as lines:
            async for line in lines:
                if line.strip():
                    yield self._event(line, payload)

    def _event(self, line: str, payload: Mapping[str, Any]) -> Event:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UnavailableError(f"{self._endpoint.service} sent a line that is no JSON") from error
        if not isinstance(message, dict):
            raise UnavailableError(f"{self._endpoint.service} sent a line that is no JSON object")
        if "error" in message:
            raise failure_in(message["error"], self._endpoint.service, sent=payload)
        said = message.get("message")
        said = said if isinstance(said, dict) else {}
        is_last = message.get("done") is True
        return Event(
            text=_text(said.get("content")),
            thinking=bool(_text(said.get("thinking"))),
            finish=_text(message.get("done_reason")) or "stop" if is_last else None,
            usage=_usage(message) if is_last else None,
        )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _usage(message: Mapping[str, Any]) -> Usage | None:
    return usage_of(message.get("prompt_eval_count", 0), message.get("eval_count"))


def _window(info: object) -> int | None:
    """``<architecture>.context_length`` of ``/api/show``."""
    if not isinstance(info, dict):
        return None
    lengths = [
        value for key, value in info.items() if key.endswith(".context_length") and isinstance(value, int)
    ]
    return min(lengths, default=None)
