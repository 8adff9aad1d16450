"""Filling chunks with paragraphs up to the budget, each beginning with the end of the one before."""

from dataclasses import dataclass, field

from core.domain.documents import BlockKind
from core.domain.ids import BlockId
from core.services.junk import Tally, tally
from core.services.measuring import Budget, Weights
from core.services.sectioning import Paragraph
from core.services.solids import code_pieces, table_pieces
from core.services.splitting import cut_point, is_boundary, sentences, word_start

SOLID = frozenset({BlockKind.CODE, BlockKind.TABLE})
"""Never repeated in part at the start of the next chunk, and nothing is repeated before them."""


_WINDOW = 10_000
"""Characters; far more than the largest chunk."""


@dataclass(frozen=True, slots=True)
class Packed:
    """A chunk's body; its first ``overlap`` characters repeat the end of the body before."""

    body: str
    overlap: int
    block_id: BlockId | None


@dataclass(slots=True)
class _Filling:
    """The chunk being filled."""

    text: str
    overlap: int
    weights: Weights
    block_id: BlockId | None
    tally: Tally
    prose_from: int
    """Where the prose at the end of ``text`` begins, that is, what may be repeated."""


@dataclass(slots=True)
class Packer:
    """Packs the paragraphs of one section in order; what comes out never exceeds the budget."""

    budget: Budget
    overlap: Budget
    packed: list[Packed] = field(default_factory=list)
    _filling: _Filling | None = None
    _tail: str = ""

    def add(self, paragraph: Paragraph) -> None:
        """Take a paragraph: whole if it fits a chunk, else in pieces."""
        if self.budget.fits(self.budget.weigh(paragraph.text)):
            self._put(paragraph.text, "\n", paragraph)
            return
        pieces = self._solid_pieces(paragraph)
        if pieces:
            for piece in pieces:
                self._put(piece, "\n", paragraph)
            return
        glue = "\n"
        # What could not keep its form (a table whose header is too long) is cut as prose.
        prose = Paragraph(paragraph.text, BlockKind.PARAGRAPH, paragraph.block_id)
        for sentence, blanks in sentences(paragraph.text):
            if self.budget.fits(self.budget.weigh(sentence)):
                self._put(sentence, glue, prose)
            else:
                self._put_in_parts(sentence, glue, prose)
            glue = blanks

    def finish(self) -> list[Packed]:
        """Everything packed so far, the last chunk included."""
        self._close()
        return self.packed

    def _solid_pieces(self, paragraph: Paragraph) -> list[str]:
        if paragraph.kind is BlockKind.TABLE:
            return table_pieces(paragraph.text, self.budget)
        if paragraph.kind is BlockKind.CODE:
            return code_pieces(paragraph.text, self.budget)
        return []

    def _put(self, text: str, glue: str, source: Paragraph) -> None:
        """Add a piece that fits a chunk, opening a new one if this one is full."""
        weights = self.budget.weigh(text)
        filling = self._filling
        if filling is not None:
            if self.budget.fits(filling.weights, self.budget.weigh_glue(glue), weights):
                self._append(filling, text, glue, source)
                return
            self._close()
        self._open(text, glue, source)

    def _put_in_parts(self, text: str, glue: str, source: Paragraph) -> None:
        """Add a sentence that no chunk can hold, cut between words where that can be."""
        start = 0
        while start < len(text):
            # No chunk holds more than this, and measuring all that is left at every step would take for ever.
            rest = text[start : start + _WINDOW]
            filling = self._filling
            if filling is not None:
                at = self._part_beside(filling, rest, glue)
                if at == 0:
                    self._close()
                    continue
                part, blanks = _stripped(rest[:at])
                self._append(filling, part, glue, source)
            else:
                repeated = self._repeated(glue, source)
                used = (self.budget.weigh(repeated), self.budget.weigh_glue(glue if repeated else ""))
                at = cut_point(rest, max(1, self.budget.longest_prefix(rest, *used)))
                part, blanks = _stripped(rest[:at])
                if part:
                    self._open(part, glue, source)
            start += at
            glue = blanks

    def _part_beside(self, filling: _Filling, text: str, glue: str) -> int:
        """How much of ``text`` to add to a chunk begun; none unless it is worth it and ends with a word."""
        room = self.budget.longest_prefix(text, filling.weights, self.budget.weigh_glue(glue))
        if room == 0 or 2 * room < self.budget.longest_prefix(text):
            return 0
        at = cut_point(text, room)
        return at if is_boundary(text, at) or at == len(text) else 0

    def _append(self, filling: _Filling, text: str, glue: str, source: Paragraph) -> None:
        added = (self.budget.weigh_glue(glue), self.budget.weigh(text))
        filling.weights = tuple(map(sum, zip(filling.weights, *added, strict=True)))
        filling.text += glue + text
        filling.tally += tally(text, source.kind)
        if source.kind in SOLID:
            filling.prose_from = len(filling.text)

    def _open(self, text: str, glue: str, source: Paragraph) -> None:
        counted = tally(text, source.kind)
        repeated = self._repeated(glue, source, text)
        if repeated and (counted + tally(repeated)).is_junk and not counted.is_junk:
            repeated = ""
        start = repeated + glue if repeated else ""
        weights = (
            self.budget.weigh(repeated),
            self.budget.weigh_glue(glue if repeated else ""),
            self.budget.weigh(text),
        )
        whole = start + text
        self._filling = _Filling(
            text=whole,
            overlap=len(repeated),
            weights=tuple(map(sum, zip(*weights, strict=True))),
            block_id=source.block_id,
            tally=counted,
            prose_from=len(whole) if source.kind in SOLID else 0,
        )
        self._tail = ""

    def _repeated(self, glue: str, source: Paragraph, text: str = "") -> str:
        """As much of the end of the chunk before as may stand at the start of this one."""
        if source.kind in SOLID or not self._tail:
            return ""
        tail = self._tail
        length = min(
            self.overlap.longest_suffix(tail),
            self.budget.longest_suffix(tail, self.budget.weigh_glue(glue), self.budget.weigh(text)),
        )
        return tail[word_start(tail, len(tail) - length) :].lstrip()

    def _close(self) -> None:
        filling = self._filling
        self._filling = None
        self._tail = ""
        if filling is None or filling.tally.is_junk:
            return
        self.packed.append(Packed(filling.text, filling.overlap, filling.block_id))
        self._tail = filling.text[filling.prose_from :]


def _stripped(part: str) -> tuple[str, str]:
    bare = part.rstrip()
    return bare, part[len(bare) :]
