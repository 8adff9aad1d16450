"""What a question asks for, as words: the terms of the lexical search and the keywords of the boosts."""

import re
import unicodedata
from dataclasses import dataclass

from core.ports import WordQuery
from core.services import languages
from core.services.identifiers import codes, spellings, ungrouped
from core.services.stopwords import DOMAIN, stop_words
from core.services.tokens import fold, is_identifier, parts, tokens, word_forms

MIN_LENGTH = 2
"""Shorter tokens are noise, unless the script writes whole words with one sign."""

MAX_TERMS = 64
"""Terms searched for at most; a question of 2,000 characters may hold 300 and each costs an index scan."""

_QUOTES = str.maketrans(dict.fromkeys("“”„‟«»＂", '"'))
_PHRASE = re.compile(r'(?:(?<=\s)|(?<=[(\[])|^)(?P<minus>-?)"(?P<phrase>[^"]*\w[^"]*)"')
_EXCLUDED = re.compile(r"(?:(?<=\s)|^)-(?P<word>(?=[^\W\d_]{2})\w[\w.'-]*)")


@dataclass(frozen=True, slots=True)
class Operators:
    """What a question says in web-search syntax: words to find together, words to leave out, and the rest."""

    phrases: tuple[str, ...]
    excluded: tuple[str, ...]
    rest: str

    @property
    def is_used(self) -> bool:
        """Whether the question uses the syntax at all."""
        return bool(self.phrases or self.excluded)


def keywords(text: str, language: str | None = None) -> tuple[str, ...]:
    """The words of a question that say what it is about: lower case, distinct, in order.

    Stop words of the question's language, domain stop words and words excluded by a minus are left out;
    identifiers stay whole.
    ``language`` is detected where it is not given; empty means it is unknown.
    """
    operators = read_operators(text)
    return _keywords(" ".join((*operators.phrases, operators.rest)), language)


def word_query(text: str, language: str) -> WordQuery:
    """The lexical side of a search.

    A plain question becomes "any of its terms" (F42). With quotes or a minus it becomes web-search syntax in
    which the quoted and excluded words are binding and the free ones are not: a disjunction of ``"phrase"
    -excluded term``, so that a filler word never empties the result.
    """
    operators = read_operators(text)
    positive = " ".join((*operators.phrases, operators.rest))
    # "What is Notion?" asks for the word that is noise everywhere else.
    terms = (_keywords(positive, language) or _content(positive, language))[:MAX_TERMS]
    if not operators.is_used:
        return WordQuery(
            text=_one_line(text), terms=terms, language=language, spellings=_spellings(positive, terms)
        )
    free = _keywords(operators.rest, language)[:MAX_TERMS]
    if not free and not operators.phrases:
        # Only words to leave out: there is nothing to find by words.
        return WordQuery(text="", terms=(), language=language)
    return WordQuery(text=_web_syntax(operators, free), terms=terms, web_syntax=True, language=language)


def read_operators(text: str) -> Operators:
    """Quoted phrases and excluded words; typographic quotes count, hyphens and negative numbers do not."""
    plain = unicodedata.normalize("NFKC", text).translate(_QUOTES)
    phrases: list[str] = []
    excluded: list[str] = []
    for match in _PHRASE.finditer(plain):
        (excluded if match["minus"] else phrases).append(_one_line(match["phrase"]))
    rest = _PHRASE.sub(" ", plain)
    excluded.extend(match["word"].rstrip(".'-") for match in _EXCLUDED.finditer(rest))
    rest = _EXCLUDED.sub(" ", rest)
    return Operators(phrases=tuple(phrases), excluded=tuple(excluded), rest=_one_line(rest))


def contains_any(text: str, phrases: tuple[str, ...]) -> bool:
    """Whether all words of one of the phrases occur in the text, word by word."""
    if not phrases:
        return False
    present = word_forms(text)
    return any(word_forms(phrase) <= present for phrase in phrases if word_forms(phrase))


def _keywords(text: str, language: str | None) -> tuple[str, ...]:
    return tuple(word for word in _content(text, language) if fold(word) not in DOMAIN)


def _content(text: str, language: str | None) -> tuple[str, ...]:
    code = languages.detect(text) if language is None else language
    ignored = stop_words(code)
    shouted = text.isupper()
    found: dict[str, None] = {}
    for place, token in enumerate(tokens(text)):
        if place and not shouted and _is_letter_name(token):
            found[token.lower()] = None
        found.update(dict.fromkeys(_terms_of(token, ignored, shouted=shouted)))
    return tuple(found)


def _terms_of(token: str, ignored: frozenset[str], *, shouted: bool) -> tuple[str, ...]:
    """A token's own word and, for a compound, the words in it that say something."""
    word = token.lower()
    if pieces := parts(word):
        said = tuple(piece for piece in pieces if _says_something(piece, ignored))
        if word in ignored or not said:
            return ()
        # "on-call" would be reduced to "call": keep the compound beside what is left of it.
        lost = tuple(piece for piece in pieces if piece not in said)
        return said if not lost or "'" in word else (word, *said)
    if _is_acronym(token) and not shouted:
        return (word,)
    return (word,) if _says_something(word, ignored) else ()


def _spellings(text: str, terms: tuple[str, ...]) -> tuple[str, ...]:
    """Other ways to write the names in a question; those of its terms are known already."""
    found = [one for term in terms for one in (*spellings(term), ungrouped(term))]
    known = frozenset(terms)
    return tuple(dict.fromkeys(one for one in (*found, *codes(tokens(text))) if one not in known))


def _says_something(word: str, ignored: frozenset[str]) -> bool:
    if word in ignored:
        return False
    return len(word) >= MIN_LENGTH or _is_whole_word_sign(word)


def _is_acronym(token: str) -> bool:
    """HR, IT and QA are no pronouns: capitals tell them from the stop words they look like."""
    return len(token) >= MIN_LENGTH and token.isupper() and not is_identifier(token)


def _is_letter_name(word: str) -> bool:
    """Hall A, plan B and the language C: inside a sentence a capital by itself is a name, "I" aside."""
    return len(word) == 1 and word.isupper() and word != "I"


def _is_whole_word_sign(word: str) -> bool:
    return unicodedata.category(word[0]) == "Lo"


def _web_syntax(operators: Operators, free: tuple[str, ...]) -> str:
    binding = [f'"{phrase}"' for phrase in operators.phrases]
    binding += [f'-"{word}"' for word in operators.excluded]
    conjunctions = [" ".join((*binding, f'"{term}"')) for term in free]
    if operators.phrases:
        conjunctions.append(" ".join(binding))
    return " or ".join(conjunctions)


def _one_line(text: str) -> str:
    return " ".join(text.replace("\x00", " ").split())
