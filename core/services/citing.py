"""What a model wrote, made into spans and citations: nothing but retrieved passages is cited or linked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from core.domain.answers import Citation, Passage, Span
from core.domain.ids import PageId
from core.services.draft_markup import Piece, read_draft
from core.services.markdown_text import has_links, inert, segments
from core.services.quoting import quote_from
from core.services.rambling import cut_loop, without_thinking
from core.services.splitting import sentences
from core.services.tokens import word_forms

FEWEST_WORDS = 3
MOST_OF_WORDS = 0.7
"""A sentence stems from a passage that has this share of its words; shorter ones could be from anywhere."""


class EmptyDraftError(ValueError):
    """A model wrote nothing that could be shown (F68)."""


class UngroundedDraftError(EmptyDraftError):
    """A model wrote text that names no source and stems from none."""


@dataclass(frozen=True, slots=True)
class Cited:
    """Checked text: spans, and the sources they name, numbered by first use."""

    spans: tuple[Span, ...]
    citations: tuple[Citation, ...]


def cite(text: str, sources: Sequence[Passage]) -> Cited:
    """The text of a draft with its markers resolved; ``sources`` are the passages in the prompt's order.

    Unknown numbers and links go, their words stay; code is left as it is; thinking and endless repetition are
    cut. A page has one number, whichever of its passages was meant first (X10, A1).

    Raises:
        EmptyDraftError: nothing is left to show.
    """
    pieces = checked(text, sources)
    if not any(_says_something(piece.text) for piece in pieces):
        raise EmptyDraftError("the model wrote no text")
    return number(pieces, sources)


def grounded(text: str, sources: Sequence[Passage]) -> Cited:
    """As `cite`; a draft that names no source at all is attributed by its words.

    Raises:
        EmptyDraftError: nothing is left to show.
        UngroundedDraftError: nothing in it rests on a source.
    """
    cited = cite(text, sources)
    if cited.citations:
        return cited
    cited = number(attributed([Piece(span.text) for span in cited.spans], sources), sources)
    if not cited.citations:
        raise UngroundedDraftError("the model wrote nothing that rests on a source")
    return cited


def checked(text: str, sources: Sequence[Passage]) -> tuple[Piece, ...]:
    """The draft without thinking, loops, unknown numbers and links.

    The last word has a CommonMark parser: if it still sees a link, all signs that make links are escaped.
    """
    pieces = read_draft(cut_loop(without_thinking(text)), sources)
    if not has_links("".join(piece.text for piece in pieces)):
        return pieces
    return tuple(replace(piece, text=inert(piece.text)) for piece in pieces)


def attributed(pieces: Sequence[Piece], sources: Sequence[Passage]) -> tuple[Piece, ...]:
    """Each sentence with the source it stems from, where there is one."""
    words = [word_forms(source.candidate.body) for source in sources]
    found: list[Piece] = []
    for segment in segments("".join(piece.text for piece in pieces)):
        said = [(segment.text, "")] if segment.is_code else sentences(segment.text)
        for sentence, blank in said:
            place = None if segment.is_code else _origin(sentence, words)
            found.append(Piece(sentence, () if place is None else (place,)))
            found.append(Piece(blank))
    return tuple(piece for piece in found if piece.text)


def _origin(sentence: str, words: Sequence[frozenset[str]]) -> int | None:
    """The source that has most of a sentence's words, if it has nearly all of them."""
    said = word_forms(sentence)
    if len(said) < FEWEST_WORDS or not words:
        return None
    place = max(range(len(words)), key=lambda one: (len(said & words[one]), -one))
    return place if len(said & words[place]) >= MOST_OF_WORDS * len(said) else None


def number(pieces: Iterable[Piece], sources: Sequence[Passage]) -> Cited:
    """Give each cited page a number, in order of first use, and quote the passage that was meant."""
    chosen: dict[PageId, Citation] = {}
    spans: list[Span] = []
    for piece in pieces:
        cites: dict[int, None] = {}
        for source in piece.sources:
            passage = sources[source]
            page = passage.candidate.page_id
            if page not in chosen:
                quote = quote_from(passage, piece.text)
                chosen[page] = Citation(number=len(chosen) + 1, passage=passage, quote=quote)
            cites[chosen[page].number] = None
        spans.append(Span(text=piece.text, cites=tuple(cites)))
    return Cited(spans=tuple(spans), citations=tuple(chosen.values()))


def preview(text: str, sources: Sequence[Passage]) -> str:
    """The finished sentences of a draft that is still being written, checked, with plain ``[n]`` marks."""
    cited = number(checked(_whole_sentences(without_thinking(text)), sources), sources)
    return "".join(span.text + "".join(f" [{one}]" for one in span.cites) for span in cited.spans)


def _whole_sentences(text: str) -> str:
    """Up to the last sentence or line that is surely over, so that half a link is never shown."""
    ends = [
        text.rfind(sign) + len(sign) for sign in (". ", "! ", "? ", "\n", "。", "！", "？") if sign in text
    ]
    whole = text[: max(ends, default=0)]
    for opening, closing in (("[", "]"), ("(", ")"), ("<", ">"), ("【", "】")):
        if whole.rfind(opening) > whole.rfind(closing):
            whole = whole[: whole.rfind(opening)]
    return whole.rstrip()


def _says_something(text: str) -> bool:
    return any(character.isalnum() for character in text)
