"""Looks that a run owes: noted before what causes them is stored, so that a kill at any moment loses none."""

import asyncio
from collections.abc import Collection, Iterable
from uuid import uuid4

from core.domain.ids import PageId
from core.ports import PageWriter


class Owing:
    """What one run owes. Looks are gathered, and written with the next store."""

    def __init__(self, writer: PageWriter, source: str) -> None:
        self._writer = writer
        self._source = source
        self._owner = uuid4().hex
        self._gathered: dict[PageId, bool] = {}
        self._owes_any = False
        self._writing = asyncio.Lock()

    def look_at(self, ids: Iterable[PageId]) -> None:
        """These must be looked at, since a page names them newly or no longer."""
        for page_id in ids:
            self._gathered.setdefault(page_id, False)

    def read_again(self, ids: Iterable[PageId]) -> None:
        """These must be read however unchanged they look, since what their blocks name came or went."""
        self._gathered.update(dict.fromkeys(ids, True))

    async def write(self) -> None:
        """Note what was gathered; to be called before its cause is stored."""
        # Locked, so that nobody goes on to store while another reader still writes what both gathered.
        async with self._writing:
            if self._gathered:
                gathered, self._gathered = self._gathered, {}
                self._owes_any = True
                await self._writer.owe_looks(gathered, source=self._source, owner=self._owner)

    async def take(self) -> tuple[frozenset[PageId], frozenset[PageId]]:
        """What runs that were cut off left: pages to look at, and those of them to read in any case."""
        owed = await self._writer.take_owed_looks(source=self._source, owner=self._owner)
        self._owes_any = self._owes_any or bool(owed)
        return frozenset(owed), frozenset(page_id for page_id, reread in owed.items() if reread)

    async def settle(self, *, but: Collection[PageId] = ()) -> None:
        """All was looked at, but for these."""
        if self._owes_any:
            await self._writer.settle_looks(owner=self._owner, but=but)
