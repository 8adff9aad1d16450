"""A model server to order: speaks Ollama's API and OpenAI's, and misbehaves when told to."""

from tests.fakes.model.misbehaviour import (
    Chatting,
    Cut,
    Embedding,
    Endless,
    ErrorInStream,
    Failure,
    HtmlPage,
    NoNumbers,
    Reply,
    Silence,
    Vectors,
)
from tests.fakes.model.server import ModelServer, Recorded, model_server

__all__ = [
    "Chatting",
    "Cut",
    "Embedding",
    "Endless",
    "ErrorInStream",
    "Failure",
    "HtmlPage",
    "ModelServer",
    "NoNumbers",
    "Recorded",
    "Reply",
    "Silence",
    "Vectors",
    "model_server",
]
