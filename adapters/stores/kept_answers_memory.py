"""Private answers in a dictionary: the twin that tests compare with."""

from datetime import datetime, timedelta

from core.ports import Clock
from core.ports.chat import KeptAnswer


class MemoryKeptAnswers:
    """`core.ports.chat.KeptAnswers` in memory."""

    def __init__(self, *, clock: Clock) -> None:
        self._clock = clock
        self._kept: dict[tuple[str, str], tuple[KeptAnswer, datetime]] = {}

    async def keep(self, answer: KeptAnswer, *, seconds: float) -> None:
        """As the port says."""
        until = self._clock.now() + timedelta(seconds=seconds)
        self._kept[answer.platform, answer.event] = (answer, until)

    async def take(self, platform: str, event: str, *, person: str) -> KeptAnswer | None:
        """As the port says."""
        known = self._kept.get((platform, event))
        if known is None or known[0].person != person or known[1] <= self._clock.now():
            return None
        return self._kept.pop((platform, event))[0]
