"""What HTTP headers tell about time."""

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

import httpx

MOST_APART = timedelta(days=398)
"""How far a server's clock and ours may be apart. No certificate is good for longer, so that with a clock
that is further off no connection is made: a date that far away is a fault of the header."""


def http_date(value: str) -> datetime | None:
    """A moment of a header, in UTC where it names no zone (RFC 9110); null for what is none."""
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def served_at(headers: httpx.Headers, *, ours: datetime) -> datetime | None:
    """The server's time when it answered, in whole seconds; null if it tells none that can be believed."""
    values = headers.get_list("date")
    moment = http_date(values[0]) if len(values) == 1 else None
    return moment if moment is not None and abs(moment - ours) <= MOST_APART else None


def seconds_to_wait(headers: httpx.Headers) -> float | None:
    """``Retry-After`` in seconds, uncapped; null where it is missing or unreadable.

    A date is a moment of the server's clock, so it counts from the server's ``Date``.
    """
    value = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,9}(\.\d+)?", value, re.ASCII):
        return float(value)
    until = http_date(value)
    if until is None:
        return None
    ours = datetime.now(UTC)
    return max(0.0, (until - (served_at(headers, ours=ours) or ours)).total_seconds())
