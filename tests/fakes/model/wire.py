"""The two dialects on the wire, as their servers write them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from aiohttp import web

_MADE = "2026-05-04T09:30:00.000000Z"


class Dialect(Protocol):
    """How an API writes embeddings, streams and errors."""

    @property
    def stream_type(self) -> str: ...

    def failure(
        self, status: int, message: str, code: str | None = None, *, headers: Mapping[str, str] | None = None
    ) -> web.Response: ...

    def embeddings(self, vectors: Sequence[Sequence[float]], *, shuffled: bool) -> web.Response: ...

    def piece(self, text: str | None) -> bytes: ...

    def thought(self, text: str) -> bytes: ...

    def comment(self) -> bytes: ...

    def end(self, finish: str, *, usage: bool) -> bytes: ...

    def error(self, error: Mapping[str, Any] | str) -> bytes: ...


@dataclass(frozen=True)
class _Ollama:
    stream_type: str = "application/x-ndjson"

    def failure(
        self, status: int, message: str, code: str | None = None, *, headers: Mapping[str, str] | None = None
    ) -> web.Response:
        del code  # Ollama has none.
        return web.json_response({"error": message}, status=status, headers=headers)

    def embeddings(self, vectors: Sequence[Sequence[float]], *, shuffled: bool) -> web.Response:
        assert not shuffled, "Ollama has no index to restore the order from"
        return web.json_response(
            {
                "model": "m",
                "embeddings": vectors,
                "total_duration": 1,
                "load_duration": 1,
                "prompt_eval_count": 5,
            }
        )

    def piece(self, text: str | None) -> bytes:
        return _line({"message": {"role": "assistant", "content": text or ""}, "done": False})

    def thought(self, text: str) -> bytes:
        return _line({"message": {"role": "assistant", "content": "", "thinking": text}, "done": False})

    def comment(self) -> bytes:
        return b"\n"

    def end(self, finish: str, *, usage: bool) -> bytes:
        del usage  # Ollama always tells.
        return _line(
            {
                "message": {"role": "assistant", "content": ""},
                "done": True,
                "done_reason": finish,
                "prompt_eval_count": 26,
                "eval_count": 12,
            }
        )

    def error(self, error: Mapping[str, Any] | str) -> bytes:
        return _bytes({"error": error if isinstance(error, str) else error["message"]}) + b"\n"


@dataclass(frozen=True)
class _OpenAI:
    stream_type: str = "text/event-stream; charset=utf-8"

    def failure(
        self, status: int, message: str, code: str | None = None, *, headers: Mapping[str, str] | None = None
    ) -> web.Response:
        error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
        return web.json_response({"error": error}, status=status, headers=headers)

    def embeddings(self, vectors: Sequence[Sequence[float]], *, shuffled: bool) -> web.Response:
        data = [
            {"object": "embedding", "index": index, "embedding": vector}
            for index, vector in enumerate(vectors)
        ]
        if shuffled:
            data = data[1::2] + data[::2]
        usage = {"prompt_tokens": 5, "total_tokens": 5}
        return web.json_response({"object": "list", "data": data, "model": "m", "usage": usage})

    def piece(self, text: str | None) -> bytes:
        return _event({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]})

    def thought(self, text: str) -> bytes:
        delta = {"content": None, "reasoning_content": text}
        return _event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})

    def comment(self) -> bytes:
        return b": PROCESSING\n\n"

    def end(self, finish: str, *, usage: bool) -> bytes:
        told = _event({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
        if usage:
            told += _event({"choices": [], "usage": {"prompt_tokens": 26, "completion_tokens": 12}})
        return told + b"data: [DONE]\n\n"

    def error(self, error: Mapping[str, Any] | str) -> bytes:
        return b"data: " + _bytes({"error": error}) + b"\n\n"


def _line(value: Mapping[str, Any]) -> bytes:
    return _bytes({"model": "m", "created_at": _MADE, **value}) + b"\n"


def _event(value: Mapping[str, Any]) -> bytes:
    whole = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", **value}
    return b"data: " + _bytes(whole) + b"\n\n"


def _bytes(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


OLLAMA: Dialect = _Ollama()
OPENAI: Dialect = _OpenAI()
