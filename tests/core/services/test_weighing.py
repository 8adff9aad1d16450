"""Candidates are weighed by vector, words and letters; the best tells whether there is an answer."""

from typing import Any

import numpy as np
import pytest

from core.domain.answers import Candidate
from core.domain.ids import ChunkId
from core.domain.models import Vector
from core.ports import SearchResult
from core.services.background import Background, Chance
from core.services.bm25 import statistics
from core.services.calibrating import Calibration
from core.services.grams import gram_counts
from core.services.inquiries import prepare
from core.services.ranking import RankingSettings, rank
from core.services.weighing import by_weight, text_of, weigh
from tests.core.services.found import a_hit, a_page_hit, a_question, under

EAST = np.array([1, 0, 0], dtype=np.float32)
NOTHING = np.zeros(3, dtype=np.float32)
BODIES = ("Leave is 28 days a year.", "The office is in Leipzig.", "Flags expire.")
CALIBRATION = Calibration(
    background=Background(
        question_means={"": NOTHING},
        passage_means={"": NOTHING},
        chances={("", ""): Chance(best=0.5, spread=0.1)},
        spread=0.1,
    ),
    runs=statistics(gram_counts(body) for body in BODIES),
)
QUESTION = "How many days of leave do I have?"


def towards(cosine: float) -> Vector:
    """A vector with this cosine to the question's, not of length 1."""
    return np.array([3 * cosine, 3 * (1 - cosine**2) ** 0.5, 0], dtype=np.float32)


def found(*hits: tuple[Candidate, float], shares: dict[int, float] | None = None) -> SearchResult:
    """A search result with the cosine of each hit."""
    known = [(one, cosine) for one, cosine in hits if one.chunk_id is not None]
    return SearchResult(
        candidates=tuple(one for one, _ in hits),
        generation=1,
        vectors={one.chunk_id: towards(cosine) for one, cosine in known if one.chunk_id is not None},
        shares={ChunkId(number): share for number, share in (shares or {}).items()},
    )


def weighed(result: SearchResult, text: str = QUESTION) -> Any:
    """The question's weights."""
    return weigh(prepare(a_question(text)), EAST, result.candidates, result, CALIBRATION)


def test_what_says_the_words_of_the_question_comes_before_what_is_equally_near() -> None:
    """Words and letters decide between equal cosines."""
    result = found(
        (a_hit(1, BODIES[1], breadcrumb=""), 0.8),
        (a_hit(2, BODIES[0], breadcrumb=""), 0.8),
        shares={1: 0.0, 2: 0.6},
    )
    scores = weighed(result).scores
    assert scores[ChunkId(2)] > scores[ChunkId(1)]


def test_what_only_the_words_found_is_not_worth_less_for_it() -> None:
    """The score knows no side of the search: only what passages are."""
    by_words: dict[str, Any] = {"semantic_rank": None, "lexical_rank": 1}
    both = found((a_hit(1, BODIES[0]), 0.7), shares={1: 0.5})
    words = found((a_hit(1, BODIES[0], **by_words), 0.7), shares={1: 0.5})
    assert weighed(words).scores == weighed(both).scores


def test_the_probability_follows_the_best_passage() -> None:
    """A near passage with a lead makes an answer likely, one like chance gives makes it unlikely."""
    sure = weighed(found((a_hit(1, BODIES[0]), 0.9), (a_hit(2, BODIES[1]), 0.4), shares={1: 0.8, 2: 0.0}))
    unsure = weighed(found((a_hit(1, BODIES[1]), 0.3), (a_hit(2, BODIES[2]), 0.3), shares={1: 0.0, 2: 0.0}))
    assert sure.probability > 0.8
    assert unsure.probability < 0.1


def test_f40_an_identifier_that_the_passage_lacks_makes_an_answer_improbable() -> None:
    """ERR_63 is not answered by what is said of ERR_42."""
    result = found((a_hit(1, "ERR_42 means the queue is full."), 0.8), shares={1: 0.5})
    lacking = weighed(result, "What does ERR_63 mean?")
    present = weighed(result, "What does ERR_42 mean?")
    assert lacking.probability < 0.5 < present.probability


def test_whole_pages_are_not_weighed() -> None:
    """What has no vector has no weight, and nothing at all is an answer to nothing."""
    page = a_page_hit(1, "text")
    nothing = weighed(found((page, 0.9)))
    assert (dict(nothing.scores), nothing.probability) == ({}, 0.0)


def test_scores_shown_lie_between_0_and_1_in_the_order_of_the_weights() -> None:
    """The raw reciprocal rank stays beside it."""
    result = found((a_hit(1, BODIES[1]), 0.2), (a_hit(2, BODIES[0]), 0.9), shares={1: 0.0, 2: 0.9})
    settings = RankingSettings(threshold=-1.0, title_boost=0.0)
    ranked = rank(result.candidates, keywords=(), settings=settings, fusion=by_weight(weighed(result)))
    assert [one.candidate.chunk_id for one in ranked] == [2, 1]
    assert 1 > ranked[0].score > ranked[1].score > 0
    assert [one.rrf for one in ranked] == pytest.approx([1 / 62, 1 / 61])


def test_the_text_weighed_is_the_text_embedded() -> None:
    """Title and headings in brackets, none where there are none."""
    assert text_of(a_hit(1, "Body.", **under("Top", "Sub"))) == "[Wiki > Page 1 > # Top > ## Sub] Body."
    assert text_of(a_hit(1, "Body.", breadcrumb="")) == "Body."
