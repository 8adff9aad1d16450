"""What only the PostgreSQL store does: languages, several models, limits of the server, failures."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import asyncpg
import numpy as np
import pytest

from adapters.embedders.hashing import HashingEmbedder
from adapters.stores.connecting import connected
from adapters.stores.postgres import PostgresStore, open_store
from adapters.stores.schema import migrate
from adapters.stores.vector_index import drop_vector_index, ensure_vector_index
from core.domain.audiences import EVERYTHING, NOTHING
from core.domain.documents import Block, BlockKind, ObjectType, Page
from core.domain.ids import PageId
from core.domain.models import Fingerprint, ModelProfile
from core.errors import (
    ConfigurationError,
    IndexMismatchError,
    InvalidInputError,
    RefusedError,
    SchemaError,
    UnavailableError,
)
from core.ports import StoredPage
from core.services.chunking import ChunkSettings
from core.services.indexing import Indexer
from core.services.languages import STEMMED
from core.services.sync_report import Tally
from core.services.words import word_query
from tests.builders_store import (
    DIMENSIONS,
    FINGERPRINT,
    NO_WORDS,
    PROFILE,
    a_chunk,
    a_page,
    a_ref,
    a_vector,
    at_angle,
    block_id,
    index_page,
    page_id,
    words,
)

OTHER = ModelProfile(name="test:other", dimensions=PROFILE.dimensions)
WIDER = ModelProfile(name="test:wide", dimensions=16)


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[PostgresStore]:
    """An empty store."""
    async with open_store(database_url, profile=PROFILE, fingerprint=FINGERPRINT) as opened:
        yield opened


async def execute(url: str, statement: str, *values: object) -> list[asyncpg.Record]:
    """One statement on a connection of its own."""
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetch(statement, *values)
    finally:
        await connection.close()


async def found_by_words(store: PostgresStore, *terms: str, language: str = "") -> list[PageId]:
    """The pages of the word side, best first."""
    result = await store.search(
        vector=None, words=words(*terms, language=language), audience=EVERYTHING, limit=10
    )
    return [one.page_id for one in result.candidates]


# --- languages -------------------------------------------------------------------------------------------


async def test_r16_german_singular_finds_the_plural_by_the_german_stemmer(store: PostgresStore) -> None:
    """The chunk's language decides about its stems, the question's about the query's."""
    await index_page(store, a_page(1), a_chunk(1, 0, "Die Häuser am Fluss", language="de"))
    await index_page(store, a_page(2), a_chunk(2, 0, "Die Häuser am Fluss", language="en"))

    assert await found_by_words(store, "Haus", language="de") == [page_id(1)]
    assert await found_by_words(store, "Häusern", language="de") == [page_id(1)]
    assert await found_by_words(store, "Häusern", language="en") == []


@pytest.mark.parametrize(
    ("language", "text", "asked"),
    [
        ("en", "We are deploying services", "deployed"),
        ("de", "Urlaubsanträge stellen", "Urlaubsantrag"),
        ("ru", "Отпуск согласуют с руководителями", "руководитель"),
        ("fr", "Les congés payés des salariées", "congé"),
        ("es", "Las facturas pendientes", "factura"),
        ("tr", "Kitapları okuyoruz", "kitap"),
    ],
)
async def test_words_are_found_in_their_other_forms(
    store: PostgresStore, language: str, text: str, asked: str
) -> None:
    """Each language's own stemmer is used on both sides."""
    await index_page(store, a_page(1), a_chunk(1, 0, text, language=language))

    assert await found_by_words(store, asked, language=language) == [page_id(1)]


async def test_x14_a_question_in_another_language_finds_words_as_they_stand(store: PostgresStore) -> None:
    """Names and identifiers are found whatever language either side has."""
    await index_page(
        store, a_page(1), a_chunk(1, 0, "Das Werkzeug heißt Kubernetes, Fehler ERR_42", language="de")
    )

    for language in ("en", "ru", "", "xx"):
        assert await found_by_words(store, "Kubernetes", language=language) == [page_id(1)]
        assert await found_by_words(store, "ERR_42", language=language) == [page_id(1)]


async def test_f43_compounds_are_found_by_the_word_they_begin_with(store: PostgresStore) -> None:
    """German and its relatives write several words as one."""
    for number, text in enumerate(
        ("Vertretungsplan drucken", "VertretungsBoard", "Ungeklärte Vertretung"), start=1
    ):
        await index_page(store, a_page(number), a_chunk(number, 0, text, language="de"))

    assert set(await found_by_words(store, "Vertretung", language="de")) == {
        page_id(1),
        page_id(2),
        page_id(3),
    }


@pytest.mark.parametrize(
    ("text", "finds", "misses"),
    [
        ("We write C++ here", "C++", "C#"),
        ("We write C# here", "C#", "C++"),
        ("See issue #42 for it", "#42", "#43"),
        ("Built on .NET 8", ".NET", "PHP"),
        ("Version v2.1 is out", "v2.1", "v3.1"),
        ("Open config.yaml first", "config.yaml", "setup.cfg"),
    ],
)
async def test_r14_names_made_of_signs_are_told_apart(
    store: PostgresStore, text: str, finds: str, misses: str
) -> None:
    """An exact identifier outranks what merely looks like it."""
    await index_page(store, a_page(1), a_chunk(1, 0, text, language="en"))
    await index_page(store, a_page(2), a_chunk(2, 0, f"Nothing but {misses} stands here", language="en"))

    assert (await found_by_words(store, finds, language="en"))[0] == page_id(1)


# --- several models --------------------------------------------------------------------------------------


@pytest.mark.parametrize("other", [OTHER, WIDER], ids=["equal dimensions", "other dimensions"])
async def test_r19_u21_only_the_active_models_passages_are_compared(
    database_url: str, store: PostgresStore, other: ModelProfile
) -> None:
    """Two models lie side by side in one table without an error and without mixing."""
    await index_page(store, a_page(1, "x"), a_chunk(1, 0, "first model"))
    fingerprint = other.fingerprint("chunker-1")
    async with open_store(database_url, profile=other, fingerprint=fingerprint, beside=True) as second:
        vector = a_vector(1, dimensions=other.dimensions)
        [waiting] = await second.pending(limit=5)
        await second.swap_chunks(
            page_id(1), revision=waiting.revision, chunks=[a_chunk(1, 0, "second model", vector=vector)]
        )
        old = await store.search(vector=a_vector(1), words=words("model"), audience=EVERYTHING, limit=10)
        new = await second.search(vector=vector, words=words("model"), audience=EVERYTHING, limit=10)

    assert [one.body for one in old.candidates] == ["first model"]
    assert [one.body for one in new.candidates] == ["second model"]


async def test_u21_a_model_of_equal_dimensions_takes_over_nothing_of_another(
    database_url: str, store: PostgresStore
) -> None:
    """Neither vectors nor pages that count as embedded, though all have the same length."""
    chunk = a_chunk(1, 0, "the same text")
    await index_page(store, a_page(1, "x"), chunk)
    assert list(await store.vectors_by_hash([chunk.text_hash])) == [chunk.text_hash]
    fingerprint = OTHER.fingerprint("chunker-1")

    async with open_store(database_url, profile=OTHER, fingerprint=fingerprint, beside=True) as second:
        with pytest.raises(IndexMismatchError, match="switched to other settings"):
            await second.search(vector=a_vector(1), words=words("text"), audience=EVERYTHING, limit=10)
        assert await second.vectors_by_hash([chunk.text_hash]) == {}
        assert [one.placed.ref.id for one in await second.pending(limit=5)] == [page_id(1)]


@pytest.mark.parametrize(
    ("profile", "chunker"),
    [
        (OTHER, "chunker-1"),
        (WIDER, "chunker-1"),
        (replace(PROFILE, passage_prefix="passage: "), "chunker-1"),
        (replace(PROFILE, query_prefix="query: "), "chunker-1"),
        (PROFILE, "chunker-2"),
    ],
    ids=["model", "dimensions", "passage prefix", "query prefix", "chunker"],
)
async def test_sy24_t5_an_index_made_in_another_way_is_refused_at_the_start(
    database_url: str, profile: ModelProfile, chunker: str
) -> None:
    """Model, dimensions, prefixes and chunker all count; reading and writing alike are refused."""
    async with open_store(database_url, profile=PROFILE, fingerprint=FINGERPRINT) as store:
        await index_page(store, a_page(1), a_chunk(1))

    for read_only in (False, True):
        with pytest.raises(IndexMismatchError, match="footnote reembed"):
            async with open_store(
                database_url,
                profile=profile,
                fingerprint=profile.fingerprint(chunker),
                chunker=chunker,
                read_only=read_only,
            ):
                raise AssertionError("opened")


async def test_f45_the_message_names_both_sizes_and_the_cure(database_url: str) -> None:
    """One sentence; and nothing was written."""
    async with open_store(database_url, profile=PROFILE, fingerprint=FINGERPRINT, chunker="c1") as store:
        await index_page(store, a_page(1), a_chunk(1))

    with pytest.raises(IndexMismatchError) as raised:
        async with open_store(database_url, profile=WIDER, fingerprint=WIDER.fingerprint("c1"), chunker="c1"):
            raise AssertionError("opened")

    message = str(raised.value)
    assert "test:tiny with 8 dimensions" in message
    assert "test:wide with 16 dimensions" in message
    assert "`footnote reembed`" in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("profile", "chunker", "cure"),
    [
        (PROFILE, "1/300/50/chars/512", "set NOTION_CHUNK_SIZE and NOTION_CHUNK_OVERLAP back, or run"),
        (PROFILE, "1/600/50/chars/512", "set NOTION_CHUNK_OVERLAP back, or run"),
        (PROFILE, "2/600/100/chars/512", "is configured: run"),
        (WIDER, "1/600/100/chars/512", "set EMBEDDING_MODEL back, or run"),
        (WIDER, "1/300/100/chars/512", "set EMBEDDING_MODEL and NOTION_CHUNK_SIZE back, or run"),
        (replace(PROFILE, dimensions=6), "1/600/100/chars/512", "set EMBEDDING_DIMENSIONS back, or run"),
    ],
)
async def test_sy24_the_message_names_the_settings_that_were_changed(
    database_url: str, profile: ModelProfile, chunker: str, cure: str
) -> None:
    """Whoever changed a size is not told to look at the model; a newer chunker leaves one cure."""
    built = "1/600/100/chars/512"
    async with open_store(database_url, profile=PROFILE, fingerprint=FINGERPRINT, chunker=built) as store:
        await index_page(store, a_page(1), a_chunk(1))

    with pytest.raises(IndexMismatchError, match=f"{cure} `footnote reembed`"):
        async with open_store(
            database_url, profile=profile, fingerprint=profile.fingerprint(chunker), chunker=chunker
        ):
            raise AssertionError("opened")


async def test_an_empty_index_takes_the_model_that_comes(database_url: str) -> None:
    """A trial with one model does not bind a workspace that was never indexed."""
    async with open_store(database_url, profile=PROFILE, fingerprint=FINGERPRINT):
        pass
    async with open_store(database_url, profile=WIDER, fingerprint=WIDER.fingerprint("c1")) as store:
        counts = await store.counts()

    assert counts.active == WIDER.fingerprint("c1")


async def test_t18_f45_a_vector_of_the_wrong_size_is_a_loud_error(store: PostgresStore) -> None:
    """Neither a passage nor a question of another size is taken; the old passages stay."""
    await index_page(store, a_page(1), a_chunk(1, 0, "old"))
    await store.put_pages([a_page(1, "new")])
    wide = a_vector(1, dimensions=16)

    with pytest.raises(InvalidInputError, match="should give 8"):
        await store.swap_chunks(page_id(1), revision=2, chunks=[a_chunk(1, 0, "new", vector=wide)])
    with pytest.raises(IndexMismatchError, match="8 dimensions"):
        await store.search(vector=wide, words=NO_WORDS, audience=EVERYTHING, limit=5)

    found = await store.search(vector=a_vector(1), words=NO_WORDS, audience=EVERYTHING, limit=5)
    assert [one.body for one in found.candidates] == ["old"]


@pytest.mark.parametrize("figure", [np.nan, np.inf])
async def test_a_vector_that_is_no_number_is_refused(store: PostgresStore, figure: float) -> None:
    """A model gone wrong is told by page and chunk."""
    await store.put_pages([a_page(1)])

    with pytest.raises(InvalidInputError, match=f"page {page_id(1)}, chunk 0"):
        await store.swap_chunks(page_id(1), revision=1, chunks=[a_chunk(1, vector=a_vector(figure))])


async def test_a_vector_of_zeros_is_near_nothing(store: PostgresStore) -> None:
    """Its cosine is undefined; it is shown as 0 and comes last instead of failing."""
    await index_page(store, a_page(1), a_chunk(1, vector=a_vector(0)))
    await index_page(store, a_page(2), a_chunk(2, vector=at_angle(80)))

    found = await store.search(vector=a_vector(1), words=NO_WORDS, audience=EVERYTHING, limit=5)

    assert [(one.page_id, round(one.cosine or 0, 3)) for one in found.candidates] == [
        (page_id(2), 0.174),
        (page_id(1), 0.0),
    ]


async def test_reembedding_fills_beside_then_switches_at_once(
    database_url: str, store: PostgresStore
) -> None:
    """The old passages serve until `activate`; the old process is then told to restart; `drop` cleans up."""
    await index_page(store, a_page(1), a_chunk(1, 0, "old way"))
    fingerprint = WIDER.fingerprint("c1")
    vector = a_vector(1, dimensions=16)
    async with open_store(database_url, profile=WIDER, fingerprint=fingerprint, beside=True) as new:
        [waiting] = await new.pending(limit=5)
        await new.swap_chunks(page_id(1), revision=waiting.revision, chunks=[a_chunk(1, vector=vector)])
        during = await store.search(vector=a_vector(1), words=NO_WORDS, audience=EVERYTHING, limit=5)
        before = await store.generation()
        with pytest.raises(IndexMismatchError, match="in use"):
            await new.drop(FINGERPRINT)

        await new.activate()
        removed = await new.drop(FINGERPRINT)

        assert [one.body for one in during.candidates] == ["old way"]
        assert await new.generation() > before
        assert removed == 1
        assert (await new.counts()).of_other_fingerprints == 0
        assert await new.pending(limit=5) == []
        with pytest.raises(IndexMismatchError, match="restart"):
            await store.search(vector=a_vector(1), words=NO_WORDS, audience=EVERYTHING, limit=5)


async def test_an_interrupted_reembedding_goes_on_where_it_stopped(
    database_url: str, store: PostgresStore
) -> None:
    """Pages that are done under the new fingerprint are not pending again; the old ones were never."""
    for number in (1, 2):
        await index_page(store, a_page(number), a_chunk(number))
    fingerprint = OTHER.fingerprint("c1")
    async with open_store(database_url, profile=OTHER, fingerprint=fingerprint, beside=True) as new:
        await new.swap_chunks(page_id(1), revision=1, chunks=[a_chunk(1)])

    async with open_store(database_url, profile=OTHER, fingerprint=fingerprint, beside=True) as again:
        rest = await again.pending(limit=5)

    assert [one.placed.ref.id for one in rest] == [page_id(2)]
    assert await store.pending(limit=5) == []


# --- the vector index ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dimensions", "type_name"), [(8, "vector"), (2000, "vector"), (2001, "halfvec"), (4000, "halfvec")]
)
async def test_x8_each_models_index_is_hnsw_in_the_widest_precision_that_fits(
    database_url: str, dimensions: int, type_name: str
) -> None:
    """m 16, ef_construction 64, cosine, one model's rows only; making it again changes nothing."""
    profile = ModelProfile(name=f"test:{dimensions}", dimensions=dimensions)
    fingerprint = profile.fingerprint("c1")

    name = await ensure_vector_index(database_url, profile, fingerprint)
    assert await ensure_vector_index(database_url, profile, fingerprint) == name

    [row] = await execute(database_url, "SELECT indexdef FROM pg_indexes WHERE indexname = $1", name)
    definition = row["indexdef"]
    assert f"USING hnsw (((embedding)::{type_name}({dimensions})) {type_name}_cosine_ops)" in definition
    assert "m='16', ef_construction='64'" in definition
    assert f"WHERE (fingerprint = '{fingerprint}'::text)" in definition


async def test_x8_more_dimensions_than_can_be_indexed_are_scanned(database_url: str) -> None:
    """No index is made, and searching works."""
    profile = ModelProfile(name="test:4001", dimensions=4001)
    fingerprint = profile.fingerprint("c1")

    assert await ensure_vector_index(database_url, profile, fingerprint) is None
    async with open_store(database_url, profile=profile, fingerprint=fingerprint) as store:
        vector = a_vector(1, dimensions=4001)
        await index_page(store, a_page(1), a_chunk(1, vector=vector))
        found = await store.search(vector=vector, words=NO_WORDS, audience=EVERYTHING, limit=5)

    assert [one.page_id for one in found.candidates] == [page_id(1)]


async def test_an_odd_fingerprint_is_quoted(database_url: str) -> None:
    """Nothing in a fingerprint is SQL, and the index keeps a plain, short name."""
    fingerprint = Fingerprint("x'); DROP TABLE notion_pages; -- " + "y" * 100)

    name = await ensure_vector_index(database_url, PROFILE, fingerprint)
    async with open_store(database_url, profile=PROFILE, fingerprint=fingerprint) as store:
        await index_page(store, a_page(1), a_chunk(1))
        found = await store.search(vector=a_vector(1), words=words("text"), audience=EVERYTHING, limit=5)
        counts = await store.counts()

    assert name is not None
    assert len(name.encode()) < 63
    assert [one.page_id for one in found.candidates] == [page_id(1)]
    assert counts.vector_index == "hnsw"


async def test_an_unfinished_index_is_made_again(database_url: str) -> None:
    """What a killed run left invalid does not serve for ever."""
    name = await ensure_vector_index(database_url, PROFILE, FINGERPRINT)
    await execute(
        database_url, "UPDATE pg_index SET indisvalid = false WHERE indexrelid = to_regclass($1)", name
    )

    await ensure_vector_index(database_url, PROFILE, FINGERPRINT)

    [row] = await execute(
        database_url, "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)", name
    )
    assert row["indisvalid"]


async def test_indexes_are_made_by_one_runner_at_a_time(database_url: str) -> None:
    """Three at once make one index, without a deadlock."""
    names = await asyncio.gather(*(ensure_vector_index(database_url, PROFILE, FINGERPRINT) for _ in range(3)))

    assert len(set(names)) == 1
    await drop_vector_index(database_url, FINGERPRINT)
    rows = await execute(database_url, "SELECT 1 FROM pg_indexes WHERE indexname LIKE '%hnsw%'")
    assert rows == []


# --- status ----------------------------------------------------------------------------------------------


async def test_row96_the_six_checks(database_url: str, store: PostgresStore) -> None:
    """Count, index, dimensions, a direct query, title and heading columns, pending."""
    await ensure_vector_index(database_url, PROFILE, FINGERPRINT)
    await index_page(store, a_page(1), a_chunk(1, headings=("A",)), a_chunk(1, 1))
    await store.put_pages([a_page(2), a_page(3, "")])

    counts = await store.counts()

    assert (counts.pages, counts.empty_pages, counts.pending) == (3, 1, 1)
    assert counts.embeddings == 2
    assert (counts.vector_index, counts.vector_index_options) == ("hnsw", ("m=16", "ef_construction=64"))
    assert counts.wrong_dimensions == 0
    assert counts.nearest_to_itself is True
    assert (counts.without_title, counts.without_heading) == (0, 1)
    assert counts.active == FINGERPRINT
    assert counts.generation == await store.generation()


async def test_row96_only_a_title_that_the_page_has_can_be_lacking(store: PostgresStore) -> None:
    """A page that is nothing but its title, and one without any, are healthy; a lost title is not."""
    only_title, untitled, lost = (
        replace(one, chunk=replace(one.chunk, breadcrumb=""))
        for one in (a_chunk(1, level=0), a_chunk(2), a_chunk(3))
    )
    await index_page(store, a_page(1), only_title)
    await index_page(store, a_page(2, title=""), untitled)
    healthy = (await store.counts()).without_title
    await index_page(store, a_page(3), lost)

    assert healthy == 0
    assert (await store.counts()).without_title == 1


async def test_t23_sy23_empty_pages_do_not_count_as_pending(store: PostgresStore) -> None:
    """Coverage reaches the whole: what has no text has nothing to embed."""
    await store.put_pages([a_page(1, ""), a_page(2, " \n\t ")])

    counts = await store.counts()

    assert (counts.pages, counts.empty_pages, counts.pending) == (2, 2, 0)
    assert (counts.nearest_to_itself, counts.vector_index) == (None, "")


# --- limits of the server --------------------------------------------------------------------------------


async def test_f44_more_different_words_than_a_tsvector_holds(store: PostgresStore) -> None:
    """Page and chunk are stored, the beginning is found by words, others are not affected."""
    numbers = np.random.default_rng(1).integers(0, 26, size=(200_000, 8))
    vocabulary = ["".join(chr(97 + letter) for letter in row) for row in numbers]
    text = " ".join(vocabulary)

    await store.put_pages([a_page(1, text, language="en"), a_page(2, "Another page.")])
    await store.swap_chunks(page_id(1), revision=1, chunks=[a_chunk(1, 0, text)])

    found = await store.search_pages(words=words(vocabulary[0]), audience=EVERYTHING, limit=5)
    assert [one.page_id for one in found.candidates] == [page_id(1)]
    assert await found_by_words(store, vocabulary[0]) == [page_id(1)]
    assert [one.placed.ref.id for one in await store.pending(limit=5)] == [page_id(2)]


@pytest.mark.parametrize("text", ["界" * 400_000, "x" * 1_000_000, "a-b/c.d@e " * 60_000, "ﷺ " * 90_000])
async def test_f44_odd_long_texts_are_stored(store: PostgresStore, text: str) -> None:
    """Whatever the server's limits on words are, the page is stored."""
    await store.put_pages([a_page(1, text)])
    stored = await store.swap_chunks(page_id(1), revision=1, chunks=[a_chunk(1, 0, text)])

    assert stored


async def test_f40_the_log_names_the_page_and_nothing_of_its_text(
    store: PostgresStore, caplog: pytest.LogCaptureFixture
) -> None:
    """One line for the page with a NUL, none for the others."""
    with caplog.at_level(logging.WARNING):
        await store.put_pages([a_page(1), a_page(2, "Geheim\x00nis"), a_page(3)])

    assert [record.getMessage() for record in caplog.records] == [
        f"page {page_id(2)} holds signs that PostgreSQL cannot store; they were removed"
    ]


async def test_f40_nul_in_chunks_and_blocks(store: PostgresStore) -> None:
    """Blocks and passages lose the NUL too, and keep the rest."""
    await index_page(store, a_page(1, "a\x00b \udc00"), a_chunk(1, 0, "a\x00b \udc00", headings=("x\x00y",)))
    await store.mark_all_pending()

    [waiting] = await store.pending(limit=1)
    [found] = (
        await store.search(vector=a_vector(1), words=NO_WORDS, audience=EVERYTHING, limit=1)
    ).candidates

    assert waiting.blocks[0].text == "ab \ufffd"
    assert (found.body, found.heading_path[0].text) == ("ab \ufffd", "xy")


# --- transactions ----------------------------------------------------------------------------------------


async def test_u5_a_swap_is_seen_whole_or_not_at_all(store: PostgresStore) -> None:
    """Searches during many swaps see all passages of one kind, and never a mixture."""
    await index_page(store, a_page(1), *(a_chunk(1, index, "kind0") for index in range(8)))
    seen: list[tuple[str, ...]] = []

    async def swap() -> None:
        for kind in range(1, 15):
            await store.put_pages([a_page(1, f"kind{kind}")])
            state = (await store.states([page_id(1)]))[page_id(1)]
            chunks = [a_chunk(1, index, f"kind{kind}") for index in range(8)]
            await store.swap_chunks(page_id(1), revision=state.revision, chunks=chunks)

    async def look() -> None:
        while not swapping.done():
            found = await store.search(vector=a_vector(1), words=NO_WORDS, audience=EVERYTHING, limit=20)
            seen.append(tuple(one.body for one in found.candidates))

    swapping = asyncio.create_task(swap())
    await asyncio.gather(swapping, look(), look())

    assert all(len(bodies) == 8 and len(set(bodies)) == 1 for bodies in seen)


async def test_writers_do_not_block_each_other_for_good(store: PostgresStore) -> None:
    """Moves, renames, swaps and removals over the same pages all come through."""
    numbers = range(1, 9)
    await store.put_pages([a_page(number, parent=number - 1 if number > 1 else None) for number in numbers])

    async def write(number: int) -> None:
        await store.put_pages([a_page(number, title=f"New {number}", parent=9 - number)])
        state = (await store.states([page_id(number)])).get(page_id(number))
        if state is not None:
            await store.swap_chunks(page_id(number), revision=state.revision, chunks=[a_chunk(number)])
        await store.remove_pages([page_id(number)], proof="test")

    await asyncio.gather(*(write(number) for number in numbers))

    assert (await store.counts()).pages == 0


async def test_unchanged_passages_keep_their_row(database_url: str, store: PostgresStore) -> None:
    """Only what changed is written: each new row version is another entry in the vector index."""
    await index_page(store, a_page(1, "a"), a_chunk(1, 0, "same"), a_chunk(1, 1, "old"))
    before = await execute(database_url, "SELECT ctid::text FROM notion_embeddings ORDER BY chunk_index")

    await index_page(store, a_page(1, "b"), a_chunk(1, 0, "same"), a_chunk(1, 1, "new"))

    after = await execute(database_url, "SELECT ctid::text FROM notion_embeddings ORDER BY chunk_index")
    assert after[0] == before[0]
    assert after[1] != before[1]


async def test_a_tombstone_remembers_the_proof_until_the_page_returns(
    database_url: str, store: PostgresStore
) -> None:
    """Why a page is gone can be told; once it is back there is nothing to tell."""
    await store.put_pages([a_page(1)])
    await store.remove_pages([page_id(1)], proof="in_trash")
    gone = await execute(database_url, "SELECT proof FROM notion_tombstones")
    await store.put_pages([a_page(1)])
    back = await execute(database_url, "SELECT proof FROM notion_tombstones")

    assert [row["proof"] for row in gone] == ["in_trash"]
    assert back == []


# --- failures --------------------------------------------------------------------------------------------


async def test_r20_an_empty_audience_sends_no_statement(database_url: str) -> None:
    """It is answered even when the database is gone."""
    async with open_store(database_url, profile=PROFILE, fingerprint=FINGERPRINT) as store:
        await execute(
            database_url,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()",
        )
        await execute(database_url, "ALTER TABLE notion_embeddings RENAME TO notion_embeddings_away")
        found = await store.search(vector=a_vector(1), words=words("x"), audience=NOTHING, limit=5)
        pages = await store.search_pages(words=words("x"), audience=NOTHING, limit=5)

    assert found.candidates == pages.candidates == ()


async def test_t32_a_connection_that_died_in_the_pool_is_replaced(
    database_url: str, store: PostgresStore
) -> None:
    """A restart of the server between two questions is not noticed by the second."""
    await index_page(store, a_page(1), a_chunk(1))
    await execute(
        database_url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()",
    )

    found = await store.search(vector=a_vector(1), words=NO_WORDS, audience=EVERYTHING, limit=5)

    assert [one.page_id for one in found.candidates] == [page_id(1)]


async def test_a_dead_host_is_one_clear_line_without_the_password() -> None:
    """Host and database are named; the error is one worth trying again."""
    url = "postgresql://bot:hunter2@127.0.0.1:1/footnote"

    with pytest.raises(UnavailableError, match="1/footnote cannot be reached") as raised:
        async with open_store(url, profile=PROFILE, fingerprint=FINGERPRINT):
            raise AssertionError("opened")

    assert "hunter2" not in str(raised.value)
    assert "\n" not in str(raised.value)


async def test_a_server_that_accepts_and_says_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that is up but hangs does not hang the start."""
    monkeypatch.setattr("adapters.stores.pool.CONNECT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://x@127.0.0.1:{silent.getsockname()[1]}/y?sslmode=disable"

        with pytest.raises(UnavailableError, match="too long"):
            async with open_store(url, profile=PROFILE, fingerprint=FINGERPRINT):
                raise AssertionError("opened")


async def test_a_database_without_schema_names_the_command(empty_database_url: str) -> None:
    """Forgetting to migrate is told as such."""
    with pytest.raises(SchemaError, match="footnote migrate"):
        async with open_store(empty_database_url, profile=PROFILE, fingerprint=FINGERPRINT):
            raise AssertionError("opened")


async def test_a_schema_that_is_too_old_names_the_command(empty_database_url: str) -> None:
    """A table that is missing is no riddle about SQL."""
    await migrate(empty_database_url)
    async with open_store(empty_database_url, profile=PROFILE, fingerprint=FINGERPRINT) as store:
        await execute(empty_database_url, "ALTER TABLE notion_embedded RENAME TO gone")

        with pytest.raises(SchemaError, match="footnote migrate"):
            await store.pending(limit=5)


@pytest.mark.parametrize(
    ("option", "name"),
    [
        ("color=blue", "color"),
        ("max_connections=9", "max_connections"),
        ("statement_timeout=hush", "statement_timeout"),
    ],
)
async def test_an_option_of_the_url_that_the_server_refuses_is_named(
    database_url: str, option: str, name: str
) -> None:
    """Unknown, not to be changed or of a wrong value: the message names it and quotes no value."""
    with pytest.raises(
        ConfigurationError, match=f"does not take the option '{name}'.*DATABASE_URL"
    ) as caught:
        async with connected(f"{database_url}&{option}"):
            pass
    assert "hush" not in str(caught.value)


async def test_a_missing_database_is_a_mistake_of_the_configuration(postgres_url: str) -> None:
    """The message says that it does not exist."""
    url = postgres_url.replace("@/footnote?", "@/nowhere?")

    with pytest.raises(ConfigurationError, match="does not exist"):
        async with open_store(url, profile=PROFILE, fingerprint=FINGERPRINT):
            raise AssertionError("opened")


async def test_t25_an_id_that_is_none_is_refused_by_name(store: PostgresStore) -> None:
    """The driver's words never reach the caller."""
    with pytest.raises(InvalidInputError, match="one of the values given"):
        await store.states([PageId("short")])


async def test_row59_a_role_that_may_only_read_can_search_and_nothing_else(
    database_url: str, store: PostgresStore
) -> None:
    """Searching needs no right to write."""
    await index_page(store, a_page(1), a_chunk(1))
    role = "reader_" + database_url.split("@/")[1].split("?", maxsplit=1)[0]
    await execute(database_url, f"CREATE ROLE {role} LOGIN")
    await execute(database_url, f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}")
    url = database_url.replace("postgres@/", f"{role}@/")
    try:
        async with open_store(url, profile=PROFILE, fingerprint=FINGERPRINT, read_only=True) as reader:
            found = await reader.search(vector=a_vector(1), words=words("text"), audience=EVERYTHING, limit=5)
            with pytest.raises(RefusedError, match="read-only transaction"):
                await reader.remove_pages([page_id(1)], proof="none")
    finally:
        await execute(database_url, f"DROP OWNED BY {role}")
        await execute(database_url, f"DROP ROLE {role}")

    assert [one.page_id for one in found.candidates] == [page_id(1)]


async def test_x23_a_passage_carries_everything_that_is_known_of_it(
    database_url: str, store: PostgresStore
) -> None:
    """Page, place, model and file: each passage found can be traced, filtered and made anew."""
    edited = datetime(2026, 5, 1, 9, 30, tzinfo=UTC)
    row = a_ref(2, title="Drill", parent=1, last_edited=edited, object_type=ObjectType.ROW)
    blocks = (
        Block(BlockKind.HEADING, "Steps", block_id(1), level=1),
        Block(BlockKind.PARAGRAPH, "Oil it.", block_id(2)),
        Block(BlockKind.PART, "manual.pdf, page 3", block_id(3), file_key="file-7"),
        Block(BlockKind.PARAGRAPH, "Charge it.", block_id(4)),
    )
    await store.put_pages([a_page(1, "Tools", title="Tools")])
    await store.put_pages([StoredPage(Page(row, blocks), "Oil it.", "hash")])

    await Indexer(writer=store, embedder=HashingEmbedder(DIMENSIONS), chunk_settings=ChunkSettings()).run(
        Tally(None)
    )

    rows = await execute(
        database_url,
        """
        SELECT chunk.page_id, chunk.chunk_level, chunk.chunk_index, chunk.page_title, chunk.heading_context,
            chunk.block_id, chunk.attachment_id, chunk.model_name, chunk.model_dimensions,
            made.passage_prefix, made.chunker, page.url, page.title, page.object_type, page.last_edited,
            page.path
        FROM notion_embeddings AS chunk
        JOIN index_fingerprints AS made USING (fingerprint)
        JOIN notion_pages AS page ON page.id = chunk.page_id
        WHERE chunk.page_id = $1 ORDER BY chunk.chunk_index
        """,
        page_id(2),
    )

    of_page = {
        "page_id": UUID(page_id(2)),
        "page_title": "Tools > Drill",
        "title": "Drill",
        "url": row.url,
        "object_type": ObjectType.ROW.value,
        "last_edited": edited,
        "path": [UUID(page_id(2)), UUID(page_id(1))],
        "chunk_level": 1,
        "model_name": PROFILE.name,
        "model_dimensions": DIMENSIONS,
        "passage_prefix": PROFILE.passage_prefix,
        "chunker": "",
    }
    assert [{name: str(one[name]) for name in of_page} for one in rows] == [
        {name: str(value) for name, value in of_page.items()}
    ] * 2
    assert [
        (one["chunk_index"], one["heading_context"], str(one["block_id"]), one["attachment_id"])
        for one in rows
    ] == [
        (0, "# Steps", block_id(2), None),
        (1, "# Steps > manual.pdf, page 3", block_id(4), "file-7"),
    ]


async def test_r13_an_excluded_word_excludes_its_other_forms(store: PostgresStore) -> None:
    """ "-Pumpe" leaves out a page of pumps as well; the words that are asked find the other page."""
    await index_page(store, a_page(1), a_chunk(1, 0, "Ventile neben Pumpen.", language="de"))
    await index_page(store, a_page(2), a_chunk(2, 0, "Ventile allein.", language="de"))

    asked = word_query("Ventile -Pumpe", "de")
    found = await store.search(vector=None, words=asked, audience=EVERYTHING, limit=10)

    assert [one.page_id for one in found.candidates] == [page_id(2)]


async def test_every_language_that_counts_as_stemmed_has_a_configuration(database_url: str) -> None:
    """What is not stemmed in truth would be healed nowhere."""
    rows = await execute(
        database_url,
        "SELECT language, footnote_configuration(language)::text AS name FROM unnest($1::text[]) AS language",
        sorted(STEMMED),
    )

    assert {row["language"] for row in rows if row["name"] == "simple"} == set()
    assert not {"pl", "cs", "uk", "sk", "bg", "zh", "ja", ""} & STEMMED
