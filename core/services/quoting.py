"""A short quote from a passage: the sentence of it that a statement rests on."""

from core.domain.answers import Passage
from core.services.excerpts import cut
from core.services.tokens import word_forms
from core.services.units import units_of

QUOTE_LENGTH = 200
"""Characters; enough to recognise the place, too little to read instead of it."""


def quote_from(passage: Passage, statement: str) -> str:
    """The passage's sentence that shares most words with the statement, as plain text on one line."""
    said = word_forms(statement)
    candidates = [unit.plain for unit in units_of(passage.candidate.body) if unit.plain]
    if not candidates:
        return ""
    best = max(range(len(candidates)), key=lambda place: (len(said & word_forms(candidates[place])), -place))
    return cut(candidates[best], QUOTE_LENGTH)
