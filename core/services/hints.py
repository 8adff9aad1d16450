"""Hints that pages changed, gathered and followed: many hints on one page are one look."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from core.domain.ids import PageId
from core.errors import FootnoteError
from core.services.sync_report import SyncReport
from core.services.syncing import Syncer

_logger = logging.getLogger("footnote.sync")

GATHER_SECONDS = 2.0
"""How long hints gather before they are followed: an edit comes as a burst of events."""


class HintFollower:
    """Follows hints by looking at the pages; hints are never trusted and may come in any order (NOT-17).

    However many hints on a page arrive while they gather, it is looked at once; those that arrive during
    that look cause one more.
    """

    def __init__(
        self,
        syncer: Syncer,
        *,
        gather_seconds: float = GATHER_SECONDS,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._syncer = syncer
        self._gather_seconds = gather_seconds
        self._sleep = sleep
        self._pages: set[PageId] = set()
        self._anything = False
        self._hinted = asyncio.Event()

    def hint(self, page_id: PageId | None) -> None:
        """Note that this page changed, or with null that something did; returns at once."""
        if page_id is None:
            self._anything = True
        else:
            self._pages.add(page_id)
        self._hinted.set()

    async def run(self) -> None:
        """Follow hints until cancelled; a look that fails is left to the next poll."""
        while True:
            await self._hinted.wait()
            await self._sleep(self._gather_seconds)
            try:
                await self.follow()
            except FootnoteError as error:
                _logger.warning("Changes that Notion told of could not be followed: %s", error)

    async def follow(self) -> SyncReport | None:
        """Follow what was hinted so far; null if nothing was.

        Raises:
            RefusedError, TemporaryError: as `Syncer.run`.
        """
        pages, self._pages = frozenset(self._pages), set()
        anything, self._anything = self._anything, False
        self._hinted.clear()
        if anything:
            return await self._syncer.run(also=pages)
        return await self._syncer.refresh(pages) if pages else None
