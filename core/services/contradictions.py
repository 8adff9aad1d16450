"""Another page that says of the same thing something else. Pure, and rather silent than wrong."""

from collections.abc import Sequence

from core.services.cited_texts import Read
from core.services.facts import facts_of
from core.services.overlap import content_words, coverage, words_of
from core.services.polarity import denials
from core.services.quantities import Number
from core.services.said import said_by
from core.services.support import Statement
from core.services.swaps import exchanged, foreign_names

SAME_THING = 0.75
"""Share of each one's content words that the other has, from which both are about the same thing."""


def opposing_unit(statement: Statement, source: Read) -> str | None:
    """The sentence of a source that contradicts the statement: another figure of the same kind, or a denial.

    Only sentences in one language are compared, which share nearly all words and every name and identifier.
    """
    if source.language != statement.language or not statement.content:
        return None
    return next((unit for unit in source.units if _opposes(statement, unit)), None)


def _opposes(statement: Statement, unit: str) -> bool:
    language = statement.language
    theirs = content_words(unit, language)
    if coverage(statement.content, words_of(unit).all) < SAME_THING:
        return False
    if coverage(theirs, words_of(statement.text).all) < SAME_THING:
        return False
    if foreign_names(statement.text, unit, language) or exchanged(statement.text, unit, language):
        return False
    facts = facts_of(unit, (language,))
    said, mine = said_by(unit, facts), said_by(statement.text, statement.facts)
    missing = [fact for fact in statement.facts if not said.holds(fact)]
    added = [fact for fact in facts if not mine.holds(fact)]
    if not missing and not added:
        return len(denials(statement.text, language)) % 2 != len(denials(unit, language)) % 2
    return _are_rivals(missing, added)


def _are_rivals(missing: Sequence[object], added: Sequence[object]) -> bool:
    """Whether just one figure stands in the place of another that counts the same."""
    if len(missing) != 1 or len(added) != 1:
        return False
    mine, theirs = missing[0], added[0]
    if not isinstance(mine, Number) or not isinstance(theirs, Number):
        return type(mine) is type(theirs)
    if mine.unit is None or theirs.unit is None:
        return mine.unit is theirs.unit
    return mine.unit.base == theirs.unit.base
