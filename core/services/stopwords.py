"""Words that say nothing about what is asked: the library's lists, without what a company wiki is about."""

from collections.abc import Mapping
from functools import cache

import stopwordsiso


def word_set(listed: str) -> frozenset[str]:
    """The words of a string, so that long lists stay readable."""
    return frozenset(listed.split())


DOMAIN = word_set("notion wiki wissensdatenbank wissensbasis knowledgebase базазнаний")
"""Where the answer is looked for, not what is looked for (inventory U20)."""

FILLERS: Mapping[str, frozenset[str]] = {
    "en": word_set("hey hiya guys folks explain happen wondering question questions"),
    "de": word_set(
        "bitte danke hallo hi hey moin servus finde findet finden gibts sag sagen zeig zeige erklär "
        "erkläre erklären liegt stehen brauche frage fragen bekomme bekommt eigentlich gerne lautet"
    ),
    "ru": word_set(
        "привет здравствуйте подскажите подскажи расскажи расскажите скажите скажи объясни найду какие "
        "каков какова каковы написано"
    ),
    "uk": word_set("привіт підкажіть будь ласка"),
    "fr": word_set("bonjour salut svp stp"),
    "es": word_set("hola gracias favor"),
}
"""Greetings and requests that the library's lists leave out."""

CONTENT: Mapping[str, frozenset[str]] = {
    "en": word_set(
        "area areas bill call case cases click computer copy date detail effect fire front general group "
        "groups half help home homepage information interest join keys member members move mug name net "
        "number numbers old older oldest order ordering orders page pages part parts place places point "
        "points present presenting problem problems research reserved results room rooms run section "
        "site state states stop system test text top vol vols web webpage website welcome work working "
        "world year years young changes index invention opening ten twelve twenty thirty forty fifty "
        "sixty ninety hundred thousand million billion"
    ),
    "de": word_set(
        "ordnung suche startseite mittel mensch menschen uhr zeit tag tage tagen jahr jahre jahren recht "
        "rechte teil tel ag gott mann zwanzig zehn elf zwölf"
    ),
    "ru": word_set(
        "белый вечер вода война выйти глаз год года голова голос город дверь день деньги дом дорога друг "
        "жена женщина жизнь земля имя книга комната лицо люди машина место мир москва народ ночь окно "
        "отец плечо пол путь работа работать ребенок россия рука русский свет советский случай спросить "
        "стол сторона страна товарищ улица утро человек час двадцать двенадцать десять пятнадцать"
    ),
}
"""What the library's long lists take for noise and people ask their wiki about: rooms, orders, HR, years."""

PAIR = 2
ENGLISH_PAIRS = word_set(
    "ah am an as at be by do ex go he hi ie if in is it ll me my no of oh ok on or rd re so st th to "
    "up us ve vs we"
)
"""The English words of two letters; the list also holds every country's domain, so HR, QA, TV and UK."""

WHEN_UNSURE = ("en", "de", "ru", "uk")
"""Whose lists are used together when a question is too short to tell its language."""


@cache
def stop_words(language: str) -> frozenset[str]:
    """Lower-case stop words of a language; of the commonest ones together where ``language`` is empty."""
    if not language:
        return frozenset[str]().union(*(stop_words(code) for code in WHEN_UNSURE))
    listed = stopwordsiso.stopwords(language) if stopwordsiso.has_lang(language) else set()
    lowered = {word.lower() for word in listed}
    if language == "en":
        lowered = {word for word in lowered if len(word) != PAIR or word in ENGLISH_PAIRS}
    return frozenset(lowered | FILLERS.get(language, frozenset())) - CONTENT.get(language, frozenset())
