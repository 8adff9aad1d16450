"""What a sync remembers of its runs and of every object it ever saw."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from core.domain.ids import PageId


class Fate(StrEnum):
    """What became of an object; every object has exactly one, so that they add up to the total."""

    INDEXED = "indexed"
    PENDING = "pending"
    """Stored, and waiting to be embedded; found by words. Or named by a page, and not read yet."""
    EMPTY = "empty"
    """Without title and text: nothing to find."""
    FAILED = "failed"
    """Could not be read or embedded; an older state may go on answering."""
    SKIPPED = "skipped"
    """Cannot be read by anybody, such as a view of a database that is not shared."""
    GONE = "gone"
    """Removed; the reason is the proof."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """An object that could not be brought up to date, or never can be."""

    page_id: PageId
    title: str
    url: str
    reason: str
    skipped: bool = False


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One object: its fate, why, and when it was looked at last. ``chunks`` answer for it now.

    ``next_try`` is when a failed one is looked at again; the next listing of everything does so in any case.
    """

    page_id: PageId
    title: str
    url: str
    fate: Fate
    reason: str = ""
    seen_at: datetime | None = None
    chunks: int = 0
    next_try: datetime | None = None


FIRST_PAUSE = timedelta(minutes=1)
LONGEST_PAUSE = timedelta(hours=6)


def pause_after(tries: int) -> timedelta:
    """How long a page rests after it failed so often in a row: twice as long each time, up to six hours."""
    doublings = min(max(tries, 1) - 1, 16)
    return min(LONGEST_PAUSE, FIRST_PAUSE * (1 << doublings))


@dataclass(frozen=True, slots=True)
class Looks:
    """When a run that reached its end began: any run, and one that listed everything."""

    changes: datetime | None = None
    listing: datetime | None = None


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run. ``figures`` are the totals of its report; ``reached_end`` and ``complete`` feed `Looks`.

    ``source`` names what was looked at: workspace and roots.
    """

    started: datetime
    finished: datetime
    reached_end: bool
    complete: bool
    figures: Mapping[str, int | str] = field(default_factory=dict)
    source: str = ""


class SyncLedger(Protocol):
    """Keeps what a report says beyond the process that wrote it."""

    async def looks(self, source: str = "") -> Looks:
        """The newest runs over this source that reached their end."""

    async def keep_run(
        self, run: RunRecord, *, troubles: Sequence[Trouble], healed: Collection[PageId]
    ) -> None:
        """Keep a run with the objects it failed on; those that came out well are troubles no more."""

    async def note_pages(
        self, *, at: datetime, troubles: Sequence[Trouble], healed: Collection[PageId]
    ) -> None:
        """The same for pages that were looked at on a hint, outside of any run."""

    async def in_trouble(self, *, due_by: datetime | None = None) -> Sequence[PageId]:
        """Pages that failed when last looked at; with ``due_by`` those to be tried again by then.

        No page rests longer than `LONGEST_PAUSE`: what is to rest beyond that was noted by a clock that was
        ahead, and is due.
        """

    async def totals(self) -> Mapping[Fate, int]:
        """How many objects have each fate; together all that were ever seen."""

    async def entry(self, page_id: PageId) -> LedgerEntry | None:
        """One object, or null if none of this id was ever seen."""

    async def entries(self, fate: Fate, *, limit: int) -> Sequence[LedgerEntry]:
        """Objects of one fate, by title."""
