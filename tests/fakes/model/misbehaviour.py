"""What a model server can be told to do with the next request."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer in pieces. Invented links, wrong numbers and missing citations are just such texts.

    ``finish`` is the reason of the end; ``thinking`` comes before the text, in the field for it.
    """

    text: str | None
    finish: str = "stop"
    thinking: str = ""
    pieces: int = 4


@dataclass(frozen=True, slots=True)
class Cut:
    """The connection ends in the middle of an answer: properly closed, or broken off."""

    text: str = "You have thirty"
    abruptly: bool = False


@dataclass(frozen=True, slots=True)
class Endless:
    """The model falls into a loop and repeats itself until the other side hangs up."""

    unit: str = "and so on "


@dataclass(frozen=True, slots=True)
class Silence:
    """Nothing more comes after ``text`` until ``over`` is set.

    ``comments`` keep the connection warm, as routers send them; with ``murmurs`` messages without any text
    go on and on.
    """

    text: str = ""
    before_headers: bool = False
    comments: bool = False
    murmurs: bool = False
    over: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(frozen=True, slots=True)
class ErrorInStream:
    """The response begins well and ends in an error object."""

    error: Mapping[str, Any] | str
    text: str = ""


@dataclass(frozen=True, slots=True)
class HtmlPage:
    """A proxy's page instead of the API."""

    status: int = 200
    html: str = "<html><head><title>Sign in</title></head><body><h1>Welcome</h1></body></html>"


@dataclass(frozen=True, slots=True)
class Failure:
    """An error status; ``error`` is what the API's error object says."""

    status: int
    error: str = "something failed"
    code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Vectors:
    """Embeddings with something wrong: another size, another order, too few."""

    dimensions: int | None = None
    shuffled: bool = False
    missing: int = 0


@dataclass(frozen=True, slots=True)
class NoNumbers:
    """Embeddings of which those at ``positions`` hold ``value`` throughout."""

    positions: Sequence[int] = (0,)
    value: float = float("nan")


Chatting = Reply | Cut | Endless | Silence | ErrorInStream | HtmlPage | Failure
Embedding = Vectors | NoNumbers | Silence | HtmlPage | Failure
