"""Remembers what given replies rest on, and finds those whose source says something else by now."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta

from core.domain.answers import Answer
from core.errors import FootnoteError
from core.ports import Clock
from core.ports.replies import ChangedReply, GivenReply, ReplyBook, ReplyPlace, Suspect
from core.services.source_changes import digest_of, has_changed

logger = logging.getLogger(__name__)

COMPARED = 200
"""Passages compared at a time; others get their turn in between."""

LEASE_SECONDS = 120.0
"""In which a platform should have marked what it was handed."""


class RememberedReplies:
    """`core.ports.replies.GivenReplies` over a book, for ``days``; with 0 nothing is kept at all."""

    def __init__(self, book: ReplyBook, *, clock: Clock, days: int) -> None:
        self._book = book
        self._clock = clock
        self._days = days

    async def given(self, place: ReplyPlace, answer: Answer) -> None:
        """As the port says."""
        if not self._days:
            return
        passages = dict.fromkeys(citation.passage for citation in answer.citations)
        digests = tuple(
            digest_of(one.candidate.page_id, one.candidate.body, one.candidate.language or answer.language)
            for one in passages
        )
        reply = GivenReply(place, answer.language, self._clock.now(), tuple(dict.fromkeys(digests)))
        try:
            if digests:
                await self._book.remember(reply)
            else:
                await self._book.forget(place)
        except FootnoteError as error:
            logger.warning("a reply cannot be remembered, it will not be marked: %s", error)

    async def changed(self, platform: str, *, limit: int) -> Sequence[ChangedReply]:
        """As the port says."""
        if not self._days:
            return ()
        return await self._book.take_changed(
            platform, since=self._since, lease_seconds=LEASE_SECONDS, limit=limit
        )

    async def settled(self, place: ReplyPlace) -> None:
        """As the port says."""
        await self._book.forget(place)

    async def look(self) -> int:
        """Compare all that may have changed; returns how many replies are to be marked.

        Raises:
            TemporaryError: the book cannot be read now; what was compared is noted.
        """
        if not self._days:
            return 0
        await self._book.prune(before=self._since)
        marked: set[ReplyPlace] = set()
        while suspects := await self._book.suspects(since=self._since, limit=COMPARED):
            looked = {one: _is_material(one) for one in suspects}
            await self._book.settle(looked)
            marked |= {one.place for one, is_changed in looked.items() if is_changed}
            await asyncio.sleep(0)
        return len(marked)

    @property
    def _since(self) -> datetime:
        return self._clock.now() - timedelta(days=self._days)


def _is_material(suspect: Suspect) -> bool:
    return suspect.revision is None or has_changed(suspect.digest, suspect.texts)


async def watch_sources(
    replies: RememberedReplies,
    generation: Callable[[], Awaitable[int]],
    stop: asyncio.Event,
    *,
    every: float = 5.0,
) -> None:
    """Look at given replies now, and again whenever the index has changed, until ``stop`` is set."""
    done: int | None = None
    while not stop.is_set():
        try:
            current = await generation()
            if current != done:
                if found := await replies.look():
                    logger.info("%d replies rest on sources that have changed since", found)
                done = current
        except FootnoteError as error:
            logger.info("given replies are not compared now: %s", error)
        try:
            async with asyncio.timeout(every):
                await stop.wait()
        except TimeoutError:
            continue
