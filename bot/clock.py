"""The real time."""

from datetime import UTC, datetime


class SystemClock:
    """The computer's own clock."""

    def now(self) -> datetime:
        """The current instant in UTC."""
        return datetime.now(UTC)
