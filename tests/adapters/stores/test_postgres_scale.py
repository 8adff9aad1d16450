"""The store at 20,000 passages: the vector index is used, and no result comes back short."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from uuid import UUID

import asyncpg
import numpy as np
import numpy.typing as npt
import pytest
import pytest_asyncio
from pgvector import Vector
from pgvector.asyncpg import register_vector

from adapters.stores import search_sql
from adapters.stores.pool import SESSION
from adapters.stores.postgres import PostgresStore, open_store
from adapters.stores.search_sql import EXACT_BELOW, Space
from adapters.stores.vector_index import ensure_vector_index
from core.domain.audiences import EVERYTHING, Audience, Scope
from core.domain.ids import PageId
from core.domain.models import ModelProfile
from tests.builders_store import NO_WORDS, words
from tests.conftest import own_database

DIMENSIONS = 16
PROFILE = ModelProfile(name="test:sixteen", dimensions=DIMENSIONS)
FINGERPRINT = PROFILE.fingerprint("chunker-1")
PAGES, PER_PAGE = 4000, 5
ROWS = PAGES * PER_PAGE

MOST, TWO_PERCENT, FEW = (PageId(str(UUID(int=10**6 + number))) for number in range(3))
"""Roots of 97.9 %, 2 % and 0.05 % of the pages."""


@dataclass(frozen=True, slots=True)
class Filled:
    """A store of 20,000 passages, the vectors in order of chunk id, and the root above each."""

    store: PostgresStore
    url: str
    vectors: npt.NDArray[np.float32]
    roots: npt.NDArray[np.str_]

    def exact(self, query: npt.NDArray[np.float32], limit: int, root: PageId | None = None) -> list[int]:
        """The ids of the nearest passages, by comparing all of them."""
        cosines = self.vectors.astype(np.float64) @ query.astype(np.float64)
        if root is not None:
            cosines = np.where(self.roots == root, cosines, -2.0)
        order = np.lexsort((np.arange(ROWS), -cosines))[:limit]
        return [int(row) + 1 for row in order if cosines[row] > -2.0]


def unit_vectors(count: int, seed: int) -> npt.NDArray[np.float32]:
    """Clustered like texts are, on the unit sphere."""
    numbers = np.random.default_rng(seed)
    centres = np.random.default_rng(7).normal(size=(60, DIMENSIONS))
    vectors = centres[numbers.integers(0, len(centres), count)] + 0.6 * numbers.normal(
        size=(count, DIMENSIONS)
    )
    unit: npt.NDArray[np.float32] = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(
        np.float32
    )
    return unit


def root_of(page: int) -> PageId:
    """Two pages of all 4,000 are below FEW, every fiftieth below TWO_PERCENT."""
    if page in (7, 2007):
        return FEW
    return TWO_PERCENT if page % 50 == 0 else MOST


def language_of(row: int) -> str:
    """One passage in a hundred is written in German."""
    return "de" if row % 100 == 0 else "en"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def filled_url(postgres_url: str, template_database: str) -> AsyncIterator[str]:
    """Made once: no test of this module writes."""
    async with own_database(postgres_url, template_database) as url:
        connection = await asyncpg.connect(url)
        await register_vector(connection)
        await _fill(connection, unit_vectors(ROWS, seed=1))
        await connection.close()
        await ensure_vector_index(url, PROFILE, FINGERPRINT)
        yield url


@pytest.fixture
async def filled(filled_url: str) -> AsyncIterator[Filled]:
    """The filled store, opened for one test."""
    vectors = unit_vectors(ROWS, seed=1)
    roots = np.array([root_of(page) for page in range(PAGES) for _ in range(PER_PAGE)])
    async with open_store(filled_url, profile=PROFILE, fingerprint=FINGERPRINT, connections=2) as store:
        yield Filled(store, filled_url, vectors, roots)


async def _fill(connection: asyncpg.Connection, vectors: npt.NDArray[np.float32]) -> None:
    # Triggers are off: they are tested elsewhere, and here only the rows count.
    await connection.execute("SET session_replication_role = replica")
    await connection.execute(
        "INSERT INTO index_fingerprints (fingerprint, model, dimensions) VALUES ($1, 'test', $2)",
        FINGERPRINT,
        DIMENSIONS,
    )
    await connection.execute("UPDATE index_state SET active = $1", FINGERPRINT)
    pages = [UUID(int=page) for page in range(PAGES)]
    await connection.copy_records_to_table(
        "notion_pages",
        records=[(id_, [id_, UUID(root_of(page))], "t", "u", "h") for page, id_ in enumerate(pages)],
        columns=["id", "path", "title", "url", "content_hash"],
    )
    await connection.copy_records_to_table(
        "notion_embeddings",
        records=[
            (
                *(pages[row // PER_PAGE], 1, row % PER_PAGE, f"w{row % 500}", "", "test"),
                *(DIMENSIONS, FINGERPRINT, str(row), language_of(row), Vector(vector)),
            )
            for row, vector in enumerate(vectors)
        ],
        columns=[
            *("page_id", "chunk_level", "chunk_index", "chunk_text", "page_title", "model_name"),
            *("model_dimensions", "fingerprint", "text_hash", "language", "embedding"),
        ],
    )
    await connection.execute("ANALYZE")


def below(root: PageId) -> Audience:
    """Readers of one part of the workspace."""
    return Audience("a", ((Scope("s", frozenset({root})),),))


async def nearest(
    store: PostgresStore, query: npt.NDArray[np.float32], audience: Audience, limit: int
) -> Sequence[int]:
    """The chunk ids of the vector side, best first, whatever their language."""
    found = await store.search(vector=query, words=NO_WORDS, audience=audience, limit=limit)
    return [one.chunk_id for one in found.candidates if one.chunk_id is not None][:limit]


async def plan(filled: Filled, audience: Audience, limit: int) -> list[str]:
    """The plan of a search as it ran; the vector itself is cut off each line."""
    statement = search_sql.passages(
        Space(FINGERPRINT, DIMENSIONS),
        vector=unit_vectors(1, seed=99)[0],
        words=words("w1"),
        audience=audience,
        limit=limit,
    )
    connection = await asyncpg.connect(filled.url, server_settings=SESSION)
    try:
        await register_vector(connection)
        rows = await connection.fetch(
            f"EXPLAIN (ANALYZE, COSTS off, TIMING off) {statement.sql}", *statement.values
        )
    finally:
        await connection.close()
    return [row[0][:200] for row in rows]


def ran(lines: list[str], what: str) -> bool:
    """Whether a node of the plan was executed."""
    return any(what in line and "never executed" not in line for line in lines)


@pytest.mark.parametrize("limit", [50, 200])
async def test_r17_as_many_candidates_come_back_as_were_asked_for(filled: Filled, limit: int) -> None:
    """With 200 candidates 200 come of the language that is walked by the graph; the default would give 40.

    The passages of the rare language are compared in full and cannot make up the number.
    """
    query = unit_vectors(1, seed=5)[0]
    found = await filled.store.search(vector=query, words=NO_WORDS, audience=EVERYTHING, limit=limit)
    lines = await plan(filled, EVERYTHING, limit)

    walked = [one.chunk_id for one in found.candidates if one.language == "en"]
    assert len(walked) == len(set(walked)) == limit
    assert ran(lines, "Index Scan using notion_embeddings_hnsw_v1_")


async def test_t1_the_index_finds_what_an_exact_scan_finds(filled: Filled) -> None:
    """Of the 50 nearest passages at least 95 in 100 are found, over 20 questions."""
    queries = unit_vectors(20, seed=2)

    shares = [
        len(set(await nearest(filled.store, query, EVERYTHING, 50)) & set(filled.exact(query, 50))) / 50
        for query in queries
    ]

    assert np.mean(shares) >= 0.95
    assert min(shares) >= 0.8


@pytest.mark.parametrize(("root", "in_scope"), [(TWO_PERCENT, 400), (FEW, 10)])
async def test_f46_r18_a_narrow_scope_is_searched_in_full(
    filled: Filled, root: PageId, in_scope: int
) -> None:
    """min(N, passages in scope) come back, the very ones an exact scan finds, in its order."""
    for query in unit_vectors(5, seed=3):
        found = await nearest(filled.store, query, below(root), 50)

        assert found == filled.exact(query, 50, root)
        assert len(found) == min(50, in_scope)


async def test_r18_the_graph_is_not_walked_for_a_narrow_scope(filled: Filled) -> None:
    """Up to the measured size all passages in scope are compared, above it the index is used."""
    narrow = await plan(filled, below(TWO_PERCENT), 50)
    wide = await plan(filled, below(MOST), 50)

    assert EXACT_BELOW < ROWS
    assert not ran(narrow, "Index Scan using notion_embeddings_hnsw_v1_")
    assert ran(wide, "Index Scan using notion_embeddings_hnsw_v1_")


async def test_r18_a_wide_scope_gets_its_full_number_through_the_index(filled: Filled) -> None:
    """What the index finds below a wide scope is in scope, and is nearly what an exact scan finds."""
    query = unit_vectors(1, seed=4)[0]

    found = await nearest(filled.store, query, below(MOST), 200)

    exact = filled.exact(query, 200, MOST)
    assert len(found) == 200
    assert all(filled.roots[chunk - 1] == MOST for chunk in found)
    assert len(set(found) & set(exact)) >= 190


async def test_the_cosine_is_exact_to_six_places(filled: Filled) -> None:
    """What the threshold is compared with does not depend on how a passage was found (D3)."""
    query = unit_vectors(1, seed=6)[0]

    found = await filled.store.search(vector=query, words=NO_WORDS, audience=EVERYTHING, limit=50)

    expected = [
        float(filled.vectors[(one.chunk_id or 0) - 1].astype(np.float64) @ query) for one in found.candidates
    ]
    assert [one.cosine for one in found.candidates] == pytest.approx(expected, abs=5e-7)
    assert expected == sorted(expected, reverse=True)


async def test_words_of_20_000_passages_are_found_through_their_index(filled: Filled) -> None:
    """The word side reads the inverted index, not every row."""
    lines = await plan(filled, EVERYTHING, 50)

    assert ran(lines, "Bitmap Index Scan on notion_embeddings_fts")


async def test_a_rare_language_is_compared_in_full_beside_the_graph(filled: Filled) -> None:
    """The nearest 50 of the 200 German passages come back, the very ones an exact scan finds."""
    query = unit_vectors(1, seed=8)[0]
    german = np.arange(0, ROWS, 100)
    exact = german[np.argsort(-(filled.vectors[german] @ query), kind="stable")][:50] + 1

    found = await filled.store.search(vector=query, words=NO_WORDS, audience=EVERYTHING, limit=50)
    lines = await plan(filled, EVERYTHING, 50)

    assert [one.chunk_id for one in found.candidates if one.language == "de"] == exact.tolist()
    assert sum(one.language == "en" for one in found.candidates) == 50
    assert ran(lines, "Index Scan using notion_embeddings_hnsw_v1_")
