"""From passages to a cited answer. Renderers draw links; nothing here is platform Markdown."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from core.domain.documents import PART_LEVEL, Heading, link_to_block
from core.domain.ids import BlockId, ChunkId, PageId
from core.domain.questions import Question


class FoundBy(StrEnum):
    """Which side of the search knew a passage."""

    VECTOR = "vector"
    WORDS = "words"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk as the index returned it, before fusion.

    Ranks count from 1 within each side and are null where that side did not find the chunk (F47).
    ``cosine`` is known for every candidate of the vector side; ``lexical`` is the word side's own score.
    ``chunk_id`` is null for a page-level hit of the keyword fallback. ``path`` is the live ancestry: the
    page's own id and those of all its ancestors.
    """

    chunk_id: ChunkId | None
    page_id: PageId
    title: str
    breadcrumb: str
    page_url: str
    body: str
    path: tuple[PageId, ...]
    block_id: BlockId | None = None
    heading_path: tuple[Heading, ...] = ()
    level: int = 1
    index: int = 0
    language: str = ""
    last_edited: datetime | None = None
    semantic_rank: int | None = None
    lexical_rank: int | None = None
    cosine: float | None = None
    lexical: float | None = None

    @property
    def found_by(self) -> FoundBy:
        """Derived from the ranks."""
        if self.semantic_rank is not None and self.lexical_rank is not None:
            return FoundBy.BOTH
        return FoundBy.VECTOR if self.semantic_rank is not None else FoundBy.WORDS


@dataclass(frozen=True, slots=True)
class Reading:
    """What reading a passage together with the question gave.

    ``odds``: natural logarithm of the odds that it answers, as the reader sees them; its own scale.
    ``start`` and ``end``: where in the text that was read the answer most likely stands, in characters;
    `core.services.reading.read_unit` tells which part of the passage that is.
    """

    odds: float
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Passage:
    """A ranked candidate. Cosine, RRF and final score stay three separate figures (inventory X2).

    ``reading`` is null where it was not read together with the question.
    """

    candidate: Candidate
    rrf: float
    score: float
    reading: Reading | None = None

    @property
    def url(self) -> str:
        """The link to the very block where the passage starts, or to the page."""
        return link_to_block(self.candidate.page_url, self.candidate.block_id)


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What was found for a question; kept on the answer, so an answer can be explained and tested.

    ``query`` is the text that was really searched. ``degraded`` says that only words were searched, since
    no vector could be had, or that only whole pages were found. ``generation`` is the index generation read
    with the passages. ``timings`` are milliseconds by stage. ``index_is_empty`` tells an index without any
    chunk from one without a fitting chunk. ``probability`` is that of the wiki holding an answer, null where
    nothing was learned of the index by which it could be told.
    """

    question: Question
    query: str
    language: str
    passages: tuple[Passage, ...]
    degraded: bool = False
    generation: int = 0
    timings: Mapping[str, float] = field(default_factory=dict)
    index_is_empty: bool = False
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """What a generator wrote, uninterpreted: text with ``[n]`` markers, links and all."""

    text: str
    model: str
    degraded: bool = False


@dataclass(frozen=True, slots=True)
class Citation:
    """A source of an answer. Made from a retrieved passage, so an invented source cannot be expressed."""

    number: int
    passage: Passage
    quote: str

    @property
    def title(self) -> str:
        """The page's own title."""
        return self.passage.candidate.title

    @property
    def heading(self) -> str:
        """The heading the passage stands under, without hash marks; empty at the top of the page.

        In an attached file: the file's name, the page in it, and the heading there.
        """
        path = self.passage.candidate.heading_path
        within = [heading.text for heading in path if heading.level >= PART_LEVEL]
        return " > ".join(within) or (path[-1].text if path else "")

    @property
    def url(self) -> str:
        """The link to the very block, or to the page where the source has no block ids."""
        return self.passage.url

    @property
    def last_edited(self) -> datetime | None:
        """When the page was last edited, to the minute."""
        return self.passage.candidate.last_edited


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of an answer and the numbers of the citations that support it."""

    text: str
    cites: tuple[int, ...] = ()


class UncitedSourceError(ValueError):
    """A span names a citation that the answer does not have, or a citation is no retrieved passage."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: spans of Markdown text plus the numbers of what supports each.

    Raises:
        UncitedSourceError: a span cites a number without citation, or a citation was never retrieved.
    """

    spans: tuple[Span, ...]
    citations: tuple[Citation, ...]
    retrieval: Retrieval
    language: str
    degraded: bool = False
    cached: bool = False

    def __post_init__(self) -> None:
        numbers = {citation.number for citation in self.citations}
        cited = {number for span in self.spans for number in span.cites}
        if not cited <= numbers:
            raise UncitedSourceError(f"no citation for {sorted(cited - numbers)}")
        if any(citation.passage not in self.retrieval.passages for citation in self.citations):
            raise UncitedSourceError("a citation names a passage that was not retrieved")


class NoAnswerReason(StrEnum):
    """Why there is no answer; the values are part of the ``--json`` contract."""

    NO_RELEVANT_PAGES = "no_relevant_pages"
    NOTHING_VISIBLE = "nothing_visible"
    EMPTY_INDEX = "empty_index"
    EMPTY_QUESTION = "empty_question"
    QUESTION_TOO_LONG = "question_too_long"
    LIMIT_REACHED = "limit_reached"


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """A result, not an error: renderers say it politely in the asker's language.

    ``wait`` is how many seconds until the asker may ask again, where a limit is reached; such a note is for
    the asker's eyes alone (`is_private`).
    """

    reason: NoAnswerReason
    language: str
    retrieval: Retrieval | None = None
    wait: float = 0.0

    @property
    def is_private(self) -> bool:
        """Whether nobody but the asker should be shown it, where the platform can do that."""
        return self.reason is NoAnswerReason.LIMIT_REACHED


Outcome = Answer | NoAnswer
