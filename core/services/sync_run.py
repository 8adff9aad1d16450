"""The part of one sync that reads the source: list, compare, read, and store."""

import asyncio
import logging
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from core.domain.documents import ObjectType, Page, PageRef, walk
from core.domain.ids import PageId
from core.domain.references import Target, referenced, resolve_blocks, resolve_properties
from core.errors import (
    TROUBLE_OF_THE_INDEX,
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
from core.services.sync_settings import Plan, SyncSettings

_logger = logging.getLogger("footnote.sync")

_LOOK_UP = 100
"""Listed pages compared with the store in one go."""

_STORE = 20
"""Pages stored in one transaction."""

_WITHOUT_BLOCKS = "is there, but Notion does not give its blocks"

_NOT_STORABLE = (PermanentError, ValueError, TypeError, RecursionError)
"""What is wrong with a page that the index does not take."""


@dataclass(slots=True)
class _Read:
    """A page to be read, and what is stored of it."""

    ref: PageRef
    state: PageState | None


class SyncRun:
    """Lists, compares, reads and stores; `Removal` goes by what this has seen."""

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
        self.seen: set[PageId] = set()
        """Pages that were listed or looked at."""
        self._children: dict[PageId, PageId] = {}
        self._lost: set[PageId] = set()
        self._was_read: set[PageId] = set()
        self._arrived: dict[PageId, set[PageId]] = {}
        self.suspects: dict[PageId, Presence | None] = {}
        """Pages that are gone, by the look that showed it; null where that still has to be looked at."""
        self._vanished: dict[PageId, PageRef] = {}
        self.owing = Owing(writer, self._owner)
        self._mirrors = Mirrors(writer, self.owing)
        self.skipped: dict[PageId, Trouble] = {}

    def settled(self) -> frozenset[PageId]:
        """Pages that this run left up to date: read, or known to be as they are stored."""
        waiting = {stored.page.ref.id for stored in self._fresh}
        return frozenset(self._settled - waiting - self.tally.failed_pages())

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
                self.fail(ref, f"could not be listed: {reason}")
        await self._compare(batch)
        return broken

    async def _compare(self, refs: Sequence[PageRef]) -> None:
        """Queue what must be read; note the rest as seen."""
        fresh = [ref for ref in {ref.id: ref for ref in refs}.values() if ref.id not in self.seen]
        if not fresh:
            return
        self.seen.update(ref.id for ref in fresh)
        self.tally.add(listed=len(fresh))
        # What is known beyond doubt stays so until an edit dates it anew: any later moment will do.
        seen_at = self._time.now()
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
        if state.ref.id in self._again or not self.is_ours(state):
            return True
        if state.synced_at > self._time.now() + HARMLESS:
            # Dated by a clock that was ahead: nobody knows when that look was.
            return True
        return self._read_all and (self._read_since is None or state.synced_at < self._read_since)

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
        lost, self._lost = self._lost - self.seen, set()
        unlisted = [child for child in named if child not in self.seen]
        states = await self._writer.states(unlisted) if unlisted else {}
        arrived = {
            child
            for child in unlisted
            if (state := states.get(child)) is None or state.ref.parent_id != named[child]
        }
        return frozenset((lost - named.keys()) | arrived) - self.suspects.keys()

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
            if page_id in self.suspects or self.tally.has_failed(page_id) or page_id in self._was_read:
                continue
            try:
                found = await self._source.probe(page_id)
            except (UnreadableError, TemporaryError) as error:
                self.fail(ref, f"could not be looked at: {error}")
                continue
            if found.ref is None:
                self.suspects[page_id] = found.presence
                continue
            state = (await self._writer.states([page_id])).get(page_id)
            self.tally.add(to_read=1)
            await self._queue.put(_Read(found.ref, state))
            queued = True
        return queued

    async def _probe_unlisted(self, ids: frozenset[PageId]) -> None:
        for page_id in sorted(ids - self.seen):
            found = await self._look_at(page_id)
            if found is None:
                continue
            await self._compare([found])
            if found.object_type is ObjectType.DATABASE and isinstance(self._source, IncrementalSource):
                broken = await self._list(self._source.rows(found))
                if broken is not None:
                    self.fail(found, f"its rows could not be listed: {broken}")

    async def _look_at(self, page_id: PageId) -> PageRef | None:
        """The page if it is there; pages that cannot be looked at fail alone."""
        try:
            found = await self._source.probe(page_id)
        except UnreadableError as error:
            state = (await self._writer.states([page_id])).get(page_id)
            if state is not None:
                self.fail(state.ref, f"could not be looked at: {error}")
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
            self.suspects[page_id] = found.presence
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
        except NotFoundError:
            # Gone between listing and reading; only a second look is proof.
            if ref.id in self._vanished:
                self.fail(ref, _WITHOUT_BLOCKS)
            else:
                self._vanished[ref.id] = ref
        except RefusedError:
            raise
        except (TemporaryError, PermanentError) as error:
            self.fail(ref, str(error))
        except Exception as error:
            _logger.exception("Page %s could not be read", ref.id)
            self.fail(ref, f"could not be understood ({type(error).__name__})")
        else:
            await self._take_in(job, page, self._time.earliest(began))
        finally:
            self.tally.add(read=1)

    async def _take_in(self, job: _Read, page: Page, seen_at: datetime) -> None:
        """What was read goes into the index; only what is wrong with this very page is its own failure."""
        self._was_read.add(page.ref.id)
        try:
            self._mirrors.note_read(page, seen_at=seen_at)
            await self._note_children(page)
            self._note_files(page)
            await self._take(job, page, seen_at)
        except TROUBLE_OF_THE_INDEX:
            raise
        except PermanentError as error:
            self.fail(page.ref, str(error))
        except Exception as error:
            _logger.exception("Page %s could not be taken in", page.ref.id)
            self.fail(page.ref, f"could not be understood ({type(error).__name__})")

    def _note_files(self, page: Page) -> None:
        """What became of the page's files; one that cannot be had for now fails the page, which is stored."""
        self.tally.add(files=page.files.read, files_reused=page.files.reused)
        for reason in page.files.left_out:
            self.tally.leave_out(Failure(page.ref.id, page.ref.title, page.ref.url, reason))
        if page.files.postponed:
            self.fail(page.ref, "; ".join(page.files.postponed))

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
        is_same = job.state is not None and job.state.content_hash == digest and self.is_ours(job.state)
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
            try:
                await self._writer.put_pages(fresh)
            except TROUBLE_OF_THE_INDEX:
                # Not stored, so not settled either.
                self._fresh = [*fresh, *self._fresh]
                raise
            except _NOT_STORABLE as error:
                _logger.info("Storing %d pages together failed: %s", len(fresh), type(error).__name__)
                await self._put_one_by_one(fresh)

    async def _put_one_by_one(self, fresh: Sequence[StoredPage]) -> None:
        """Find the page that the index does not take; it fails alone."""
        for number, one in enumerate(fresh):
            try:
                await self._writer.put_pages([one])
            except TROUBLE_OF_THE_INDEX:
                self._fresh = [*fresh[number:], *self._fresh]
                raise
            except _NOT_STORABLE as error:
                reason = str(error) if isinstance(error, PermanentError) else type(error).__name__
                self.fail(one.page.ref, f"could not be stored: {reason}")

    # --- What removal asks for -------------------------------------------------------------------------

    async def read_omitted(self, ref: PageRef) -> None:
        """Take in a page that no listing showed although it is there: read it if it changed (SY5, U7)."""
        self.tally.add(listed=1)
        states = await self._writer.states([ref.id])
        state = states.get(ref.id)
        if self._is_known(ref, state):
            await self._writer.touch([ref], synced_at=self._time.now())
            self.tally.add(unchanged=1)
            return
        self.tally.add(to_read=1)
        await self._read_one(_Read(ref, state))
        if ref.id in self._vanished and ref.id not in self._was_read:
            self.fail(ref, _WITHOUT_BLOCKS)
        await self._store()

    async def read_again(self, ids: Collection[PageId]) -> None:
        """Read these pages whether they changed or not; those that are not stored are left out."""
        states = await self._writer.states(sorted(ids)) if ids else {}
        for state in states.values():
            self.tally.add(to_read=1)
            await self._read_one(_Read(state.ref, state))
        await self._store()

    async def naming(self, ids: Collection[PageId]) -> frozenset[PageId]:
        """Stored pages that name one of these, or show blocks of it."""
        if not ids:
            return frozenset()
        return frozenset(await self._writer.referring(sorted(ids))) | await self._mirrors.showing(ids)

    def is_ours(self, state: PageState) -> bool:
        """Whether this source gave the page: an export says nothing of what the API shows."""
        return state.source in {"", self._owner}

    def fail(self, ref: PageRef, reason: str) -> None:
        """Note a page that could not be brought up to date."""
        _logger.warning("Page %s failed: %s", ref.id, reason)
        self.tally.fail(Failure(ref.id, ref.title, ref.url, reason))


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
