"""The index in dictionaries: the same two ports, for tests, trials and anything that may be forgotten.

It behaves as the PostgreSQL store does, except that words are compared as they stand (accents and case
folded) instead of being stemmed by language.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count
from typing import TypeVar

import numpy as np

from adapters.stores.memory_words import (
    BODY_WEIGHT,
    HEADING_WEIGHT,
    TITLE_WEIGHT,
    fold,
    is_healable,
    nearest,
    score,
)
from adapters.stores.texts import storable
from core.domain.answers import Candidate
from core.domain.audiences import Audience
from core.domain.documents import (
    MAX_BREADCRUMB_ANCESTORS,
    Block,
    PageRef,
    PlacedPage,
    breadcrumb,
    heading_context,
    walk,
)
from core.domain.ids import BlockId, ChunkId, PageId
from core.domain.models import Vector
from core.domain.references import referenced
from core.domain.trees import mirrored
from core.ports import (
    IndexedChunk,
    PageState,
    PendingPage,
    SampledPassage,
    SearchResult,
    StoredPage,
    WordQuery,
)
from core.ports.ledger import Fate
from core.ports.neighbours import Stretch

_NOTHING = SearchResult(candidates=(), generation=0)


@dataclass(slots=True)
class _Page:
    stored: StoredPage
    revision: int
    synced_at: datetime
    embedded_at: datetime | None = None
    embedded_revision: int | None = None
    chunks: dict[ChunkId, IndexedChunk] = field(default_factory=dict)
    above: tuple[PageId, ...] = ()
    writings: dict[str, str] = field(default_factory=dict)

    @property
    def has_text(self) -> bool:
        return bool(self.stored.content_text.strip())


class MemoryStore:
    """Both `PassageIndex` and `PageWriter`."""

    def __init__(self) -> None:
        self._pages: dict[PageId, _Page] = {}
        self.gone: dict[PageId, tuple[PageRef, str]] = {}
        """What was removed, as it was, and the proof."""
        self.owed: dict[PageId, tuple[bool, str, str]] = {}
        """Looks that runs owe: whether to read in any case, the source, and the run that is to settle it."""
        self._generation = 1
        self._ids = count(1)
        self._reusable: dict[str, Vector] = {}
        self._background: tuple[int, bytes] | None = None

    # --- reading ---------------------------------------------------------------------------------------

    async def search(
        self, *, vector: Vector | None, words: WordQuery, audience: Audience, limit: int
    ) -> SearchResult:
        """As `PassageIndex.search`."""
        if audience.is_empty:
            return _NOTHING
        visible = [
            (chunk_id, page, indexed)
            for page in self._pages.values()
            if audience.admits(self._path(page))
            for chunk_id, indexed in page.chunks.items()
        ]
        cosines = {} if vector is None else _cosines(vector, visible)
        scores = _best(_scores(self._healed(words), visible), limit)
        semantic, lexical = _ranks(_best_of_each(cosines, visible, limit)), _ranks(scores)
        found = semantic.keys() | lexical.keys()
        candidates = [
            replace(
                self._candidate(page, chunk_id, indexed),
                semantic_rank=semantic.get(chunk_id),
                lexical_rank=lexical.get(chunk_id),
                cosine=cosines.get(chunk_id),
                lexical=scores.get(chunk_id),
            )
            for chunk_id, page, indexed in visible
            if chunk_id in found
        ]
        return SearchResult(
            candidates=tuple(sorted(candidates, key=_order)),
            generation=self._generation,
            has_chunks=any(page.chunks for page in self._pages.values()),
            vectors={} if vector is None else {one: own.vector for one, _, own in visible if one in found},
            background=0 if self._background is None else self._background[0],
        )

    async def around(self, stretches: Sequence[Stretch], *, audience: Audience) -> Sequence[Candidate]:
        """As `NeighbourIndex.around`."""
        found = [
            self._candidate(page, chunk_id, indexed)
            for page_id, page in sorted(self._pages.items())
            if audience.admits(self._path(page))
            for chunk_id, indexed in page.chunks.items()
            if indexed.chunk.level > 0
            and any(
                one.page_id == page_id and one.first <= indexed.chunk.index <= one.last for one in stretches
            )
        ]
        return sorted(found, key=lambda one: (one.page_id, one.index))

    def _healed(self, words: WordQuery) -> WordQuery:
        """With the nearest words of the index for terms that no passage has."""
        if not words.heal or words.web_syntax:
            return words
        chunks = [one.chunk for page in self._pages.values() for one in page.chunks.values()]
        known = {word for chunk in chunks for word in fold(chunk.text_to_embed)}
        unknown = [word for term in words.terms for word in fold(term) if word not in known]
        near = [one for word in unknown if is_healable(word) for one in nearest(word, known)]
        return replace(words, spellings=(*words.spellings, *near))

    async def search_pages(self, *, words: WordQuery, audience: Audience, limit: int) -> SearchResult:
        """As `PassageIndex.search_pages`."""
        if audience.is_empty:
            return _NOTHING
        scores = {}
        for page_id, page in self._pages.items():
            if not audience.admits(self._path(page)):
                continue
            fields = (
                (page.stored.page.ref.title, TITLE_WEIGHT),
                (self._breadcrumb(page), HEADING_WEIGHT),
                (page.stored.content_text, BODY_WEIGHT),
            )
            if points := score(words, fields):
                scores[page_id] = points
        best = _best(scores, limit)
        ranks = _ranks(best)
        candidates = [
            Candidate(
                chunk_id=None,
                page_id=page_id,
                title=ref.title,
                breadcrumb=self._breadcrumb(self._pages[page_id]),
                page_url=ref.url,
                body=self._pages[page_id].stored.content_text,
                path=self._path(self._pages[page_id]),
                language=self._pages[page_id].stored.language,
                last_edited=ref.last_edited,
                lexical_rank=ranks[page_id],
                lexical=score,
            )
            for page_id, score in best.items()
            for ref in (self._pages[page_id].stored.page.ref,)
        ]
        return SearchResult(tuple(sorted(candidates, key=_order)), self._generation, bool(self._pages))

    async def titles(self, ids: Sequence[PageId], *, audience: Audience) -> Mapping[PageId, str | None]:
        """As `PageTitles.titles`."""
        known = {page_id: page for page_id in ids if (page := self._pages.get(page_id)) is not None}
        return {
            page_id: page.stored.page.ref.title if audience.admits(self._path(page)) else None
            for page_id, page in known.items()
        }

    async def generation(self) -> int:
        """As `PassageIndex.generation`."""
        return self._generation

    async def background(self) -> tuple[int, bytes] | None:
        """As `BackgroundStore.background`."""
        return self._background

    async def is_background_due(self) -> bool:
        """As `BackgroundStore.is_background_due`; any change counts."""
        is_new = self._background is None or self._background[0] < self._generation
        return is_new and any(page.chunks for page in self._pages.values())

    async def sample_passages(self, limit: int) -> Sequence[SampledPassage]:
        """As `BackgroundStore.sample_passages`."""
        passages = [
            SampledPassage(
                title=indexed.chunk.breadcrumb,
                headings=heading_context(indexed.chunk.heading_path),
                body=indexed.chunk.body,
                language=indexed.language,
                vector=indexed.vector,
            )
            for _, page in sorted(self._pages.items())
            for indexed in page.chunks.values()
        ]
        return passages[:: max(1, -(-len(passages) // limit))]

    async def keep_background(self, figures: bytes) -> None:
        """As `BackgroundStore.keep_background`."""
        self._generation += 1
        self._background = (self._generation, figures)

    # --- writing ---------------------------------------------------------------------------------------

    async def states(self, ids: Sequence[PageId]) -> Mapping[PageId, PageState]:
        """As `PageWriter.states`."""
        return {page_id: _state(page) for page_id in ids if (page := self._pages.get(page_id)) is not None}

    async def stored_blocks(self, page_id: PageId) -> tuple[Block, ...] | None:
        """As `PageWriter.stored_blocks`."""
        page = self._pages.get(page_id)
        return page.stored.page.blocks if page is not None else None

    async def child_ids(self, page_id: PageId) -> Sequence[PageId]:
        """As `PageWriter.child_ids`."""
        refs = (page.stored.page.ref for page in self._pages.values())
        return sorted(ref.id for ref in refs if ref.parent_id == page_id)

    async def put_pages(self, pages: Sequence[StoredPage]) -> None:
        """As `PageWriter.put_pages`."""
        before = {page_id: self._breadcrumb(page) for page_id, page in self._pages.items()}
        renamed: set[PageId] = set()
        for given in pages:
            stored = _storable(given)
            page_id, seen_at = stored.page.ref.id, stored.seen_at or datetime.now(UTC)
            known = self._pages.get(page_id)
            if known is None:
                self._pages[page_id] = _Page(stored=stored, revision=1, synced_at=seen_at)
                renamed.add(page_id)
                continue
            if _shown(known.stored) != _shown(stored):
                renamed.add(page_id)
            if known.stored.page.ref.parent_id != stored.page.ref.parent_id:
                known.above = ()
            known.revision += known.stored.content_hash != stored.content_hash
            known.stored, known.synced_at = stored, seen_at
            if not known.has_text:
                known.chunks.clear()
        for page_id, page in self._pages.items():
            page.revision += page_id in before and self._breadcrumb(page) != before[page_id]
            page.above = self._path(page)[1:]
        self._mark_referring(renamed)
        self._generation += bool(pages)

    async def touch(self, refs: Sequence[PageRef], *, synced_at: datetime) -> None:
        """As `PageWriter.touch`."""
        for ref in refs:
            if (page := self._pages.get(ref.id)) is not None:
                former = page.stored.page.ref
                self._generation += former.last_edited != ref.last_edited
                seen = replace(former, last_edited=ref.last_edited)
                page.stored = replace(page.stored, page=replace(page.stored.page, ref=seen))
                page.synced_at = synced_at

    async def pending(self, *, limit: int, after: PageId | None = None) -> Sequence[PendingPage]:
        """As `PageWriter.pending`."""
        waiting = [one for one in self._waiting() if after is None or one > after]
        return [
            PendingPage(
                placed=PlacedPage(ref=page.stored.page.ref, ancestors=self._ancestors(page)),
                blocks=page.stored.page.blocks,
                revision=page.revision,
            )
            for page_id in waiting[:limit]
            for page in (self._pages[page_id],)
        ]

    async def count_pending(self) -> int:
        """As `PageWriter.count_pending`."""
        return len(self._waiting())

    def _waiting(self) -> list[PageId]:
        return [
            page_id
            for page_id, page in sorted(self._pages.items())
            if page.has_text and page.embedded_revision != page.revision
        ]

    async def vectors_by_hash(self, hashes: Sequence[str]) -> Mapping[str, Vector]:
        """As `PageWriter.vectors_by_hash`."""
        stored = {
            indexed.text_hash: indexed.vector
            for page in self._pages.values()
            for indexed in page.chunks.values()
            if indexed.text_hash in self._reusable
        }
        return {one: stored[one] for one in hashes if one in stored}

    async def swap_chunks(self, page_id: PageId, *, revision: int, chunks: Sequence[IndexedChunk]) -> bool:
        """As `PageWriter.swap_chunks`."""
        page = self._pages.get(page_id)
        if page is None or page.revision != revision:
            return False
        kept = {(one.chunk.level, one.chunk.index): chunk_id for chunk_id, one in page.chunks.items()}
        page.chunks = {
            kept.get((one.chunk.level, one.chunk.index)) or ChunkId(next(self._ids)): one for one in chunks
        }
        self._reusable.update({one.text_hash: one.vector for one in chunks})
        page.embedded_revision, page.embedded_at = revision, datetime.now(UTC)
        self._generation += 1
        return True

    async def remove_pages(self, ids: Sequence[PageId], *, proof: str) -> int:
        """As `PageWriter.remove_pages`."""
        before = {page_id: self._breadcrumb(page) for page_id, page in self._pages.items()}
        removed = [page for page_id in set(ids) if (page := self._pages.pop(page_id, None)) is not None]
        for page in removed:
            self.gone[page.stored.page.ref.id] = (page.stored.page.ref, proof)
        for page_id, page in self._pages.items():
            page.revision += self._breadcrumb(page) != before[page_id]
        if removed:
            self._mark_referring(set(ids))
        self._generation += bool(removed)
        return len(removed)

    async def mark_all_pending(self) -> int:
        """As `PageWriter.mark_all_pending`."""
        self._reusable.clear()
        for page in self._pages.values():
            page.embedded_revision = page.embedded_at = None
        return sum(page.has_text for page in self._pages.values())

    def _mark_referring(self, ids: set[PageId]) -> None:
        for page in self._pages.values():
            page.revision += not ids.isdisjoint(_refers_to(page))

    async def referring(self, ids: Sequence[PageId | BlockId]) -> Sequence[PageId]:
        """As `PageWriter.referring`."""
        pages = sorted(self._pages.items())
        return [page_id for page_id, page in pages if not set(ids).isdisjoint(_refers_to(page))]

    async def owe_looks(self, looks: Mapping[PageId, bool], *, source: str, owner: str) -> None:
        """As `PageWriter.owe_looks`."""
        for page_id, reread in looks.items():
            before = self.owed.get(page_id)
            self.owed[page_id] = (reread or (before is not None and before[0]), source, owner)

    async def take_owed_looks(self, *, source: str, owner: str) -> Mapping[PageId, bool]:
        """As `PageWriter.take_owed_looks`."""
        taken = {page_id: reread for page_id, (reread, of, _) in self.owed.items() if of == source}
        self.owed.update({page_id: (reread, source, owner) for page_id, reread in taken.items()})
        return taken

    async def settle_looks(self, *, owner: str, but: Collection[PageId] = ()) -> None:
        """As `PageWriter.settle_looks`."""
        kept = {one: debt for one, debt in self.owed.items() if debt[2] != owner or one in but}
        self.owed.clear()
        self.owed.update(kept)

    async def all_states(self, *, limit: int, after: PageId | None = None) -> Sequence[PageState]:
        """As `PageWriter.all_states`."""
        behind = sorted(page_id for page_id in self._pages if after is None or page_id > after)
        return [_state(self._pages[page_id]) for page_id in behind[:limit]]

    async def writings(self, page_id: PageId) -> Mapping[str, str]:
        """As `KeptWritings.writings`."""
        page = self._pages.get(page_id)
        return {} if page is None else dict(page.writings)

    async def keep_writings(self, page_id: PageId, texts: Mapping[str, str]) -> None:
        """As `KeptWritings.keep_writings`."""
        if (page := self._pages.get(page_id)) is not None:
            page.writings = dict(texts)

    def contents(self) -> list[tuple[PageRef, Fate, int]]:
        """Every stored page with its fate and how many passages it has, for the ledger."""
        return [(page.stored.page.ref, _fate(page), len(page.chunks)) for page in self._pages.values()]

    # --- the tree --------------------------------------------------------------------------------------

    def _ancestors(self, page: _Page) -> tuple[PageRef, ...]:
        found: list[PageRef] = []
        seen = {page.stored.page.ref.id}
        parent = page.stored.page.ref.parent_id
        while parent is not None and parent in self._pages and parent not in seen:
            seen.add(parent)
            found.append(self._pages[parent].stored.page.ref)
            parent = found[-1].parent_id
        return tuple(reversed(found))

    def _path(self, page: _Page) -> tuple[PageId, ...]:
        refs = (page.stored.page.ref, *reversed(self._ancestors(page)))
        path = [one for ref in refs for one in (ref.id, ref.data_source_id) if one is not None]
        missing = refs[-1].parent_id
        if missing is None or missing in path:
            return tuple(path)
        top = self._pages[refs[-1].id]
        remembered = top.above[top.above.index(missing) :] if missing in top.above else (missing,)
        return (*path, *remembered)

    def _breadcrumb(self, page: _Page) -> str:
        titles = [ref.title for ref in self._ancestors(page)]
        return breadcrumb(titles[-MAX_BREADCRUMB_ANCESTORS:], page.stored.page.ref.title)

    def _candidate(self, page: _Page, chunk_id: ChunkId, indexed: IndexedChunk) -> Candidate:
        chunk, ref = indexed.chunk, page.stored.page.ref
        return Candidate(
            chunk_id=chunk_id,
            page_id=ref.id,
            title=ref.title,
            breadcrumb=self._breadcrumb(page),
            page_url=ref.url,
            body=storable(chunk.body),
            path=self._path(page),
            block_id=chunk.block_id,
            heading_path=chunk.heading_path,
            level=chunk.level,
            index=chunk.index,
            language=indexed.language,
            last_edited=ref.last_edited,
        )


def _state(page: _Page) -> PageState:
    return PageState(
        ref=page.stored.page.ref,
        content_hash=page.stored.content_hash,
        revision=page.revision,
        synced_at=page.synced_at,
        embedded_at=page.embedded_at,
        source=page.stored.source,
    )


def _shown(stored: StoredPage) -> tuple[str, str]:
    """What links to a page show."""
    return stored.page.ref.title, stored.page.ref.url


def _refers_to(page: _Page) -> tuple[str, ...]:
    read = page.stored.page
    texts = (block.text for block, _ in walk(read.blocks))
    named = referenced((*texts, *(value for pair in read.ref.properties for value in pair)))
    return (*named, *mirrored(read.blocks))


def _fate(page: _Page) -> Fate:
    if not page.has_text:
        return Fate.EMPTY
    return Fate.INDEXED if page.embedded_revision == page.revision else Fate.PENDING


_Visible = Sequence[tuple[ChunkId, _Page, IndexedChunk]]


def _cosines(vector: Vector, visible: _Visible) -> dict[ChunkId, float]:
    return {chunk_id: _cosine(vector, indexed.vector) for chunk_id, _, indexed in visible}


def _cosine(left: Vector, right: Vector) -> float:
    lengths = float(np.linalg.norm(left)) * float(np.linalg.norm(right))
    return float(np.dot(left.astype(np.float64), right.astype(np.float64))) / lengths if lengths else 0.0


def _scores(words: WordQuery, visible: _Visible) -> dict[ChunkId, float]:
    scored = {}
    for chunk_id, _, indexed in visible:
        chunk = indexed.chunk
        fields = (
            (chunk.breadcrumb, TITLE_WEIGHT),
            (chunk.searched_headings, HEADING_WEIGHT),
            (chunk.body, BODY_WEIGHT),
        )
        if points := score(words, fields):
            scored[chunk_id] = points
    return scored


_Key = TypeVar("_Key", ChunkId, PageId)


def _best(scores: Mapping[_Key, float], limit: int) -> dict[_Key, float]:
    ordered = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return dict(ordered[:limit])


def _best_of_each(cosines: Mapping[ChunkId, float], visible: _Visible, limit: int) -> dict[ChunkId, float]:
    """The best of each language, all of them in one order."""
    spoken: dict[str, dict[ChunkId, float]] = {}
    for chunk_id, _, indexed in visible:
        if chunk_id in cosines:
            spoken.setdefault(indexed.language, {})[chunk_id] = cosines[chunk_id]
    united = {chunk_id: cosine for own in spoken.values() for chunk_id, cosine in _best(own, limit).items()}
    return _best(united, len(united))


def _ranks(best: Mapping[_Key, float]) -> dict[_Key, int]:
    return {key: rank for rank, key in enumerate(best, start=1)}


def _order(candidate: Candidate) -> tuple[float, float, int, PageId]:
    last = float("inf")
    return (
        candidate.semantic_rank or last,
        candidate.lexical_rank or last,
        candidate.chunk_id or 0,
        candidate.page_id,
    )


def _storable(stored: StoredPage) -> StoredPage:
    ref = replace(stored.page.ref, title=storable(stored.page.ref.title))
    return replace(stored, page=replace(stored.page, ref=ref), content_text=storable(stored.content_text))
