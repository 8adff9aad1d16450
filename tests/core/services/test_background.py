"""What a language shares is no similarity; what chance gives is no evidence."""

import numpy as np
import numpy.typing as npt
import pytest

from core.domain.models import Vector
from core.services.background import Background, Vectors, learn

TOPICS, DIMENSIONS = 30, 64


def unit(rows: npt.NDArray[np.float64]) -> Vectors:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def world() -> tuple[Vectors, tuple[str, ...], dict[str, Vectors], Vectors]:
    """Topics told in two languages: a large part of each vector is the language, a small one the topic."""
    rng = np.random.default_rng(7)
    topics = 16 * unit(rng.normal(size=(TOPICS, DIMENSIONS)))
    tongue = {code: 3 * rng.normal(size=DIMENSIONS) for code in ("de", "en")}
    asking = {code: tongue[code] + 2 * rng.normal(size=DIMENSIONS) for code in tongue}
    languages = tuple("de" if topic < TOPICS // 2 else "en" for topic in range(TOPICS))
    passages = unit(
        np.stack(
            [
                topics[at] + tongue[code] + 0.3 * rng.normal(size=DIMENSIONS)
                for at, code in enumerate(languages)
            ]
        )
    )
    typical = {code: unit(asking[code] + 16 * unit(rng.normal(size=(20, DIMENSIONS)))) for code in tongue}
    questions = unit(asking["de"] + topics + 0.3 * rng.normal(size=(TOPICS, DIMENSIONS)))
    return passages, languages, typical, questions


def learned() -> tuple[Background, Vectors, tuple[str, ...], Vectors]:
    passages, languages, typical, questions = world()
    return learn(passages, languages, typical), passages, languages, questions


def test_centred_similarity_finds_the_page_in_the_other_language() -> None:
    """German questions on what only English pages say: raw cosines prefer any German page."""
    background, passages, languages, questions = learned()
    about_english = range(TOPICS // 2, TOPICS)
    raw = sum(int(np.argmax(passages @ questions[topic])) == topic for topic in about_english)
    centred = background.centred_passages(passages, languages)
    fair = sum(
        int(np.argmax(centred @ background.centred_question(questions[topic], "de"))) == topic
        for topic in about_english
    )
    assert raw <= 5
    assert fair == len(about_english)


def test_right_passages_stand_out_and_random_ones_do_not() -> None:
    """The figure means the same in both languages, although raw cosines of one lie far above the other's."""
    background, passages, languages, questions = learned()
    figures = np.array(
        [
            [
                background.stands_out(
                    float(passage @ question), question_language="de", passage_language=language
                )
                for passage, language in zip(passages, languages, strict=True)
            ]
            for question in questions
        ]
    )
    right = np.eye(TOPICS, dtype=bool)
    german = np.array(languages) == "de"
    raw = passages @ questions.T
    assert np.median(raw[german]) > np.median(raw[~german]) + 0.1
    assert abs(np.median(figures[~right & german]) - np.median(figures[~right & ~german])) < 1
    for of_language in (german, ~german):
        assert np.median(figures[right & of_language]) > np.quantile(figures[~right & of_language], 0.9)
    assert background.spread > 0


def test_rows_are_of_length_1() -> None:
    """Similarities of centred vectors are cosines again."""
    background, passages, languages, questions = learned()
    assert np.allclose(np.linalg.norm(background.centred_passages(passages, languages), axis=1), 1, atol=1e-5)
    assert np.linalg.norm(background.centred_question(questions[0], "de")) == pytest.approx(1, abs=1e-5)


def test_unknown_languages_borrow_from_all() -> None:
    """A question in Polish, a page in Kazakh: the means of all languages, no error."""
    background, passages, _, questions = learned()
    assert background.centred_question(questions[0], "pl").shape == (DIMENSIONS,)
    assert background.centred_passages(passages[:1], ("kk",)).shape == (1, DIMENSIONS)
    assert background.stands_out(2.0, question_language="pl", passage_language="kk") > 0


def test_a_handful_of_passages_is_no_language() -> None:
    """Three pages of a language must not become zero vectors by losing their own mean."""
    passages, languages, typical, _ = world()
    few = ("xx", *languages[1:])
    background = learn(passages, few, typical)
    assert "xx" not in background.passage_means
    assert np.linalg.norm(background.centred_passages(passages[:1], ("xx",))) == pytest.approx(1, abs=1e-5)


def test_nothing_can_be_learned_from_nothing() -> None:
    """An empty index says so instead of dividing by zero."""
    with pytest.raises(ValueError, match="passages and questions"):
        learn(np.zeros((0, 4), dtype=np.float32), (), {"en": np.ones((1, 4), dtype=np.float32)})
    with pytest.raises(ValueError, match="passages and questions"):
        learn(np.ones((1, 4), dtype=np.float32), ("en",), {})
    assert learn(
        np.ones((1, 4), dtype=np.float32), ("en",), {"en": np.ones((1, 4), dtype=np.float32)}
    ).centred_passages(np.zeros((0, 4), dtype=np.float32), ()).shape == (0, 4)


def test_questions_about_titles_shift_the_mean_and_not_the_chance() -> None:
    """What the index answers says how people ask here, not what chance gives."""
    passages, languages, typical, questions = world()
    plain = learn(passages, languages, typical)
    shifted = learn(passages, languages, typical, {"de": questions})
    assert shifted.chances == plain.chances
    assert shifted.question_means["de"] == pytest.approx(
        (typical["de"].mean(axis=0) + questions.mean(axis=0)) / 2, abs=1e-6
    )
    assert shifted.question_means["en"] == pytest.approx(plain.question_means["en"])


def test_a_question_moved_towards_a_language_finds_its_pages_without_a_filter() -> None:
    """Among the nearest five by raw cosine stands the English page that a German question is about."""
    background, passages, languages, questions = learned()
    about_english = range(TOPICS // 2, TOPICS)

    def found(topic: int, question: Vector) -> bool:
        return topic in np.argsort(passages @ question)[::-1][:5]

    moved = {
        topic: background.towards(questions[topic], question_language="de", passage_language="en")
        for topic in about_english
    }
    assert sum(found(topic, questions[topic]) for topic in about_english) < len(about_english)
    assert all(found(topic, moved[topic]) for topic in about_english)
    assert all(languages[int(np.argmax(passages @ moved[topic]))] == "en" for topic in about_english)
    stays = background.towards(questions[0], question_language="de", passage_language="de")
    assert np.array_equal(stays, questions[0])
