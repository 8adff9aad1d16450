"""The part of one sync that talks to the source: list, compare, read, store, and remove what is gone."""

import asyncio
import logging
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from core.domain.documents import ObjectType, Page, PageRef, walk
from core.domain.ids import PageId
from core.domain.references import Target, referenced, resolve_blocks, resolve_properties
from core.errors import (
    FootnoteError,
    IncompleteListingError,
    NotFoundError,
    PermanentError,
    RefusedError,
    TemporaryError,
    UnreadableError,
)
from core.ports import IncrementalSource, PageSource, PageState, PageWriter, Presence, StoredPage
from core.ports.ledger import Trouble
from core.ports.source_time import SourceTime
from core.services import languages
from core.services.chunking import page_text
from core.services.comparing import HARMLESS, content_hash, has_same_blocks, is_unchanged
from core.services.mirrors import Mirrors
from core.services.owing import Owing
from core.services.sync_report import Failure, Tally

_logger = logging.getLogger("footnote.sync")

_LOOK_UP = 100
"""Listed pages compared with the store in one go."""

_STORE = 20
"""Pages stored in one transaction."""


@dataclass(frozen=True, slots=True)
class SyncSettings:
    """How a sync works.

    ``readers`` pages are read at once. Everything is listed, and what vanished looked for, every
    ``reconcile_every``; between that only changes are asked for where the source can say them. More than
    ``max_removed`` pages, or that share of all, are not removed without a confirmation (F22, NOT-6); nor is
    most of a small workspace, as a mistyped root would, if that is more than ``max_removed_of_few`` pages.
    ``read_hinted`` pages that a hint names are read even if they look unchanged: a comment dates no page.
    """

    readers: int = 6
    reconcile_every: timedelta = timedelta(hours=6)
    max_removed: int = 20
    max_removed_share: float = 0.3
    max_removed_of_few: int = 5
    read_hinted: bool = False

    def removed_unasked(self, gone: int, *, known: int) -> int:
        """How many of ``gone`` pages, out of ``known``, may be removed without a confirmation."""
        is_most = gone > max(self.max_removed_of_few, known / 2)
        least = self.max_removed_of_few if is_most else self.max_removed
        return max(least, int(self.max_removed_share * known))


@dataclass(slots=True)
class _Read:
    """A page to be read, and what is stored of it."""

    ref: PageRef
    state: PageState | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What one run does.

    ``read_all`` pages, less those read since ``read_since`` if it goes on with another run; list
    ``changes_only``; own what it stores under the part of ``source_name`` before the colon.
    """

    read_all: bool
    changes_only: bool
    read_since: datetime | None = None
    source_name: str = ""


class SyncRun:
    """The part of one sync that talks to the source."""

    def __init__(
        self,
        source: PageSource,
        writer: PageWriter,
        time: SourceTime,
        settings: SyncSettings,
        tally: Tally,
        plan: Plan,
    ) -> None:
        self._source = source
        self._writer = writer
        self._time = time
        self._settings = settings
        self.tally = tally
        self._read_all = plan.read_all
        self._read_since = plan.read_since
        self._owner = plan.source_name.partition(":")[0]
        self._settled: set[PageId] = set()
        self._changes_only = plan.changes_only
        self._again: frozenset[PageId] = frozenset()
        self._queue: asyncio.Queue[_Read | None] = asyncio.Queue(maxsize=2 * settings.readers)
        self._storing = asyncio.Lock()
        self._fresh: list[StoredPage] = []
        self._seen: set[PageId] = set()
        self._children: dict[PageId, PageId] = {}
        self._lost: set[PageId] = set()
        self._was_read: set[PageId] = set()
        self._arrived: dict[PageId, set[PageId]] = {}
        self._suspects: dict[PageId, Presence | None] = {}
        self._vanished: dict[PageId, PageRef] = {}
        self.owing = Owing(writer, self._owner)
        self._mirrors = Mirrors(writer, self.owing)
        self.skipped: dict[PageId, Trouble] = {}

    def settled(self) -> frozenset[PageId]:
        """Pages that this run left up to date: read, or known to be as they are stored."""
        return frozenset(self._settled - self.tally.failed_pages())

    def was_read(self) -> frozenset[PageId]:
        """Pages whose blocks this run read."""
        return frozenset(self._was_read)

    # --- Listing and reading ---------------------------------------------------------------------------

    async def read(
        self, refs: AsyncIterator[PageRef], *, look_at: frozenset[PageId], retry: frozenset[PageId]
    ) -> bool:
        """List and read side by side; whether the listing came to its end.

        ``look_at`` are pages to look at whether they are listed or not. ``retry`` are pages that failed last
        time: they are read even if they look unchanged, since a part of them may be missing.
        """
        self._again = retry
        try:
            async with asyncio.TaskGroup() as group:
                readers = [group.create_task(self._read_queued()) for _ in range(self._settings.readers)]
                broken = await self._list(refs)
                if broken is not None:
                    self.tally.set(alarm=f"The listing broke off, nothing was removed: {broken}")
                await self._probe_unlisted(look_at | retry)
                while True:
                    unlisted = await self._unlisted()
                    if not unlisted and not (
                        await self._queue_parents() or await self._queue_copies() or await self._look_again()
                    ):
                        break
                    await self._probe_unlisted(unlisted)
                for _ in readers:
                    await self._queue.put(None)
        except BaseExceptionGroup as group_error:
            raise _most_serious(group_error) from group_error
        await self._store()
        return broken is None

    async def _list(self, refs: AsyncIterator[PageRef]) -> FootnoteError | None:
        """Take in a listing; what broke it off, if anything did."""
        batch: list[PageRef] = []
        broken: FootnoteError | None = None
        try:
            async for ref in refs:
                batch.append(ref)
                if len(batch) >= _LOOK_UP:
                    await self._compare(batch)
                    batch = []
        except (TemporaryError, NotFoundError, UnreadableError) as error:
            # What was listed so far is good; what was not is no proof of anything (SY6, NOT-6).
            broken = error
            _logger.warning("A listing broke off: %s", error)
            for ref, reason in error.objects if isinstance(error, IncompleteListingError) else ():
                self._fail(ref, f"could not be listed: {reason}")
        await self._compare(batch)
        return broken

    async def _compare(self, refs: Sequence[PageRef]) -> None:
        """Queue what must be read; note the rest as seen."""
        fresh = [ref for ref in {ref.id: ref for ref in refs}.values() if ref.id not in self._seen]
        if not fresh:
            return
        self._seen.update(ref.id for ref in fresh)
        self.tally.add(listed=len(fresh))
        seen_at = self._time.earliest(self._time.mark())
        states = await self._writer.states([ref.id for ref in fresh])
        unchanged = [ref for ref in fresh if self._is_known(ref, states.get(ref.id))]
        if unchanged:
            await self._writer.touch(unchanged, synced_at=seen_at)
            self.tally.add(unchanged=len(unchanged))
            self._settled.update(ref.id for ref in unchanged)
        same = {ref.id for ref in unchanged}
        for ref in fresh:
            state = states.get(ref.id)
            if ref.id in same or await self._took_entry(ref, state, seen_at):
                continue
            self.tally.add(to_read=1)
            await self._queue.put(_Read(ref, state))

    def _is_known(self, ref: PageRef, state: PageState | None) -> bool:
        return state is not None and not self._must_read(state) and is_unchanged(ref, state)

    def _must_read(self, state: PageState) -> bool:
        """Whether the page failed last time, or everything is read and it was not by the run gone on with."""
        if state.ref.id in self._again or not self._is_ours(state):
            return True
        if state.synced_at > self._time.now() + HARMLESS:
            # Dated by a clock that was ahead: nobody knows when that look was.
            return True
        return self._read_all and (self._read_since is None or state.synced_at < self._read_since)

    def _is_ours(self, state: PageState) -> bool:
        """Whether this source gave the page: an export says nothing of what the API shows."""
        return state.source in {"", self._owner}

    async def _took_entry(self, ref: PageRef, state: PageState | None, seen_at: datetime) -> bool:
        """Store a new parent, title or property without reading the blocks, which are as stored."""
        if state is None or self._must_read(state) or not has_same_blocks(ref, state):
            return False
        blocks = await self._writer.stored_blocks(ref.id)
        if blocks is None:
            return False
        await self._take(_Read(ref, state), Page(ref, blocks), seen_at)
        return True

    async def _unlisted(self) -> frozenset[PageId]:
        """Once everything queued is read: pages that only their parents' blocks name, or no longer name."""
        await self._queue.join()
        await self._store()
        named, self._children = self._children, {}
        lost, self._lost = self._lost - self._seen, set()
        unlisted = [child for child in named if child not in self._seen]
        states = await self._writer.states(unlisted) if unlisted else {}
        arrived = {
            child
            for child in unlisted
            if (state := states.get(child)) is None or state.ref.parent_id != named[child]
        }
        return frozenset((lost - named.keys()) | arrived) - self._suspects.keys()

    async def _queue_parents(self) -> bool:
        """Read parents whose stored blocks do not name a new child: sharing a page dates nothing above it."""
        arrived, self._arrived = self._arrived, {}
        unread = sorted(arrived.keys() - self._was_read)
        states = await self._writer.states(unread) if unread else {}
        queued = False
        for parent, state in states.items():
            blocks = await self._writer.stored_blocks(parent) or ()
            named = referenced(block.text for block, _ in walk(blocks))
            if state.ref.object_type is not ObjectType.DATABASE and not arrived[parent] <= set(named):
                self.tally.add(to_read=1)
                await self._queue.put(_Read(state.ref, state))
                queued = True
        return queued

    async def _queue_copies(self) -> bool:
        """Read pages that show what changed elsewhere: that dates nothing on them."""
        due = sorted(self._mirrors.take_due())
        states = await self._writer.states(due) if due else {}
        for state in states.values():
            self.tally.add(to_read=1)
            await self._queue.put(_Read(state.ref, state))
        return bool(states)

    async def _look_again(self) -> bool:
        """Look at what vanished while it was read, and try once more to read what did not."""
        queued = False
        for page_id, ref in list(self._vanished.items()):
            if page_id in self._suspects or self.tally.has_failed(page_id) or page_id in self._was_read:
                continue
            try:
                found = await self._source.probe(page_id)
            except (UnreadableError, TemporaryError) as error:
                self._fail(ref, f"could not be looked at: {error}")
                continue
            if found.ref is None:
                self._suspects[page_id] = found.presence
                continue
            state = (await self._writer.states([page_id])).get(page_id)
            self.tally.add(to_read=1)
            await self._queue.put(_Read(found.ref, state))
            queued = True
        return queued

    async def _probe_unlisted(self, ids: frozenset[PageId]) -> None:
        for page_id in sorted(ids - self._seen):
            found = await self._look_at(page_id)
            if found is None:
                continue
            await self._compare([found])
            if found.object_type is ObjectType.DATABASE and isinstance(self._source, IncrementalSource):
                broken = await self._list(self._source.rows(found))
                if broken is not None:
                    self._fail(found, f"its rows could not be listed: {broken}")

    async def _look_at(self, page_id: PageId) -> PageRef | None:
        """The page if it is there; pages that cannot be looked at fail alone."""
        try:
            found = await self._source.probe(page_id)
        except UnreadableError as error:
            state = (await self._writer.states([page_id])).get(page_id)
            if state is not None:
                self._fail(state.ref, f"could not be looked at: {error}")
                return None
            # A view of a database that is not shared, for one: what is shown of it stands on the page (F5).
            _logger.info("Skipped %s, which cannot be read: %s", page_id, error)
            self.tally.add(skipped=page_id not in self.skipped)
            self.skipped[page_id] = Trouble(page_id, "", "", str(error), skipped=True)
            return None
        except TemporaryError as error:
            self.tally.fail(Failure(page_id, "", "", f"could not be looked at: {error}"))
            return None
        if found.presence is not Presence.LIVE:
            self._suspects[page_id] = found.presence
        return found.ref if found.presence is Presence.LIVE else None

    async def _read_queued(self) -> None:
        while True:
            job = await self._queue.get()
            try:
                if job is None:
                    return
                await self._read_one(job)
            finally:
                self._queue.task_done()

    async def _read_one(self, job: _Read) -> None:
        ref, began = job.ref, self._time.mark()
        try:
            page = await self._source.read(ref)
            seen_at = self._time.earliest(began)
            self._was_read.add(ref.id)
            self._mirrors.note_read(page, seen_at=seen_at)
            await self._note_children(page)
            self._note_files(page)
            await self._take(job, page, seen_at)
        except NotFoundError:
            # Gone between listing and reading; only a second look is proof.
            if ref.id in self._vanished:
                self._fail(ref, "is there, but Notion does not give its blocks")
            else:
                self._vanished[ref.id] = ref
        except RefusedError:
            raise
        except (TemporaryError, PermanentError) as error:
            self._fail(ref, str(error))
        except Exception as error:
            _logger.exception("Page %s could not be read", ref.id)
            self._fail(ref, f"could not be understood ({type(error).__name__})")
        finally:
            self.tally.add(read=1)

    def _note_files(self, page: Page) -> None:
        """What became of the page's files; one that cannot be had for now fails the page, which is stored."""
        self.tally.add(files=page.files.read, files_reused=page.files.reused)
        for reason in page.files.left_out:
            self.tally.leave_out(Failure(page.ref.id, page.ref.title, page.ref.url, reason))
        if page.files.postponed:
            self._fail(page.ref, "; ".join(page.files.postponed))

    def _fail(self, ref: PageRef, reason: str) -> None:
        _logger.warning("Page %s failed: %s", ref.id, reason)
        self.tally.fail(Failure(ref.id, ref.title, ref.url, reason))

    async def _note_children(self, page: Page) -> None:
        """What hangs on the page now, and what did before: the latter moved or is gone."""
        self._children.update(dict.fromkeys(page.children, page.ref.id))
        if page.children:
            states = await self._writer.states(page.children)
            self.owing.look_at(
                child
                for child in page.children
                if (state := states.get(child)) is None or state.ref.parent_id != page.ref.id
            )
        if self._changes_only and page.ref.object_type is not ObjectType.DATABASE:
            before = await self._writer.child_ids(page.ref.id)
            lost = set(before) - set(page.children)
            self._lost.update(lost)
            self.owing.look_at(lost)

    async def _take(self, job: _Read, page: Page, seen_at: datetime) -> None:
        """Store what is new; note what is not (SY2)."""
        digest = content_hash(page.ref, page.blocks)
        self._settled.add(page.ref.id)
        is_same = job.state is not None and job.state.content_hash == digest and self._is_ours(job.state)
        if page.ref.id in self._was_read:
            before = None if is_same else await self._writer.stored_blocks(page.ref.id)
            await self._mirrors.note_change(page, before or ())
        if is_same:
            await self.owing.write()
            await self._writer.touch([page.ref], synced_at=seen_at)
            return
        if job.state is None and page.ref.parent_id is not None:
            await self._note_arrival(page.ref.id, page.ref.parent_id)
        self.tally.add(changed=1)
        # Not in one expression: the list may be another one once the text is made.
        stored = await self._stored(page, digest, seen_at)
        self._fresh.append(stored)
        if len(self._fresh) >= _STORE:
            await self._store()

    async def _note_arrival(self, page_id: PageId, parent_id: PageId) -> None:
        """A page came; its parent must name it, and be read if it does not."""
        self._arrived.setdefault(parent_id, set()).add(page_id)
        if parent_id in self._was_read:
            return
        state = (await self._writer.states([parent_id])).get(parent_id)
        if state is None or state.ref.object_type is ObjectType.DATABASE:
            return
        if parent_id not in await self._writer.referring([page_id]):
            self.owing.read_again([parent_id])

    async def _stored(self, page: Page, digest: str, seen_at: datetime) -> StoredPage:
        texts = [block.text for block, _ in walk(page.blocks)]
        wanted = referenced([*texts, *(value for _, value in page.ref.properties)])
        states = await self._writer.states(wanted) if wanted else {}
        lookup = {one: Target(state.ref.title, state.ref.url) for one, state in states.items()}.get
        ref = replace(page.ref, properties=resolve_properties(page.ref.properties, lookup))
        # A page with nothing but a title is found by that (F10).
        text = page_text(ref, resolve_blocks(page.blocks, lookup)) or page.ref.title
        return StoredPage(page, text, digest, languages.detect(text[:4000]), self._owner, seen_at)

    async def _store(self) -> None:
        async with self._storing:
            fresh, self._fresh = self._fresh, []
            if not fresh:
                return
            await self.owing.write()
            await self._writer.put_pages(fresh)

    # --- Removing --------------------------------------------------------------------------------------

    async def remove_absent(self, *, confirmed: bool) -> None:
        """Look at every stored page that the whole listing did not show, and remove those that are gone."""
        after: PageId | None = None
        gone: dict[PageId, Presence] = {}
        while states := await self._writer.all_states(limit=_LOOK_UP, after=after):
            after = states[-1].ref.id
            for state in states:
                is_seen = self.tally.has_failed(state.ref.id) or state.ref.id in self._seen_alive()
                if not is_seen and self._is_ours(state):
                    await self._find_gone(state.ref, gone)
        await self._remove(gone, confirmed=confirmed)

    async def remove_suspects(self, *, confirmed: bool = False) -> None:
        """Without a whole listing: pages that a direct look showed to be gone, and what hung on them."""
        gone: dict[PageId, Presence] = {}
        left = dict(self._suspects)
        while left:
            page_id, presence = left.popitem()
            states = await self._writer.states([page_id])
            if page_id in gone or page_id not in states or not self._is_ours(states[page_id]):
                continue
            if presence is None:
                await self._find_gone(states[page_id].ref, gone)
            else:
                gone[page_id] = presence
            if page_id in gone:
                below = await self._writer.child_ids(page_id)
                left.update({child: None for child in below if child not in self._seen | gone.keys()})
        await self._remove(gone, confirmed=confirmed)

    def _seen_alive(self) -> set[PageId]:
        return self._seen - self._suspects.keys()

    async def _find_gone(self, ref: PageRef, gone: dict[PageId, Presence]) -> None:
        try:
            found = await self._source.probe(ref.id)
        except RefusedError:
            raise
        except (PermanentError, TemporaryError) as error:
            self._fail(ref, f"could not be looked at: {error}")
            return
        if found.presence is Presence.LIVE and found.ref is not None:
            await self._read_omitted(found.ref)
        elif found.presence is not Presence.LIVE:
            gone[ref.id] = found.presence

    async def _read_omitted(self, ref: PageRef) -> None:
        """A page that the listing did not show although it is there: read it if it changed (SY5, U7)."""
        self.tally.add(listed=1)
        states = await self._writer.states([ref.id])
        state = states.get(ref.id)
        if self._is_known(ref, state):
            await self._writer.touch([ref], synced_at=self._time.earliest(self._time.mark()))
            self.tally.add(unchanged=1)
            return
        self.tally.add(to_read=1)
        await self._read_one(_Read(ref, state))
        await self._store()

    async def _remove(self, gone: dict[PageId, Presence], *, confirmed: bool) -> None:
        allowed = self._settings.removed_unasked(len(gone), known=self.tally.report.listed + len(gone))
        if len(gone) > allowed and not confirmed:
            self.tally.set(
                withheld=len(gone),
                alarm=f"{len(gone)} pages are gone from the source, more than the {allowed} that are removed "
                "without asking. If that is right: footnote sync --confirm-removal",
            )
            _logger.error("Removal of %d pages is withheld (limit %d)", len(gone), allowed)
            return
        # Unsharing dates nothing, and a title is content too (T26): who names one that is gone is read again.
        referring = set(await self._writer.referring(list(gone))) if gone else set()
        referring |= await self._mirrors.showing(gone)
        self.owing.read_again(referring - self._was_read - gone.keys())
        await self.owing.write()
        for presence in sorted(set(gone.values())):
            ids = [page_id for page_id, found in gone.items() if found is presence]
            self.tally.add(removed=await self._writer.remove_pages(ids, proof=presence.value))
        await self._read_again(referring - self._was_read)

    async def _read_again(self, ids: Collection[PageId]) -> None:
        states = await self._writer.states(sorted(ids)) if ids else {}
        for state in states.values():
            self.tally.add(to_read=1)
            await self._read_one(_Read(state.ref, state))
        await self._store()


def _most_serious(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The one error to tell of a group: refused credentials first, since they explain the others."""
    leaves: list[BaseException] = []
    stack: list[BaseException] = [group]
    while stack:
        error = stack.pop()
        if isinstance(error, BaseExceptionGroup):
            stack.extend(reversed(error.exceptions))
        else:
            leaves.append(error)
    for kind in (RefusedError, PermanentError, TemporaryError):
        for leaf in leaves:
            if isinstance(leaf, kind):
                return leaf
    return leaves[0]
