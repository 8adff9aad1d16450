"""The time of whoever dates the pages, which need not be that of this machine."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment that is told by the source's time once its answers show that.

    ``monotonic`` is in seconds and says nothing outside the process; ``ours`` is what our clock showed.
    """

    monotonic: float
    ours: datetime


class SourceTime(Protocol):
    """Tells moments by the clock that a source dates its pages by; where that is not known, by ours.

    What is not known exactly is told so that a page is rather read once too often than once too rarely.
    """

    def now(self) -> datetime:
        """The present moment, with time zone; rather too late than too early."""

    def mark(self) -> Mark:
        """The present moment, to be told later."""

    def earliest(self, mark: Mark) -> datetime:
        """The moment of the mark, as far as it is known by now; rather too early than too late.

        What was answered since the mark is as new as this, at least: an answer out of a proxy's cache, too.
        """
