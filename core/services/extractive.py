"""Answers without a model: the sentences nearest to the question, quoted, each with its source."""

import logging
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.domain.answers import Passage, Retrieval, Span
from core.domain.phrases import Phrase, phrase
from core.errors import FootnoteError
from core.ports import Embedder
from core.services import languages
from core.services.asked_for import asks_for_figure
from core.services.blending import calibrated, range_of
from core.services.citing import Cited, number
from core.services.draft_markup import Piece, quotable
from core.services.reading import odds_of, read_unit
from core.services.tokens import fold, word_forms
from core.services.units import Unit, units_of
from core.services.words import keywords

logger = logging.getLogger(__name__)

MOST_QUOTES = 3
LONGEST = 900
"""Characters quoted in all; the first quote is given even if it is longer, up to the size of a chunk."""

_BEST_TWO = (0, 1)

MOST_PASSAGES = 4
"""Passages that are looked at sentence by sentence."""

WORTH_QUOTING = 0.5
"""Of the best passage's score: what a passage behind the first two must have to be looked at."""

MOST_EMBEDDED = 16
"""Sentences that are embedded at most: on a small machine each takes some hundredths of a second."""

WORD_WEIGHT = 0.12
"""What holding all words of the question is worth beside the cosine, whose useful range is about as wide."""

FIGURE_WEIGHT = 0.02
"""What a digit is worth beside the cosine where a number or a date is asked for, as by every fifth question
of XQuAD: the share of right first quotes rises from .711 to .713 over all questions in one language, from
.488 to .492 across languages (``python -m tests.bench.quoting``)."""

RANK_WEIGHT = 0.01
"""What each place of the passage's rank costs where only words are compared."""

RANK_WEIGHT_BESIDE_COSINES = 0.03
"""... and where cosines are: whole passages are compared more surely than sentences, whose cosines favour
the asker's own language."""

SECOND_OPINION_FROM = 0.15
"""Of the best passage's score: what the second-best must have to be quoted beside it, if one of them speaks
another language: that cannot share the question's words, and would always lose against the one that does."""

READ_WEIGHT = 0.05
"""What being pointed at by a reader is worth, in the passage that it finds likeliest to answer
(``python -m tests.bench.quoting --read``)."""

NEARLY_AS_GOOD = 0.042
SAME_PASSAGE = 0.025
"""How far behind the best quote another may be and still be given; a sentence beside it may be further."""


_PROPERTY = re.compile(r"[^\s:.!?|][^:.!?|\n]{0,40}: [^\n]{1,200}(?<![.!?:])")
"""``Name: value`` on a line of its own, as rows of databases are written."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A unit of a passage with how near it is to the question; ``source`` counts from 0.

    ``meaning`` is the part of ``score`` that does not depend on words in common or on the passage's rank; 0
    where meanings were not compared.
    """

    unit: Unit
    source: int
    place: int
    score: float
    meaning: float = 0.0


class ExtractiveWriter:
    """Picks quotes by meaning and words; by words alone where there is no embedder or it fails."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder
        self._cosines = None if embedder is None else range_of(embedder.profile.name)

    async def write(self, retrieval: Retrieval) -> Cited:
        """The quotes, under a lead-in if they speak another language."""
        candidates = _candidates(retrieval)
        wants_figure = asks_for_figure(retrieval.query, retrieval.language)
        similarities = await self._similarities(retrieval, [quote.unit.plain for quote in candidates])
        scored = [
            _scored(quote, self._comparable(similarity, quote, retrieval), wants_figure=wants_figure)
            for quote, similarity in zip(candidates, similarities, strict=True)
        ]
        return compose(with_second_opinion(choose(scored), scored, retrieval), retrieval)

    def _comparable(self, similarity: float, quote: Quote, retrieval: Retrieval) -> float:
        """The similarity as if question and quote were in one language."""
        if not similarity or self._cosines is None:
            return similarity
        return calibrated(
            similarity,
            passage_language=_language_of(retrieval.passages[quote.source]),
            language=retrieval.language,
            cosines=self._cosines,
            is_sentence=True,
        )

    async def _similarities(self, retrieval: Retrieval, texts: Sequence[str]) -> Sequence[float]:
        nothing = [0.0] * len(texts)
        if self._embedder is None or len(texts) <= 1:
            return nothing
        try:
            question = await self._embedder.embed_query(retrieval.query)
            vectors = await self._embedder.embed_passages(texts)
        except FootnoteError as error:
            logger.warning("quoting by words only: the embedding model failed: %s", error)
            return nothing
        return [0.0 if one is None else float(np.dot(question, one)) for one in vectors]


def _scored(quote: Quote, similarity: float, *, wants_figure: bool) -> Quote:
    figure = FIGURE_WEIGHT if wants_figure and any(map(str.isdigit, quote.unit.plain)) else 0.0
    if not similarity:
        return replace(quote, score=quote.score + figure)
    by_rank = (RANK_WEIGHT_BESIDE_COSINES - RANK_WEIGHT) * quote.source
    meaning = similarity + figure
    return replace(quote, score=quote.score + meaning - by_rank, meaning=meaning)


def choose(quotes: Sequence[Quote]) -> tuple[Quote, ...]:
    """The best quote and those nearly as good, within the length.

    Quotes of the best one's passage come first, so that the first source is the one to follow; then the
    passages' order.
    """
    ordered = sorted(quotes, key=lambda one: (-round(one.score, 9), one.source, one.place))
    chosen: list[Quote] = []
    length = 0
    for quote in ordered:
        allowed = SAME_PASSAGE if quote.source == ordered[0].source else NEARLY_AS_GOOD
        if chosen and quote.score < ordered[0].score - allowed:
            continue
        if chosen and length + len(quote.unit.text) > LONGEST:
            continue
        if any(_says_the_same(quote, other) for other in chosen):
            continue
        chosen.append(quote)
        length += len(quote.unit.text)
        if len(chosen) == MOST_QUOTES:
            break
    return tuple(sorted(chosen, key=lambda one: (one.source != ordered[0].source, one.source, one.place)))


def with_second_opinion(
    chosen: tuple[Quote, ...], quotes: Sequence[Quote], retrieval: Retrieval
) -> tuple[Quote, ...]:
    """The chosen quotes, and the best one of either of the first two passages where they speak two languages.

    That which means more of what was asked comes first: words in common with the question favour the passage
    in the asker's language.
    """
    if len(retrieval.passages) < len(_BEST_TWO) or not {quote.source for quote in chosen} <= {*_BEST_TWO}:
        return chosen
    first, second = (retrieval.passages[place] for place in _BEST_TWO)
    languages_of_both = {_language_of(first), _language_of(second)}
    if (
        second.score < SECOND_OPINION_FROM * first.score
        or "" in languages_of_both
        or len(languages_of_both) < len(_BEST_TWO)
    ):
        return chosen
    kept = chosen
    for source in {*_BEST_TWO} - {quote.source for quote in chosen}:
        of_other = [quote for quote in quotes if quote.source == source]
        if of_other:
            kept = (*chosen[: MOST_QUOTES - 1], max(of_other, key=lambda one: one.score))
    meanings = {
        source: max(one.meaning for one in kept if one.source == source)
        for source in {q.source for q in kept}
    }
    return tuple(sorted(kept, key=lambda one: -meanings[one.source]))


def compose(quotes: Sequence[Quote], retrieval: Retrieval) -> Cited:
    """Each quote as a block quote of Markdown with its source."""
    pieces: list[Piece] = []
    for quote in quotes:
        text = _block_quote(quotable(quote.unit.text, retrieval.passages))
        # A mark on the last line of code would break its fence.
        text += "\n" if quote.unit.is_block else ""
        pieces.append(Piece(text=f"\n\n{text}" if pieces else text, sources=(quote.source,)))
    cited = number(pieces, retrieval.passages)
    if not _is_foreign(quotes, retrieval):
        return cited
    lead_in = Span(text=phrase(Phrase.LEAD_IN, retrieval.language) + "\n\n")
    return Cited(spans=(lead_in, *cited.spans), citations=cited.citations)


def _candidates(retrieval: Retrieval) -> list[Quote]:
    """The units of the first passages; of too many, those with most of the question's words."""
    wanted = frozenset(fold(word) for word in keywords(retrieval.query, retrieval.language))
    found: list[Quote] = []
    enough = WORTH_QUOTING * max((passage.score for passage in retrieval.passages), default=0.0)
    for source, passage in enumerate(retrieval.passages[:MOST_PASSAGES]):
        if source not in _BEST_TWO and passage.score < enough:
            continue
        said = units_of(passage.candidate.body)
        pointed, told = read_unit(passage, said), _told(passage, retrieval)
        for place, unit in enumerate(_with_its_subject(one, passage) for one in said):
            score = WORD_WEIGHT * _coverage(wanted, unit, passage) - RANK_WEIGHT * source
            score += told if place == pointed else 0.0
            found.append(Quote(unit=unit, source=source, place=place, score=score))
    # A passage may consist of links to other pages; it is quoted only if there is nothing else.
    found = [quote for quote in found if not quote.unit.is_link] or found
    found.sort(key=lambda one: (-round(one.score, 9), one.source, one.place))
    return found[:MOST_EMBEDDED]


def _told(passage: Passage, retrieval: Retrieval) -> float:
    """What it is worth to be pointed at in this passage: only the one that likeliest answers counts."""
    likeliest = max((odds_of(one) for one in retrieval.passages), default=-math.inf)
    return READ_WEIGHT if passage.reading is not None and odds_of(passage) >= likeliest else 0.0


def _with_its_subject(unit: Unit, passage: Passage) -> Unit:
    """A property (``Lead: Jane Doe``) means nothing without the page it is one of, whose title it lacks."""
    if _PROPERTY.fullmatch(unit.text) is None:
        return unit
    return replace(unit, plain=f"{passage.candidate.title}: {unit.plain}")


def _coverage(wanted: frozenset[str], unit: Unit, passage: Passage) -> float:
    """Words in the unit count full, words that its headings say for it count half."""
    if not wanted:
        return 0.0
    said = word_forms(unit.plain)
    above = word_forms(" ".join(heading.text for heading in passage.candidate.heading_path))
    return (len(wanted & said) + 0.5 * len((wanted & above) - said)) / len(wanted)


def _says_the_same(quote: Quote, other: Quote) -> bool:
    """Chunks overlap, and one page may repeat another."""
    mine, theirs = quote.unit.plain, other.unit.plain
    return mine in theirs or theirs in mine


def _block_quote(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _is_foreign(quotes: Sequence[Quote], retrieval: Retrieval) -> bool:
    """Whether the quotes, of which the first stands right below the lead-in, are in another language.

    As far as languages are known; what follows a quote in the asker's own language needs no lead-in.
    """
    spoken = [_language_of(retrieval.passages[quote.source]) for quote in quotes]
    first = next(iter(spoken), "")
    return bool(retrieval.language and first and first != retrieval.language)


def _language_of(passage: Passage) -> str:
    return passage.candidate.language or languages.detect(re.sub(r"[`|*_#>-]", " ", passage.candidate.body))
