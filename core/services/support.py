"""Whether a source supports a statement, judged by facts, names, negation, words and meaning. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from core.services.cited_texts import Read
from core.services.facts import Clock, Date, Fact, facts_of
from core.services.overlap import content_words, coverage, likeness, words_of
from core.services.polarity import Denial, denials
from core.services.quantities import Number
from core.services.said import Said, said_by
from core.services.stopwords import stop_words
from core.services.swaps import Figure, exchanged, foreign_names, misplaced
from core.services.tokens import fold, tokens

ENOUGH_WORDS = 0.45
"""A statement that has this share of its content words from its source is about the same thing."""

FEW_WORDS = 0.2
"""Below this, in one language, it is about something else, whatever the model's cosine says."""

SAME_PLACE = 0.5
"""Share of a statement's words from which a sentence of the source may be the one it was made of."""

FIGURES = 0.5
"""What having all figures of a statement is worth beside having all its words."""

ABOUT = 0.5
"""Share of a negation's words from which the other side speaks of the same thing."""


class Fault(StrEnum):
    """What is wrong with a statement; the names of the metric's labels."""

    FIGURE = "figure"
    """A number, date, time, identifier, address or code that the source does not have."""
    NAME = "name"
    """A name that the source does not have, or has elsewhere."""
    NEGATION = "negation"
    """It denies what the source says, or the other way round."""
    UNRELATED = "unrelated"
    """The source is about something else."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of an answer, read once: its facts and content words in its language."""

    text: str
    language: str
    facts: tuple[Fact, ...]
    content: tuple[str, ...]

    @property
    def claims(self) -> bool:
        """Whether there is anything in it to be supported: lead-ins and connections claim nothing."""
        return bool(self.facts) or len(self.content) > 1


@dataclass(frozen=True, slots=True)
class Finding:
    """What words alone tell: a fault, or none; ``share`` of the statement's words that the source has.

    ``is_unsure`` says that only the meaning can tell whether the source is about the same thing.
    """

    fault: Fault | None
    share: float
    is_unsure: bool = False


@lru_cache(maxsize=512)
def read_statement(text: str, language: str) -> Statement:
    """The statement with what can be checked in it."""
    return Statement(text, language, facts_of(text, (language,)), content_words(text, language))


def compare(statement: Statement, source: Read) -> Finding:
    """Check a statement against its source by facts, names, negation and words."""
    share = coverage(statement.content, source.words)
    fault = _fault(statement, source)
    if fault is not None:
        return Finding(fault, share)
    if not statement.content or share >= ENOUGH_WORDS:
        return Finding(None, share)
    is_foreign = source.language != statement.language
    if not is_foreign and share < FEW_WORDS:
        return Finding(Fault.UNRELATED, share)
    return Finding(None, share, is_unsure=True)


def best_units(statement: Statement, source: Read, most: int) -> tuple[str, ...]:
    """The sentences and rows of the source that share most with the statement, by words and figures."""
    wanted = frozenset(statement.content)

    def nearness(at: int) -> tuple[float, int]:
        unit = source.units[at]
        return (-(_shared(wanted, unit) + FIGURES * figures_in(statement, unit, source.language)), at)

    return tuple(source.units[at] for at in sorted(range(len(source.units)), key=nearness)[:most])


def figures_together(statement: Statement, source: Read) -> tuple[int, int]:
    """How many figures the statement has, and how many sentences of the source have them all; else 0, 0."""
    places = sum(figures_in(statement, unit, source.language) == 1.0 for unit in source.units)
    return (len(set(statement.facts)), places) if places else (0, 0)


def contradicts(statement: Statement, unit: str, language: str) -> bool:
    """Whether one of the two denies what the other says, where both are known to speak of the same."""
    return len(denials(statement.text, statement.language)) % 2 != len(denials(unit, language)) % 2


def _fault(statement: Statement, source: Read) -> Fault | None:
    if any(not source.said.holds(fact) for fact in statement.facts):
        return Fault.FIGURE
    is_foreign = source.language != statement.language
    if not is_foreign and foreign_names(statement.text, source.text, statement.language):
        return Fault.NAME
    if _is_misplaced(statement, source) or (not is_foreign and _is_exchanged(statement, source)):
        return Fault.NAME
    if not is_foreign and _is_denied(statement, source):
        return Fault.NEGATION
    return None


def _is_misplaced(statement: Statement, source: Read) -> bool:
    for group in source.groups:
        around = _facts_in(group.around, source.language, statement.language)
        said = [_facts_in(item, source.language, statement.language) for item in group.items]
        figures = [
            Figure(tuple(one.holds(fact) for one in said))
            for fact in statement.facts
            if isinstance(fact, Number | Date | Clock) and not around.holds(fact)
        ]
        sets = [words_of(item).all for item in group.items]
        elsewhere = words_of(group.around).all
        figures += [
            Figure(tuple(word in one for one in sets), word)
            for word in _capitalised(statement)
            if word not in elsewhere
        ]
        if misplaced(figures, statement.content, group.items):
            return True
    return False


def _capitalised(statement: Statement) -> tuple[str, ...]:
    """Words with capitals inside the sentence: names, and in German nouns."""
    spoken = tokens(statement.text)[1:]
    stop = stop_words(statement.language)
    return tuple(fold(word) for word in spoken if word[0].isupper() and word.lower() not in stop)


@lru_cache(maxsize=2048)
def _facts_in(text: str, *spoken: str) -> Said:
    return said_by(text, facts_of(text, spoken, is_source=True))


def _is_exchanged(statement: Statement, source: Read) -> bool:
    wanted = frozenset(statement.content)
    for unit in source.units:
        if _shared(wanted, unit) < SAME_PLACE:
            continue
        if exchanged(statement.text, unit, statement.language):
            return True
    return False


def _is_denied(statement: Statement, source: Read) -> bool:
    """Compared with the nearest sentence, and with it and its neighbours: one of them must agree."""
    if not source.units or not statement.content:
        return False
    wanted = frozenset(statement.content)
    scores = [
        _shared(wanted, unit) + FIGURES * figures_in(statement, unit, source.language)
        for unit in source.units
    ]
    at = max(range(len(scores)), key=lambda one: (scores[one], -one))
    if _shared(wanted, source.units[at]) < ABOUT:
        return False
    mine = denials(statement.text, statement.language)
    for start, end in ((at, at + 1), (max(at - 1, 0), at + 2)):
        window = source.units[start:end]
        theirs = [denial for unit in window for denial in denials(unit, source.language)]
        if _count(mine, " ".join(window)) % 2 == _count(theirs, statement.text) % 2:
            return False
    return True


def _count(denied: Sequence[Denial], text: str) -> int:
    """The negations that are about something the text speaks of."""
    said = words_of(text).all
    return sum(1 for one in denied if one.about and coverage(tuple(one.about), said) >= ABOUT)


def _shared(wanted: frozenset[str], unit: str) -> float:
    said = words_of(unit).all
    return sum(likeness(word, said) for word in wanted) / len(wanted) if wanted else 0.0


def figures_in(statement: Statement, unit: str, language: str) -> float:
    """The share of the statement's facts that a sentence of the source has."""
    if not statement.facts:
        return 0.0
    said = _facts_in(unit, language, statement.language)
    return sum(said.holds(fact) for fact in statement.facts) / len(statement.facts)
