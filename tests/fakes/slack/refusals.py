"""How Slack says no."""

from typing import Any


class SlackRefusedError(Exception):
    """``{"ok": false, "error": code}``, with whatever else belongs to it."""

    def __init__(self, code: str, **details: Any) -> None:
        super().__init__(code)
        self.code = code
        self.details = details


class SlackRateLimitedError(Exception):
    """HTTP 429 with ``Retry-After``."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(f"retry after {retry_after}")
        self.retry_after = retry_after
