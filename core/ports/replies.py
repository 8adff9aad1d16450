"""Replies that were given, remembered as long as they can be marked when their source changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

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
class GivenReply:
    """Where a reply stands, and what it rests on. ``message`` is the platform's id of the reply."""

    platform: str
    workspace: str
    channel: str
    message: str
    language: str
    given_at: datetime
    passages: tuple[PassageDigest, ...]


class ReplyBook(Protocol):
    """Remembers replies for as many days as are configured."""

    async def remember(self, reply: GivenReply) -> None:
        """Keep it; one that is known is replaced.

        Raises:
            TemporaryError, PermanentError: it could not be kept.
        """

    async def citing(self, pages: Sequence[PageId], *, since: datetime) -> Sequence[GivenReply]:
        """Replies given since then that rest on one of these pages and were not marked yet."""

    async def mark(self, reply: GivenReply) -> bool:
        """Claim a reply as the one to be marked by the caller; true once for all processes."""
