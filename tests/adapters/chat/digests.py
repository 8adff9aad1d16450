"""Weekly digests as a script: each is due until somebody has taken it."""

from datetime import UTC, date, datetime

from core.ports.chat import Digest, Gap


class ScriptedDigests:
    """One for each of these channels of a platform, in their order; ``example`` is in the gap of each."""

    def __init__(self, platform: str, *channels: str, example: str = "Where is the key?") -> None:
        self.platform = platform
        self.put_back_times = 0
        self.waiting = [
            Digest(
                channel=channel,
                week=date(2026, 3, 9),
                since=datetime(2026, 3, 2, tzinfo=UTC),
                questions=40,
                answered=37,
                good=9,
                bad=2,
                gaps=(Gap(count=3, examples=(example,), nearest_pages=()),),
            )
            for channel in channels
        ]

    async def due(self, platform: str) -> Digest | None:
        """Each once."""
        return self.waiting.pop(0) if platform == self.platform and self.waiting else None

    async def put_back(self, platform: str, digest: Digest) -> None:
        """The next to be due."""
        assert platform == self.platform
        self.put_back_times += 1
        self.waiting.insert(0, digest)
