"""Notion's time, learned from the ``Date`` of its answers: it dates edits by its own clock, not by ours."""

import logging
import time
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import httpx

from adapters.transport.dates import served_at
from core.ports.source_time import Mark

SAME_TIME = 5.0
"""Seconds that dates may differ by and still tell the same time: they are whole seconds, answers take a
moment, and servers disagree by a second or two. Only an error of a minute hides an edit (`HARMLESS`)."""

CONVINCING = 3
"""Answers in a row after which another time is believed: one from a cache, or one odd server, is not."""

_REMEMBERED = 100
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_logger = logging.getLogger("footnote.notion")


def _system_clock() -> datetime:
    return datetime.now(UTC)


class NotionTime:
    """A `SourceTime` that listens to answers.

    The time is kept as a distance to the monotonic clock, so that our own clock may be set meanwhile.
    ``clock`` is ours: it counts until an answer tells the time. ``monotonic`` is in seconds.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], datetime] = _system_clock,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ours = clock
        self._monotonic = monotonic
        self._agreed: float | None = None
        self._odd: list[float] = []
        # Distances told at monotonic moments, each less than those after it: the first one since a moment is
        # the least since then.
        self._told: deque[tuple[float, float]] = deque(maxlen=_REMEMBERED)

    def heard(self, headers: httpx.Headers) -> None:
        """An answer came just now. Whatever its ``Date`` is, this raises nothing.

        The date was written before the answer came, so Notion's time is that or later: a slow answer, or one
        from a cache, makes the time too early, never too late.
        """
        at, ours = self._monotonic(), self._ours()
        if "json" not in headers.get("content-type", ""):
            return  # a gateway's page, or a proxy's login
        served = served_at(headers, ours=ours)
        if served is None:
            return
        distance, expected = _seconds(served) - at, self._distance(at, ours)
        if abs(distance - expected) <= SAME_TIME:
            self._odd.clear()
            if self._agreed is None:
                self._agreed = expected = distance
            self._tell(at, expected)
            return
        self._tell(at, min(distance, expected))
        self._odd.append(distance)
        if len(self._odd) >= CONVINCING:
            self._agreed = min(self._odd)
            self._odd.clear()
            _logger.info(
                "Our clock is %.0f s ahead of Notion's, by which syncs go", _seconds(ours) - at - self._agreed
            )

    def now(self) -> datetime:
        """As `SourceTime.now`."""
        known = [*self._odd, *([] if self._agreed is None else [self._agreed])]
        return _moment(self._monotonic() + max(known)) if known else self._ours()

    def mark(self) -> Mark:
        """As `SourceTime.mark`."""
        return Mark(self._monotonic(), self._ours())

    def earliest(self, mark: Mark) -> datetime:
        """As `SourceTime.earliest`."""
        ours = min(mark.ours, self._ours())
        told = next((distance for at, distance in self._told if at >= mark.monotonic), None)
        if self._agreed is not None:
            known = [self._agreed]
        elif self._odd:
            known = [_seconds(ours) - mark.monotonic, *self._odd]
        else:
            return ours
        return _moment(mark.monotonic + min(known if told is None else [*known, told]))

    def _distance(self, at: float, ours: datetime) -> float:
        """Between the monotonic clock and the time that is believed for now."""
        return self._agreed if self._agreed is not None else _seconds(ours) - at

    def _tell(self, at: float, distance: float) -> None:
        while self._told and self._told[-1][1] >= distance:
            self._told.pop()
        self._told.append((at, distance))


def _seconds(moment: datetime) -> float:
    return (moment - _EPOCH).total_seconds()


def _moment(seconds: float) -> datetime:
    return _EPOCH + timedelta(seconds=seconds)
