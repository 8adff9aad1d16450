"""What a scripted chat puts on the wire, step by step."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import assert_never

from tests.fakes.model.misbehaviour import Cut, Endless, ErrorInStream, Reply, Silence
from tests.fakes.model.wire import Dialect

Speech = Reply | Cut | Endless | Silence | ErrorInStream


@dataclass(frozen=True, slots=True)
class HangUp:
    """Break the connection off."""


@dataclass(frozen=True, slots=True)
class Breath:
    """Wait for a moment."""

    seconds: float = 0.01


Step = bytes | asyncio.Event | Breath | HangUp
"""Bytes to write, something to wait for, or the end of the connection."""


def steps(speech: Speech, dialect: Dialect, *, usage: bool) -> Iterator[Step]:
    """The steps of a speech; ``usage`` adds the token counts."""
    match speech:
        case Endless(unit):
            yield from repeat(dialect.piece(unit))
        case Reply():
            yield from _reply(speech, dialect, usage=usage)
        case Silence():
            yield from _said(speech.text, dialect)
            if speech.comments:
                yield dialect.comment()
            while speech.murmurs and not speech.over.is_set():
                yield dialect.piece("")
                yield Breath()
            yield speech.over
            yield dialect.end("stop", usage=False)
        case Cut(text, abruptly):
            yield from _said(text, dialect)
            if abruptly:
                yield HangUp()
        case ErrorInStream(error, text):
            yield from _said(text, dialect)
            yield dialect.error(error)
        case _:
            assert_never(speech)


def _reply(reply: Reply, dialect: Dialect, *, usage: bool) -> Iterator[Step]:
    if reply.thinking:
        yield dialect.thought(reply.thinking)
    if reply.text:
        yield from _said(reply.text, dialect, pieces=reply.pieces)
    else:
        yield dialect.piece(reply.text)
    yield dialect.end(reply.finish, usage=usage)


def _said(text: str, dialect: Dialect, *, pieces: int = 2) -> Iterator[bytes]:
    size = max(1, -(-len(text) // pieces))
    for start in range(0, len(text), size):
        yield dialect.piece(text[start : start + size])
