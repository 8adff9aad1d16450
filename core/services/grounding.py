"""A draft checked sentence by sentence against what it cites: nothing that no source supports is shown.

Words decide most: figures, names, negations and shared words need no model. Only where source and sentence
differ in language, or share few words, are sentences embedded, a limited number for each answer.
"""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from core.domain.answers import Passage
from core.domain.models import Vector
from core.domain.notes import Note, note
from core.errors import FootnoteError
from core.ports import Embedder
from core.services.blending import CosineRange, range_of
from core.services.cited_texts import Read, read, together
from core.services.contradictions import opposing_unit
from core.services.draft_markup import Piece, quotable
from core.services.excerpts import cut
from core.services.facts import squeezed
from core.services.polarity import clauses, denials
from core.services.quoting import QUOTE_LENGTH
from core.services.statements import Ruling, Sentence, rule, split
from core.services.support import (
    Fault,
    Statement,
    best_units,
    compare,
    contradicts,
    figures_in,
    figures_together,
    read_statement,
)

logger = logging.getLogger(__name__)

VERSION = "1"
"""Raised with every change of what is kept; part of cache keys."""

MOST_EMBEDDED = 24
"""Sentences embedded for one answer at most; where they are used up, words alone decide."""

MOST_UNITS = 6
FEWER_UNITS = 2
"""Sentences of a source that a statement is compared with by meaning; fewer where figures point at them."""

CLOSE = 0.4
"""On the model's range: sentences of the source this close to the nearest, and with its figures, may be the
one that was meant."""

NEAR = 0.6
NEAR_AT_HOME = 1.0
"""Where on the model's range a source supports a statement in another language, and in its own."""

FIGURES_SPEAK = 0.2
"""By how much less near a statement may be whose figures its source all has."""

SPEAKING_FIGURES = 2
"""Figures of a statement that stand together in one sentence of the source: it is the same topic."""

WITHOUT_MODEL = 0.3
"""Share of words that must do where meanings cannot be compared."""

MOVES_FROM = 0.6
"""Share of words from which an uncited passage may take over a statement without looking at its meaning."""

SHOWN_CODE = 0.8
"""Share of the lines of a code block that its source must have."""


class Unsupported(StrEnum):
    """What becomes of a sentence that no source supports."""

    DROP = "drop"
    """Left out; the default: an answer is for people who will not check it."""
    MARK = "mark"
    """Shown with a note that no source was found."""


@dataclass(frozen=True, slots=True)
class Grounded:
    """The checked pieces, and how many sentences were ``supported``, ``moved`` or had which fault."""

    pieces: tuple[Piece, ...]
    counts: Mapping[str, int]


SUPPORTED = "supported"
MOVED = "moved"


@dataclass(slots=True)
class _Meanings:
    """Vectors of sentences for one answer, each made once, up to a limit."""

    embedder: Embedder | None
    left: int = MOST_EMBEDDED
    known: dict[str, Vector | None] = field(default_factory=dict)

    async def cosines(self, text: str, others: Sequence[str]) -> list[float] | None:
        """How near the text is to each of the others; null where that cannot be told."""
        missing = [one for one in dict.fromkeys((text, *others)) if one not in self.known]
        if self.embedder is None or len(missing) > self.left:
            return None
        if missing:
            self.left -= len(missing)
            try:
                vectors = await self.embedder.embed_passages(missing)
            except FootnoteError as error:
                logger.warning("checking citations by words only: the embedding model failed: %s", error)
                self.embedder = None
                return None
            self.known.update(zip(missing, vectors, strict=True))
        mine = self.known[text]
        theirs = [self.known[one] for one in others]
        if mine is None:
            return None
        return [-1.0 if one is None else float(np.dot(mine, one)) for one in theirs]


class Grounder:
    """Checks what a model wrote. ``embedder`` helps across languages; without it words alone decide."""

    def __init__(
        self, embedder: Embedder | None = None, *, unsupported: Unsupported = Unsupported.DROP
    ) -> None:
        self._range = None if embedder is None else range_of(embedder.profile.name)
        # Cosines of a model that was not measured say nothing.
        self._embedder = embedder if self._range is not None else None
        self._unsupported = unsupported

    async def check(self, pieces: Sequence[Piece], sources: Sequence[Passage], language: str) -> Grounded:
        """Each sentence kept, moved to the retrieved passage that supports it, or dropped or marked."""
        meanings = _Meanings(self._embedder)
        texts = [read(source, language) for source in sources]
        counts: Counter[str] = Counter()
        rulings: dict[int, Ruling] = {}
        sentences = split(pieces)
        for place, sentence in enumerate(sentences):
            if sentence.is_frame:
                continue
            ruling = await self._rule(sentence, texts, language, meanings, counts)
            if ruling is not None:
                rulings[place] = ruling
        opposing = _opposing(sentences, rulings, texts, sources, language)
        return Grounded((*rule(pieces, sentences, rulings), *opposing), counts)

    async def fault(self, text: str, language: str, sources: Sequence[Passage]) -> Fault | None:
        """What is wrong with one statement that cites these passages, if anything."""
        source = together([read(one, language) for one in sources])
        return await self._fault(read_statement(text, language), source, _Meanings(self._embedder))

    async def _rule(
        self,
        sentence: Sentence,
        texts: Sequence[Read],
        language: str,
        meanings: _Meanings,
        counts: Counter[str],
    ) -> Ruling | None:
        if sentence.is_code:
            return _rule_code(sentence, texts, counts)
        statement = read_statement(sentence.text, language)
        if not statement.claims:
            return None
        fault: Fault | None = Fault.UNRELATED
        if sentence.sources:
            fault = await self._fault(statement, together([texts[one] for one in sentence.sources]), meanings)
            if fault is None:
                counts[SUPPORTED] += 1
                return None
        for place, text in enumerate(texts):
            if place not in sentence.sources and await self._takes_over(statement, text, meanings):
                counts[MOVED] += 1
                return Ruling(sources=(place,))
        counts[str(fault)] += 1
        if self._unsupported is Unsupported.MARK:
            return Ruling(sources=(), note=f" ({note(Note.UNSUPPORTED, language)})")
        return Ruling(is_dropped=True)

    async def _fault(self, statement: Statement, source: Read, meanings: _Meanings) -> Fault | None:
        finding = compare(statement, source)
        is_foreign = statement.language != source.language
        if finding.fault is not None or not (finding.is_unsure or is_foreign):
            return finding.fault
        pointed, places = figures_together(statement, source)
        units = best_units(statement, source, min(places, FEWER_UNITS) if pointed else MOST_UNITS)
        is_topic_sure = not finding.is_unsure or pointed >= SPEAKING_FIGURES
        if is_topic_sure and not _any_denies(statement, units, source):
            return None
        cosines = await meanings.cosines(statement.text, units)
        if cosines is None or not units or self._range is None:
            is_enough = is_foreign or finding.share >= WITHOUT_MODEL
            return None if is_enough else Fault.UNRELATED
        best = max(range(len(units)), key=lambda one: cosines[one])
        nearness = _on_range(cosines[best], self._range)
        needed = (NEAR if is_foreign else NEAR_AT_HOME) - (FIGURES_SPEAK if statement.facts else 0.0)
        if not is_topic_sure and nearness < needed:
            return Fault.UNRELATED
        near = [
            unit
            for unit, cosine in zip(units, cosines, strict=True)
            if nearness - _on_range(cosine, self._range) <= CLOSE
            and figures_in(statement, unit, source.language)
            >= figures_in(statement, units[best], source.language)
        ]
        is_denied = is_foreign and await self._all_deny(statement, near, source.language, meanings)
        return Fault.NEGATION if is_denied else None

    async def _takes_over(self, statement: Statement, text: Read, meanings: _Meanings) -> bool:
        """Whether a passage that the draft did not name supports a statement beyond doubt."""
        finding = compare(statement, text)
        if finding.fault is not None:
            return False
        if statement.language == text.language:
            return finding.share >= MOVES_FROM
        # Meanings are costly: only where something that can be checked speaks for it.
        return bool(statement.facts) and await self._fault(statement, text, meanings) is None

    async def _all_deny(
        self, statement: Statement, units: Sequence[str], language: str, meanings: _Meanings
    ) -> bool:
        """Of several sentences that may be meant one that agrees is enough."""
        for unit in units:
            if not await self._is_denied(statement, unit, language, meanings):
                return False
        return True

    async def _is_denied(self, statement: Statement, unit: str, language: str, meanings: _Meanings) -> bool:
        """Clause by clause: whether one denies what the nearest clause of the source says."""
        if self._range is None or not (
            denials(statement.text, statement.language) or denials(unit, language)
        ):
            return False
        theirs = clauses(unit)
        for clause in clauses(statement.text):
            cosines = await meanings.cosines(clause, theirs)
            if cosines is None:
                return False
            best = max(range(len(theirs)), key=lambda one: cosines[one])
            if _on_range(cosines[best], self._range) < NEAR:
                continue
            if contradicts(read_statement(clause, statement.language), theirs[best], language):
                return True
        return False


def _opposing(
    sentences: Sequence[Sentence],
    rulings: Mapping[int, Ruling],
    texts: Sequence[Read],
    sources: Sequence[Passage],
    language: str,
) -> tuple[Piece, ...]:
    """A remark that quotes another page where it contradicts what is said, so that both are named."""
    for place, sentence in enumerate(sentences):
        ruling = rulings.get(place)
        cited = sentence.sources if ruling is None else ruling.sources
        if sentence.is_frame or sentence.is_code or not cited:
            continue
        pages = {sources[one].candidate.page_id for one in cited}
        for other, text in enumerate(texts):
            if sources[other].candidate.page_id in pages:
                continue
            unit = opposing_unit(read_statement(sentence.text, language), text)
            if unit is not None:
                quote = quotable(cut(unit, QUOTE_LENGTH), sources)
                return (Piece(f"\n\n{note(Note.OTHERWISE, language)} “{quote}”", (other,)),)
    return ()


def _rule_code(sentence: Sentence, texts: Sequence[Read], counts: Counter[str]) -> Ruling | None:
    """A code block is shown if a source has nearly all of its lines."""
    lines = [squeezed(line) for line in sentence.text.splitlines()[1:]]
    lines = [line for line in lines if line]
    for place in (*sentence.sources, *range(len(texts))):
        said = texts[place].said.text
        if sum(line in said for line in lines) >= SHOWN_CODE * len(lines):
            is_cited = not sentence.sources or place in sentence.sources
            counts[SUPPORTED if is_cited else MOVED] += 1
            return None if is_cited else Ruling(sources=(place,))
    counts[str(Fault.FIGURE)] += 1
    return Ruling(is_dropped=True)


def _any_denies(statement: Statement, units: Sequence[str], source: Read) -> bool:
    return bool(denials(statement.text, statement.language)) or any(
        denials(unit, source.language) for unit in units
    )


def _on_range(cosine: float, cosines: CosineRange) -> float:
    return (cosine - cosines.lowest) / (cosines.highest - cosines.lowest)
