"""Pages into chunks: sections, then paragraphs, then sentences, then words, then a cut.

A chunk never spans two sections. Inside a section paragraphs are joined with one line break up to the size;
only what is too long alone is divided. Every later chunk of a section begins with the end of the one before.

**Pages with a title only.** Blank text gives no chunks (K8), so `chunk_page` of a page with nothing but a
title is empty. Such a page is still to be found by its title (F10): `title_chunk` makes the one chunk that
stands for it, of level 0 as it speaks of the page as a whole, and `chunks_or_title` chooses between the two.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal

from core.domain.documents import Block, BlockKind, Chunk, Heading, PlacedPage, breadcrumb, heading_context
from core.services.boilerplate import is_boilerplate
from core.services.filling import ChunkFiller
from core.services.measuring import (
    QUARTERS,
    SPECIAL_TOKENS,
    TENTHS,
    Budget,
    Counter,
    Limit,
    quarter_tokens,
    tenths_at_most,
)
from core.services.page_text import page_text, property_lines
from core.services.sectioning import HeadingNode, Paragraph, Section, sections

__all__ = ["CHUNKER_VERSION", "ChunkSettings", "chunk_page", "chunks_or_title", "page_text", "title_chunk"]

CHUNKER_VERSION = "2"
"""Raised with every change that cuts the same page differently: chunks of two versions are never mixed."""

MAX_TOKENS = 600
"""Estimated tokens; no chunk is larger, prefix included, whatever the settings say (inventory X3)."""

MAX_OVERLAP = 0.30
"""More of a chunk than this spent on repetition is waste (inventory row 28)."""

DEFAULT_OVERLAP = 1 / 6
"""100 of 600 characters (inventory row 24)."""

FEW_WORDS = 20
"""Characters; an overlap this short is accepted below sizes where it exceeds `MAX_OVERLAP`, up to half."""

MIN_INPUT_TOKENS = 64
"""With less room than this a prefix leaves nothing for the text."""

_PREFIX_SHARE = 3
"""Titles and headings are shortened where they would take more than one third of the room."""

_SHORTER = (200, 100, 50, 25, 12)
"""Characters kept of each title and heading, tried in turn."""


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """How pages are cut.

    Sizes are in ``unit``: characters, or tokens estimated as a quarter of the characters (whole ones for
    scripts without blanks), or whatever ``counter`` counts. ``overlap`` is absolute if an int and a ratio of
    the size if a float; null means a sixth of the size. ``max_input_tokens`` is the embedding model's limit
    and ``passage_prefix`` what is put before each text for it: with them no text is ever truncated silently.
    ``extras`` names what else is embedded with or beside the passages.

    Raises:
        ValueError: a size that is not positive, an overlap that is negative or above 30 % of the size, an
            unknown unit, a model limit below 64 tokens.
    """

    size: int = 600
    overlap: int | float | None = None
    unit: Literal["chars", "tokens"] = "chars"
    max_input_tokens: int | None = None
    passage_prefix: str = ""
    counter: Counter | None = None
    extras: str = ""

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError(f"chunk size must be at least 1, got {self.size}")
        if self.unit not in ("chars", "tokens"):
            raise ValueError(f"chunk unit must be 'chars' or 'tokens', got {self.unit!r}")
        if self.max_input_tokens is not None and self.max_input_tokens < MIN_INPUT_TOKENS:
            raise ValueError(
                f"the model's input limit must be at least {MIN_INPUT_TOKENS} tokens, "
                f"got {self.max_input_tokens}"
            )
        overlap = DEFAULT_OVERLAP if self.overlap is None else self.overlap
        if not isfinite(overlap) or overlap < 0:
            raise ValueError(f"chunk overlap must be 0 or more, got {overlap}")
        absolute = int(self.size * overlap) if isinstance(overlap, float) else overlap
        most = int(self.size * MAX_OVERLAP)
        if isinstance(overlap, int):
            most = max(most, min(FEW_WORDS, self.size // 2))
        if absolute > most or (isinstance(overlap, float) and overlap > MAX_OVERLAP):
            raise ValueError(
                f"chunk overlap may be at most 30 % of the size, {most} of {self.size} {self.unit}; "
                f"got {overlap}"
            )
        object.__setattr__(self, "overlap", absolute)

    @property
    def version(self) -> str:
        """Names the chunker with these settings; part of the index fingerprint (SY24)."""
        cut = f"{CHUNKER_VERSION}/{self.size}/{self.overlap}/{self.unit}/{self.max_input_tokens or '-'}"
        return f"{cut}/{self.extras}" if self.extras else cut

    def size_limit(self, most: int) -> Limit:
        """At most this much in the unit of the settings."""
        if self.counter is not None:
            return Limit(self.counter, most, self.counter("\n") if self.unit == "chars" else 0)
        if self.unit == "tokens":
            # The article's estimate ignores the separators between paragraphs (K21).
            return Limit(quarter_tokens, most * QUARTERS, 0)
        return Limit(len, most, 1)


def chunk_page(
    placed: PlacedPage, blocks: Sequence[Block], settings: ChunkSettings | None = None
) -> tuple[Chunk, ...]:
    """The page's detail chunks in reading order, ``index`` 0 to n-1; none if it has no text worth finding.

    A database row's properties stand first, as lines ``Name: value``. Each chunk knows the block where its
    first new text begins. The same page always gives the same chunks.
    """
    cutter = _Cutter(placed, settings or ChunkSettings())
    found: list[Chunk] = []
    for section in _with_properties(placed, sections(blocks)):
        found.extend(cutter.cut(section, first_index=len(found)))
    return tuple(found)


def title_chunk(placed: PlacedPage) -> Chunk | None:
    """The one chunk of a page that has a title and nothing else; null if it has no title either."""
    title = " ".join(placed.ref.title.split())
    if not any(character.isalnum() for character in title):
        return None
    return Chunk(placed.ref.id, index=0, body=title[: _SHORTER[0]], breadcrumb="", level=0)


def chunks_or_title(
    placed: PlacedPage, blocks: Sequence[Block], settings: ChunkSettings | None = None
) -> tuple[Chunk, ...]:
    """What to index of a page: its chunks, or its title where it has no text (F10)."""
    found = chunk_page(placed, blocks, settings)
    if found:
        return found
    title = title_chunk(placed)
    return (title,) if title is not None else ()


def _with_properties(placed: PlacedPage, found: list[Section]) -> list[Section]:
    lines = property_lines(placed.ref)
    if not lines:
        return found
    paragraph = Paragraph("\n".join(lines), BlockKind.PARAGRAPH)
    if found and not found[0].path:
        found[0].paragraphs.insert(0, paragraph)
        return found
    return [Section((), [paragraph]), *found]


class _Cutter:
    """Cuts the sections of one page; remembers which shortened headings were already written out."""

    def __init__(self, placed: PlacedPage, settings: ChunkSettings) -> None:
        self._page = placed
        self._settings = settings
        self._written_out: set[HeadingNode] = set()

    def cut(self, section: Section, *, first_index: int) -> list[Chunk]:
        """The chunks of one section."""
        crumbs, headings = self._prefix(section)
        budget = self._budget(crumbs, headings)
        filler = ChunkFiller(budget, self._overlap(budget))
        for paragraph in (*self._shortened(section, headings), *section.paragraphs):
            if not is_boilerplate(paragraph.text, paragraph.kind):
                filler.add(paragraph)
        return [
            Chunk(
                page_id=self._page.ref.id,
                index=first_index + number,
                body=filled.body,
                breadcrumb=crumbs,
                heading_path=headings,
                block_id=filled.block_id,
                overlap=filled.overlap,
                attachment_id=next((node.file_key for node in section.path if node.file_key), None),
            )
            for number, filled in enumerate(filler.finish())
        ]

    def _budget(self, crumbs: str, headings: tuple[Heading, ...]) -> Budget:
        prefix = _prefix_text(crumbs, headings)
        return Budget((self._settings.size_limit(self._settings.size), *_hard_limits(self._settings, prefix)))

    def _overlap(self, budget: Budget) -> Budget:
        _size, *hard = budget.limits
        wanted = self._settings.size_limit(int(self._settings.overlap or 0))
        least = (Limit(limit.weigh, int(limit.most * MAX_OVERLAP), limit.joint) for limit in hard)
        return Budget((wanted, *least))

    def _prefix(self, section: Section) -> tuple[str, tuple[Heading, ...]]:
        """Breadcrumb and headings, shortened where they would leave too little room for the text."""
        titles = [ancestor.title for ancestor in self._page.ancestors]
        crumbs, headings = self._page.breadcrumb, section.headings
        for most in _SHORTER:
            if _leaves_room(self._settings, _prefix_text(crumbs, headings)):
                break
            crumbs = breadcrumb(
                [_shorten(title, most) for title in titles], _shorten(self._page.ref.title, most)
            )
            headings = tuple(Heading(one.level, _shorten(one.text, most)) for one in section.headings)
        return crumbs, headings

    def _shortened(self, section: Section, headings: tuple[Heading, ...]) -> list[Paragraph]:
        """Headings that were shortened, once in full, so that all their words are found."""
        cut = [
            node
            for node, heading in zip(section.path, headings, strict=True)
            if node.heading != heading and node not in self._written_out
        ]
        self._written_out.update(cut)
        return [Paragraph(str(node.heading), BlockKind.HEADING, node.block_id) for node in cut]


def _prefix_text(crumbs: str, headings: tuple[Heading, ...]) -> str:
    """What `Chunk.text_to_embed` puts before the body."""
    parts = [part for part in (crumbs, heading_context(headings)) if part]
    return f"[{' > '.join(parts)}] " if parts else ""


def _hard_limits(settings: ChunkSettings, prefix: str) -> list[Limit]:
    limits = [Limit(quarter_tokens, QUARTERS * MAX_TOKENS - quarter_tokens(prefix), 1)]
    if settings.max_input_tokens is not None:
        room = TENTHS * (settings.max_input_tokens - SPECIAL_TOKENS)
        limits.append(Limit(tenths_at_most, room - tenths_at_most(settings.passage_prefix + prefix), TENTHS))
    return limits


def _leaves_room(settings: ChunkSettings, prefix: str) -> bool:
    return all(
        with_prefix.most * _PREFIX_SHARE >= without.most * (_PREFIX_SHARE - 1)
        for with_prefix, without in zip(
            _hard_limits(settings, prefix), _hard_limits(settings, ""), strict=True
        )
    )


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"
