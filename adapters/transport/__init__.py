"""How adapters speak HTTP to models: one pooled client, time limits, bounded retries, our own errors.

`http_client` opens the pool, `Endpoint` asks one service through it.
"""

from adapters.transport.addresses import ollama_base, openai_base
from adapters.transport.client import HttpClient, Patience, http_client
from adapters.transport.endpoint import Endpoint
from adapters.transport.failures import AnsweredError, UnreachableError, failure_in

__all__ = [
    "AnsweredError",
    "Endpoint",
    "HttpClient",
    "Patience",
    "UnreachableError",
    "failure_in",
    "http_client",
    "ollama_base",
    "openai_base",
]
