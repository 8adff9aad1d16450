"""Rate limits: a bucket for each route and what it is about, and one for the whole bot."""

import hashlib
import math
import time
from collections import defaultdict, deque

ROUTES: dict[str, tuple[int, float]] = {
    "POST /channels/messages": (5, 5.0),
    "PATCH /channels/messages": (5, 5.0),
    "POST /channels/typing": (5, 5.0),
    "GET /channels/messages": (5, 5.0),
    "POST /webhooks": (5, 2.0),
    "PATCH /webhooks": (5, 2.0),
    "PUT /applications/commands": (5, 20.0),
}
GLOBAL_LIMIT, GLOBAL_SECONDS = 50, 1.0
INVALID_LIMIT = 10_000


class Limited(Exception):  # noqa: N818 - an answer of Discord's rather than an error
    """HTTP 429."""

    def __init__(self, retry_after: float, *, is_global: bool, headers: dict[str, str]) -> None:
        super().__init__(f"retry after {retry_after}")
        self.retry_after = retry_after
        self.is_global = is_global
        self.headers = headers


class Limits:
    """Counts requests. ``invalid`` counts 401, 403 and 429: 10,000 in ten minutes are a ban."""

    def __init__(self) -> None:
        self.is_on = True
        self.invalid = 0
        self.refused = 0
        self._hits: dict[tuple[str, str], deque[float]] = defaultdict(deque)
        self._all: deque[float] = deque()

    def count(self, route: str, about: str, *, counts_globally: bool) -> dict[str, str]:
        """The headers of a request that is let through.

        Raises:
            Limited: it is one too many.
        """
        if not self.is_on:
            return {}
        now = time.monotonic()
        if counts_globally:
            self._count_globally(now)
        if route not in ROUTES:
            return {}
        limit, seconds = ROUTES[route]
        hits = self._hits[route, about]
        # A bucket is full again at once, when its time is over: Discord's windows do not slide.
        if hits and hits[0] <= now - seconds:
            hits.clear()
        bucket = hashlib.sha256(route.encode()).hexdigest()[:16]
        if len(hits) >= limit:
            wait = hits[0] + seconds - now
            self.refused += 1
            headers = _headers(limit, 0, wait, bucket) | {
                "X-RateLimit-Scope": "user",
                "Retry-After": str(math.ceil(wait)),
            }
            raise Limited(wait, is_global=False, headers=headers)
        hits.append(now)
        return _headers(limit, limit - len(hits), hits[0] + seconds - now, bucket)

    def _count_globally(self, now: float) -> None:
        while self._all and self._all[0] <= now - GLOBAL_SECONDS:
            self._all.popleft()
        if len(self._all) >= GLOBAL_LIMIT:
            wait = self._all[0] + GLOBAL_SECONDS - now
            self.refused += 1
            headers = {
                "X-RateLimit-Global": "true",
                "X-RateLimit-Scope": "global",
                "Retry-After": str(math.ceil(wait)),
            }
            raise Limited(wait, is_global=True, headers=headers)
        self._all.append(now)


def _headers(limit: int, remaining: int, after: float, bucket: str) -> dict[str, str]:
    return {
        "X-RateLimit-Limit": str(limit),
        "X-RateLimit-Remaining": str(remaining),
        "X-RateLimit-Reset": f"{time.time() + after:.3f}",
        "X-RateLimit-Reset-After": f"{after:.3f}",
        "X-RateLimit-Bucket": bucket,
    }
