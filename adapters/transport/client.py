"""The pooled HTTP client, and how long we wait and how often we try."""

from dataclasses import dataclass

import httpx

HttpClient = httpx.AsyncClient
"""The pooled client, by a name that others may use without knowing the library."""

CONNECT_SECONDS = 5.0
WRITE_SECONDS = 30.0
POOL_SECONDS = 30.0
KEEP_ALIVE_SECONDS = 15.0
"""Idle connections are dropped after this time. Load balancers close theirs after 20 s and more, and a
request sent into a closed one is reset (inventory T32)."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long one exchange may take and how often it is tried.

    ``seconds`` bounds one attempt, from connecting to the last byte. Between attempts we wait, doubling from
    ``first_wait``; a service that asks for a longer pause than ``longest_wait`` gets no further attempt.
    """

    seconds: float
    attempts: int = 3
    first_wait: float = 0.2
    longest_wait: float = 20.0


def http_client(*, connections: int = 16) -> httpx.AsyncClient:
    """A client with every time limit set; whoever opens it closes it.

    Redirects are not followed: they would turn a POST into a GET. They are reported as a wrong base URL.
    """
    return httpx.AsyncClient(
        timeout=timeouts(60.0),
        limits=httpx.Limits(
            max_connections=connections,
            max_keepalive_connections=connections,
            keepalive_expiry=KEEP_ALIVE_SECONDS,
        ),
        headers={"User-Agent": "footnote"},
        follow_redirects=False,
    )


def timeouts(read: float) -> httpx.Timeout:
    """The limits of one request; ``read`` is between two pieces of the response."""
    return httpx.Timeout(
        connect=min(CONNECT_SECONDS, read), read=read, write=WRITE_SECONDS, pool=POOL_SECONDS
    )
