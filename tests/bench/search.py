"""What a search costs in PostgreSQL, by the size of its scope: the graph, an exact scan, and words.

``python -m tests.bench.search [passages] [dimensions]`` prints one line per scope and way, in milliseconds
(median of 15), and each beside the graph over everything, so that runs on other machines compare. Takes about
a minute.
"""

import asyncio
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from uuid import UUID

import asyncpg
import numpy as np
import numpy.typing as npt
from pgvector import Vector
from pgvector.asyncpg import register_vector

from adapters.stores import search_sql
from adapters.stores.postgres import PostgresStore, open_store
from adapters.stores.schema import migrate
from adapters.stores.vector_index import ensure_vector_index
from bot.embedded import embedded_postgres
from core.domain.audiences import EVERYTHING, Audience, Scope
from core.domain.ids import PageId
from core.domain.models import ModelProfile
from core.ports import WordQuery

PER_PAGE = 5
LIMIT = 50
REPEATS = 15
SHARES = (1.0, 0.5, 0.2, 0.1, 0.02)
NO_WORDS = WordQuery(text="", terms=())


def root(share: float) -> PageId:
    """The page above that share of all pages."""
    return PageId(str(UUID(int=10**9 + round(share * 1000))))


def unit_vectors(count: int, dimensions: int, seed: int) -> npt.NDArray[np.float32]:
    """Clustered like texts are, on the unit sphere."""
    numbers = np.random.default_rng(seed)
    centres = np.random.default_rng(7).normal(size=(200, dimensions))
    vectors = 0.7 * centres[numbers.integers(0, 200, count)] + numbers.normal(size=(count, dimensions))
    unit: npt.NDArray[np.float32] = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(
        np.float32
    )
    return unit


async def fill(url: str, rows: int, profile: ModelProfile) -> None:
    """Passages of 90 words each, five a page; pages lie below the roots whose share they belong to."""
    numbers = random.Random(1)
    fingerprint = profile.fingerprint("bench")
    connection = await asyncpg.connect(url)
    await register_vector(connection)
    await connection.execute("SET session_replication_role = replica")
    await connection.execute(
        "INSERT INTO index_fingerprints (fingerprint, model, dimensions) VALUES ($1, $2, $3)",
        *(fingerprint, profile.name, profile.dimensions),
    )
    await connection.execute("UPDATE index_state SET active = $1", fingerprint)
    pages = rows // PER_PAGE
    places = [numbers.random() for _ in range(pages)]
    await connection.copy_records_to_table(
        "notion_pages",
        records=[
            (id_, [id_, *(UUID(root(share)) for share in SHARES if place < share)], "t", "u", "h")
            for id_, place in zip((UUID(int=page) for page in range(pages)), places, strict=True)
        ],
        columns=["id", "path", "title", "url", "content_hash"],
    )
    vectors = unit_vectors(rows, profile.dimensions, seed=1)
    await connection.copy_records_to_table(
        "notion_embeddings",
        records=[
            (
                *(UUID(int=row // PER_PAGE), 1, row % PER_PAGE, a_text(numbers), "title", profile.name),
                *(profile.dimensions, fingerprint, str(row), Vector(vectors[row])),
            )
            for row in range(rows)
        ],
        columns=[
            *("page_id", "chunk_level", "chunk_index", "chunk_text", "page_title", "model_name"),
            *("model_dimensions", "fingerprint", "text_hash", "embedding"),
        ],
    )
    await connection.execute("SELECT footnote_count_terms($1)", fingerprint, timeout=600)
    await connection.execute("ANALYZE", timeout=600)
    await connection.close()
    await ensure_vector_index(url, profile, fingerprint)


def a_text(numbers: random.Random) -> str:
    """90 words out of 20,000, some much more frequent than others."""
    return " ".join(f"w{min(int(numbers.paretovariate(0.5)), 20_000)}" for _ in range(90))


async def median(search: Callable[[npt.NDArray[np.float32]], Awaitable[None]], dimensions: int) -> float:
    """Milliseconds of one search."""
    taken = []
    for query in unit_vectors(REPEATS, dimensions, seed=2):
        began = time.perf_counter()
        await search(query)
        taken.append((time.perf_counter() - began) * 1000)
    return statistics.median(taken)


async def measure(store: PostgresStore, dimensions: int) -> None:
    """Print the table."""
    reference = 0.0
    ways = {"graph": 0, "exact": 10**9, "words": None}
    for share in (None, *SHARES):
        audience = EVERYTHING if share is None else Audience("b", ((Scope("b", frozenset({root(share)})),),))
        for way, exact_below in ways.items():
            if exact_below is not None:
                search_sql.EXACT_BELOW = exact_below
            words = WordQuery(text="", terms=("w3", "w77", "w900", "w4100")) if way == "words" else NO_WORDS

            async def search(
                query: npt.NDArray[np.float32],
                way: str = way,
                words: WordQuery = words,
                audience: Audience = audience,
            ) -> None:
                vector = None if way == "words" else query
                await store.search(vector=vector, words=words, audience=audience, limit=LIMIT)

            taken = await median(search, dimensions)
            reference = reference or taken
            scope = "everything" if share is None else f"{share:.0%}"
            print(f"{scope:>10}  {way:<6} {taken:8.1f} ms {taken / reference:6.2f}")  # noqa: T201 - a report


async def report(url: str, rows: int, dimensions: int) -> None:
    """Fill the database and measure."""
    profile = ModelProfile(name=f"bench:{dimensions}", dimensions=dimensions)
    await migrate(url)
    await fill(url, rows, profile)
    async with open_store(url, profile=profile, fingerprint=profile.fingerprint("bench")) as store:
        await measure(store, dimensions)


def main(rows: int = 20_000, dimensions: int = 384) -> None:
    """A server of one's own for the measurement."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        with embedded_postgres(Path(folder)) as url:
            asyncio.run(report(url, rows, dimensions))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
