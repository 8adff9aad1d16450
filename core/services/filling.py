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
class Filled:
    """A chunk's body; its first ``overlap`` characters repeat the end of the body before."""

    body: str
    overlap: int
    block_id: BlockId | None


@dataclass(frozen=True, slots=True)
class _Piece:
    """A piece of one paragraph; ``glue`` is what stands between it and the piece before."""

    text: str
    glue: str
    kind: BlockKind
    block_id: BlockId | None
    tally: Tally


@dataclass(slots=True)
class _Filling:
    """The chunk being filled."""

    repeated: str
    pieces: list[_Piece]
    weights: Weights

    @property
    def is_junk(self) -> bool:
        return sum((piece.tally for piece in self.pieces), start=Tally()).is_junk


@dataclass(slots=True)
class ChunkFiller:
    """Fills chunks with the paragraphs of one section in order; what comes out never exceeds the budget."""

    budget: Budget
    overlap: Budget
    filled: list[Filled] = field(default_factory=list)
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

    def finish(self) -> list[Filled]:
        """All chunks, the last chunk included."""
        self._close()
        return self.filled

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
        filling.weights = _sum(filling.weights, *added)
        filling.pieces.append(_piece(text, glue, source))

    def _open(self, text: str, glue: str, source: Paragraph) -> None:
        piece = _piece(text, glue, source)
        repeated = self._repeated(glue, source, text)
        if repeated and (piece.tally + tally(repeated)).is_junk and not piece.tally.is_junk:
            repeated = ""
        weights = (
            self.budget.weigh(repeated),
            self.budget.weigh_glue(glue if repeated else ""),
            self.budget.weigh(text),
        )
        self._filling = _Filling(repeated, [piece], _sum(*weights))
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
        """Finish the chunk. Of one that is mostly a drawing only the pieces that are text stay."""
        filling = self._filling
        self._filling = None
        self._tail = ""
        if filling is None:
            return
        repeated, pieces = filling.repeated, filling.pieces
        if filling.is_junk:
            repeated, pieces = "", [piece for piece in pieces if not piece.tally.is_junk]
        if not pieces:
            return
        first, *others = pieces
        start = repeated + first.glue if repeated else ""
        body = start + first.text + "".join(piece.glue + piece.text for piece in others)
        self.filled.append(Filled(body, len(repeated), first.block_id))
        self._tail = _prose_at_end(body, pieces)


def _piece(text: str, glue: str, source: Paragraph) -> _Piece:
    return _Piece(text, glue, source.kind, source.block_id, tally(text, source.kind))


def _prose_at_end(body: str, pieces: list[_Piece]) -> str:
    """The end of a body behind its last table or code block, that is, what may be repeated."""
    length = 0
    for piece in reversed(pieces):
        if piece.kind in SOLID:
            return body[len(body) - length :]
        length += len(piece.glue) + len(piece.text)
    return body


def _sum(*parts: Weights) -> Weights:
    return tuple(map(sum, zip(*parts, strict=True)))


def _stripped(part: str) -> tuple[str, str]:
    bare = part.rstrip()
    return bare, part[len(bare) :]
