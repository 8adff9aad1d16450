"""Summaries and contexts that a chat model writes about pages, and what they cost."""

from collections.abc import Sequence

import pytest

from adapters.embedders.hashing import HashingEmbedder
from adapters.stores.memory import MemoryStore
from core.domain.answers import Candidate
from core.domain.audiences import EVERYTHING
from core.domain.documents import Chunk, PageRef, PlacedPage
from core.errors import RefusedError, UnavailableError
from core.ports import StoredPage
from core.services.chunking import ChunkSettings
from core.services.enriching import (
    KEPT_AT_ENDS,
    LONGEST_CONTEXT,
    MARKER,
    Enricher,
    clean,
    is_summarised,
    shortened,
)
from core.services.indexing import Indexer
from core.services.sync_report import Tally
from core.services.words import word_query
from tests.builders_store import a_page, a_ref, page_id
from tests.core.services.found import ScriptedGenerator

EMBEDDER = HashingEmbedder(64)
SETTINGS = ChunkSettings(size=120, overlap=0)
LONG = "The blue key opens the archive. Ask Karla for it before noon. " * 4


@pytest.mark.parametrize(("characters", "wanted"), [(99, False), (100, False), (101, True)])
async def test_k16_pages_above_100_characters_are_summarised(characters: int, *, wanted: bool) -> None:
    """99 no, 100 no (longer than 100 is asked for), 101 yes; blanks around the text do not count."""
    text = ("word " * 30)[: characters - 1] + "x"
    generator = ScriptedGenerator("About words. They are many.")
    store = MemoryStore()

    await index(store, generator, a_page(1, f"  {text}  "), summaries=True)

    assert is_summarised(f"  {text}  ") is wanted
    assert [one.body for one in await summaries(store)] == (["About words. They are many."] if wanted else [])
    assert len(generator.prompts) == wanted


def test_k17_a_long_page_is_summarised_by_its_ends() -> None:
    """4,001 characters: the first 2,000, a marker, the last 2,000; 4,000 are read whole."""
    whole = "a" * 2000 + "b" * 2000
    longer = "a" * 2000 + "-" + "b" * 2000

    assert shortened(whole) == whole
    assert shortened(longer) == "a" * 2000 + MARKER + "b" * 2000
    assert KEPT_AT_ENDS == 2000


async def test_k17_a_model_is_given_the_shortened_page() -> None:
    """The middle of a long page is not sent."""
    generator = ScriptedGenerator("A summary.")
    text = "begin " + "x" * 3000 + " MIDDLE " + "y" * 3000 + " end"

    await index(MemoryStore(), generator, a_page(1, text), summaries=True)

    (prompt,) = generator.prompts
    assert "begin" in prompt.user
    assert "end" in prompt.user
    assert "MIDDLE" not in prompt.user


@pytest.mark.parametrize("failure", ["", "   ", UnavailableError("down"), RefusedError("bad key")])
async def test_t10_a_page_without_summary_is_indexed_all_the_same(failure: str | Exception) -> None:
    """The model wrote nothing or failed: the details are there, and nothing is left pending."""
    store = MemoryStore()

    tally = await index(store, ScriptedGenerator(failure), a_page(1, LONG), summaries=True)

    assert await store.count_pending() == 0
    assert tally.report.is_clean
    assert await summaries(store) == []
    assert len(await details(store)) > 1


async def test_a_text_is_paid_for_once() -> None:
    """A second indexing asks nothing; a change of the page asks again, and forgets the old text."""
    store = MemoryStore()
    generator = ScriptedGenerator("One.", "Two.")
    await index(store, generator, a_page(1, LONG), summaries=True)
    await store.mark_all_pending()
    await index(store, generator, summaries=True)

    assert len(generator.prompts) == 1

    await index(store, generator, a_page(1, LONG + "And more."), summaries=True)

    assert len(generator.prompts) == 2
    assert [one.body for one in await summaries(store)] == ["Two."]
    assert list((await store.writings(page_id(1))).values()) == ["Two."]


async def test_a_refused_key_is_tried_once() -> None:
    """Thousands of pages do not make thousands of calls that are doomed."""
    generator = ScriptedGenerator(RefusedError("bad key"), "late")

    await index(MemoryStore(), generator, *(a_page(number, LONG) for number in (1, 2, 3)), summaries=True)

    assert len(generator.prompts) == 1


async def test_a_context_is_embedded_and_searched_but_never_shown() -> None:
    """The words of the sentence find the passage; its body stays what the page says."""
    store = MemoryStore()
    generator = ScriptedGenerator(*(["Where archive visitors get a zebrakey."] * 9))

    await index(store, generator, a_page(1, LONG), contexts=True)
    found = await store.search(vector=None, words=word_query("zebrakey", "en"), audience=EVERYTHING, limit=10)

    assert len(found.candidates) == len(await details(store)) == len(generator.prompts) > 1
    assert all("zebrakey" not in one.body for one in found.candidates)
    chunk = Chunk(page_id(1), 0, "Body.", breadcrumb="Page", context="About bodies.")
    assert chunk.text_to_embed == "[Page] About bodies.\nBody."


async def test_costs_are_told_before_anything_is_asked() -> None:
    """Calls and tokens of what is not kept yet; telling asks and stores nothing."""
    store, generator = MemoryStore(), ScriptedGenerator(*["Said."] * 20)
    await store.put_pages([a_page(1, LONG), a_page(2, "Short.")])
    enricher = Enricher(generator=generator, kept=store, summaries=True, contexts=True)
    indexer = Indexer(writer=store, embedder=EMBEDDER, chunk_settings=SETTINGS, enricher=enricher)

    before = await indexer.cost()
    assert generator.prompts == []
    assert await store.count_pending() == 2
    await indexer.run(Tally(None))
    await store.mark_all_pending()
    after = await indexer.cost()

    assert before.calls == len(generator.prompts) == 1 + len(await details(store, 1))
    assert before.pages == 1
    assert before.tokens > before.calls * 50
    assert (after.calls, after.tokens) == (0, 0)


async def test_a_model_reads_no_title_of_another_page() -> None:
    """Whoever reads a summary may not be allowed to see what the page links to, nor what is above it."""
    secret = "[Project Xylophone](page:0b4d7f5e-0000-4000-8000-000000000009)"
    generator = ScriptedGenerator("A summary.")
    store = MemoryStore()
    enricher = Enricher(generator=generator, kept=store, summaries=True)
    placed = PlacedPage(a_ref(1, title="Notes"), (PageRef(id=page_id(5), title="Hidden parent", url="u"),))

    await store.put_pages([a_page(1, f"{LONG} See {secret}.")])
    await Indexer(writer=store, embedder=EMBEDDER, chunk_settings=SETTINGS, enricher=enricher).run(
        Tally(None)
    )
    await enricher.enrich(placed, LONG * 2, [Chunk(page_id(1), 0, LONG)])

    assert len(generator.prompts) == 2
    assert not any("Xylophone" in prompt.user or "Hidden" in prompt.user for prompt in generator.prompts)


def test_what_a_model_writes_becomes_one_plain_line() -> None:
    """No markers, quotes, headings or line breaks; cut at a word where it is too long."""
    assert clean('"## About keys [1]\nand   doors."', 100) == "## About keys and doors."
    assert clean("# About keys\nand doors", 100) == "About keys and doors"
    assert len(clean("word " * 100, LONGEST_CONTEXT)) <= LONGEST_CONTEXT


def test_a_context_changes_the_index_and_its_contract() -> None:
    """An index with contexts is another one, so a start with other settings is refused and not mixed."""
    assert ChunkSettings().version != ChunkSettings(extras="contexts").version


async def index(
    store: MemoryStore,
    generator: ScriptedGenerator,
    *pages: StoredPage,
    summaries: bool = False,
    contexts: bool = False,
) -> Tally:
    """Store pages and index them as a sync does."""
    await store.put_pages(pages)
    enricher = Enricher(generator=generator, kept=store, summaries=summaries, contexts=contexts)
    tally = Tally(None)
    await Indexer(writer=store, embedder=EMBEDDER, chunk_settings=SETTINGS, enricher=enricher).run(tally)
    return tally


async def summaries(store: MemoryStore) -> Sequence[Candidate]:
    """The passages of level 0."""
    return [one for one in await every(store) if one.level == 0]


async def details(store: MemoryStore, page: int | None = None) -> Sequence[Candidate]:
    """The passages of level 1."""
    found = [one for one in await every(store) if one.level == 1]
    return [one for one in found if page is None or one.page_id == page_id(page)]


async def every(store: MemoryStore) -> Sequence[Candidate]:
    """All passages."""
    vector = await EMBEDDER.embed_query("anything")
    found = await store.search(vector=vector, words=word_query("", ""), audience=EVERYTHING, limit=1000)
    return found.candidates
