"""From stored pages to passages with vectors: cut, reuse what is known, embed the rest, swap page by page."""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256

from core.domain.documents import Chunk, PlacedPage, walk
from core.domain.ids import PageId
from core.domain.models import Vector
from core.domain.references import (
    Lookup,
    Target,
    referenced,
    resolve_blocks,
    resolve_properties,
    without_references,
)
from core.errors import TROUBLE_OF_THE_INDEX, FootnoteError, PermanentError, TemporaryError
from core.ports import Embedder, IndexedChunk, PageWriter, PendingPage
from core.services import languages
from core.services.chunking import ChunkSettings, chunks_or_title, page_text
from core.services.enriching import Cost, Enricher
from core.services.sync_report import Failure, Tally

_logger = logging.getLogger("footnote.sync")

PAGES_AT_ONCE = 32
"""Pages whose chunks are held in memory and embedded together."""

_GIVE_UP_AFTER = 3
"""Pages that may fail one after the other before the embedder counts as down."""


@dataclass(frozen=True, slots=True)
class _Cut:
    """A page cut into chunks, with the hash of each text."""

    page: PendingPage
    chunks: tuple[Chunk, ...]
    hashes: tuple[str, ...]


class Indexer:
    """Embeds what is pending. The order is stable and every page is one transaction, so it can be cut off
    anywhere and taken up again."""

    def __init__(
        self,
        *,
        writer: PageWriter,
        embedder: Embedder,
        chunk_settings: ChunkSettings,
        enricher: Enricher | None = None,
    ) -> None:
        self._writer = writer
        self._embedder = embedder
        self._settings = chunk_settings
        self._enricher = enricher

    async def cost(self) -> Cost:
        """What enriching the pending pages would ask of the chat model; nothing is asked or stored."""
        total, after = Cost(), None
        if self._enricher is None:
            return total
        while pages := await self._writer.pending(limit=PAGES_AT_ONCE, after=after):
            after = pages[-1].placed.ref.id
            for page in pages:
                with suppress(ValueError, RecursionError):
                    total += await self._enricher.cost(page.placed, _own_text(page), await self._chunks(page))
        return total

    async def run(self, tally: Tally) -> None:
        """Bring every pending page up to date; one that fails keeps its old passages and stays pending.

        Before and afterwards the tally's ``pending`` is what the index says.

        Raises:
            RefusedError: the embedder refused us; more calls are doomed (SY20, T21).
        """
        tally.set(pending=await self._writer.count_pending())
        await self._index_all(tally)
        # Counted, since a sync may have stored pages meanwhile.
        tally.set(pending=await self._writer.count_pending())

    async def _index_all(self, tally: Tally) -> None:
        if self._enricher is not None and (cost := await self.cost()).calls:
            _logger.info("Asking the chat model about pages: %s", cost)
        after: PageId | None = None
        while True:
            pages = await self._writer.pending(limit=PAGES_AT_ONCE, after=after)
            if not pages:
                return
            after = pages[-1].placed.ref.id
            cut = [one for one in [await self._cut(page, tally) for page in pages] if one is not None]
            try:
                await self._index(cut, tally)
            except TemporaryError as error:
                _logger.info("Embedding %d pages together failed: %s", len(cut), error)
                if not await self._index_one_by_one(cut, tally):
                    return

    async def _cut(self, page: PendingPage, tally: Tally) -> _Cut | None:
        try:
            chunks = await self._chunks(page)
        except (ValueError, RecursionError) as error:
            tally.fail(_failure(page, f"could not be cut into chunks: {error}"))
            return None
        except FootnoteError:
            raise
        except Exception as error:
            _logger.exception("Page %s could not be cut into chunks", page.placed.ref.id)
            tally.fail(_failure(page, f"could not be cut into chunks ({type(error).__name__})"))
            return None
        if self._enricher is not None:
            chunks = await self._enricher.enrich(page.placed, _own_text(page), chunks)
        return _Cut(page, chunks, tuple(text_hash(chunk.text_to_embed) for chunk in chunks))

    async def _chunks(self, page: PendingPage) -> tuple[Chunk, ...]:
        placed = page.placed
        lookup = await self._titles(page)
        ref = replace(placed.ref, properties=resolve_properties(placed.ref.properties, lookup))
        resolved = PlacedPage(ref, placed.ancestors)
        blocks = resolve_blocks(page.blocks, lookup)
        # A long document takes seconds, and people go on asking meanwhile.
        return await asyncio.to_thread(chunks_or_title, resolved, blocks, self._settings)

    async def _titles(self, page: PendingPage) -> Lookup:
        texts = [block.text for block, _ in walk(page.blocks)]
        wanted = referenced([*texts, *(value for _, value in page.placed.ref.properties)])
        states = await self._writer.states(wanted) if wanted else {}
        return {page_id: Target(state.ref.title, state.ref.url) for page_id, state in states.items()}.get

    async def _index_one_by_one(self, cut: Sequence[_Cut], tally: Tally) -> bool:
        """Find the pages that fail; false once the embedder seems to be down altogether."""
        failed_in_a_row = 0
        for one in cut:
            try:
                await self._index([one], tally)
                failed_in_a_row = 0
            except TemporaryError as error:
                failed_in_a_row += 1
                tally.fail(_failure(one.page, f"could not be embedded: {error}"))
                if failed_in_a_row >= _GIVE_UP_AFTER or len(cut) == 1:
                    tally.set(embedding_error=str(error))
                    return False
        return True

    async def _index(self, cut: Sequence[_Cut], tally: Tally) -> None:
        vectors = await self._vectors(cut, tally)
        for one in cut:
            missing = sum(text not in vectors for text in one.hashes)
            if missing:
                # A page with a hole would answer wrongly without anybody noticing (T2).
                tally.fail(_failure(one.page, f"the embedding model refused {missing} of its passages"))
                continue
            await self._swap(one, vectors, tally)

    async def _vectors(self, cut: Sequence[_Cut], tally: Tally) -> dict[str, Vector]:
        """Vectors by hash of text: the known ones, and those made now; refused texts are absent."""
        texts = {
            hashed: chunk.text_to_embed
            for one in cut
            for hashed, chunk in zip(one.hashes, one.chunks, strict=True)
        }
        vectors = dict(await self._writer.vectors_by_hash(list(texts))) if texts else {}
        tally.add(reused=len(vectors))
        unknown = [hashed for hashed in texts if hashed not in vectors]
        if unknown:
            made = await self._embedder.embed_passages([texts[hashed] for hashed in unknown])
            for hashed, vector in zip(unknown, made, strict=True):
                if vector is not None:
                    vectors[hashed] = vector
                    tally.add(embedded=1)
        return vectors

    async def _swap(self, one: _Cut, vectors: dict[str, Vector], tally: Tally) -> None:
        language = languages.detect(" ".join(chunk.body for chunk in one.chunks)[:2000])
        indexed = [
            IndexedChunk(chunk, vectors[hashed], hashed, languages.detect(chunk.body) or language)
            for chunk, hashed in zip(one.chunks, one.hashes, strict=True)
        ]
        page_id = one.page.placed.ref.id
        try:
            swapped = await self._writer.swap_chunks(page_id, revision=one.page.revision, chunks=indexed)
        except TROUBLE_OF_THE_INDEX:
            raise
        except PermanentError as error:
            # Something in this page; all others come behind it.
            tally.fail(_failure(one.page, f"could not be stored: {error}"))
            return
        if swapped:
            tally.add(pages_embedded=1, pending=-1, chunks=len(indexed))
        # Otherwise somebody stored a newer text meanwhile, and that one is pending now.


def text_hash(text: str) -> str:
    """Of the exact text that is embedded, so that an unmoved text is never embedded twice."""
    return sha256(text.encode()).hexdigest()


def _own_text(page: PendingPage) -> str:
    """The page's text without the titles of others, which its readers may not be allowed to see."""
    return without_references(page_text(page.placed.ref, page.blocks))


def _failure(page: PendingPage, reason: str) -> Failure:
    ref = page.placed.ref
    return Failure(ref.id, ref.title, ref.url, reason)
