"""What ``Date`` and ``Retry-After`` say, whatever stands in them."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest

from adapters.transport.dates import http_date, seconds_to_wait, served_at

OURS = datetime(2026, 11, 2, 9, 0, 30, tzinfo=UTC)
GARBAGE = [
    "",
    " ",
    "yesterday",
    "0",
    "1793610000",
    "Mon, 02 Nov 2026",
    "Mon, 32 Nov 2026 09:00:00 GMT",
    "Mon, 02 Nov 2026 25:00:00 GMT",
    "Mon, 02 Nov 2026 09:00:60 GMT",
    "Mon, 02 Nov 99999999999999999999 09:00:00 GMT",
    "Mon, 02 Nov 2026 09:00:00 +99999999999",
    "2026-11-02T09:00:00Z",
    "\x00" * 50,
    "Mon, " * 2000,
]


@pytest.mark.parametrize(
    "written",
    ["Mon, 02 Nov 2026 09:00:00 GMT", "Monday, 02-Nov-26 09:00:00 GMT", "Mon Nov  2 09:00:00 2026"],
)
def test_every_form_of_a_date_in_http_is_read(written: str) -> None:
    """The three of RFC 9110, all of them in UTC."""
    assert http_date(written) == datetime(2026, 11, 2, 9, tzinfo=UTC)


@pytest.mark.parametrize("written", GARBAGE)
def test_a_date_that_is_none_tells_nothing(written: str) -> None:
    """And raises nothing."""
    assert http_date(written) is None
    assert served_at(httpx.Headers({"Date": written}), ours=OURS) is None


@pytest.mark.parametrize("days", [-20_000, -399, 399, 100_000])
def test_a_date_of_another_age_is_not_believed(days: int) -> None:
    """No certificate would be good then."""
    headers = httpx.Headers({"Date": format_datetime(OURS + timedelta(days=days), usegmt=True)})
    assert served_at(headers, ours=OURS) is None


@pytest.mark.parametrize("days", [-397, -1, 0, 1, 397])
def test_a_date_that_may_be_is_believed(days: int) -> None:
    """However wrong one of the clocks is."""
    moment = OURS + timedelta(days=days)
    headers = httpx.Headers({"Date": format_datetime(moment, usegmt=True)})
    assert served_at(headers, ours=OURS) == moment


def test_two_dates_tell_nothing() -> None:
    """Nobody knows which one is the server's."""
    date = format_datetime(OURS, usegmt=True)
    assert served_at(httpx.Headers([("Date", date), ("Date", date)]), ours=OURS) is None
    assert served_at(httpx.Headers(), ours=OURS) is None


@pytest.mark.parametrize("ahead", [timedelta(days=-1), timedelta(), timedelta(days=1)])
def test_not2_a_date_to_wait_for_counts_from_the_servers_time(ahead: timedelta) -> None:
    """A clock of ours that is a day off neither waits for a day nor comes at once."""
    server = (datetime.now(UTC) + ahead).replace(microsecond=0)
    headers = httpx.Headers(
        {
            "Date": format_datetime(server, usegmt=True),
            "Retry-After": format_datetime(server + timedelta(seconds=90), usegmt=True),
        }
    )
    assert seconds_to_wait(headers) == 90


def test_not2_a_date_to_wait_for_counts_from_an_absurd_date_by_our_clock() -> None:
    """Nobody waits for fifty years."""
    until = datetime.now(UTC) + timedelta(seconds=90)
    headers = httpx.Headers(
        {"Date": "Thu, 01 Jan 1970 00:00:00 GMT", "Retry-After": format_datetime(until, usegmt=True)}
    )
    waited = seconds_to_wait(headers)
    assert waited is not None
    assert 60 <= waited <= 90


@pytest.mark.parametrize("written", ["-1", "1e3", "nan", "٣", *GARBAGE[:3]])
def test_not2_what_is_no_time_to_wait_is_none(written: str) -> None:
    """Whoever asks has a pause of its own for that."""
    # Raw bytes, as a server may send them.
    headers = httpx.Headers([(b"Retry-After", written.encode())])
    assert seconds_to_wait(headers) is None
