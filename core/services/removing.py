"""The part of one sync that removes pages: those that are proved to be gone, never those merely not shown."""

import logging

from core.domain.documents import PageRef
from core.domain.ids import PageId
from core.errors import PermanentError, RefusedError, TemporaryError
from core.ports import PageSource, PageWriter, Presence
from core.services.sync_run import SyncRun
from core.services.sync_settings import SyncSettings

_logger = logging.getLogger("footnote.sync")

_LOOK_UP = 100
"""Stored pages gone through at once."""


class Removal:
    """Removes what is gone, once a run has listed and read.

    More than `SyncSettings` allows is withheld unless it is ``confirmed``, and the report says so.
    """

    def __init__(
        self, run: SyncRun, source: PageSource, writer: PageWriter, settings: SyncSettings, *, confirmed: bool
    ) -> None:
        self._run = run
        self._source = source
        self._writer = writer
        self._settings = settings
        self._confirmed = confirmed

    async def remove_absent(self) -> None:
        """Look at every stored page that the whole listing did not show, and remove those that are gone."""
        after: PageId | None = None
        gone: dict[PageId, Presence] = {}
        while states := await self._writer.all_states(limit=_LOOK_UP, after=after):
            after = states[-1].ref.id
            for state in states:
                if self._run.is_ours(state) and not self._is_settled(state.ref.id):
                    await self._find_gone(state.ref, gone)
        await self._remove(gone)

    async def remove_suspects(self) -> None:
        """Without a whole listing: pages that a direct look showed to be gone, and what hung on them."""
        gone: dict[PageId, Presence] = {}
        left = dict(self._run.suspects)
        while left:
            page_id, presence = left.popitem()
            states = await self._writer.states([page_id])
            if page_id in gone or page_id not in states or not self._run.is_ours(states[page_id]):
                continue
            if presence is None:
                await self._find_gone(states[page_id].ref, gone)
            else:
                gone[page_id] = presence
            if page_id in gone:
                below = await self._writer.child_ids(page_id)
                left.update({child: None for child in below if child not in self._run.seen | gone.keys()})
        await self._remove(gone)

    def _is_settled(self, page_id: PageId) -> bool:
        """Whether the page was seen alive, or could not be looked at."""
        is_alive = page_id in self._run.seen and page_id not in self._run.suspects
        return is_alive or self._run.tally.has_failed(page_id)

    async def _find_gone(self, ref: PageRef, gone: dict[PageId, Presence]) -> None:
        try:
            found = await self._source.probe(ref.id)
        except RefusedError:
            raise
        except (PermanentError, TemporaryError) as error:
            self._run.fail(ref, f"could not be looked at: {error}")
            return
        if found.presence is Presence.LIVE and found.ref is not None:
            await self._run.read_omitted(found.ref)
        elif found.presence is not Presence.LIVE:
            gone[ref.id] = found.presence

    async def _remove(self, gone: dict[PageId, Presence]) -> None:
        tally = self._run.tally
        allowed = self._settings.removed_unasked(len(gone), known=tally.report.listed + len(gone))
        if len(gone) > allowed and not self._confirmed:
            tally.set(
                withheld=len(gone),
                alarm=f"{len(gone)} pages are gone from the source, more than the {allowed} that are removed "
                "without asking. If that is right: footnote sync --confirm-removal",
            )
            _logger.error("Removal of %d pages is withheld (limit %d)", len(gone), allowed)
            return
        # Unsharing dates nothing, and a title is content too (T26): who names one that is gone is read again.
        # Also who was read in this run: that may have been before it went.
        naming = await self._run.naming(gone)
        self._run.owing.read_again(naming - gone.keys())
        await self._run.owing.write()
        for presence in sorted(set(gone.values())):
            ids = [page_id for page_id, found in gone.items() if found is presence]
            tally.add(removed=await self._writer.remove_pages(ids, proof=presence.value))
        await self._run.read_again(naming)
