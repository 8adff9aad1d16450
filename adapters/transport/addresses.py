"""Base URLs as people write them, brought to the one form that paths are added to."""

import re
from urllib.parse import urlsplit, urlunsplit

from core.errors import ConfigurationError

_OPENAI_PATHS = re.compile(r"/(chat/completions|completions|embeddings|models)$")
_OLLAMA_PATHS = re.compile(r"/(v1|api)(/.*)?$")
_DOUBLED = re.compile(r"(/v1){2,}$")


def openai_base(url: str) -> str:
    """Where an OpenAI-compatible API lives: ``https://host`` means ``https://host/v1``; other paths stay.

    Raises:
        ConfigurationError: this is no HTTP link.
    """
    base, path = _split(url)
    path = _DOUBLED.sub("/v1", _OPENAI_PATHS.sub("", path))
    return base + (path or "/v1")


def ollama_base(url: str) -> str:
    """Where Ollama lives; its OpenAI-compatible ``/v1`` and its ``/api`` are below the same root.

    Raises:
        ConfigurationError: this is no HTTP link.
    """
    base, path = _split(url)
    return base + _OLLAMA_PATHS.sub("", path)


def without_credentials(url: str) -> str:
    """The link as it may be shown and logged: no user name, no password, no query."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))


def _split(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url.strip())
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname)
        _ = parts.port  # Only reading it tells that it is no number.
    except ValueError as error:
        raise ConfigurationError(f"the base URL is not usable: {error}") from error
    if not usable:
        raise ConfigurationError(
            f"{without_credentials(url)!r} is no base URL: expected something like http://localhost:11434"
        )
    return f"{parts.scheme}://{parts.netloc}", re.sub("/+", "/", parts.path).rstrip("/")
