"""What a model wrote, made into spans and citations: nothing but retrieved passages is cited or linked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from core.domain.answers import Citation, Passage, Span
from core.domain.ids import PageId
from core.services.draft_markup import Piece, read_draft
from core.services.markdown_text import has_links, inert
from core.services.quoting import quote_from
from core.services.rambling import cut_loop, without_thinking


class EmptyDraftError(ValueError):
    """A model wrote nothing that could be shown (F68)."""


class UngroundedDraftError(EmptyDraftError):
    """A model wrote text that names no source and stems from none."""


@dataclass(frozen=True, slots=True)
class Cited:
    """Checked text: spans, and the sources they name, numbered by first use."""

    spans: tuple[Span, ...]
    citations: tuple[Citation, ...]


def checked(text: str, sources: Sequence[Passage]) -> tuple[Piece, ...]:
    """The draft without thinking, loops, unknown numbers and links; code and words are left as they are.

    ``sources`` are the passages in the prompt's order. The last word has a CommonMark parser: if it still
    sees a link, all signs that make links are escaped.
    """
    pieces = read_draft(cut_loop(without_thinking(text)), sources)
    if not has_links("".join(piece.text for piece in pieces)):
        return pieces
    return tuple(replace(piece, text=inert(piece.text)) for piece in pieces)


def number(pieces: Iterable[Piece], sources: Sequence[Passage]) -> Cited:
    """Give each cited page a number, in order of first use, and quote the passage that was meant.

    A page has one number, whichever of its passages was meant first (X10, A1).
    """
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


def says_something(pieces: Sequence[Piece]) -> bool:
    """Whether there is anything to show."""
    return any(character.isalnum() for piece in pieces for character in piece.text)
