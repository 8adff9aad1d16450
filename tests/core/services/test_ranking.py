"""The ranking's numbers, exactly: fusion, boosts, threshold, duplicates, limits."""

import random
from dataclasses import replace
from typing import Any

import pytest

from core.domain.answers import Candidate, Passage
from core.domain.documents import Heading
from core.domain.ids import ChunkId, PageId
from core.services.ranking import (
    RankingMode,
    RankingSettings,
    Scored,
    admit,
    boost,
    candidate_count,
    highest_rrf,
    merge,
    order,
    over_fetch,
    rank,
    reciprocal_rank,
    record,
)

VECTOR = RankingSettings(mode=RankingMode.VECTOR, limit=10, details_per_page=10)
HYBRID = RankingSettings(limit=10)


def a_candidate(chunk: int, page: str = "p1", **overrides: Any) -> Candidate:
    """A detail chunk that the vectors found first, with nothing a keyword could match."""
    settled: dict[str, Any] = {
        "title": "Page",
        "breadcrumb": "Page",
        "page_url": f"https://www.notion.so/{page}",
        "body": "text",
        "path": (PageId(page),),
        "index": chunk,
        "semantic_rank": 1,
        "cosine": 0.5,
    }
    return Candidate(chunk_id=ChunkId(chunk), page_id=PageId(page), **(settled | overrides))


def scores(passages: tuple[Passage, ...]) -> list[float]:
    """Scores in order, without float noise."""
    return [round(passage.score, 6) for passage in passages]


def chunks(passages: tuple[Passage, ...]) -> list[int | None]:
    """Chunk ids in order."""
    return [passage.candidate.chunk_id for passage in passages]


# --- Boosts (B8 to B18), in vector mode, where the base is the cosine --------------------------------


def test_b8_a_title_match_overtakes_a_nearer_stranger() -> None:
    """0.31 with a title match becomes 0.46 and comes before 0.45."""
    titled = a_candidate(1, "p1", cosine=0.31, title="Mindset", breadcrumb="Mindset")
    stranger = a_candidate(2, "p2", cosine=0.45)

    ranked = rank([stranger, titled], keywords=["mindset"], settings=VECTOR)

    assert chunks(ranked) == [1, 2]
    assert scores(ranked) == [0.46, 0.45]


def test_b9_title_and_heading_add_up() -> None:
    """0.50 becomes 0.73."""
    both = a_candidate(1, title="Mindset", heading_path=(Heading(1, "Our mindset"),))

    assert scores(rank([both], keywords=["mindset"], settings=VECTOR)) == [0.73]


def test_b10_a_heading_alone_adds_008_and_no_keywords_nothing() -> None:
    """Headings of all levels count; without keywords the cosine stays."""
    headed = a_candidate(1, heading_path=(Heading(1, "Mindset"), Heading(2, "Rules")))

    assert scores(rank([headed], keywords=["mindset"], settings=VECTOR)) == [0.58]
    assert scores(rank([headed], keywords=[], settings=VECTOR)) == [0.5]


def test_b11_pages_found_twice_rise() -> None:
    """Two details of one page gain 0.05 each."""
    found = [
        a_candidate(1, "p1", cosine=0.70),
        a_candidate(2, "p1", cosine=0.65),
        a_candidate(3, "p2", cosine=0.72),
    ]

    assert scores(rank(found, keywords=[], settings=VECTOR)) == [0.75, 0.72, 0.70]


def test_b12_a_summary_with_one_detail_is_no_multi_hit() -> None:
    """The summary gains 0.03, the detail nothing."""
    found = [a_candidate(1, cosine=0.60, level=0), a_candidate(2, cosine=0.65)]

    assert scores(rank(found, keywords=[], settings=VECTOR)) == [0.65, 0.63]


def test_b13_all_boosts_of_a_page_together() -> None:
    """The summary takes part in the multi-hit of its details (X26)."""
    titled: dict[str, Any] = {"title": "Mindset", "breadcrumb": "Wiki > Mindset"}
    found = [
        a_candidate(1, cosine=0.40, level=0, **titled),
        a_candidate(2, cosine=0.50, heading_path=(Heading(1, "Mindset"),), **titled),
        a_candidate(3, cosine=0.45, **titled),
        a_candidate(4, cosine=0.44, **titled),
    ]

    ranked = rank(found, keywords=["mindset"], settings=VECTOR)

    assert chunks(ranked) == [2, 3, 4, 1]
    assert scores(ranked) == [0.78, 0.65, 0.64, 0.63]


def test_b14_scores_end_at_one() -> None:
    """Boosts never lift a score above 1.0."""
    near = a_candidate(1, cosine=0.98, title="Mindset")
    lifted = a_candidate(2, "p2", cosine=0.95, title="Mindset", heading_path=(Heading(1, "Mindset"),))

    assert scores(rank([near, lifted], keywords=["mindset"], settings=VECTOR)) == [1.0, 1.0]


def test_b15_the_pure_scorer_can_add_all_four() -> None:
    """0.50 with every boost is 0.81, although no real summary has a heading path."""
    everything = a_candidate(1, level=0, title="Mindset", heading_path=(Heading(1, "Mindset"),))
    scored = [
        Scored(candidate=everything, rrf=0.0, base=0.5),
        Scored(candidate=a_candidate(2), rrf=0.0, base=0.1),
        Scored(candidate=a_candidate(3), rrf=0.0, base=0.1),
    ]

    boosted = boost(scored, keywords=["mindset"], settings=HYBRID)

    assert round(boosted[0].score, 6) == 0.81


def test_b16_u19_a_keyword_inside_a_word_is_no_match() -> None:
    """ "art" does not lift "Startup guide"."""
    startup = a_candidate(1, title="Startup guide", breadcrumb="Startup guide")

    assert scores(rank([startup], keywords=["art"], settings=VECTOR)) == [0.5]


def test_b17_two_keywords_in_the_title_count_once() -> None:
    """+0.15 is added once, as is the heading's +0.08."""
    titled = a_candidate(
        1, title="Mindset rules", breadcrumb="Mindset rules", heading_path=(Heading(1, "Mindset rules"),)
    )

    assert scores(rank([titled], keywords=["mindset", "rules"], settings=VECTOR)) == [0.73]


def test_b18_u24_equal_scores_keep_their_order() -> None:
    """However the candidates arrive, ties fall by cosine, page, level and place."""
    equal = [a_candidate(number, f"p{number % 7}") for number in range(40)]
    first = rank(equal, keywords=[], settings=VECTOR)

    for seed in range(5):
        shuffled = equal.copy()
        random.Random(seed).shuffle(shuffled)
        assert rank(shuffled, keywords=[], settings=VECTOR) == first


def test_the_title_boost_sees_ancestors() -> None:
    """The breadcrumb counts, as the reference's table says (X26)."""
    child = a_candidate(1, title="Rules", breadcrumb="Mindset > Rules")

    assert scores(rank([child], keywords=["mindset"], settings=VECTOR)) == [0.65]


def test_accents_and_case_do_not_stop_a_boost() -> None:
    """A keyword typed without its umlaut matches the title."""
    titled = a_candidate(1, title="Prüfung")

    assert scores(rank([titled], keywords=["prufung"], settings=VECTOR)) == [0.65]


# --- Duplicates, threshold, limits (D1 to D8) --------------------------------------------------------


def test_d1_one_summary_and_two_details_a_page() -> None:
    """The third detail of a page goes."""
    found = [
        a_candidate(1, cosine=0.95),
        a_candidate(2, cosine=0.90),
        a_candidate(3, cosine=0.85),
        a_candidate(4, cosine=0.78, level=0),
        a_candidate(5, cosine=0.70, level=0, index=9),
    ]
    settings = RankingSettings(mode=RankingMode.VECTOR)

    assert sorted(str(chunk) for chunk in chunks(rank(found, keywords=[], settings=settings))) == [
        "1",
        "2",
        "4",
    ]


def test_d2_no_more_than_asked() -> None:
    """Ten pages and N = 3 give three passages."""
    found = [a_candidate(number, f"p{number}", cosine=0.9 - number / 100) for number in range(10)]

    assert chunks(rank(found, keywords=[], settings=RankingSettings(mode=RankingMode.VECTOR, limit=3))) == [
        0,
        1,
        2,
    ]


@pytest.mark.parametrize(
    ("cosine", "admitted"), [(0.30, False), (0.3000000119, False), (0.3001, True), (0.29, False)]
)
def test_d3_the_threshold_is_strict(cosine: float, *, admitted: bool) -> None:
    """0.30 is out at 0.30, also when float4 says 0.3000000119."""
    assert bool(admit([a_candidate(1, cosine=cosine)], VECTOR)) is admitted


def test_d4_the_threshold_comes_before_boosts_and_spares_words() -> None:
    """A title match does not save a semantic hit; what the words found stays, without its semantic rank."""
    below = a_candidate(1, cosine=0.29, title="Mindset")
    found_by_both = a_candidate(2, cosine=0.29, title="Mindset", lexical_rank=1)

    ranked = rank([below, found_by_both], keywords=["mindset"], settings=HYBRID)

    assert chunks(ranked) == [2]
    assert ranked[0].candidate.semantic_rank is None
    assert ranked[0].rrf == pytest.approx(1 / 61)


@pytest.mark.parametrize(("limit", "expected"), [(3, 9), (5, 15), (10, 30), (50, 30)])
def test_d5_three_times_the_passages_wanted(limit: int, expected: int) -> None:
    """The reference's over-fetch, capped at ten passages."""
    assert over_fetch(limit) == expected


@pytest.mark.parametrize(
    ("limit", "expected"), [(1, 50), (5, 50), (10, 50), (11, 55), (20, 100), (40, 200), (100, 200)]
)
def test_d6_candidates_are_clamped(limit: int, expected: int) -> None:
    """Five times the limit, between 50 and 200."""
    assert candidate_count(limit) == expected


def test_d5_no_answer_rests_on_more_than_ten_passages() -> None:
    """A limit of fifty is cut to ten, the default is five."""
    found = [a_candidate(number, f"p{number}") for number in range(60)]

    assert len(rank(found, keywords=[], settings=RankingSettings(limit=50))) == 10
    assert len(rank(found, keywords=[])) == 5


def test_d7_hits_are_counted_before_duplicates_go() -> None:
    """With one detail a page allowed, the dropped second one still counts as a hit."""
    settings = RankingSettings(mode=RankingMode.VECTOR, details_per_page=1)
    found = [a_candidate(1, cosine=0.70), a_candidate(2, cosine=0.65)]

    assert scores(rank(found, keywords=[], settings=settings)) == [0.75]


def test_d8_a_record_has_the_documented_fields_only() -> None:
    """Figures are shown to four decimals; cosine, fusion and score stay apart."""
    passage = Passage(
        candidate=a_candidate(7, cosine=0.123456, lexical_rank=2, lexical=0.98765),
        rrf=0.0325224,
        score=0.991936,
    )

    assert record(passage) == {
        "chunk_id": 7,
        "page_id": "p1",
        "block_id": None,
        "text": "text",
        "title": "Page",
        "heading_path": [],
        "url": "https://www.notion.so/p1",
        "level": 1,
        "found_by": "both",
        "cosine": 0.1235,
        "lexical": 0.9877,
        "rrf": 0.0325,
        "score": 0.9919,
        "last_edited": None,
    }


# --- Reciprocal rank fusion (R1 to R11, F47, F48) ----------------------------------------------------


def assert_fused(semantic: int | None, lexical: int | None, score: float, scaled: float) -> None:
    """The fused score and its share of the highest, to the inventory's digits."""
    found = a_candidate(1, semantic_rank=semantic, lexical_rank=lexical)
    passage = rank([found], keywords=[], settings=HYBRID)[0]

    assert round(passage.rrf, 6) == score
    assert round(passage.score, 4) == scaled


def test_r1_first_on_both_sides_is_the_highest_score() -> None:
    """2/61, which is 1.0 of what can be reached."""
    assert_fused(1, 1, 0.032787, 1.0)


@pytest.mark.parametrize(("semantic", "lexical"), [(1, None), (None, 1)])
def test_r2_first_on_one_side_is_half_of_it(semantic: int | None, lexical: int | None) -> None:
    """Whichever side it is; the other gives nothing."""
    assert_fused(semantic, lexical, 0.016393, 0.5)


def test_r3_second_on_one_side() -> None:
    """1/62."""
    assert_fused(2, None, 0.016129, 0.4919)


@pytest.mark.parametrize(("semantic", "lexical"), [(1, 2), (2, 1)])
def test_r4_mirrored_ranks_have_one_score(semantic: int, lexical: int) -> None:
    """1/61 + 1/62 either way."""
    assert_fused(semantic, lexical, 0.032522, 0.9919)


def test_r5_third_and_first() -> None:
    """1/63 + 1/61."""
    assert_fused(3, 1, 0.032266, 0.9841)


def test_r6_tenth_on_both_sides() -> None:
    """2/70."""
    assert_fused(10, 10, 0.028571, 0.8714)


def test_r7_fiftieth_on_both_sides() -> None:
    """2/110, and still before what one side ranks first."""
    assert_fused(50, 50, 0.018182, 0.5545)
    assert reciprocal_rank(50, 50) > reciprocal_rank(1, None)


@pytest.mark.parametrize(
    ("semantic", "lexical", "score", "scaled"),
    [(1, 50, 0.025484, 0.7773), (5, 20, 0.027885, 0.8505)],
)
def test_r9_unequal_ranks(semantic: int, lexical: int, score: float, scaled: float) -> None:
    """Two middling ranks are worth more than one that is first and one that is far."""
    assert_fused(semantic, lexical, score, scaled)
    assert reciprocal_rank(5, 20) > reciprocal_rank(1, 50)


def test_r4_mirrored_ranks_fall_by_the_tie_break() -> None:
    """1,2 and 2,1 have one score; the nearer by cosine comes first."""
    nearer = a_candidate(9, "p9", semantic_rank=1, lexical_rank=2, cosine=0.8)
    wordier = a_candidate(1, "p1", semantic_rank=2, lexical_rank=1, cosine=0.7)

    ranked = rank([wordier, nearer], keywords=[], settings=HYBRID)

    assert ranked[0].score == ranked[1].score
    assert chunks(ranked) == [9, 1]


@pytest.mark.parametrize("shared", [10, 50])
def test_r6_r7_agreement_beats_a_single_first_place(shared: int) -> None:
    """What both sides rank tenth or fiftieth comes before what one ranks first."""
    assert reciprocal_rank(shared, shared) > reciprocal_rank(1, None)


def test_r8_the_crossover_is_at_62() -> None:
    """61,61 is above a single first place, 62,62 equal, 63,63 below."""
    single = reciprocal_rank(1, None)

    assert reciprocal_rank(61, 61) > single
    assert reciprocal_rank(62, 62) == pytest.approx(single, abs=1e-15)
    assert reciprocal_rank(63, 63) < single


def test_r10_weights_count() -> None:
    """Weights 2 and 1 give 3/61 for two first places, and still 1.0 of the highest."""
    weighted = RankingSettings(semantic_weight=2.0, lexical_weight=1.0)

    assert round(reciprocal_rank(1, 1, weighted), 6) == 0.049180
    assert highest_rrf(weighted) == pytest.approx(3 / 61)
    assert rank([a_candidate(1, lexical_rank=1)], keywords=[], settings=weighted)[0].score == 1.0


def test_r11_a_chunk_of_both_lists_appears_once() -> None:
    """Two rows of one chunk are joined, their ranks both counted."""
    by_vector = a_candidate(1, semantic_rank=1)
    by_words = a_candidate(1, semantic_rank=None, cosine=None, lexical_rank=1, lexical=3.0)

    ranked = rank([by_vector, by_words], keywords=[], settings=HYBRID)

    assert chunks(ranked) == [1]
    assert ranked[0].score == 1.0
    assert (ranked[0].candidate.cosine, ranked[0].candidate.lexical) == (0.5, 3.0)


def test_f47_a_side_that_did_not_find_it_gives_no_points() -> None:
    """Dense [X, a, Y] and words [b, c, Y]: Y comes first."""
    found = [
        a_candidate(1, "X", semantic_rank=1),
        a_candidate(2, "a", semantic_rank=2),
        a_candidate(3, "Y", semantic_rank=3, lexical_rank=3),
        a_candidate(4, "b", semantic_rank=None, cosine=None, lexical_rank=1),
        a_candidate(5, "c", semantic_rank=None, cosine=None, lexical_rank=2),
    ]

    ranked = rank(found, keywords=[], settings=HYBRID)

    assert ranked[0].candidate.page_id == "Y"
    assert ranked[0].rrf == pytest.approx(2 / 63)
    assert reciprocal_rank(None, None) == 0.0


def test_f48_a_chunk_named_by_number_and_by_text_is_one() -> None:
    """7 and "7" are the same row, and agreement is rewarded."""
    by_vector = a_candidate(7, semantic_rank=1)
    by_words = a_candidate("7", semantic_rank=None, cosine=None, lexical_rank=1)  # type: ignore[arg-type]  # a driver's slip

    merged = merge([by_vector, by_words])

    assert len(merged) == 1
    assert (merged[0].semantic_rank, merged[0].lexical_rank) == (1, 1)


def test_vector_mode_leaves_out_what_only_the_words_found() -> None:
    """The reference without a lexical side knows no such hits."""
    by_words = a_candidate(1, semantic_rank=None, cosine=None, lexical_rank=1)

    assert rank([by_words], keywords=[], settings=VECTOR) == ()


def test_r15_a_title_only_match_gets_in_by_words() -> None:
    """A page whose vector is outside the pool is found by the word side and lifted by its title."""
    titled = a_candidate(1, semantic_rank=None, cosine=None, lexical_rank=1, title="Mindset")

    assert scores(rank([titled], keywords=["mindset"], settings=HYBRID)) == [0.65]


def test_another_fusion_can_take_the_place_of_this_one() -> None:
    """Boosts, order and duplicates work on whatever score a fusion gives."""

    def by_chunk_id(candidates: Any, _settings: RankingSettings) -> list[Scored]:
        return [Scored(candidate=one, rrf=0.0, base=one.chunk_id / 10) for one in candidates]

    found = [a_candidate(1, "p1"), a_candidate(3, "p3"), a_candidate(2, "p2")]

    assert chunks(rank(found, keywords=[], settings=HYBRID, fusion=by_chunk_id)) == [3, 2, 1]


def test_pages_found_as_a_whole_are_told_apart() -> None:
    """Page-level hits have no chunk id and are the same only on the same page."""
    pages = [
        Candidate(
            chunk_id=None,
            page_id=PageId(page),
            title="Page",
            breadcrumb="Page",
            page_url="https://www.notion.so/x",
            body="text",
            path=(PageId(page),),
            lexical_rank=place,
        )
        for place, page in enumerate(("p1", "p2", "p1"), start=1)
    ]

    merged = merge(pages)

    assert [(one.page_id, one.lexical_rank) for one in merged] == [("p1", 1), ("p2", 2)]


def test_order_prefers_the_higher_cosine_on_a_tie() -> None:
    """A known cosine comes before an unknown one."""
    known = Passage(candidate=a_candidate(2, "p2", cosine=0.4), rrf=0.01, score=0.5)
    unknown = Passage(candidate=a_candidate(1, "p1", cosine=None), rrf=0.01, score=0.5)

    assert order([unknown, known]) == (known, unknown)


# --- X2 and X10 ----------------------------------------------------------------------------------------


def test_x2_a_boost_is_small_beside_agreement_of_both_sides() -> None:
    """Ranks are scaled to 1 before boosts: +0.15 on a raw 0.0328 would let one keyword beat everything."""
    agreed = a_candidate(1, "p1", semantic_rank=1, lexical_rank=1)
    titled = a_candidate(2, "p2", semantic_rank=40, lexical_rank=None, title="Mindset", breadcrumb="Mindset")

    ranked = rank([titled, agreed], keywords=["mindset"], settings=HYBRID)

    assert chunks(ranked) == [1, 2]
    assert scores(ranked) == [1.0, round(61 / 100 / 2 + 0.15, 6)]


def test_x2_only_the_words_know_a_title_and_it_gets_in() -> None:
    """A page whose vector is nowhere near is in the pool by its words, and a boost lifts it."""
    far = a_candidate(1, "p1", semantic_rank=None, cosine=None, lexical_rank=3, lexical=1.0, title="Mindset")
    near = a_candidate(2, "p2", semantic_rank=2, cosine=0.8)

    assert chunks(rank([near, far], keywords=["mindset"], settings=HYBRID)) == [1, 2]
    assert chunks(rank([near, far], keywords=["mindset"], settings=VECTOR)) == [2]


def test_x2_three_figures_stay_three_figures() -> None:
    """Cosine, fused ranks and final score: none takes the place of another in either mode."""
    found = a_candidate(1, semantic_rank=1, lexical_rank=1, cosine=0.4, title="Mindset", breadcrumb="Mindset")

    hybrid = rank([found], keywords=["mindset"], settings=HYBRID)[0]
    vector = rank([found], keywords=["mindset"], settings=VECTOR)[0]

    assert (hybrid.candidate.cosine, round(hybrid.rrf, 6), hybrid.score) == (0.4, 0.032787, 1.0)
    assert (vector.candidate.cosine, round(vector.score, 6)) == (0.4, 0.55)


def test_x10_an_answer_rests_on_a_summary_and_two_details_a_page() -> None:
    """The best chunk alone would lose the second half of an answer, three details another page."""
    page = [a_candidate(number, "p1", cosine=0.9 - number / 100) for number in range(1, 4)]
    summary = a_candidate(9, "p1", cosine=0.5, level=0)
    other = a_candidate(10, "p2", cosine=0.4)
    kept = replace(VECTOR, details_per_page=2, limit=4)

    assert chunks(rank([*page, summary, other], keywords=[], settings=kept)) == [1, 2, 9, 10]
