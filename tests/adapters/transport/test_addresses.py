"""Base URLs as people write them."""

import pytest

from adapters.transport.addresses import ollama_base, openai_base, without_credentials
from core.errors import ConfigurationError


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("https://api.openai.com/v1", "https://api.openai.com/v1"),
        ("https://api.openai.com/v1/", "https://api.openai.com/v1"),
        ("https://api.openai.com", "https://api.openai.com/v1"),
        ("https://api.openai.com/v1/v1", "https://api.openai.com/v1"),
        ("https://api.openai.com//v1/chat/completions", "https://api.openai.com/v1"),
        ("http://localhost:8000/v1/embeddings", "http://localhost:8000/v1"),
        ("https://api.groq.com/openai/v1", "https://api.groq.com/openai/v1"),
        ("https://gateway.example/v1beta/openai/", "https://gateway.example/v1beta/openai"),
        (" http://[::1]:8000 ", "http://[::1]:8000/v1"),
    ],
)
def test_t22_an_openai_base_url_ends_in_v1_once(written: str, meant: str) -> None:
    """Missing, doubled or followed by an endpoint: one form comes out; other paths stay as they are."""
    assert openai_base(written) == meant


@pytest.mark.parametrize(
    "written",
    [
        "http://localhost:11434",
        "http://localhost:11434/",
        "http://localhost:11434/v1",
        "http://localhost:11434/api",
        "http://localhost:11434/api/embed",
        "http://localhost:11434/v1/chat/completions",
    ],
)
def test_t22_ollama_lives_at_the_root(written: str) -> None:
    """One LLM_BASE_URL serves chat and embeddings, whichever of Ollama's two APIs it was written for."""
    assert ollama_base(written) == "http://localhost:11434"


def test_ollama_behind_a_path_keeps_it() -> None:
    """A reverse proxy may put it anywhere."""
    assert ollama_base("https://tools.example/ollama/api") == "https://tools.example/ollama"


@pytest.mark.parametrize(
    "written", ["", "localhost:11434", "ftp://host/v1", "http://", "http://host:port", "http://[::1"]
)
def test_what_is_no_http_link_is_refused(written: str) -> None:
    """With a message that shows the form wanted."""
    with pytest.raises(ConfigurationError, match="base URL"):
        openai_base(written)


def test_credentials_in_a_link_are_not_shown() -> None:
    """Neither in messages nor in logs."""
    assert without_credentials("https://me:secret@host:1/v1?key=secret") == "https://host:1/v1"
