"""A question's words: what it is about, and how it is searched."""

import pytest
import stopwordsiso
from hypothesis import given
from hypothesis import strategies as st

from core.services.languages import detect
from core.services.stopwords import CONTENT, ENGLISH_PAIRS, FILLERS, stop_words
from core.services.tokens import fold, parts, same_root, tokens, word_forms
from core.services.words import contains_any, keywords, read_operators, word_query


def test_b1_stop_words_and_punctuation_are_removed() -> None:
    """What is left of a question is its subject."""
    assert keywords("was steht unter Mindset?") == ("mindset",)


@pytest.mark.parametrize(
    ("text", "expected"), [("what is the Setup", ("setup",)), ("Was ist das?", ()), ("", ())]
)
def test_b2_a_question_of_stop_words_has_no_keywords(text: str, expected: tuple[str, ...]) -> None:
    """English and German fillers are known; an empty text is no error."""
    assert keywords(text) == expected


def test_b3_umlauts_are_letters() -> None:
    """German words stay whole."""
    assert keywords("Prüfung der Qualität") == ("prüfung", "qualität")


def test_b4_single_letters_are_dropped() -> None:
    """Tokens of one letter say nothing."""
    assert keywords("A B CD EFG") == ("cd", "efg")


@pytest.mark.parametrize(
    ("text", "expected"), [("über uns", ()), ("How do I deploy?", ("deploy",)), ("does this have it", ())]
)
def test_b5_the_stop_lists_are_complete(text: str, expected: tuple[str, ...]) -> None:
    """Umlauted and everyday words of both languages are stop words."""
    assert keywords(text) == expected


@pytest.mark.parametrize(("text", "expected"), [("the API v2", ("api", "v2")), ("user_id", ("user_id",))])
def test_b6_identifiers_stay_whole(text: str, expected: tuple[str, ...]) -> None:
    """Versions and snake case are one token."""
    assert keywords(text) == expected


def test_b7_names_of_programming_languages_are_kept() -> None:
    """C++ and C# are words, "or" is none."""
    assert keywords("C++ or C#") == ("c++", "c#")


@pytest.mark.parametrize("text", ["ERR_42", "v2.1", "docker-compose.yml", "#42", ".env", "a.b@example.com"])
def test_names_of_things_are_one_token(text: str) -> None:
    """Error codes, versions, files, issues and addresses can be searched as they are written."""
    assert tokens(f"see {text}, please") == ("see", text, "please")


def test_u19_words_match_as_words() -> None:
    """A keyword inside another word is no match."""
    assert "art" not in word_forms("Startup guide")
    assert "startup" in word_forms("Startup guide")


def test_u20_domain_words_say_nothing() -> None:
    """Where one searches is not what one searches for."""
    assert keywords("Was steht in Notion und in der Wissensdatenbank über Urlaub?") == ("urlaub",)
    assert keywords("does Notion have it") == ()


def test_the_name_of_the_wiki_can_be_asked_for() -> None:
    """A word that is noise beside others is searched when it is all there is."""
    assert word_query("What is Notion?", "en").terms == ("notion",)


def test_capitals_tell_hr_and_it_from_pronouns() -> None:
    """Departments named like stop words are found, unless everything is in capitals."""
    assert keywords("Who does HR call when IT is down?") == ("hr", "call", "it")
    assert keywords("WHO IS IT") == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("WLAN-Passwort", ("wlan", "passwort")),
        ("on-call rota", ("on-call", "call", "rota")),
        ("l'équipe d’astreinte", ("équipe", "astreinte")),
        ("What's O'Reilly's number", ("reilly", "number")),
        ("ISO-27001", ("iso-27001",)),
    ],
)
def test_compounds_are_found_by_their_parts(text: str, expected: tuple[str, ...]) -> None:
    """Hyphens and apostrophes join words; identifiers are not taken apart."""
    assert keywords(text) == expected
    assert word_forms(text) >= {fold(word) for word in expected}


def test_scripts_without_spaces_give_pairs() -> None:
    """A Chinese question shares words with a Chinese title although neither has spaces."""
    assert set(keywords("年假政策是什么", "zh")) & word_forms("公司年假政策") >= {"年假"}


def test_case_and_accents_do_not_matter_when_matching() -> None:
    """A reader types "prufung" and "ЕЩЕ"."""
    assert word_forms("Prüfung Ещё Straße") == {"prufung", "еще", "strasse"}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("vacation", "vacations", True),
        ("urlaubstage", "urlaubstagen", True),
        ("отпуск", "отпуска", True),
        ("deploy", "deploying", True),
        ("art", "artist", False),
        ("vacation", "vacancy", False),
        ("err_42", "err_421", False),
        ("v2.1", "v2.1", True),
    ],
)
def test_inflections_share_a_root(first: str, second: str, *, expected: bool) -> None:
    """Endings differ, roots do not; identifiers are equal or different."""
    assert same_root(first, second) is expected


def test_f42_a_filler_does_not_empty_the_search() -> None:
    """Any of the content words may match; fillers are not among them."""
    query = word_query("hey, could you tell me about parental leave please?", "en")

    assert query.terms == ("parental", "leave")
    assert not query.web_syntax


SPECIAL = r"What's the C++ & C# policy | (team:ops) <-> !draft \ John <a@b.example>"


def test_f41_special_signs_are_no_syntax() -> None:
    """Operators of the database's query language are just signs between words."""
    query = word_query(SPECIAL, "en")

    assert query.terms == ("c++", "c#", "policy", "team", "ops", "draft", "john", "a@b.example")
    assert not query.web_syntax


@pytest.mark.parametrize("text", ["Was ist das?", "what is it", "", "???", "\x00", "🙂"])
def test_r12_a_query_of_stop_words_is_empty(text: str) -> None:
    """Nothing is searched by words then."""
    assert word_query(text, detect(text)).is_empty


def test_r13_quotes_bind_and_a_minus_excludes() -> None:
    """Quoted words must be together, excluded ones absent; free words only rank."""
    query = word_query('"parental leave" -draft policy for dads', "en")

    assert query.web_syntax
    assert query.text == (
        '"parental leave" -"draft" "policy" or "parental leave" -"draft" "dads" or "parental leave" -"draft"'
    )
    assert query.terms == ("parental", "leave", "policy", "dads")


def test_r13_a_minus_alone_keeps_the_other_words_optional() -> None:
    """Each free word is searched without the excluded one."""
    query = word_query("please tell me about the holidays -summer bonus", "en")

    assert query.text == '-"summer" "holidays" or -"summer" "bonus"'


@pytest.mark.parametrize("text", ["„Mobiles Arbeiten“", "«Mobiles Arbeiten»", "“Mobiles Arbeiten”"])
def test_typographic_quotes_are_quotes(text: str) -> None:
    """Keyboards and chat programs replace straight quotes."""
    assert read_operators(text).phrases == ("Mobiles Arbeiten",)


@pytest.mark.parametrize(
    "text",
    ["on-call rota", "Mo - Fr", "is -5 degrees ok", "git commit -m", "apt --force", 'a 5" screen', '""'],
)
def test_hyphens_numbers_and_flags_are_no_operators(text: str) -> None:
    """Only a minus right before a word of two letters, and a closed pair of quotes, are syntax."""
    assert not read_operators(text).is_used


def test_excluded_words_are_no_keywords() -> None:
    """A word to leave out must not lift the pages named after it."""
    assert keywords("holidays -summer", "en") == ("holidays",)


def test_contains_any_needs_all_words_of_a_phrase() -> None:
    """Excluded phrases are looked for word by word."""
    assert contains_any("The summer party plan", ("summer party",))
    assert not contains_any("The summer plan", ("summer party",))
    assert not contains_any("Summertime", ("summer",))
    assert not contains_any("anything", ())


def test_long_questions_have_a_bounded_number_of_terms() -> None:
    """Two thousand characters of different words do not become hundreds of index scans."""
    assert len(word_query(" ".join(f"word{number}" for number in range(300)), "en").terms) == 64


def test_every_correction_of_the_stop_lists_is_needed() -> None:
    """What is taken out of the library's lists is in them, and what is added is not."""
    for language, words in CONTENT.items():
        assert words <= set(stopwordsiso.stopwords(language))
    for language, words in FILLERS.items():
        assert not words & set(stopwordsiso.stopwords(language))
    assert stop_words("en") >= ENGLISH_PAIRS


@given(st.text(max_size=200))
def test_any_text_has_words_without_error(text: str) -> None:
    """Whatever is typed, terms are distinct, lower case and free of query syntax."""
    query = word_query(text, "")

    assert len(set(query.terms)) == len(query.terms)
    assert not any(sign in term for term in query.terms for sign in '"\\&|!()<>*\x00 ')


@given(st.text(max_size=200))
def test_parts_are_inside_their_token(text: str) -> None:
    """Taking a compound apart invents no letters."""
    for token in tokens(text):
        assert all(piece in token for piece in parts(token))


def test_a_capital_by_itself_is_a_name_inside_a_sentence() -> None:
    """The language C and hall A are asked for; "I", a sentence's first letter and shouting are not."""
    assert keywords("Where do we use C?", "en") == ("c",)
    assert keywords("Wo ist Halle B?", "de") == ("halle", "b")
    assert keywords("May I enter?", "en") == ("enter",)
    assert keywords("A dog?", "en") == ("dog",)
    assert "a" not in keywords("IS THERE A DOG", "en")
