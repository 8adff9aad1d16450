"""What a follow-up question leaves unsaid, taken from the asker's earlier questions of the thread."""

from dataclasses import replace

from core.domain.questions import Question, Turn
from core.services import languages
from core.services.excerpts import cut
from core.services.tokens import tokens
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
    enough = CONTINUING if _continues(question.text) else SELF_SUFFICIENT
    if not question.turns or len(own) >= enough:
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
    return first in OPENERS or text.lower().startswith(
        ("what about", "how about", "was ist mit", "wie ist es")
    )


def _borrowed(question: Question, own: frozenset[str]) -> tuple[str, ...]:
    for turn in reversed(question.turns[-LOOK_BACK:]):
        words = tuple(word for word in keywords(turn.text) if word not in own)
        if words:
            return words[:MOST_BORROWED]
    return ()
