"""What a sync did, counted; and who watches it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Protocol

from core.domain.ids import PageId


class Stage(StrEnum):
    """What a sync is busy with."""

    LISTING = "listing"
    """Listing and reading go side by side."""
    REMOVING = "removing"
    EMBEDDING = "embedding"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Failure:
    """A page that could not be brought up to date; its old passages go on answering."""

    page_id: PageId
    title: str
    url: str
    reason: str


@dataclass(frozen=True, slots=True)
class SyncReport:
    """Totals of a sync; the same figures while it runs.

    ``listed`` pages were seen; of these ``unchanged`` cost no request, ``read`` were fetched, and of those
    ``changed`` differed from what was stored. ``skipped`` can never be read. ``removed`` are gone by proof;
    ``withheld`` would have been too, but were so many that somebody must confirm. ``pages_embedded`` got new
    chunks; ``embedded`` vectors were made for them and ``reused`` were known. ``pending`` pages wait for the
    next run. ``files`` were downloaded and read, ``files_reused`` were known; ``left_out`` says which ones
    could not be read, or not in full, and why. ``requests`` were sent to the source. ``complete`` says that
    everything was listed, not only changes. ``alarm`` is for an administrator's eyes: why something was held
    back.
    """

    complete: bool = False
    listed: int = 0
    unchanged: int = 0
    to_read: int = 0
    read: int = 0
    changed: int = 0
    skipped: int = 0
    removed: int = 0
    withheld: int = 0
    pages_embedded: int = 0
    chunks: int = 0
    embedded: int = 0
    reused: int = 0
    pending: int = 0
    files: int = 0
    files_reused: int = 0
    requests: int = 0
    failed: tuple[Failure, ...] = ()
    left_out: tuple[Failure, ...] = ()
    alarm: str = ""
    embedding_error: str = ""

    @property
    def is_clean(self) -> bool:
        """Whether everything that was to be done was done."""
        return not (self.failed or self.alarm or self.embedding_error or self.pending)


class SyncObserver(Protocol):
    """Told how a sync comes along, often; must return at once."""

    def progress(self, stage: Stage, report: SyncReport) -> None:
        """The figures so far."""


@dataclass(slots=True)
class Tally:
    """The figures of a running sync; every change is passed on to the observer."""

    observer: SyncObserver | None = None
    count_requests: Callable[[], int] = lambda: 0
    stage: Stage = Stage.LISTING
    _report: SyncReport = field(default_factory=SyncReport)
    _failed: dict[PageId, Failure] = field(default_factory=dict)

    def add(self, **counts: int) -> None:
        """Raise figures by name."""
        raised = {name: getattr(self._report, name) + count for name, count in counts.items()}
        self._change(**raised)

    def set(self, **values: Any) -> None:
        """Set figures by name."""
        self._change(**values)

    def enter(self, stage: Stage) -> None:
        """Begin another stage."""
        self.stage = stage
        self._change()

    def fail(self, failure: Failure) -> None:
        """Note a page that failed, once; the first reason stands."""
        self._failed.setdefault(failure.page_id, failure)
        self._change()

    def leave_out(self, failure: Failure) -> None:
        """Note something of a page that cannot be had and is no reason to try again."""
        self._change(left_out=(*self._report.left_out, failure))

    def has_failed(self, page_id: PageId) -> bool:
        """Whether this page failed in this run."""
        return page_id in self._failed

    def failed_pages(self) -> frozenset[PageId]:
        """All pages that failed in this run."""
        return frozenset(self._failed)

    @property
    def report(self) -> SyncReport:
        """The figures as a value."""
        return replace(self._report, requests=self.count_requests(), failed=tuple(self._failed.values()))

    def _change(self, **values: Any) -> None:
        if values:
            self._report = replace(self._report, **values)
        if self.observer is not None:
            self.observer.progress(self.stage, self.report)
