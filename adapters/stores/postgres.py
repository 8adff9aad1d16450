"""The index in PostgreSQL: searched by words and vectors in one statement, changed in transactions."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime

import asyncpg

from adapters.stores import (
    backgrounds,
    chunk_rows,
    fingerprints,
    owed_rows,
    page_rows,
    search_sql,
    status,
    writings,
)
from adapters.stores.connecting import LOST_CONNECTION, Connection, translated
from adapters.stores.fingerprints import Contract
from adapters.stores.locking import WRITE_LOCK
from adapters.stores.pool import ACQUIRE_SECONDS, MAX_CONNECTIONS, pooled
from adapters.stores.rows import page_hit, passage, shares, vectors
from adapters.stores.search_sql import Space, Statement
from adapters.stores.status import IndexCounts
from adapters.stores.texts import storable
from core.domain.answers import Candidate
from core.domain.audiences import Audience
from core.domain.documents import Block, PageRef
from core.domain.ids import BlockId, PageId
from core.domain.models import Fingerprint, ModelProfile, Vector
from core.errors import IndexMismatchError, UnavailableError
from core.ports import (
    IndexedChunk,
    PageState,
    PendingPage,
    SampledPassage,
    SearchResult,
    StoredPage,
    WordQuery,
)
from core.ports.neighbours import Stretch

_NOTHING = SearchResult(candidates=(), generation=0)
"""What an audience that may see nothing is told; no statement is sent for it."""


@asynccontextmanager
async def open_store(
    url: str,
    *,
    profile: ModelProfile,
    fingerprint: Fingerprint,
    chunker: str = "",
    beside: bool = False,
    read_only: bool = False,
    connections: int = MAX_CONNECTIONS,
) -> AsyncIterator["PostgresStore"]:
    """The index under one fingerprint, for reading and writing; the pool is closed at the end.

    ``beside`` is for re-embedding: the index may serve another fingerprint meanwhile. ``read_only`` never
    writes, not even to register the fingerprint, so that a role without rights to write will do.

    Raises:
        IndexMismatchError: the index was made with another model or chunker.
        SchemaError: the schema is missing or too old.
        UnavailableError, RefusedError, ConfigurationError: the database cannot be used.
    """
    contract = Contract(fingerprint=fingerprint, profile=profile, chunker=chunker)
    async with pooled(url, size=connections, read_only=read_only) as pool:
        store = PostgresStore(url, pool, contract)
        with translated(url):
            async with pool.acquire(timeout=ACQUIRE_SECONDS) as connection:
                if read_only:
                    await fingerprints.check(connection, contract)
                else:
                    await fingerprints.adopt(connection, contract, beside=beside)
        yield store


class PostgresStore:
    """Both `PassageIndex` and `PageWriter`; made by `open_store`."""

    def __init__(self, url: str, pool: asyncpg.Pool, contract: Contract) -> None:
        self._url = url
        self._pool = pool
        self._contract = contract
        self._space = Space(contract.fingerprint, contract.profile.dimensions)

    # --- reading ---------------------------------------------------------------------------------------

    async def search(
        self, *, vector: Vector | None, words: WordQuery, audience: Audience, limit: int
    ) -> SearchResult:
        """As `PassageIndex.search`."""
        if audience.is_empty:
            return _NOTHING
        self._check_vector(vector)
        statement = search_sql.passages(
            self._space, vector=vector, words=_clean(words), audience=audience, limit=limit
        )
        rows = await self._fetch(statement)
        active = rows[0]["active"]
        if active not in (None, self._contract.fingerprint) and not rows[0]["has_chunks"]:
            raise IndexMismatchError(
                f"the index was switched to other settings [{active}] while this process uses "
                f"{self._contract}: set EMBEDDING_MODEL, NOTION_CHUNK_SIZE and NOTION_CHUNK_OVERLAP "
                "to the new ones and restart"
            )
        found = [row for row in rows if row["id"] is not None]
        return SearchResult(
            candidates=tuple(map(passage, found)),
            generation=rows[0]["generation"],
            has_chunks=rows[0]["has_chunks"],
            vectors=vectors(found),
            shares=shares(found),
            background=rows[0]["background"],
        )

    async def search_pages(self, *, words: WordQuery, audience: Audience, limit: int) -> SearchResult:
        """As `PassageIndex.search_pages`."""
        if audience.is_empty:
            return _NOTHING
        rows = await self._fetch(search_sql.pages(words=_clean(words), audience=audience, limit=limit))
        return SearchResult(
            candidates=tuple(page_hit(row) for row in rows if row["page_id"] is not None),
            generation=rows[0]["generation"],
            has_chunks=rows[0]["has_chunks"],
        )

    async def around(self, stretches: Sequence[Stretch], *, audience: Audience) -> Sequence[Candidate]:
        """As `NeighbourIndex.around`."""
        if audience.is_empty or not stretches:
            return ()
        rows = await self._fetch(search_sql.around(self._space, stretches, audience=audience))
        return [passage(row) for row in rows]

    async def titles(self, ids: Sequence[PageId], *, audience: Audience) -> Mapping[PageId, str | None]:
        """As `PageTitles.titles`."""
        rows = await self._fetch(search_sql.titles(ids, audience=audience)) if ids else ()
        return {PageId(row["id"]): row["title"] for row in rows}

    async def generation(self) -> int:
        """As `PassageIndex.generation`."""
        rows = await self._fetch(Statement("SELECT generation FROM index_state", ()))
        found: int = rows[0]["generation"]
        return found

    async def background(self) -> tuple[int, bytes] | None:
        """As `BackgroundStore.background`."""
        async with self._connection() as connection:
            return await backgrounds.read(connection, self._contract.fingerprint)

    async def is_background_due(self) -> bool:
        """As `BackgroundStore.is_background_due`."""
        async with self._connection() as connection:
            return await backgrounds.is_due(connection, self._contract.fingerprint)

    async def sample_passages(self, limit: int) -> Sequence[SampledPassage]:
        """As `BackgroundStore.sample_passages`."""
        async with self._connection() as connection:
            return await backgrounds.sample(connection, self._contract.fingerprint, limit)

    async def counts(self) -> IndexCounts:
        """Totals and health of the index."""
        async with self._connection() as connection:
            return await status.counts(connection, self._contract)

    # --- writing ---------------------------------------------------------------------------------------

    async def states(self, ids: Sequence[PageId]) -> Mapping[PageId, PageState]:
        """As `PageWriter.states`."""
        async with self._connection() as connection:
            return await page_rows.states(connection, ids)

    async def stored_blocks(self, page_id: PageId) -> tuple[Block, ...] | None:
        """As `PageWriter.stored_blocks`."""
        async with self._connection() as connection:
            return await page_rows.stored_blocks(connection, page_id)

    async def child_ids(self, page_id: PageId) -> Sequence[PageId]:
        """As `PageWriter.child_ids`."""
        async with self._connection() as connection:
            return await page_rows.child_ids(connection, page_id)

    async def put_pages(self, pages: Sequence[StoredPage]) -> None:
        """As `PageWriter.put_pages`."""
        if pages:
            async with self._writing() as connection:
                await page_rows.put(connection, pages)

    async def touch(self, refs: Sequence[PageRef], *, synced_at: datetime) -> None:
        """As `PageWriter.touch`."""
        if refs:
            async with self._writing() as connection:
                await page_rows.touch(connection, refs, synced_at)

    async def pending(self, *, limit: int, after: PageId | None = None) -> Sequence[PendingPage]:
        """As `PageWriter.pending`."""
        async with self._connection() as connection, connection.transaction(isolation="repeatable_read"):
            return await page_rows.pending(connection, self._contract.fingerprint, limit=limit, after=after)

    async def count_pending(self) -> int:
        """As `PageWriter.count_pending`."""
        async with self._connection() as connection:
            return await page_rows.count_pending(connection, self._contract.fingerprint)

    async def vectors_by_hash(self, hashes: Sequence[str]) -> Mapping[str, Vector]:
        """As `PageWriter.vectors_by_hash`."""
        async with self._connection() as connection:
            return await chunk_rows.vectors_by_hash(connection, self._contract.fingerprint, hashes)

    async def swap_chunks(self, page_id: PageId, *, revision: int, chunks: Sequence[IndexedChunk]) -> bool:
        """As `PageWriter.swap_chunks`."""
        async with self._writing() as connection:
            return await chunk_rows.swap(
                connection, self._contract, page_id, revision=revision, chunks=chunks
            )

    async def remove_pages(self, ids: Sequence[PageId], *, proof: str) -> int:
        """As `PageWriter.remove_pages`."""
        async with self._writing() as connection:
            return await page_rows.remove(connection, ids, proof)

    async def mark_all_pending(self) -> int:
        """As `PageWriter.mark_all_pending`."""
        async with self._writing() as connection:
            return await chunk_rows.mark_all_pending(connection, self._contract.fingerprint)

    async def referring(self, ids: Sequence[PageId | BlockId]) -> Sequence[PageId]:
        """As `PageWriter.referring`."""
        async with self._connection() as connection:
            return await page_rows.referring(connection, ids)

    async def owe_looks(self, looks: Mapping[PageId, bool], *, source: str, owner: str) -> None:
        """As `PageWriter.owe_looks`."""
        async with self._connection() as connection:
            await owed_rows.owe(connection, looks, source=source, owner=owner)

    async def take_owed_looks(self, *, source: str, owner: str) -> Mapping[PageId, bool]:
        """As `PageWriter.take_owed_looks`."""
        async with self._connection() as connection:
            return await owed_rows.take(connection, source=source, owner=owner)

    async def settle_looks(self, *, owner: str, but: Collection[PageId] = ()) -> None:
        """As `PageWriter.settle_looks`."""
        async with self._connection() as connection:
            await owed_rows.settle(connection, owner=owner, but=but)

    async def all_states(self, *, limit: int, after: PageId | None = None) -> Sequence[PageState]:
        """As `PageWriter.all_states`."""
        async with self._connection() as connection:
            return await page_rows.all_states(connection, limit=limit, after=after)

    async def keep_background(self, figures: bytes) -> None:
        """As `BackgroundStore.keep_background`."""
        async with self._writing() as connection:
            await backgrounds.keep(connection, self._contract.fingerprint, figures)

    async def writings(self, page_id: PageId) -> Mapping[str, str]:
        """As `KeptWritings.writings`."""
        async with self._connection() as connection:
            return await writings.read(connection, page_id)

    async def keep_writings(self, page_id: PageId, texts: Mapping[str, str]) -> None:
        """As `KeptWritings.keep_writings`."""
        async with self._connection() as connection, connection.transaction():
            await writings.keep(connection, page_id, texts)

    async def activate(self) -> None:
        """Let searches use this store's fingerprint from the next statement on."""
        async with self._writing() as connection:
            await fingerprints.activate(connection, self._contract.fingerprint)

    async def others(self) -> tuple[Fingerprint, ...]:
        """The fingerprints beside this store's own: those of earlier settings, in use or left behind."""
        async with self._connection() as connection:
            return await fingerprints.others(connection, self._contract.fingerprint)

    async def drop(self, fingerprint: Fingerprint) -> int:
        """Forget another fingerprint with its passages; returns how many there were.

        Raises:
            IndexMismatchError: it is the one that searches use.
        """
        async with self._writing() as connection:
            return await fingerprints.drop(connection, fingerprint)

    # --- connections -----------------------------------------------------------------------------------

    def _check_vector(self, vector: Vector | None) -> None:
        dimensions = self._contract.profile.dimensions
        if vector is not None and vector.shape != (dimensions,):
            raise IndexMismatchError(
                f"the index holds vectors of {dimensions} dimensions, the question's has shape "
                f"{vector.shape}: check EMBEDDING_MODEL, or run `footnote reembed`"
            )

    async def _fetch(self, statement: Statement) -> Sequence[asyncpg.Record]:
        # A connection that died in the pool, since the server was restarted, shows only when it is used.
        try:
            return await self._fetch_once(statement)
        except UnavailableError as error:
            if not isinstance(error.__cause__, LOST_CONNECTION):
                raise
            return await self._fetch_once(statement)

    async def _fetch_once(self, statement: Statement) -> Sequence[asyncpg.Record]:
        async with self._connection() as connection:
            rows: Sequence[asyncpg.Record] = await connection.fetch(statement.sql, *statement.values)
            return rows

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Connection]:
        with translated(self._url):
            async with self._pool.acquire(timeout=ACQUIRE_SECONDS) as connection:
                try:
                    yield connection
                except LOST_CONNECTION:
                    # What happened to one of the pool has happened to all.
                    connection.terminate()
                    await self._pool.expire_connections()
                    raise

    @asynccontextmanager
    async def _writing(self) -> AsyncIterator[Connection]:
        async with self._connection() as connection, connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock($1)", WRITE_LOCK)
            yield connection


def _clean(words: WordQuery) -> WordQuery:
    return WordQuery(
        text=storable(words.text),
        terms=tuple(storable(term) for term in words.terms),
        web_syntax=words.web_syntax,
        language=words.language,
        spellings=tuple(storable(term) for term in words.spellings),
        heal=words.heal,
    )
