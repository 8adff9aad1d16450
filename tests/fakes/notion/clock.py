"""Time of the stand-in: it moves only when a test says so."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime


class Clock:
    """A clock that a test sets.

    ``tick`` is added after every reading made for a change, so that a thousand rows do not all
    carry one creation time.
    """

    def __init__(
        self,
        start: datetime = datetime(2026, 11, 2, 9, 0, tzinfo=UTC),
        tick: timedelta = timedelta(0),
    ) -> None:
        self._now = start
        self.tick = tick

    def now(self) -> datetime:
        """The present moment, always with a time zone."""
        return self._now

    def stamp(self) -> datetime:
        """The moment of one change; the clock then moves on by ``tick``."""
        moment = self._now
        self._now += self.tick
        return moment

    def advance(self, *, seconds: float = 0, minutes: float = 0, hours: float = 0, days: float = 0) -> None:
        """Move forward (or, with negative numbers, back)."""
        self._now += timedelta(seconds=seconds, minutes=minutes, hours=hours, days=days)

    def set(self, moment: datetime) -> None:
        """Jump to a moment; it must carry a time zone."""
        if moment.tzinfo is None:
            raise ValueError("the clock needs a time with a time zone")
        self._now = moment


class SystemClock(Clock):
    """The machine's clock, for a stand-in that a person looks at."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def stamp(self) -> datetime:
        return self.now()


def to_minute(moment: datetime) -> str:
    """As pages and blocks carry it: rounded down to the minute, milliseconds always zero."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:00.000Z")


def to_millisecond(moment: datetime) -> str:
    """As database containers carry it: full precision and an offset in place of the Z."""
    moment = moment.astimezone(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}+00:00"


def to_http_date(moment: datetime) -> str:
    """As a ``Date`` header carries it: whole seconds, always GMT."""
    return format_datetime(moment.astimezone(UTC).replace(microsecond=0), usegmt=True)


def parse(text: str) -> datetime:
    """Read an ISO date or date-time; a date alone is midnight UTC."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
