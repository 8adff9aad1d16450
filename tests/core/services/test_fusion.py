"""The fusion takes the gain of both sides and the noise of neither."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.services.fusion import Evidence, FusionSettings, fuse, lexical_share

SPREAD = 0.08


def evidence(similarity: float, words: float = 0.0, language: str = "en", **more: float) -> Evidence:
    return Evidence(language=language, similarity=similarity, stems=words, grams=words, **more)


def ranked(*passages: Evidence, asked_in: str = "en") -> list[int]:
    scores = fuse(passages, question_language=asked_in, spread=SPREAD)
    return sorted(range(len(passages)), key=lambda place: -scores[place])


def test_words_decide_between_similar_passages() -> None:
    """In one language the words lift the right one of two passages the vectors cannot tell apart."""
    assert ranked(evidence(0.40), evidence(0.38, words=0.4)) == [1, 0]


def test_lexical_noise_does_not_bury_the_page_in_another_language() -> None:
    """The best of the words is rank 1 however little it shares: here ranks would tie, evidence does not."""
    foreign_answer = evidence(0.42, language="en")
    noise_at_home = evidence(0.15, words=0.08, language="de")
    assert ranked(noise_at_home, foreign_answer, asked_in="de") == [1, 0]


def test_below_noise_words_say_nothing() -> None:
    """A share that unrelated passages reach adds nothing; above it the mean of both ways counts."""
    assert lexical_share(0.05, 0.05) == 0.0
    assert lexical_share(0.5, 0.3) == pytest.approx(0.35)


def test_a_translation_gives_way_to_the_asker_s_own_page() -> None:
    """Where the asker's language surely answers, other languages lose what the settings say, and no more."""
    own, translation = evidence(0.45, 0.45), evidence(0.6, 0.0, "de")
    lost = []
    for demotion in (0.0, 1.0, 7.0):
        settings = replace(FusionSettings(), foreign_demotion=demotion)
        scores = fuse((translation, own), question_language="en", spread=SPREAD, settings=settings)
        lost.append(scores[0])

    assert lost[0] - lost[1] == pytest.approx(1.0, abs=0.05)
    assert lost[0] - lost[2] == pytest.approx(7.0, abs=0.05)


def test_a_word_in_common_with_the_own_language_does_not_hide_the_only_page_on_a_topic() -> None:
    """The foreign page keeps its place before weak pages of the asker's language."""
    shares_a_word, foreign, weak = evidence(0.45, 0.45), evidence(0.6, 0.0, "de"), evidence(0.1, 0.05)

    assert ranked(shares_a_word, foreign, weak) == [0, 1, 2]


def test_languages_are_equal_where_the_asker_s_has_no_answer() -> None:
    """Nothing is lost by asking in German what only an English page says."""
    weak_at_home, foreign = evidence(0.2, 0.1, "de"), evidence(0.4, 0.0, "en")
    alone = fuse((foreign,), question_language="de", spread=SPREAD)
    assert fuse((weak_at_home, foreign), question_language="de", spread=SPREAD)[1] == pytest.approx(
        alone[0], abs=0.01
    )


def test_score_by_hand() -> None:
    """0.6 chunk + 0.4 sentence in standard deviations, 15 for all words above noise."""
    one = Evidence(language="en", similarity=0.4, best_sentence=0.5, stems=0.3, grams=0.5)
    assert fuse((one,), question_language="xx", spread=0.1) == pytest.approx([4.4 + 15 * 0.35])


def test_without_sentence_vectors_the_chunk_speaks_alone() -> None:
    """A missing sentence vector is unknown, not zero."""
    assert fuse((evidence(0.4),), question_language="xx", spread=0.1) == pytest.approx([4.0])


def test_nothing_to_fuse() -> None:
    """No passages, no scores."""
    assert fuse((), question_language="en", spread=SPREAD) == ()


@given(
    st.lists(
        st.builds(
            Evidence,
            language=st.sampled_from(["en", "de"]),
            similarity=st.floats(-1, 1),
            stems=st.floats(0, 1),
            grams=st.floats(0, 1),
            best_sentence=st.none() | st.floats(-1, 1),
        ),
        max_size=8,
    )
)
def test_fusion_keeps_order_and_number_and_stays_finite(passages: list[Evidence]) -> None:
    """One finite score for each passage; a passage's place in the list does not matter."""
    scores = fuse(passages, question_language="en", spread=SPREAD)
    assert len(scores) == len(passages)
    assert all(math.isfinite(score) for score in scores)
    assert fuse(passages[::-1], question_language="en", spread=SPREAD) == scores[::-1]
