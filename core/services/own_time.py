"""Our clock as the time of a source that tells none."""

from datetime import datetime

from core.ports import Clock
from core.ports.source_time import Mark


class OwnTime:
    """A `SourceTime` by our clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def now(self) -> datetime:
        """As `SourceTime.now`."""
        return self._clock.now()

    def mark(self) -> Mark:
        """As `SourceTime.mark`."""
        return Mark(0.0, self._clock.now())

    def earliest(self, mark: Mark) -> datetime:
        """As `SourceTime.earliest`: a clock that was set back meanwhile was ahead before."""
        return min(mark.ours, self._clock.now())
