"""Copies of blocks that stand on other pages: nothing dates a page whose copy shows something new."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from core.domain.documents import Block, Page
from core.domain.ids import BlockId, PageId
from core.domain.trees import can_be_mirrored, mirrored
from core.ports import PageWriter
from core.services.comparing import OVERLAP
from core.services.owing import Owing

_NEVER = datetime.max.replace(tzinfo=UTC)


class Mirrors:
    """Which pages must be read again in this run, since what they show of others changed, came or went."""

    def __init__(self, writer: PageWriter, owing: Owing) -> None:
        self._writer = writer
        self._owing = owing
        self._read: dict[PageId, datetime] = {}
        self._due: dict[PageId, datetime] = {}
        self._taken: set[PageId] = set()

    def note_read(self, page: Page, *, seen_at: datetime) -> None:
        """A page was read: what it shows of others is as it was then."""
        if mirrored(page.blocks):
            self._read[page.ref.id] = seen_at

    async def note_change(self, page: Page, before: Sequence[Block]) -> None:
        """A page was read that may have changed; to be called before its blocks are stored.

        Even if they are as before: a copy may have been read while they were not.
        """
        found = await self._showing(can_be_mirrored(page.blocks) | can_be_mirrored(before))
        if not found:
            return
        known_by = page.ref.last_edited + OVERLAP if page.ref.last_edited is not None else _NEVER
        for one in found - {page.ref.id}:
            self._due[one] = max(known_by, self._due.get(one, known_by))
        self._owing.read_again(one for one in found if self._is_due(one))

    async def showing(self, pages: Iterable[PageId]) -> frozenset[PageId]:
        """Pages that show something of these."""
        blocks: frozenset[BlockId] = frozenset()
        for page_id in pages:
            blocks |= can_be_mirrored(await self._writer.stored_blocks(page_id) or ())
        return await self._showing(blocks)

    async def _showing(self, blocks: frozenset[BlockId]) -> frozenset[PageId]:
        return frozenset(await self._writer.referring(sorted(blocks)) if blocks else ())

    def take_due(self) -> frozenset[PageId]:
        """Pages to read again, unless that happened since; each once, for pages may show each other."""
        due = frozenset(filter(self._is_due, self._due)) - self._taken
        self._taken |= due
        self._due.clear()
        return due

    def _is_due(self, page_id: PageId) -> bool:
        known_by, read = self._due.get(page_id), self._read.get(page_id)
        return known_by is not None and (read is None or read < known_by)
