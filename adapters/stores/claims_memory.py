"""Claims in a dictionary: for one process without a database, and the twin that tests compare with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from core.ports import Clock
from core.ports.chat import AbandonedClaim, ClaimKey, ClaimState


@dataclass(slots=True)
class _Row:
    key: ClaimKey
    thread: str
    holder: object
    lease_until: datetime
    payload: Mapping[str, str] = field(default_factory=dict)
    attempts: int = 1
    reply: str = ""
    is_done: bool = False


class ClaimTable:
    """What several `MemoryClaims` share, as processes share a database."""

    def __init__(self) -> None:
        self.rows: list[_Row] = []


class MemoryClaims:
    """The claims port in memory; give two of them the same table to play two processes."""

    def __init__(self, *, clock: Clock, table: ClaimTable | None = None) -> None:
        self._clock = clock
        self._table = table or ClaimTable()

    async def claim(
        self, key: ClaimKey, *, payload: Mapping[str, str], lease_seconds: float, thread: str = ""
    ) -> ClaimState:
        """As the port says."""
        for row in self._table.rows:
            if _same(row.key, key):
                return ClaimState.DONE if row.is_done else ClaimState.HELD
        until = self._clock.now() + timedelta(seconds=lease_seconds)
        self._table.rows.append(
            _Row(key=key, thread=thread, holder=self, lease_until=until, payload=dict(payload))
        )
        return ClaimState.TAKEN

    async def extend(self, key: ClaimKey, *, lease_seconds: float, reply: str = "") -> bool:
        """As the port says."""
        row = self._find(key)
        if row is None or row.is_done or row.holder is not self:
            return False
        row.lease_until = self._clock.now() + timedelta(seconds=lease_seconds)
        row.reply = reply or row.reply
        return True

    async def done(self, key: ClaimKey, *, reply: str) -> None:
        """As the port says."""
        if row := self._find(key):
            row.is_done, row.reply, row.payload = True, reply, {}

    async def take_over(self, platform: str, *, lease_seconds: float, limit: int) -> Sequence[AbandonedClaim]:
        """As the port says."""
        now = self._clock.now()
        ended = [
            row
            for row in self._table.rows
            if row.key.platform == platform and not row.is_done and row.lease_until <= now
        ][:limit]
        for row in ended:
            row.holder, row.lease_until = self, now + timedelta(seconds=lease_seconds)
            row.attempts += 1
        return tuple(
            AbandonedClaim(key=row.key, payload=row.payload, attempts=row.attempts, reply=row.reply)
            for row in ended
        )

    async def was_answered(self, platform: str, thread: str) -> bool:
        """As the port says."""
        return any(
            row.key.platform == platform and row.thread == thread and row.is_done
            for row in self._table.rows
            if thread
        )

    def _find(self, key: ClaimKey) -> _Row | None:
        matching = (row for row in self._table.rows if row.key.platform == key.platform)
        return next((row for row in matching if row.key.event == key.event), None)


def _same(one: ClaimKey, other: ClaimKey) -> bool:
    if one.platform != other.platform:
        return False
    return one.event == other.event or (one.place != "" and one.place == other.place)
