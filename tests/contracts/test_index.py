"""What every index must do, whatever it is made of."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core.domain.answers import Candidate
from core.domain.audiences import EVERYTHING, NOTHING, Audience, Scope
from core.domain.documents import Block, BlockKind, Heading, walk
from core.domain.ids import PageId
from core.ports import PageWriter, PassageIndex, SearchResult, WordQuery
from core.ports.neighbours import Stretch
from core.services.words import word_query
from tests.builders_store import (
    NO_WORDS,
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
from tests.contracts.conftest import Store

QUERY = a_vector(1)


def only(*include: int, exclude: tuple[int, ...] = ()) -> Audience:
    """An audience of one scope below the given pages."""
    scope = Scope("s", frozenset(map(page_id, include)), frozenset(map(page_id, exclude)))
    return Audience("a", ((scope,),))


async def near(index: PassageIndex, audience: Audience = EVERYTHING, limit: int = 10) -> SearchResult:
    """What the vector side alone finds."""
    return await index.search(vector=QUERY, words=NO_WORDS, audience=audience, limit=limit)


async def by_words(index: PassageIndex, *terms: str, audience: Audience = EVERYTHING) -> list[PageId]:
    """The pages of the passages that the word side alone finds, best first."""
    found = await index.search(vector=None, words=words(*terms), audience=audience, limit=10)
    return [one.page_id for one in found.candidates]


def ids(result: SearchResult) -> list[PageId]:
    """The pages of the candidates, best first."""
    return [one.page_id for one in result.candidates]


def _indexes_and_writes(store: Store) -> tuple[PassageIndex, PageWriter]:
    return store, store


# --- searching -------------------------------------------------------------------------------------------


async def test_an_empty_index_is_told_from_an_empty_result(store: Store) -> None:
    """`has_chunks` turns true with the first passage, wherever the question leads."""
    before = await near(store)
    await index_page(store, a_page(1), a_chunk(1))
    after = await near(store, only(2))

    assert (before.has_chunks, before.candidates) == (False, ())
    assert (after.has_chunks, after.candidates) == (True, ())


async def test_both_sides_meet_in_one_candidate(store: Store) -> None:
    """A chunk found by vector and by words comes once, with both ranks from 1 (R11, F48)."""
    await index_page(store, a_page(1), a_chunk(1, 0, "alpha", vector=at_angle(0)))
    await index_page(store, a_page(2), a_chunk(2, 0, "beta", vector=at_angle(60)))

    found = await store.search(vector=QUERY, words=words("alpha"), audience=EVERYTHING, limit=10)

    assert [(one.page_id, one.semantic_rank, one.lexical_rank) for one in found.candidates] == [
        (page_id(1), 1, 1),
        (page_id(2), 2, None),
    ]
    assert [one.cosine for one in found.candidates] == pytest.approx([1.0, 0.5], abs=1e-6)


async def test_a_candidate_tells_all_that_a_citation_needs(store: Store) -> None:
    """Title, link, block, headings, path and date come from the page as it is now."""
    edited = datetime(2026, 5, 4, 10, 5, tzinfo=UTC)
    await store.put_pages([a_page(1, title="Wiki")])
    await index_page(
        store,
        a_page(2, title="Setup", parent=1, last_edited=edited),
        a_chunk(2, 0, "Run it.", headings=("Install", "Linux"), breadcrumb="Wiki > Setup", language="en"),
    )

    [found] = (await near(store)).candidates

    assert found == Candidate(
        chunk_id=found.chunk_id,
        page_id=page_id(2),
        title="Setup",
        breadcrumb="Wiki > Setup",
        page_url=a_ref(2).url,
        body="Run it.",
        path=(page_id(2), page_id(1)),
        block_id=block_id(0),
        heading_path=(Heading(1, "Install"), Heading(2, "Linux")),
        level=1,
        index=0,
        language="en",
        last_edited=edited,
        semantic_rank=1,
        cosine=found.cosine,
    )


async def test_u24_equal_scores_come_in_the_order_of_their_ids(store: Store) -> None:
    """Two equal searches give the same order, and a smaller limit gives its beginning."""
    for number in range(1, 8):
        await index_page(store, a_page(number), a_chunk(number, 0, "same words"))

    once = await store.search(vector=QUERY, words=words("same"), audience=EVERYTHING, limit=7)
    again = await store.search(vector=QUERY, words=words("same"), audience=EVERYTHING, limit=3)

    assert ids(once) == [page_id(number) for number in range(1, 8)]
    assert ids(again) == [page_id(1), page_id(2), page_id(3)]
    assert [one.semantic_rank for one in once.candidates] == [1, 2, 3, 4, 5, 6, 7]


async def test_r12_a_question_of_stop_words_is_searched_by_vector_alone(store: Store) -> None:
    """No terms is no error."""
    await index_page(store, a_page(1), a_chunk(1))

    found = await near(store)

    assert [(one.semantic_rank, one.lexical_rank) for one in found.candidates] == [(1, None)]


async def test_r14_accents_and_identifiers_are_found_as_they_are_typed(store: Store) -> None:
    """Unaccented words find accented ones and the other way round; parts of codes are found too."""
    await index_page(store, a_page(1), a_chunk(1, 0, "Der Café-Schlüssel zeigt ERR_42 im HR/Payroll-Modul."))

    for term in ("cafe", "schlussel", "Schlüssel", "ERR_42", "payroll"):
        assert await by_words(store, term) == [page_id(1)], term


@pytest.mark.parametrize(
    ("text", "finds", "misses"),
    [
        ("员工请假制度说明：年假十五天。", "请假", "假请"),
        ("有給休暇は年に二十日です。", "休暇", "暇休"),
    ],
)
async def test_words_are_found_in_scripts_without_spaces(
    store: Store, text: str, finds: str, misses: str
) -> None:
    """Chinese and Japanese words are found inside a sentence, their signs in that order."""
    await index_page(store, a_page(1, text), a_chunk(1, 0, text))

    assert await by_words(store, finds) == [page_id(1)]
    assert await by_words(store, misses) == []


async def test_r15_a_title_alone_is_found_by_words(store: Store) -> None:
    """A page whose vector is far away is found since its title holds the word."""
    await index_page(store, a_page(1, title="Mindset"), a_chunk(1, breadcrumb="Mindset", vector=at_angle(90)))

    assert await by_words(store, "mindset") == [page_id(1)]


async def test_f42_any_word_of_the_question_is_enough(store: Store) -> None:
    """A filler word does not empty the result."""
    await index_page(store, a_page(1), a_chunk(1, 0, "Parental leave: 14 months"))

    assert await by_words(store, "hey", "parental", "leave") == [page_id(1)]


NASTY = [
    "What's the C++ & C# policy | (team:ops) <-> !draft \\ John <a@b.example>",
    '"unclosed -quote & | ! :* <-> <2>',
    "'; DROP TABLE notion_pages; --",
    "foo:* & bar:*",
    "\\",
    "''",
    "emoji 🎉 family 👨‍👩‍👧",
    "NUL \x00 and half \ud83d a pair",
    "a" * 5000,
    "🎉",
    "-",
    '"',
    "!!",
]


@pytest.mark.parametrize("text", NASTY)
@pytest.mark.parametrize("web_syntax", [False, True])
async def test_r13_f41_no_sign_of_a_question_is_syntax(store: Store, text: str, web_syntax: bool) -> None:
    """Quotes, operators, emoji and unstorable signs neither fail nor change anything."""
    await index_page(store, a_page(1), a_chunk(1, 0, "The policy of ops"))
    query = WordQuery(text=text, terms=tuple(text.split()) or (text,), web_syntax=web_syntax)

    await store.search(vector=QUERY, words=query, audience=EVERYTHING, limit=5)
    await store.search_pages(words=query, audience=EVERYTHING, limit=5)

    assert ids(await near(store)) == [page_id(1)]


async def test_f41_the_page_with_the_words_is_found_among_special_signs(store: Store) -> None:
    """The keyword part of a question full of operators finds the page that has its words."""
    await index_page(store, a_page(1), a_chunk(1, 0, "Our C++ and C# policy for the ops team"))
    text = NASTY[0]
    query = WordQuery(text=text, terms=tuple(text.split()))

    found = await store.search(vector=None, words=query, audience=EVERYTHING, limit=5)

    assert ids(found) == [page_id(1)]


async def test_r13_quotes_and_minus_behave_as_in_web_search(store: Store) -> None:
    """A quoted phrase must stand there, an excluded word must not."""
    await index_page(store, a_page(1), a_chunk(1, 0, "red green blue"))
    await index_page(store, a_page(2), a_chunk(2, 0, "green red yellow"))

    def asked(text: str) -> WordQuery:
        return WordQuery(text=text, terms=("red", "green"), web_syntax=True)

    phrase = await store.search(vector=None, words=asked('"red green"'), audience=EVERYTHING, limit=5)
    without = await store.search(vector=None, words=asked("red -yellow"), audience=EVERYTHING, limit=5)

    assert ids(phrase) == [page_id(1)]
    assert ids(without) == [page_id(1)]


# --- audiences -------------------------------------------------------------------------------------------


async def a_small_tree(store: Store) -> None:
    """1 > 2 > 3 and 4 > 5, one passage each."""
    for number, parent in ((1, None), (2, 1), (3, 2), (4, None), (5, 4)):
        await index_page(store, a_page(number, parent=parent), a_chunk(number, vector=at_angle(number)))


@pytest.mark.parametrize(
    ("audience", "seen"),
    [
        (EVERYTHING, {1, 2, 3, 4, 5}),
        (only(1), {1, 2, 3}),
        (only(2, 5), {2, 3, 5}),
        (only(1, exclude=(2,)), {1}),
        (only(99), set()),
        (NOTHING, set()),
        (Audience("a", ((),)), set()),
        (only(1).intersect(only(2)), {2, 3}),
        (only(1).intersect(only(4)), set()),
        (Audience("a", ((Scope("b", None, frozenset({page_id(4)})),),)), {1, 2, 3}),
        (
            Audience("a", ((Scope("b", frozenset({page_id(3)})), Scope("c", frozenset({page_id(4)}))),)),
            {3, 4, 5},
        ),
        (Audience("a", ((Scope("b", None), Scope("c", frozenset({page_id(4)}))),)), {1, 2, 3, 4, 5}),
        (Audience("a", ((Scope("b", frozenset()),),)), set()),
    ],
)
async def test_only_what_the_audience_may_see_is_found(
    store: Store, audience: Audience, seen: set[int]
) -> None:
    """Scopes of a group add up, groups intersect, exclusions win, and nothing known means nothing seen."""
    await a_small_tree(store)
    expected = {page_id(number) for number in seen}

    both = await store.search(vector=QUERY, words=words("text"), audience=audience, limit=10)
    pages = await store.search_pages(words=words("text"), audience=audience, limit=10)

    assert set(ids(both)) == expected
    assert set(ids(pages)) == expected
    assert all(audience.admits(one.path) for one in both.candidates + pages.candidates)


async def test_u22_scope_follows_the_live_page_when_an_ancestor_moves(store: Store) -> None:
    """After a move of a page, it and all below it leave the old scope and enter the new one at once."""
    await a_small_tree(store)

    await store.put_pages([a_page(2, parent=4)])

    assert set(ids(await near(store, only(1)))) == {page_id(1)}
    assert set(ids(await near(store, only(4)))) == {page_id(2), page_id(3), page_id(4), page_id(5)}
    assert await by_words(store, "text", audience=only(1)) == [page_id(1)]


async def test_a_scope_may_name_a_page_or_source_that_is_not_stored(store: Store) -> None:
    """The parent's id and the row's data source count, whether they are stored or not."""
    await index_page(store, a_page(1, parent=50), a_chunk(1))
    await index_page(store, a_page(2, parent=51, data_source_id=page_id(60)), a_chunk(2))

    assert ids(await near(store, only(50))) == [page_id(1)]
    assert ids(await near(store, only(60))) == [page_id(2)]


async def test_a_page_stays_excluded_when_the_page_above_it_vanishes_first(store: Store) -> None:
    """What is known of the way up is kept until the page itself is placed anew."""
    await a_small_tree(store)
    public = Audience("p", ((Scope("p", None, frozenset({page_id(1)})),),))

    await store.remove_pages([page_id(2)], proof="in trash")
    await store.put_pages([a_page(3, "edited", parent=2)])

    assert page_id(3) not in ids(await near(store, public))
    assert page_id(3) in ids(await near(store, only(1)))


async def test_k15_u12_a_circle_of_parents_ends(store: Store) -> None:
    """Each page stands at most once in a path and in a breadcrumb."""
    await store.put_pages([a_page(1, title="A", parent=2), a_page(2, title="B", parent=1)])
    await index_page(store, a_page(1, title="A", parent=2), a_chunk(1))

    [found] = (await near(store)).candidates

    assert found.breadcrumb == "B > A"
    assert sorted(found.path) == [page_id(1), page_id(2)]


# --- writing ---------------------------------------------------------------------------------------------


async def test_a_put_page_is_pending_until_its_chunks_are_swapped(store: Store) -> None:
    """What is pending comes with its ancestors and its blocks, so that nothing is read from Notion again."""
    await store.put_pages([a_page(1, title="Wiki"), a_page(2, "Body", title="Setup", parent=1)])

    waiting = await store.pending(limit=10)
    assert await store.swap_chunks(page_id(1), revision=waiting[0].revision, chunks=[a_chunk(1)])
    rest = await store.pending(limit=10)

    assert [one.placed.ref.id for one in waiting] == [page_id(1), page_id(2)]
    assert [one.placed.ref.id for one in rest] == [page_id(2)]
    assert rest[0].placed.breadcrumb == "Wiki > Setup"
    assert rest[0].blocks == a_page(2, "Body").page.blocks


async def test_pending_pages_can_be_walked_in_pieces(store: Store) -> None:
    """``after`` goes on behind the last page of a piece."""
    await store.put_pages([a_page(number) for number in (5, 3, 1, 4, 2)])

    assert await store.count_pending() == 5
    first = await store.pending(limit=2)
    second = await store.pending(limit=9, after=first[-1].placed.ref.id)

    assert [one.placed.ref.id for one in (*first, *second)] == [page_id(number) for number in range(1, 6)]


async def test_a_stored_tree_of_blocks_comes_back_whole(store: Store) -> None:
    """Depth, order, kinds and ids survive, however deep the page nests (F2)."""
    deep = Block(kind=BlockKind.LIST_ITEM, text="level 0")
    for level in range(1, 1500):
        deep = Block(kind=BlockKind.LIST_ITEM, text=f"level {level}", id=block_id(level), children=(deep,))
    heading = Block(
        kind=BlockKind.HEADING, text="Top", level=2, children=(Block(kind=BlockKind.CODE, text="x"),)
    )
    stored = a_page(1)
    blocks = (heading, deep, heading)

    page = type(stored.page)(ref=stored.page.ref, blocks=blocks)
    await store.put_pages([type(stored)(page=page, content_text="text", content_hash="h")])
    [back] = await store.pending(limit=1)

    assert [(block.kind, block.text, block.id, block.level) for block, _ in walk(back.blocks)] == [
        (block.kind, block.text, block.id, block.level) for block, _ in walk(blocks)
    ]
    assert len(back.blocks) == 3


async def test_f33_u5_a_swap_for_an_outdated_revision_changes_nothing(store: Store) -> None:
    """When the page changed meanwhile, the old passages go on answering and the page stays pending."""
    await index_page(store, a_page(1, "old"), a_chunk(1, 0, "old"))
    await store.put_pages([a_page(1, "new")])
    before = await store.generation()

    swapped = await store.swap_chunks(page_id(1), revision=1, chunks=[a_chunk(1, 0, "half")])

    assert swapped is False
    assert [one.body for one in (await near(store)).candidates] == ["old"]
    assert [one.placed.ref.id for one in await store.pending(limit=5)] == [page_id(1)]
    assert await store.generation() == before


async def test_f32_a_page_that_got_shorter_keeps_no_old_passage(store: Store) -> None:
    """Ten passages become three; a word of the seventh is found no more."""
    await index_page(store, a_page(1), *(a_chunk(1, index, f"piece{index}") for index in range(10)))

    await index_page(store, a_page(1, "shorter"), *(a_chunk(1, index, f"part{index}") for index in range(3)))

    assert len((await near(store)).candidates) == 3
    assert await by_words(store, "piece6") == []
    assert await by_words(store, "part2") == [page_id(1)]


async def test_u4_sy7_an_emptied_page_answers_no_longer_and_is_not_pending(store: Store) -> None:
    """Its old passages go with its text; its title is still found."""
    await index_page(store, a_page(1, "old words", title="Emergency numbers"), a_chunk(1, 0, "old words"))

    await store.put_pages([a_page(1, "  \n", title="Emergency numbers")])

    assert await by_words(store, "old") == []
    assert await store.pending(limit=5) == []
    assert ids(await store.search_pages(words=words("emergency"), audience=EVERYTHING, limit=5)) == [
        page_id(1)
    ]


async def test_sy7_a_page_of_nothing_but_junk_is_done_without_passages(store: Store) -> None:
    """A swap to no passages at all marks the page as embedded."""
    await index_page(store, a_page(1), a_chunk(1))

    await index_page(store, a_page(1, "┌──┐"))

    assert (await near(store)).candidates == ()
    assert await store.pending(limit=5) == []


async def test_sy2_an_unchanged_page_costs_no_embedding(store: Store) -> None:
    """Equal content raises no revision; touching moves the timestamps only."""
    edited = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    await index_page(store, a_page(1), a_chunk(1))
    before = (await store.states([page_id(1)]))[page_id(1)]

    await store.put_pages([a_page(1)])
    await store.touch([a_ref(1, last_edited=edited)], synced_at=datetime(2026, 1, 2, 4, tzinfo=UTC))
    after = (await store.states([page_id(1)]))[page_id(1)]

    assert after.revision == before.revision
    assert (after.ref.last_edited, after.synced_at) == (edited, datetime(2026, 1, 2, 4, tzinfo=UTC))
    assert await store.pending(limit=5) == []


async def test_t26_the_title_of_a_removed_page_stays_in_no_breadcrumb_below(store: Store) -> None:
    """Pages below that stay show it no longer at once, and wait to be cut again."""
    for number, title, parent in ((1, "Secret merger", None), (2, "Plan", 1), (3, "Steps", 2)):
        await index_page(store, a_page(number, title=title, parent=parent), a_chunk(number))
    assert await store.pending(limit=9) == []

    await store.remove_pages([page_id(1)], proof="not_found")

    expected = {page_id(2): "Plan", page_id(3): "Plan > Steps"}
    assert {one.placed.ref.id: one.placed.breadcrumb for one in await store.pending(limit=9)} == expected
    assert {one.page_id: one.breadcrumb for one in (await near(store)).candidates} == expected


async def test_sy3_u1_a_rename_reaches_all_breadcrumbs_below(store: Store) -> None:
    """Children and grandchildren are pending again, great-grandchildren not; results show the title."""
    for number, parent in ((1, None), (2, 1), (3, 2), (4, 3)):
        await index_page(store, a_page(number, title=f"T{number}", parent=parent), a_chunk(number))

    await store.put_pages([a_page(1, title="New")])

    assert [one.placed.ref.id for one in await store.pending(limit=9)] == [page_id(1), page_id(2), page_id(3)]
    shown = {one.page_id: one.breadcrumb for one in (await near(store)).candidates}
    assert shown == {
        page_id(1): "New",
        page_id(2): "New > T2",
        page_id(3): "New > T2 > T3",
        page_id(4): "T2 > T3 > T4",
    }


@pytest.mark.parametrize(
    ("titles", "expected"),
    [
        (("L1", "L2", "L3", "L4"), "L2 > L3 > L4"),
        (("A",), "A"),
        (("",), ""),
        (("  ", "B"), "Untitled > B"),
        (("A", ""), "A > Untitled"),
        ((" A ", "\tB"), "A > B"),
    ],
)
async def test_k14_the_breadcrumb_names_two_ancestors(
    store: Store, titles: tuple[str, ...], expected: str
) -> None:
    """The stored breadcrumb is the one the chunker composes."""
    await store.put_pages(
        [
            a_page(number, title=title, parent=number - 1 if number > 1 else None)
            for number, title in enumerate(titles, start=1)
        ]
    )
    await index_page(
        store,
        a_page(len(titles), title=titles[-1], parent=len(titles) - 1 if len(titles) > 1 else None),
        a_chunk(len(titles)),
    )

    [found] = (await near(store)).candidates

    assert found.breadcrumb == expected


async def test_f20_a_removed_page_is_gone_and_is_counted_once(store: Store) -> None:
    """Neither words nor vectors find it; removing it again removes nothing."""
    await index_page(store, a_page(1), a_chunk(1, 0, "gone"))
    await index_page(store, a_page(2), a_chunk(2, 0, "kept"))

    first = await store.remove_pages([page_id(1), page_id(77)], proof="404, confirmed")
    second = await store.remove_pages([page_id(1)], proof="404, confirmed")

    assert (first, second) == (1, 0)
    assert ids(await near(store)) == [page_id(2)]
    assert await by_words(store, "gone") == []
    assert page_id(1) not in await store.states([page_id(1)])


async def test_vectors_are_reused_by_the_hash_of_their_text(store: Store) -> None:
    """Only texts that were embedded are known; after a forced run none is."""
    chunk = a_chunk(1, 0, "text", vector=at_angle(30))
    await index_page(store, a_page(1), chunk)

    known = await store.vectors_by_hash([chunk.text_hash, "unknown"])
    marked = await store.mark_all_pending()
    after = await store.vectors_by_hash([chunk.text_hash])

    assert list(known) == [chunk.text_hash]
    assert known[chunk.text_hash].tolist() == chunk.vector.tolist()
    assert (marked, dict(after)) == (1, {})


async def test_row9_forced_pages_are_pending_and_then_done(store: Store) -> None:
    """Every page with text is marked; an equal swap settles it and makes its vectors reusable again."""
    chunk = a_chunk(1)
    await index_page(store, a_page(1), chunk)
    await store.put_pages([a_page(2, "")])

    marked = await store.mark_all_pending()
    [waiting] = await store.pending(limit=5)
    await store.swap_chunks(page_id(1), revision=waiting.revision, chunks=[chunk])

    assert marked == 1
    assert await store.pending(limit=5) == []
    assert list(await store.vectors_by_hash([chunk.text_hash])) == [chunk.text_hash]


async def test_every_visible_change_raises_the_generation(store: Store) -> None:
    """Put, move, rename, swap and removal each raise it; looking does not."""
    seen = [await store.generation()]

    async def note() -> None:
        seen.append(await store.generation())

    await store.put_pages([a_page(1), a_page(2)])
    await note()
    await store.swap_chunks(page_id(1), revision=1, chunks=[a_chunk(1)])
    await note()
    await store.put_pages([a_page(1, parent=2)])
    await note()
    await store.put_pages([a_page(2, title="Renamed")])
    await note()
    found = await near(store)
    await store.remove_pages([page_id(2)], proof="in trash")
    await note()

    assert seen == sorted(set(seen))
    assert found.generation == seen[-2]


async def test_a_page_tells_its_blocks_and_what_is_stored_below_it(store: Store) -> None:
    """Only what hangs directly on it; an unknown page has no blocks."""
    await store.put_pages([a_page(1, "Body"), a_page(3, parent=1), a_page(2, parent=1), a_page(4, parent=2)])

    assert await store.child_ids(page_id(1)) == [page_id(2), page_id(3)]
    assert await store.child_ids(page_id(4)) == []
    assert await store.stored_blocks(page_id(1)) == a_page(1, "Body").page.blocks
    assert await store.stored_blocks(page_id(9)) is None


@pytest.mark.parametrize("what", ["came", "was renamed", "went", "was edited"])
async def test_pages_that_refer_to_a_page_are_pending_when_its_title_changes(store: Store, what: str) -> None:
    """A reference in a block or a property shows a title: with the very change its page is pending."""
    link = f"See [Travel](page:{page_id(9)})"
    if what != "came":
        await index_page(store, a_page(9, title="Travel"))
    for page in (a_page(1, link), a_page(2, "none"), a_page(3, "x", properties=(("Owner", link),))):
        await index_page(store, page)
    assert await store.referring([page_id(9), page_id(8)]) == [page_id(1), page_id(3)]

    match what:
        case "went":
            await store.remove_pages([page_id(9)], proof="in_trash")
        case "was edited":
            await store.put_pages([a_page(9, "Another text.", title="Travel")])
        case _:
            await store.put_pages([a_page(9, title="Trips")])

    expected = {1, 3} if what != "was edited" else set()
    pending = {one.placed.ref.id for one in await store.pending(limit=9)}
    assert pending - {page_id(9)} == {page_id(number) for number in expected}


async def test_looks_that_are_owed_go_to_the_next_run_over_the_same_source(store: Store) -> None:
    """Settled by whoever owes them last; what failed stays; a page is to be read if anybody said so."""
    await store.owe_looks({page_id(1): False, page_id(2): True}, source="notion", owner="killed")
    await store.owe_looks({page_id(3): False}, source="export", owner="another")
    await store.owe_looks({page_id(2): False}, source="notion", owner="late")
    await store.settle_looks(owner="killed")

    taken = await store.take_owed_looks(source="notion", owner="next")
    await store.settle_looks(owner="late")
    await store.owe_looks({page_id(4): False, page_id(5): False}, source="notion", owner="next")
    await store.settle_looks(owner="next", but=[page_id(4)])

    assert taken == {page_id(2): True}
    assert await store.take_owed_looks(source="notion", owner="last") == {page_id(4): False}
    assert await store.take_owed_looks(source="export", owner="last") == {page_id(3): False}


async def test_all_pages_can_be_gone_through(store: Store) -> None:
    """In order of id, in pieces."""
    await store.put_pages([a_page(number) for number in (3, 1, 2)])

    first = await store.all_states(limit=2)
    second = await store.all_states(limit=2, after=page_id(2))

    assert [one.ref.id for one in first] == [page_id(1), page_id(2)]
    assert [one.ref.id for one in second] == [page_id(3)]


async def test_sy4_a_page_is_stored_with_the_moment_of_its_look(store: Store) -> None:
    """In one transaction: whoever is killed after it leaves no moment of the database's clock behind."""
    looks = [datetime(2026, 1, day, 4, 5, 6, tzinfo=UTC) for day in (1, 2, 3)]
    await store.put_pages([replace(a_page(1), seen_at=looks[0]), replace(a_page(2), seen_at=looks[1])])
    await store.put_pages([replace(a_page(1), seen_at=looks[2])])

    states = await store.states([page_id(1), page_id(2)])

    assert states[page_id(1)].synced_at == looks[2]
    assert states[page_id(2)].synced_at == looks[1]


# --- words of whole pages --------------------------------------------------------------------------------


async def test_row71_a_page_without_any_vector_is_found_by_its_words(store: Store) -> None:
    """Title, breadcrumb and text are searched; the passage shown holds what was asked for."""
    text = "\n".join(
        [*(f"Filler line {number}." for number in range(400)), "The router password is rotated."]
    )
    await store.put_pages([a_page(1, title="Network"), a_page(2, text, title="Router", parent=1)])

    by_text = await store.search_pages(words=words("rotated"), audience=EVERYTHING, limit=5)
    by_title = await store.search_pages(words=words("network"), audience=EVERYTHING, limit=5)

    [found] = by_text.candidates
    assert (found.page_id, found.chunk_id, found.lexical_rank) == (page_id(2), None, 1)
    assert "password is rotated" in found.body
    assert ids(by_title) == [page_id(1), page_id(2)]


async def test_f40_a_nul_in_one_page_costs_no_other_page(store: Store) -> None:
    """All three are stored, the NUL is gone from text and JSON."""
    odd = a_page(2, "Preis\x00liste", title="Ti\x00tel", properties=(("Preis\x00", "1\x00 EUR \ud800"),))

    await store.put_pages([a_page(1), odd, a_page(3)])

    known = await store.states([page_id(1), page_id(2), page_id(3)])
    found = await store.search_pages(words=words("Preisliste"), audience=EVERYTHING, limit=5)
    assert len(known) == 3
    assert ids(found) == [page_id(2)]
    assert found.candidates[0].title == "Titel"


async def test_t26_titles_are_told_to_those_who_may_see_them(store: Store) -> None:
    """Null for a page out of scope, wherever it lies now; nothing for a page that is not stored."""
    await store.put_pages(
        [a_page(1, title="Open"), a_page(2, title="Below", parent=1), a_page(3, title="Secret")]
    )
    readers = Audience("readers", ((Scope("open", frozenset({page_id(1)})),),))
    ids = [page_id(number) for number in (1, 2, 3, 9)]

    before = await store.titles(ids, audience=readers)
    await store.put_pages([a_page(2, title="Below", parent=3)])
    after = await store.titles(ids, audience=readers)

    assert before == {page_id(1): "Open", page_id(2): "Below", page_id(3): None}
    assert after == {page_id(1): "Open", page_id(2): None, page_id(3): None}
    assert set((await store.titles(ids, audience=NOTHING)).values()) == {None}
    assert await store.titles([], audience=readers) == {}


# --- other spellings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("ERR42", "The drive shows ERR_42 at night."),
        ("err 42", "The drive shows ERR42 at night."),
        ("ERR-42", "The drive shows ERR 42 at night."),
        ("version 2.11", "It came with v2.11 in May."),
        ("v2.11", "It came with 2.11 in May."),
        ("1,000", "At most 1000 euros."),
    ],
)
async def test_r14_an_identifier_is_found_however_it_is_written(
    store: Store, question: str, text: str
) -> None:
    """Signs and blanks between letters and digits make no other name, nor does the v of a version."""
    await index_page(store, a_page(1), a_chunk(1, 0, text))
    await index_page(store, a_page(2), a_chunk(2, 0, "Nothing of that kind."))

    asked = word_query(question, "en")
    found = await store.search(vector=None, words=asked, audience=EVERYTHING, limit=10)

    assert ids(found) == [page_id(1)]


async def test_an_unknown_word_is_healed_by_its_letters_on_request(store: Store) -> None:
    """A title's mistyped word finds the page; a word that is known, short or a code stays what it is."""
    await index_page(store, a_page(1), a_chunk(1, 0, "Thirty days.", breadcrumb="Retention of backups"))
    await index_page(store, a_page(2), a_chunk(2, 0, "The intention and attention of all: code7 tea"))

    async def found(*terms: str, heal: bool = True) -> list[PageId]:
        asked = WordQuery(text=" ".join(terms), terms=terms, heal=heal)
        return ids(await store.search(vector=None, words=asked, audience=EVERYTHING, limit=10))

    assert await found("retenton") == [page_id(1)]
    assert await found("retenton", heal=False) == []
    assert await found("backups", "tee") == [page_id(1)]
    assert await found("code8") == []


async def test_a_healed_word_finds_nothing_out_of_sight(store: Store) -> None:
    """The nearest word may stand on a page that the readers may not see: that page stays unseen."""
    await index_page(store, a_page(1), a_chunk(1, 0, "Retention"))
    await index_page(store, a_page(2), a_chunk(2, 0, "Something else"))

    asked = WordQuery(text="retenton", terms=("retenton",), heal=True)
    found = await store.search(vector=None, words=asked, audience=only(2), limit=10)

    assert ids(found) == []


# --- places and writings ---------------------------------------------------------------------------------


async def test_passages_are_given_by_their_place(store: Store) -> None:
    """Details within a stretch of a page, in order; no summary, no figures, nothing of another page."""
    chunks = [a_chunk(1, index, f"part {index}") for index in range(4)]
    await index_page(store, a_page(1), *chunks, a_chunk(1, 0, "summary", level=0))
    await index_page(store, a_page(2), a_chunk(2, 0, "other"))

    found = await store.around([Stretch(page_id(1), 1, 2), Stretch(page_id(1), 2, 9)], audience=EVERYTHING)

    assert [one.body for one in found] == ["part 1", "part 2", "part 3"]
    assert {(one.semantic_rank, one.lexical_rank, one.cosine) for one in found} == {(None, None, None)}
    assert await store.around([], audience=EVERYTHING) in ((), [])


async def test_a_place_out_of_sight_is_empty(store: Store) -> None:
    """Whoever may not find a passage may not look around it either."""
    await index_page(store, a_page(1), a_chunk(1, 0, "seen"))
    await index_page(store, a_page(2), a_chunk(2, 0, "hidden"))
    stretches = [Stretch(page_id(1), 0, 5), Stretch(page_id(2), 0, 5)]

    assert [one.body for one in await store.around(stretches, audience=only(1))] == ["seen"]
    assert list(await store.around(stretches, audience=NOTHING)) == []


async def test_writings_are_replaced_as_a_whole_and_go_with_the_page(store: Store) -> None:
    """What a model wrote about a page outlives neither a new version nor the page."""
    await store.put_pages([a_page(1)])
    await store.keep_writings(page_id(1), {"a": "one", "b": "two"})
    await store.keep_writings(page_id(1), {"b": "two", "c": "th\x00ree"})
    await store.keep_writings(page_id(2), {"d": "of no page"})
    kept = dict(await store.writings(page_id(1)))
    await store.remove_pages([page_id(1)], proof="trashed")
    await store.put_pages([a_page(1)])

    assert kept.keys() == {"b", "c"}
    assert kept["b"] == "two"
    assert await store.writings(page_id(1)) == await store.writings(page_id(2)) == {}


@pytest.mark.parametrize(
    ("language", "asked", "text"),
    [
        ("pl", "klawiatura", "Klawiatury leżą w szafce."),
        ("cs", "návštěva", "Návštěvy platí za hodinu."),
        ("uk", "відпустка", "Правила відпустки знає Оксана."),
        ("", "Wisniewski", "Proszę pytać Michała Wiśniewskiego."),
    ],
)
async def test_f43_other_forms_are_found_where_nobody_can_stem(
    store: Store, language: str, asked: str, text: str
) -> None:
    """Polish, Czech and Ukrainian words by their letters, names without a language too."""
    await index_page(store, a_page(1), a_chunk(1, 0, text, language=language))
    await index_page(store, a_page(2), a_chunk(2, 0, "Niczego takiego tu nie ma.", language=language))

    words_ = replace(word_query(asked, language), heal=True)
    found = await store.search(vector=None, words=words_, audience=EVERYTHING, limit=10)

    assert ids(found) == [page_id(1)]
