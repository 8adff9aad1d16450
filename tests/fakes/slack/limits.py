"""Rate limits over all connections, so over all processes."""

import math
import time
from collections import defaultdict, deque
from collections.abc import Callable

from tests.fakes.slack.refusals import SlackRateLimitedError

POST_SECONDS = 1.0


class Limits:
    """One post a second to a channel, and so many calls a minute by method."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._calls: dict[str, deque[float]] = defaultdict(deque)
        self._posts: dict[str, float] = {}
        self.is_on = True
        self.refused: dict[str, int] = defaultdict(int)

    def call(self, method: str, *, per_minute: int) -> None:
        """Count a call.

        Raises:
            SlackRateLimitedError: too many within the last minute.
        """
        if not self.is_on or not per_minute:
            return
        now, calls = self._clock(), self._calls[method]
        while calls and calls[0] <= now - 60:
            calls.popleft()
        if len(calls) >= per_minute:
            self.refused[method] += 1
            raise SlackRateLimitedError(max(1, math.ceil(calls[0] + 60 - now)))
        calls.append(now)

    def post(self, channel: str) -> None:
        """Count a post.

        Raises:
            SlackRateLimitedError: less than a second after the last one there.
        """
        if not self.is_on:
            return
        now = self._clock()
        if now - self._posts.get(channel, -POST_SECONDS) < POST_SECONDS:
            self.refused["post"] += 1
            raise SlackRateLimitedError(1)
        self._posts[channel] = now
