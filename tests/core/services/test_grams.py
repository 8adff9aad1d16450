"""Runs of letters find what stems miss."""

import pytest

from core.services.bm25 import share, statistics
from core.services.grams import count_runs, fold_sounds, gram_counts


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("Prüfung", "prufung"),
        ("Straße", "strase"),
        ("Джаред Аллен", "dzhared alen"),
        ("Объём, ёлка, щит", "obem, elka, shit"),
        ("Θεσσαλονίκη", "tesaloniki"),
        ("Philip", "filip"),
        ("Schmidt", "shmidt"),
        ("", ""),
    ],
)
def test_fold_sounds_gives_one_spelling(written: str, folded: str) -> None:
    """Case, accents, scripts and spellings of one sound do not tell words apart."""
    assert fold_sounds(written) == folded


def test_grams_mark_the_ends_of_words() -> None:
    """Runs never reach over the end of a word; short words stay whole."""
    assert gram_counts("Leave, it!") == {"_lea": 1, "leav": 1, "eave": 1, "ave_": 1, "_it_": 1}


def test_grams_of_unspaced_scripts_are_pairs() -> None:
    """Chinese and Japanese words are shorter than four characters."""
    assert gram_counts("東京都") == {"東京": 1, "京都": 1}


@pytest.mark.parametrize(
    ("asked", "right", "wrong"),
    [
        ("Vertretung", "VertretungsBoard", "Verwaltung der Anträge"),
        ("faeture flag", "Old feature flags break the build", "The flagship store"),
        ("Пэнтерс", "The Panthers defense", "The Broncos offense"),
        ("Urlaubstage", "Anspruch auf Urlaub", "Anspruch auf Gehalt"),
        ("東京", "東京都の住所", "大阪府の住所"),
    ],
)
def test_grams_find_compounds_typing_errors_and_other_scripts(asked: str, right: str, wrong: str) -> None:
    """The passage with a related word beats the one without (F43, typing errors, names across scripts)."""
    passages = [gram_counts(right), gram_counts(wrong), gram_counts("Something else entirely")]
    known = statistics(passages)
    assert share(gram_counts(asked), passages[0], known) > 2 * share(gram_counts(asked), passages[1], known)


@pytest.mark.parametrize(
    "text",
    [
        "Feature flags expire after 90 days",
        "Der Antrag",
        "Отпуск и больничный",
        "a b cd efg",
        "",
    ],
)
def test_wanted_runs_are_counted_as_if_all_were(text: str) -> None:
    """Counting only what a question asks for gives the same numbers, and the length of the whole text."""
    every = gram_counts(text)
    wanted = [*every, "zzzz"]

    assert count_runs(wanted, text) == (dict(every), sum(every.values()))


def test_a_name_amid_signs_without_spaces_is_a_word() -> None:
    """ "E-55" shares its runs with a Japanese sentence around it, "API" with a Chinese one."""
    assert set(gram_counts("E-55")) <= set(gram_counts("エラーコードE-55はファン"))
    assert set(gram_counts("API")) <= set(gram_counts("调用API接口"))
    assert count_runs(gram_counts("E-55"), "エラーコードE-55は")[0] == {"_e_": 1, "_55_": 1}
