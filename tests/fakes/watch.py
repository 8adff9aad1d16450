"""A watch that nobody reads."""


class SilentWatch:
    """Takes every figure and keeps none."""

    def asked(self, platform: str) -> None:
        """Forget it."""

    def answered(self, platform: str, outcome: str, *, degraded: bool = False) -> None:
        """Forget it."""

    def took(self, stage: str, seconds: float) -> None:
        """Forget it."""

    def retrieved(self, score: float) -> None:
        """Forget it."""

    def looked_up(self, level: str, *, hit: bool) -> None:
        """Forget it."""

    def judged(self, verdict: str) -> None:
        """Forget it."""

    def generated(self, read: int, written: int) -> None:
        """Forget it."""
