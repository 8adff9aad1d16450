"""What a follow-up question leaves unsaid, taken from the asker's earlier questions of the thread."""

from core.domain.questions import Question
from core.services import languages
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
