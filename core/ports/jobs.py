"""Runs that were asked for, and who works on them: what is durable, on however many machines."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from core.domain.ids import PageId
from core.ports.chat import ResyncKind, ResyncTicket

NOTION = "notion"
"""Source of runs that any worker can do; a run of another source is done by the process that began it."""

EXPORT = "export"
REEMBED = "reembed"


@dataclass(frozen=True, slots=True)
class RunView:
    """A run as everybody sees it.

    ``wanted`` are the kinds it was asked for, ``done`` of ``total`` pages are settled (null while nothing is
    known), ``report`` are the figures once it ended. ``is_alive`` is false if nobody was heard working on it
    for longer than a crash takes to be noticed; ``silent_seconds`` is how long, whoever held it.
    ``asked_seconds_ago`` is by the database's clock, and less than 0 if that was set back since.
    """

    id: int
    source: str
    wanted: frozenset[ResyncKind]
    done: int
    total: int | None
    failed: int
    message: str
    asked_by: str
    asked_at: datetime
    ended_at: datetime | None
    is_alive: bool
    silent_seconds: float = 0.0
    asked_seconds_ago: float = 0.0
    report: Mapping[str, Any] = field(default_factory=dict)

    @property
    def has_failed(self) -> bool:
        """Whether it ended without having done what it was for."""
        return "error" in self.report

    @property
    def was_stopped(self) -> bool:
        """Whether somebody ended it before its end, which is no failure."""
        return "stopped" in self.report

    @property
    def kind(self) -> ResyncKind:
        """The greatest thing it does."""
        return greatest(self.wanted)


@dataclass(frozen=True, slots=True)
class RunProgress:
    """How far the present step is; ``begun`` once that is known, as of `Step`."""

    done: int = 0
    total: int | None = None
    failed: int = 0
    message: str = ""
    begun: datetime | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """What a worker is to do now. ``is_resumed``: somebody else began it and did not finish.

    ``begun`` is when it first began by the time of the source; null while nobody noted that.
    """

    run_id: int
    kind: ResyncKind
    begun: datetime | None = None
    is_resumed: bool = False


@dataclass(frozen=True, slots=True)
class StepEnd:
    """How a step ended: its figures, and a line for people.

    ``pages`` it was about; ``failed`` of them are not up to date.
    """

    report: Mapping[str, Any]
    pages: int = 0
    failed: int = 0
    message: str = ""


Note = Callable[[RunProgress], None]
"""Told how a step comes along, often; returns at once."""


class SyncRuns(Protocol):
    """One run at a time in the whole deployment."""

    async def request(
        self, kind: ResyncKind, *, asked_by: str, known_pages: int | None = None
    ) -> ResyncTicket:
        """Begin a run, or join the open one, which then does this kind too (T3, U9, SY17).

        ``known_pages`` is the total that is shown until a better one is known. Whatever fails leaves nothing.

        Raises:
            UnavailableError: a run of another source is open; it cannot do this.
        """

    async def view(self, run_id: int) -> RunView | None:
        """One run; null if there never was one."""

    async def open_run(self) -> RunView | None:
        """The run that is under way, also if its worker died, as long as another one can take it over."""

    async def recent(self, *, limit: int) -> Sequence[RunView]:
        """Runs, newest first."""


class Work(Protocol):
    """What a worker can do."""

    async def sync(self, step: Step, note: Note) -> StepEnd:
        """One step of a run; may be cancelled anywhere and begun again elsewhere.

        Raises:
            TemporaryError: worth another try.
            PermanentError: it is not.
        """

    async def look_at(self, pages: frozenset[PageId]) -> frozenset[PageId]:
        """Look at pages that are said to have changed; returns those that could not be looked at.

        Raises:
            TemporaryError, PermanentError: none could.
        """

    async def is_due(self) -> bool:
        """Whether it is time for a scheduled run."""

    async def known_pages(self) -> int:
        """How many pages the index holds."""


def greatest(kinds: frozenset[ResyncKind]) -> ResyncKind:
    """Everything comes before changes, both before vectors alone."""
    for kind in (ResyncKind.FULL, ResyncKind.CHANGES):
        if kind in kinds:
            return kind
    return ResyncKind.REEMBED


def next_kind(wanted: frozenset[ResyncKind], finished: frozenset[ResyncKind]) -> ResyncKind | None:
    """What a run has still to do; reading everything has read the changes too."""
    covered = finished | ({ResyncKind.CHANGES} if ResyncKind.FULL in wanted else set())
    left = wanted - covered
    return greatest(left) if left else None
