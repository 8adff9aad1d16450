"""A whole sync in one process: stand-in of Notion, real client, memory store, hashing embedder."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime

from adapters.embedders.hashing import HashingEmbedder
from adapters.sources.notion_api import Patience
from adapters.stores.memory import MemoryStore
from core.domain.answers import Candidate
from core.domain.audiences import EVERYTHING
from core.domain.documents import PageRef
from core.domain.ids import PageId
from core.domain.models import ModelProfile, Vector
from core.errors import FootnoteError
from core.ports import IndexedChunk, PageState, PageWriter, StoredPage, WordQuery
from core.ports.ledger import SyncLedger
from core.services.chunking import ChunkSettings
from core.services.sync_report import SyncReport
from core.services.syncing import Syncer, SyncSettings
from tests.adapters.sources.notion_rig import Rig, notion_rig
from tests.fakes.notion import Workspace


class YieldingStore(MemoryStore):
    """A store that lets others run before and after each access, as one behind a network does."""

    async def states(self, ids: Sequence[PageId]) -> Mapping[PageId, PageState]:
        """As `PageWriter.states`."""
        await asyncio.sleep(0)
        found = await super().states(ids)
        await asyncio.sleep(0.001)
        return found

    async def put_pages(self, pages: Sequence[StoredPage]) -> None:
        """As `PageWriter.put_pages`."""
        await asyncio.sleep(0.001)
        await super().put_pages(pages)
        await asyncio.sleep(0)

    async def touch(self, refs: Sequence[PageRef], *, synced_at: datetime) -> None:
        """As `PageWriter.touch`."""
        await asyncio.sleep(0)
        await super().touch(refs, synced_at=synced_at)
        await asyncio.sleep(0)


@dataclass
class WatchedEmbedder:
    """Embeds by hashing, counts, and fails where a test says so.

    ``refuses`` are words whose texts get no vector; ``poison`` words whose batches raise ``error``.
    """

    embedded: list[str] = field(default_factory=list)
    calls: int = 0
    refuses: set[str] = field(default_factory=set)
    poison: set[str] = field(default_factory=set)
    error: FootnoteError | None = None
    _inner: HashingEmbedder = field(default_factory=HashingEmbedder)

    @property
    def profile(self) -> ModelProfile:
        """Of the hashing embedder."""
        return self._inner.profile

    async def embed_query(self, text: str) -> Vector:
        """The vector of a question."""
        return await self._inner.embed_query(text)

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """Vectors, unless it is to fail."""
        self.calls += 1
        poisoned = not self.poison or any(word in text for text in texts for word in self.poison)
        if self.error is not None and poisoned:
            raise self.error
        self.embedded.extend(texts)
        vectors = await self._inner.embed_passages(texts)
        return [
            None if any(word in text for word in self.refuses) else vector
            for text, vector in zip(texts, vectors, strict=True)
        ]


@dataclass
class SyncRig:
    """A workspace and an index that follows it."""

    notion: Rig
    store: MemoryStore
    embedder: WatchedEmbedder
    syncer: Syncer
    ledger: SyncLedger | None = None

    @property
    def workspace(self) -> Workspace:
        """What people edit."""
        return self.notion.workspace

    def restart(
        self,
        writer: PageWriter | None = None,
        settings: SyncSettings | None = None,
        ledger: SyncLedger | None = None,
    ) -> Syncer:
        """A process that knows nothing of the runs before, nor of Notion's time."""
        self.notion.restart()
        self.syncer = Syncer(
            source=self.notion.source,
            writer=writer or self.store,
            embedder=self.embedder,
            clock=self.notion.clock,
            chunk_settings=ChunkSettings(),
            settings=settings,
            ledger=ledger or self.ledger,
        )
        return self.syncer

    async def sync(self, *, full: bool = False, confirm_removal: bool = False) -> SyncReport:
        """One run; requests and embeddings are counted anew."""
        self.notion.server.forget()
        self.embedder.embedded.clear()
        self.embedder.calls = 0
        return await self.syncer.run(full=full, confirm_removal=confirm_removal)

    async def settled(self, minutes: int = 10) -> SyncReport:
        """A clean run, and then enough time for nothing to count as recent."""
        report = await self.sync()
        assert report.is_clean, report
        self.workspace.clock.advance(minutes=minutes)
        await self.sync()
        self.workspace.clock.advance(minutes=minutes)
        return report

    def later(self, minutes: int = 10) -> None:
        """Time goes by."""
        self.workspace.clock.advance(minutes=minutes)

    async def reconcile(self, **options: bool) -> SyncReport:
        """A run that lists everything, as a new process does."""
        self.restart()
        return await self.sync(**options)

    async def found(self, words: str, *, pages: bool = False) -> list[Candidate]:
        """What a search for any of the words gives, by passages or by pages."""
        query = WordQuery(text=words, terms=tuple(words.lower().split()))
        if pages:
            return list(
                (await self.store.search_pages(words=query, audience=EVERYTHING, limit=50)).candidates
            )
        found = await self.store.search(vector=None, words=query, audience=EVERYTHING, limit=50)
        return list(found.candidates)

    def chunks(self, page_id: str) -> list[IndexedChunk]:
        """What is indexed of one page, in order."""
        page = self.store._pages.get(PageId(page_id))
        return sorted(page.chunks.values(), key=lambda one: one.chunk.index) if page else []

    def bodies(self, page_id: str) -> list[str]:
        """The passages of one page, in order."""
        return [one.chunk.body for one in self.chunks(page_id)]

    def pages(self) -> set[str]:
        """The ids of all stored pages."""
        return set(self.store._pages)

    def content(self) -> list[tuple[object, ...]]:
        """Everything in the index that a reader could see, chunk for chunk."""
        return [
            (page_id, one.chunk.index, one.chunk.text_to_embed, one.chunk.body, one.chunk.block_id)
            for page_id in sorted(self.store._pages)
            for one in self.chunks(page_id)
        ]


@asynccontextmanager
async def sync_rig(
    workspace: Workspace | None = None,
    *,
    roots: Collection[str] = (),
    patience: Patience | None = None,
    settings: SyncSettings | None = None,
) -> AsyncIterator[SyncRig]:
    """A workspace, its stand-in, and everything of ours on top of it."""
    async with notion_rig(workspace, roots=roots, patience=patience) as notion:
        rig = SyncRig(notion, YieldingStore(), WatchedEmbedder(), None)  # type: ignore[arg-type] # set next
        rig.restart(settings=settings)
        yield rig
