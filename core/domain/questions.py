"""What was asked, by whom, where, and for whose eyes."""

from dataclasses import dataclass
from datetime import datetime

from core.domain.audiences import Audience

MAX_QUESTION_LENGTH = 2000
"""Characters; longer questions are refused clearly rather than cut silently (inventory A7)."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Where a question was asked; opaque strings to the core."""

    platform: str
    workspace: str = ""
    channel: str = ""
    thread: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier question of the same thread: the asker's own words, never the context given to a model."""

    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """One question. ``id`` is the platform's event id: the key for answering a redelivered event once.

    ``text`` is free of mentions of the bot. ``turns`` are earlier questions of the thread, oldest first.
    """

    id: str
    text: str
    asker: str
    conversation: Conversation
    audience: Audience
    asked_at: datetime
    turns: tuple[Turn, ...] = ()
