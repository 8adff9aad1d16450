"""BM25 inside PostgreSQL: the figures are those of the formula, and stay so whatever is edited."""

import random
from collections import Counter
from collections.abc import AsyncIterator

import asyncpg
import pytest

from adapters.stores.postgres import PostgresStore, open_store
from core.domain.audiences import EVERYTHING
from core.domain.ids import PageId
from core.services import bm25
from core.services.words import word_query
from tests.builders_store import FINGERPRINT, PROFILE, a_chunk, a_page, index_page, page_id, words

WORD_SHARE = 0.25
"""What a word as it stands counts beside its stem; without a language both are the same."""


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[PostgresStore]:
    """An empty store."""
    async with open_store(database_url, profile=PROFILE, fingerprint=FINGERPRINT) as opened:
        yield opened


async def fetch(url: str, statement: str, *values: object) -> list[asyncpg.Record]:
    """One statement on a connection of its own."""
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetch(statement, *values)
    finally:
        await connection.close()


async def scores(store: PostgresStore, *terms: str, language: str = "") -> dict[PageId, float]:
    """The word side's score of each page's passage."""
    found = await store.search(
        vector=None, words=words(*terms, language=language), audience=EVERYTHING, limit=200
    )
    return {one.page_id: one.lexical or 0.0 for one in found.candidates}


def a_text(numbers: random.Random) -> str:
    """Words of which some are much more frequent than others."""
    count = numbers.randint(3, 60)
    return " ".join(f"word{min(int(numbers.paretovariate(0.6)), 300)}" for _ in range(count))


async def test_the_score_is_bm25(database_url: str, store: PostgresStore) -> None:
    """k1 1.2, b 0.75, the inverse document frequency that is never negative; once for each kind of term."""
    numbers = random.Random(1)
    texts = {page_id(number): a_text(numbers) for number in range(1, 41)}
    for number, text in enumerate(texts.values(), start=1):
        await index_page(store, a_page(number, text), a_chunk(number, 0, text, breadcrumb="title"))
    await fetch(database_url, "SELECT footnote_weigh($1)", FINGERPRINT)
    bags = {page: Counter(["title", *text.split()]) for page, text in texts.items()}
    known = bm25.statistics(bags.values())
    question = ("word1", "word2", "word7", "absent")

    found = await scores(store, *question)

    expected = {page: (1 + WORD_SHARE) * bm25.score(question, bag, known) for page, bag in bags.items()}
    assert found == {page: pytest.approx(score, rel=1e-4) for page, score in expected.items() if score}


async def test_a_rare_term_counts_more_than_a_frequent_one(store: PostgresStore) -> None:
    """The one passage with the rare word comes before all that repeat the common one."""
    for number in range(1, 20):
        text = "common common common" if number > 1 else "common rare"
        await index_page(store, a_page(number, text), a_chunk(number, 0, text))

    found = await scores(store, "common", "rare")

    assert max(found, key=lambda page: found[page]) == page_id(1)


async def test_the_exact_form_comes_before_other_forms(store: PostgresStore) -> None:
    """Both are found by their stem; the word as it was asked for adds to it."""
    await index_page(store, a_page(1), a_chunk(1, 0, "He deployed it twice", language="en"))
    await index_page(store, a_page(2), a_chunk(2, 0, "He deploys it twice", language="en"))

    found = await scores(store, "deploys", language="en")

    assert found[page_id(2)] > found[page_id(1)] > 0


async def test_after_any_edits_the_statistics_are_those_of_a_fresh_count(
    database_url: str, store: PostgresStore
) -> None:
    """Swaps, shortened pages, emptied pages and removals leave no term and no word behind."""
    numbers = random.Random(2)
    for _ in range(60):
        number = numbers.randint(1, 12)
        match numbers.choice(["swap", "swap", "swap", "empty", "remove"]):
            case "swap":
                text = a_text(numbers)
                chunks = [a_chunk(number, index, a_text(numbers)) for index in range(numbers.randint(0, 4))]
                await index_page(store, a_page(number, text), *chunks)
            case "empty":
                await store.put_pages([a_page(number, "")])
            case _:
                await store.remove_pages([page_id(number)], proof="test")
    counted = "SELECT kind, term, passages FROM notion_terms WHERE passages <> 0 ORDER BY kind, term"
    totals = "SELECT passages, words FROM index_fingerprints"
    kept, kept_totals = await fetch(database_url, counted), await fetch(database_url, totals)

    await fetch(database_url, "SELECT footnote_count_terms($1)", FINGERPRINT)

    assert kept == await fetch(database_url, counted)
    assert kept_totals == await fetch(database_url, totals)
    assert len(kept) > 50


async def test_weights_follow_the_average_length(database_url: str, store: PostgresStore) -> None:
    """It never strays by more than a twentieth from what the weights were made with."""
    for number in range(1, 30):
        text = " ".join(f"w{index}" for index in range(number * 5))
        await index_page(store, a_page(number, text), a_chunk(number, 0, text))

    [row] = await fetch(
        database_url, "SELECT words::float8 / passages AS real, average_words FROM index_fingerprints"
    )

    assert row["average_words"] == pytest.approx(row["real"], rel=0.053)


async def test_dropping_a_fingerprint_drops_its_terms(database_url: str, store: PostgresStore) -> None:
    """The terms of the one that stays are not touched."""
    await index_page(store, a_page(1), a_chunk(1, 0, "some words"))
    before = await fetch(database_url, "SELECT kind, term, passages FROM notion_terms ORDER BY 1, 2")
    other = PROFILE.fingerprint("chunker-2")
    async with open_store(database_url, profile=PROFILE, fingerprint=other, beside=True) as second:
        await second.swap_chunks(page_id(1), revision=1, chunks=[a_chunk(1, 0, "other words")])

    await store.drop(other)

    assert await fetch(database_url, "SELECT kind, term, passages FROM notion_terms ORDER BY 1, 2") == before


async def test_signs_written_without_spaces_weigh_like_words(store: PostgresStore) -> None:
    """A Japanese question reaches as much of what its words could give as an English one does."""
    for number in range(3, 23):
        await index_page(store, a_page(number), a_chunk(number, 0, f"filler {number}", breadcrumb="other"))
    await index_page(store, a_page(1), a_chunk(1, 0, "年次有給休暇は年間二十五日です。", language="ja"))
    await index_page(store, a_page(2), a_chunk(2, 0, "Annual leave is twenty days.", language="en"))

    async def best_share(question: str, language: str) -> float:
        asked = word_query(question, language)
        found = await store.search(vector=None, words=asked, audience=EVERYTHING, limit=10)
        return max(found.shares.values())

    assert await best_share("有給休暇", "ja") > 0.8 * await best_share("annual leave", "en")
