"""A watch that nobody reads."""

from collections.abc import Mapping


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

    def checked(self, findings: Mapping[str, int]) -> None:
        """Nothing."""

    def generated(self, read: int, written: int) -> None:
        """Forget it."""
