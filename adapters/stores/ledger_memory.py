"""The ledger of syncs in dictionaries, beside a `MemoryStore`."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from adapters.stores.memory import MemoryStore
from adapters.stores.owed_rows import OWED_REASON
from core.domain.ids import PageId
from core.ports.ledger import LONGEST_PAUSE, Fate, LedgerEntry, Looks, RunRecord, Trouble, pause_after


class MemoryLedger:
    """A `SyncLedger` over what a memory store holds."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._troubles: dict[PageId, Trouble] = {}
        self._tries: dict[PageId, tuple[int, datetime]] = {}
        self.runs: list[RunRecord] = []

    async def looks(self, source: str = "") -> Looks:
        """As `SyncLedger.looks`."""
        ended = [run for run in self.runs if run.reached_end and run.source == source]
        return Looks(
            next((run.started for run in reversed(ended)), None),
            next((run.started for run in reversed(ended) if run.complete), None),
        )

    async def keep_run(
        self, run: RunRecord, *, troubles: Sequence[Trouble], healed: Collection[PageId]
    ) -> None:
        """As `SyncLedger.keep_run`."""
        await self.note_pages(at=run.finished, troubles=troubles, healed=healed)
        self.runs.append(run)

    async def note_pages(
        self, *, at: datetime, troubles: Sequence[Trouble], healed: Collection[PageId]
    ) -> None:
        """As `SyncLedger.note_pages`."""
        for page_id in healed:
            self._troubles.pop(page_id, None)
            self._tries.pop(page_id, None)
        for trouble in troubles:
            before = self._troubles.get(trouble.page_id, trouble)
            self._troubles[trouble.page_id] = replace(
                trouble, title=trouble.title or before.title, url=trouble.url or before.url
            )
            tries = self._tries.get(trouble.page_id, (0, at))[0] + 1
            self._tries[trouble.page_id] = (tries, at + pause_after(tries))

    async def in_trouble(self, *, due_by: datetime | None = None) -> Sequence[PageId]:
        """As `SyncLedger.in_trouble`."""
        return sorted(
            page_id
            for page_id, trouble in self._troubles.items()
            if not trouble.skipped and (due_by is None or _is_due(self._tries[page_id][1], due_by))
        )

    async def totals(self) -> Mapping[Fate, int]:
        """As `SyncLedger.totals`."""
        return Counter(one.fate for one in self._all())

    async def entry(self, page_id: PageId) -> LedgerEntry | None:
        """As `SyncLedger.entry`."""
        return next((one for one in self._all() if one.page_id == page_id), None)

    async def entries(self, fate: Fate, *, limit: int) -> Sequence[LedgerEntry]:
        """As `SyncLedger.entries`."""
        found = (one for one in self._all() if one.fate is fate)
        return sorted(found, key=lambda one: (one.title, one.page_id))[:limit]

    def _all(self) -> list[LedgerEntry]:
        entries: dict[PageId, LedgerEntry] = {
            ref.id: LedgerEntry(ref.id, ref.title, ref.url, Fate.GONE, proof)
            for ref, proof in self._store.gone.values()
        }
        for page_id in self._store.owed:
            entries[page_id] = LedgerEntry(page_id, "", "", Fate.PENDING, OWED_REASON)
        for one in self._troubles.values():
            entries[one.page_id] = LedgerEntry(
                one.page_id, one.title, one.url, _fate(one), one.reason, next_try=self._next_try(one)
            )
        for ref, fate, chunks in self._store.contents():
            trouble = self._troubles.get(ref.id)
            entries[ref.id] = LedgerEntry(
                ref.id,
                ref.title,
                ref.url,
                fate if trouble is None else _fate(trouble),
                "" if trouble is None else trouble.reason,
                chunks=chunks,
                next_try=None if trouble is None else self._next_try(trouble),
            )
        return list(entries.values())

    def _next_try(self, trouble: Trouble) -> datetime | None:
        return None if trouble.skipped else self._tries[trouble.page_id][1]


def _is_due(next_try: datetime, moment: datetime) -> bool:
    return next_try <= moment or next_try > moment + LONGEST_PAUSE


def _fate(trouble: Trouble) -> Fate:
    return Fate.SKIPPED if trouble.skipped else Fate.FAILED
