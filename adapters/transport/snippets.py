"""The start of what a service said, fit for a message: no mark-up, no key, nothing of what was sent."""

import json
import re
from collections.abc import Iterator, Mapping
from html import unescape
from typing import Any

LENGTH = 160
_ECHO_LENGTH = 16
"""This many characters in common with what was sent count as a repetition of it."""
_READ = 20_000

_KEY_LIKE = re.compile(r"\b(?:sk|pk|rk|gsk|hf|xai|key|bearer)[-_ ][\w*.…-]{6,}", re.IGNORECASE)
_TAGS = re.compile(r"<(script|style)\b(?:(?!<\1\b).)*?</\1>|<[^<>]*>", re.IGNORECASE | re.DOTALL)


def snippet(said: str, *, key: str, sent: Mapping[str, Any]) -> str:
    """At most `LENGTH` characters of ``said``; empty where there is nothing to show.

    Services like to repeat the key or the input in their complaints. Messages are logged, so neither may
    pass: what looks like a key is masked, and words that repeat the input are left out altogether.
    """
    plain = " ".join(unescape(_TAGS.sub(" ", said[:_READ])).split())
    if key:
        plain = plain.replace(key, "[key]")
    short = _KEY_LIKE.sub("[key]", plain)[:LENGTH]
    return "(it repeats the text that was sent)" if _repeats(short, sent) else short


def complaint_in(body: bytes) -> str:
    """What an error body says: the message in its JSON, else the whole of it."""
    value = json_object(body)
    text = body[:_READ].decode("utf-8", "replace")
    return text if value is None else message_in(value.get("error", value)) or text


def message_in(error: object) -> str:
    """What an error object says: ``{"message": ..., "code": ...}``, or a bare text as Ollama sends."""
    if isinstance(error, dict):
        parts = [error.get("message"), error.get("code"), error.get("type")]
        return " ".join(str(part) for part in parts if isinstance(part, str | int) and part)
    return str(error) if isinstance(error, str | int) else ""


def json_object(body: bytes | str) -> dict[str, Any] | None:
    """The JSON object that the body is; null where it is something else."""
    value = _json(body)
    return value if isinstance(value, dict) else None


def json_list(body: bytes | str) -> list[Any] | None:
    """The JSON list that the body is; null where it is something else."""
    value = _json(body)
    return value if isinstance(value, list) else None


def _json(body: bytes | str) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _repeats(text: str, sent: object) -> bool:
    windows = {text[start : start + _ECHO_LENGTH] for start in range(len(text) - _ECHO_LENGTH + 1)}
    return any(window in " ".join(one.split()) for one in _texts(sent) for window in windows)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, one in value.items():
            if key != "model":
                yield from _texts(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)
