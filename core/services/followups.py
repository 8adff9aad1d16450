"""What a follow-up question leaves unsaid, taken from the asker's earlier questions of the thread."""

from collections.abc import Collection
from dataclasses import replace

from core.domain.questions import Question, Turn
from core.services import languages
from core.services.excerpts import cut
from core.services.tokens import is_identifier, tokens
from core.services.words import keywords

SELF_SUFFICIENT = 2
"""A question with this many words of its own is searched as it stands unless it opens with "and"."""

CONTINUING = 3
"""With this many words of its own even "and ..." is a question by itself."""

OPENERS = frozenset(
    [
        "and",
        "but",
        "or",
        "so",
        "also",
        "und",
        "aber",
        "oder",
        "auch",
        "а",
        "и",
        "но",
        "или",
        "тоже",
        "et",
        "mais",
        "ou",
        "y",
        "pero",
        "o",
        "e",
        "ma",
        "mas",
        "en",
        "maar",
        "of",
        "i",
        "ale",
        "lub",
        "та",
        "або",
        "ve",
        "ama",
        "那",
        "那么",
        "じゃあ",
        "では",
    ]
)
"""How a question begins that goes on from the one before."""

CONTINUING_PHRASES = (
    *("what about", "how about", "what if", "was ist mit", "wie ist es", "was ist, wenn", "was wenn"),
    *("а если", "что если", "что, если"),
)
"""The same, in several words."""

FIRST_PERSON = frozenset(
    [
        *("i", "we", "my", "our", "me", "us"),
        *("ich", "wir", "mein", "meine", "meinen", "meiner", "unser", "unsere", "mir", "mich", "uns"),
        *("я", "мы", "мой", "моя", "мои", "мне", "нам", "меня", "нас"),
        *("je", "nous", "yo", "nosotros", "io", "noi", "eu", "nós", "ik", "wij", "мені", "нам"),
    ]
)
"""Who speaks of themselves says what they want to know, whatever was asked before."""

WHOLE_QUESTION = 5
"""With this many words, filling ones included, a question of the asker's own is complete."""

MOST_BORROWED = 6
"""Words taken from earlier questions at most, the nearest question first."""

LOOK_BACK = 4
"""Earlier questions considered."""

MOST_OF_A_TURN = 500
"""Characters of an earlier question: four of them are at most as long as the question itself may be."""


def compact(question: Question) -> Question:
    """The question with the earlier ones that are looked at, each cut to a bounded length (T28, T31).

    Platforms allow messages of tens of thousands of characters; the limit on a question would be none if
    what was said before it were not counted.
    """
    turns = tuple(
        turn if len(turn.text) <= MOST_OF_A_TURN else Turn(cut(turn.text, MOST_OF_A_TURN))
        for turn in question.turns[-LOOK_BACK:]
    )
    return question if turns == question.turns else replace(question, turns=turns)


def standalone(question: Question) -> str:
    """The text to search for: the question, and for a short follow-up the salient words asked before.

    Only the asker's own words are used, never an answer or the text of a page (A8, T12).
    """
    own = keywords(question.text)
    goes_on = _continues(question.text)
    enough = CONTINUING if goes_on else SELF_SUFFICIENT
    is_whole = bool(own) and not goes_on and (_names_something(own) or _is_of_the_asker(question.text))
    if not question.turns or len(own) >= enough or is_whole:
        return question.text
    borrowed = _borrowed(question, frozenset(own))
    return f"{question.text} ({' '.join(borrowed)})" if borrowed else question.text


def language_of(question: Question) -> str:
    """The language to answer in: the question's, or the thread's where the question is too short to tell."""
    for text in (question.text, *(turn.text for turn in reversed(question.turns))):
        if language := languages.detect(text):
            return language
    return ""


def _continues(text: str) -> bool:
    first = next(iter(tokens(text)), "").lower()
    return first in OPENERS or text.lower().startswith(CONTINUING_PHRASES)


def _names_something(own: Collection[str]) -> bool:
    """Whether a word is the name of one thing, such as ``ERR_42``: nothing said before makes it clearer."""
    return any(is_identifier(word) and any(sign.isdigit() for sign in word) for word in own)


def _is_of_the_asker(text: str) -> bool:
    """Whether it is a whole question about the asker, such as "how many days do I get": not what was left out
    of an earlier one, even where only one of its words says anything."""
    said = [token.lower() for token in tokens(text)]
    return len(said) >= WHOLE_QUESTION and not FIRST_PERSON.isdisjoint(said)


def _borrowed(question: Question, own: frozenset[str]) -> tuple[str, ...]:
    for turn in reversed(question.turns[-LOOK_BACK:]):
        words = tuple(word for word in keywords(turn.text) if word not in own)
        if words:
            return words[:MOST_BORROWED]
    return ()
