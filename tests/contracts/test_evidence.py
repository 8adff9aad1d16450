"""What every index tells of its passages beside their ranks, and what it keeps of what was learned."""

import pytest

from core.domain.audiences import EVERYTHING, Audience, Scope
from core.ports import BackgroundStore, PageWriter, PassageIndex
from tests.builders_store import NO_WORDS, a_chunk, a_page, a_vector, at_angle, index_page, page_id, words
from tests.contracts.conftest import Store

QUERY = a_vector(1)


def _is_all_three(store: Store) -> tuple[PassageIndex, PageWriter, BackgroundStore]:
    return store, store, store


async def test_every_language_has_candidates_of_its_own(store: Store) -> None:
    """Ten near passages in one language do not keep the two far ones of another from being looked at."""
    for number in range(1, 11):
        chunk = a_chunk(number, language="de", vector=at_angle(number))
        await index_page(store, a_page(number), chunk)
    for number in (11, 12):
        chunk = a_chunk(number, language="en", vector=at_angle(60 + number))
        await index_page(store, a_page(number), chunk)

    found = await store.search(vector=QUERY, words=NO_WORDS, audience=EVERYTHING, limit=3)

    assert [(one.page_id, one.language) for one in found.candidates] == [
        *((page_id(number), "de") for number in (1, 2, 3)),
        *((page_id(number), "en") for number in (11, 12)),
    ]
    assert [one.semantic_rank for one in found.candidates] == [1, 2, 3, 4, 5]


async def test_a_language_outside_the_scope_gives_no_candidates(store: Store) -> None:
    """Looking at every language never looks past the audience."""
    await index_page(store, a_page(1), a_chunk(1, language="de"))
    await index_page(store, a_page(2), a_chunk(2, language="en"))
    scoped = Audience("a", ((Scope("s", frozenset([page_id(1)])),),))

    found = await store.search(vector=QUERY, words=words("some"), audience=scoped, limit=5)

    assert [one.page_id for one in found.candidates] == [page_id(1)]
    assert len(found.vectors) == 1


async def test_f47_what_only_the_words_found_has_its_cosine_and_vector(store: Store) -> None:
    """Every candidate can be measured by both sides, whoever found it; it keeps no rank it was not given."""
    for number in range(1, 4):
        await index_page(store, a_page(number), a_chunk(number, 0, "near"))
    await index_page(store, a_page(9), a_chunk(9, 0, "sought", vector=at_angle(60)))

    found = await store.search(vector=QUERY, words=words("sought"), audience=EVERYTHING, limit=3)

    by_words = next(one for one in found.candidates if one.page_id == page_id(9))
    assert (by_words.semantic_rank, by_words.lexical_rank) == (None, 1)
    assert by_words.cosine == pytest.approx(0.5, abs=1e-6)
    assert by_words.chunk_id is not None
    assert found.vectors[by_words.chunk_id] == pytest.approx(at_angle(60), abs=1e-6)
    assert found.vectors.keys() == {one.chunk_id for one in found.candidates}


async def test_without_a_vector_none_are_given(store: Store) -> None:
    """Words alone need none."""
    await index_page(store, a_page(1), a_chunk(1))

    found = await store.search(vector=None, words=words("some"), audience=EVERYTHING, limit=3)

    assert [one.cosine for one in found.candidates] == [None]
    assert found.vectors == {}


async def test_what_was_learned_is_kept_and_named_by_every_search(store: Store) -> None:
    """Its state changes with it, and so does the generation that answers are cached under."""
    await index_page(store, a_page(1), a_chunk(1))
    before = await store.search(vector=QUERY, words=NO_WORDS, audience=EVERYTHING, limit=1)
    assert (before.background, await store.background()) == (0, None)

    await store.keep_background(b"first")
    first = await store.search(vector=QUERY, words=NO_WORDS, audience=EVERYTHING, limit=1)
    assert await store.background() == (first.background, b"first")
    await store.keep_background(b"second")
    second = await store.search(vector=QUERY, words=NO_WORDS, audience=EVERYTHING, limit=1)

    assert await store.background() == (second.background, b"second")
    assert 0 < first.background < second.background
    assert before.generation < first.generation < second.generation


async def test_learning_is_due_when_passages_have_changed(store: Store) -> None:
    """An empty index teaches nothing; the first passage does, and a new one beside it."""
    assert not await store.is_background_due()
    await index_page(store, a_page(1), a_chunk(1))
    assert await store.is_background_due()

    await store.keep_background(b"figures")
    assert not await store.is_background_due()
    await index_page(store, a_page(2), a_chunk(2))

    assert await store.is_background_due()


async def test_a_sample_holds_passages_with_all_that_is_learned_from(store: Store) -> None:
    """As many as wanted at most, the same ones each time."""
    for number in range(1, 8):
        chunk = a_chunk(number, 0, f"Body {number}", headings=("Install", "Linux"), language="en")
        await index_page(store, a_page(number), chunk)

    everything = await store.sample_passages(100)
    some = await store.sample_passages(4)

    assert {(one.title, one.headings, one.body, one.language) for one in everything} == {
        (f"Page {number}", "# Install > ## Linux", f"Body {number}", "en") for number in range(1, 8)
    }
    assert everything[0].vector == pytest.approx(QUERY, abs=1e-6)
    assert 0 < len(some) <= 4
    assert [one.body for one in await store.sample_passages(4)] == [one.body for one in some]
