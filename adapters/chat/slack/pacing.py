"""Keeping below Slack's limits, so that they are met seldom: a post a second in a channel, few streams."""

import asyncio
import time
from collections import OrderedDict, deque

STREAMS_A_MINUTE = 10
"""Started by one process; Slack allows about 20 to the app."""

EDITED_A_MINUTE = 8
"""Replies that one process begins as a message to be edited, where there are no streams."""

EDITS_A_MINUTE = 12
"""Intermediate edits by one process. Slack allows about 50 to the app: with two processes this leaves room
for the final edit of every reply that was begun."""

_CHANNELS = 10_000


class ChannelPacer:
    """Gives each post to a channel its turn."""

    def __init__(self, *, seconds: float) -> None:
        self._seconds = seconds
        self._next: OrderedDict[str, float] = OrderedDict()

    async def turn(self, channel: str) -> None:
        """Wait until this process may post there."""
        now = time.monotonic()
        slot = max(now, self._next.get(channel, 0.0))
        self._next[channel] = slot + self._seconds
        self._next.move_to_end(channel)
        if len(self._next) > _CHANNELS:
            self._next.popitem(last=False)
        if slot > now:
            await asyncio.sleep(slot - now)

    def postpone(self, channel: str, seconds: float) -> None:
        """Slack asked for a pause there: everybody in the queue waits longer."""
        until = time.monotonic() + seconds
        self._next[channel] = max(self._next.get(channel, 0.0), until)


class Allowance:
    """So many a minute; what is over is not done rather than waited for."""

    def __init__(self, per_minute: int) -> None:
        self._per_minute = per_minute
        self._taken: deque[float] = deque()
        self._closed_until = 0.0

    def take(self) -> bool:
        """Whether one more may be done now."""
        now = time.monotonic()
        while self._taken and self._taken[0] <= now - 60:
            self._taken.popleft()
        if now < self._closed_until or len(self._taken) >= self._per_minute:
            return False
        self._taken.append(now)
        return True

    @property
    def is_closed(self) -> bool:
        """Whether `close` is in force."""
        return time.monotonic() < self._closed_until

    def close(self, seconds: float) -> None:
        """Nothing more for so long: Slack asked for it, or the method does not exist there."""
        self._closed_until = max(self._closed_until, time.monotonic() + seconds)
