"""How a model says that the sources do not answer: by the agreed mark, or in words of its own."""

import re

from core.services.rambling import without_thinking

LONGEST_EXCUSE = 400
"""Characters. Who says nothing but "I do not know" does not need more; a longer draft says something."""

_BETWEEN = r"[\W_]{1,3}"
"""Models write the mark with spaces or hyphens, and escape underscores as Markdown wants it."""

_MARK = re.compile(rf"(?<![^\W_])NOT{_BETWEEN}IN{_BETWEEN}(?:THE{_BETWEEN})?WIKI(?![^\W_])")
_MARK_IN_ANY_CASE = re.compile(r"(?<![^\W_])not\\?_in\\?_wiki(?![^\W_])", re.IGNORECASE)
_NOTHING_ELSE = re.compile(rf"[\W_]*not{_BETWEEN}in{_BETWEEN}(?:the{_BETWEEN})?wiki[\W_]*", re.IGNORECASE)

_EXCUSES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # English
        r"\b(?:sources?|wiki|excerpts?|passages?|context)\b[^.!?]{0,60}(?:\bnot\b|n[’']t\b|\bno\b|\bnothing\b)",
        r"(?:\bnot\b|n[’']t\b|\bno\b|\bnothing\b|\bunable\b)[^.!?]{0,80}\b(?:sources?|wiki|excerpts?|passages?|context)\b",
        r"\bI(?: am|[’']m)? (?:do not|don[’']t|can ?not|can[’']t|could not|couldn[’']t|unable)\b",
        # German
        r"\b(?:Quellen?|Wiki|Auszüge\w*|Passagen?)\b[^.!?]{0,60}\b(?:nicht|nichts|keine?\w?)\b",
        r"\b(?:nicht|nichts|keine?\w?)\b[^.!?]{0,80}\b(?:Quellen?|Wiki|Auszüge\w*|Passagen?)\b",
        r"\bich (?:weiß|kann|konnte|habe|finde)\b[^.!?]{0,60}\b(?:nicht|nichts|keine?\w?)\b",
        # Russian
        r"\b(?:источник\w*|вики|отрывк\w*|фрагмент\w*)\b[^.!?]{0,60}\b(?:не|нет|ничего)\b",
        r"\b(?:не|нет|ничего|отсутству\w+)\b[^.!?]{0,80}\b(?:источник\w*|вики|отрывк\w*|фрагмент\w*)\b",
        r"\bя не (?:знаю|могу|смог\w*|наш\w+)\b",
    )
)


def says_not_in_wiki(text: str) -> bool:
    """Whether a draft, or what there is of it, holds the mark for "the sources do not answer".

    What the model thought aloud does not count: there it weighs whether to write the mark. In lower case and
    without underscores the words are the mark only if there are no others: "it is not in wiki markup".
    """
    said = without_thinking(text)
    if _NOTHING_ELSE.fullmatch(said):
        return True
    return _MARK.search(said) is not None or _MARK_IN_ANY_CASE.search(said) is not None


def admits_not_knowing(text: str) -> bool:
    """Whether a draft that cites nothing is an excuse in words, as small models write instead of the mark.

    Known in English, German and Russian. Only for drafts without citation: in one with citations the same
    words may be what a page says ("the wiki may not be shared").
    """
    said = without_thinking(text)
    return len(said) <= LONGEST_EXCUSE and any(excuse.search(said) for excuse in _EXCUSES)
