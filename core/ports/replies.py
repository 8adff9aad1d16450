"""Replies that were given, remembered as long as they can be marked when their source changes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from core.domain.answers import Answer
from core.domain.ids import PageId


@dataclass(frozen=True, slots=True)
class PassageDigest:
    """A cited passage as digests of figures and words, and how often it denies: enough to see a change."""

    page_id: PageId
    language: str
    figures: frozenset[str]
    words: frozenset[str]
    denials: int


@dataclass(frozen=True, slots=True)
class ReplyPlace:
    """Where a reply stands, by the platform's own ids. No text, and nobody's name.

    ``message`` is the reply's first message, ``question`` the message that asked, empty where there is none.
    """

    platform: str
    workspace: str
    channel: str
    message: str
    thread: str = ""
    question: str = ""


@dataclass(frozen=True, slots=True)
class GivenReply:
    """A reply and what it rests on."""

    place: ReplyPlace
    language: str
    given_at: datetime
    passages: tuple[PassageDigest, ...]


@dataclass(frozen=True, slots=True)
class Suspect:
    """A cited passage whose page has changed since it was last compared.

    ``given_at`` tells which of several replies in one place it is: a question asked again is answered where
    the old answer stood. ``revision`` is that of the page now, null where the page is gone; ``texts`` are its
    passages now.
    """

    place: ReplyPlace
    given_at: datetime
    position: int
    digest: PassageDigest
    revision: int | None
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangedReply:
    """A reply whose source says something else now, handed to one caller for a while."""

    place: ReplyPlace
    language: str


class ReplyBook(Protocol):
    """Remembers replies for as many days as are configured; all processes share it."""

    async def remember(self, reply: GivenReply) -> None:
        """Keep it; one that is known is replaced.

        Raises:
            TemporaryError, PermanentError: it could not be kept.
        """

    async def suspects(self, *, since: datetime, limit: int) -> Sequence[Suspect]:
        """Passages of replies given since then, not marked yet, whose pages changed after the last look."""

    async def settle(self, looked: Mapping[Suspect, bool]) -> None:
        """Note for each suspect that it was compared, and with true that its reply is to be marked."""

    async def take_changed(
        self, platform: str, *, since: datetime, lease_seconds: float, limit: int
    ) -> Sequence[ChangedReply]:
        """Replies to mark, each handed to one caller for so long; given up after some attempts."""

    async def forget(self, place: ReplyPlace) -> None:
        """It is marked, deleted or replaced: nothing more is known of it."""

    async def prune(self, *, before: datetime) -> int:
        """Forget everything older; returns how many replies."""


class GivenReplies(Protocol):
    """What chat platforms tell of their replies, and learn of them."""

    async def given(self, place: ReplyPlace, answer: Answer) -> None:
        """An answer was posted; nothing is raised, since the reply stands."""

    async def changed(self, platform: str, *, limit: int) -> Sequence[ChangedReply]:
        """Replies to be marked now by the caller, or to be handed out again if it does not say `settled`.

        Raises:
            TemporaryError: nothing can be known now.
        """

    async def settled(self, place: ReplyPlace) -> None:
        """It is marked, or there is nothing left to mark.

        Raises:
            TemporaryError: as `changed`.
        """
