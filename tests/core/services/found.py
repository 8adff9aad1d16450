"""Builders of what a search found, and stand-ins of index, embedder and generator that tests script."""

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from core.domain.answers import Candidate, Passage, Retrieval
from core.domain.audiences import EVERYTHING, Audience
from core.domain.documents import Heading
from core.domain.ids import BlockId, ChunkId, PageId
from core.domain.models import ModelProfile, Vector
from core.domain.questions import Conversation, Question, Turn
from core.errors import UnavailableError
from core.ports import Prompt, SearchResult, WordQuery


def page_id(number: int) -> PageId:
    """The id of the n-th page."""
    return PageId(f"0b4d7f5e-0000-4000-8000-{number:012d}")


def page_url(number: int) -> str:
    """The n-th page's own link."""
    return f"https://www.notion.so/Page-{number}-{page_id(number).replace('-', '')}"


def block_id(number: int) -> BlockId:
    """The id of the n-th block."""
    return BlockId(f"b10c0000-0000-4000-8000-{number:012d}")


def a_hit(
    page: int = 1, body: str = "You have 28 days.", *, chunk: int | None = None, **more: Any
) -> Candidate:
    """A chunk of the n-th page that the vectors found first."""
    number = page if chunk is None else chunk
    settled: dict[str, Any] = {
        "chunk_id": ChunkId(number),
        "page_id": page_id(page),
        "title": f"Page {page}",
        "breadcrumb": f"Wiki > Page {page}",
        "page_url": page_url(page),
        "body": body,
        "path": (page_id(page),),
        "block_id": block_id(number),
        "language": "en",
        "last_edited": datetime(2026, 5, 1, 9, 30, tzinfo=UTC),
        "semantic_rank": number,
        "cosine": 0.9,
    }
    return Candidate(**(settled | more))


def a_page_hit(page: int, text: str, **more: Any) -> Candidate:
    """A whole page that the words found."""
    settled: dict[str, Any] = {
        "chunk_id": None,
        "block_id": None,
        "semantic_rank": None,
        "cosine": None,
        "lexical_rank": page,
        "lexical": 1.0,
    }
    return a_hit(page, text, **(settled | more))


def a_passage(
    page: int = 1, body: str = "You have 28 days.", *, chunk: int | None = None, **more: Any
) -> Passage:
    """A ranked passage of the n-th page."""
    return Passage(candidate=a_hit(page, body, chunk=chunk, **more), rrf=0.016, score=0.9)


def a_question(
    text: str = "How many vacation days do I have?",
    *,
    audience: Audience = EVERYTHING,
    turns: Sequence[str] = (),
) -> Question:
    """A question of somebody somewhere."""
    return Question(
        id="event",
        text=text,
        asker="U1",
        conversation=Conversation(platform="console"),
        audience=audience,
        asked_at=datetime(2026, 5, 4, tzinfo=UTC),
        turns=tuple(Turn(turn) for turn in turns),
    )


def a_retrieval(
    *passages: Passage, text: str = "How many vacation days do I have?", **more: Any
) -> Retrieval:
    """What was found for a question."""
    settled: dict[str, Any] = {"query": text, "language": "en", "passages": passages or (a_passage(),)}
    question = a_question(text, turns=more.pop("turns", ()))
    return Retrieval(question=question, **(settled | more))


def under(*headings: str) -> dict[str, Any]:
    """The heading path of a hit, from the top of the page down."""
    return {"heading_path": tuple(Heading(level, text) for level, text in enumerate(headings, start=1))}


class ScriptedIndex:
    """Returns the hits it is given, cut to nothing of its own, and remembers what it was asked."""

    def __init__(
        self,
        *hits: Candidate,
        pages: Sequence[Candidate] = (),
        generation: int = 7,
        has_chunks: bool = True,
        error: Exception | None = None,
    ) -> None:
        self.hits = hits
        self.pages = tuple(pages)
        self.current = generation
        self.has_chunks = has_chunks
        self.error = error
        self.searches: list[tuple[Vector | None, WordQuery, Audience, int]] = []
        self.page_searches: list[tuple[WordQuery, Audience, int]] = []
        self.generations_read = 0

    async def search(
        self, *, vector: Vector | None, words: WordQuery, audience: Audience, limit: int
    ) -> SearchResult:
        """The scripted hits."""
        self.searches.append((vector, words, audience, limit))
        if self.error is not None:
            raise self.error
        return SearchResult(candidates=self.hits, generation=self.current, has_chunks=self.has_chunks)

    async def search_pages(self, *, words: WordQuery, audience: Audience, limit: int) -> SearchResult:
        """The scripted pages."""
        self.page_searches.append((words, audience, limit))
        return SearchResult(candidates=self.pages, generation=self.current, has_chunks=self.has_chunks)

    async def generation(self) -> int:
        """The current generation."""
        self.generations_read += 1
        return self.current

    @property
    def calls(self) -> int:
        """How often anything was asked."""
        return len(self.searches) + len(self.page_searches) + self.generations_read


class WordEmbedder:
    """Vectors by which words a text has: texts that share words are near. May be told to fail."""

    profile = ModelProfile(name="test:words", dimensions=256, threshold=0.1, answer_confidence=0.2)

    def __init__(self, *, error: Exception | None = None) -> None:
        self.error = error
        self.queries: list[str] = []

    async def embed_query(self, text: str) -> Vector:
        """The vector of a question."""
        self.queries.append(text)
        if self.error is not None:
            raise self.error
        return _vector(text)

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """The vectors of passages."""
        if self.error is not None:
            raise self.error
        return [_vector(text) for text in texts]


class ScriptedGenerator:
    """Writes the next text piece by piece, or raises it, and remembers its prompts."""

    model = "test:scripted"
    context_tokens = 8192

    def __init__(self, *texts: str | Exception, piece: int = 7) -> None:
        self.texts = list(texts)
        self.prompts: list[Prompt] = []
        self.piece = piece
        self.closed = 0

    async def write(self, prompt: Prompt) -> AsyncIterator[str]:
        """The next text."""
        self.prompts.append(prompt)
        text = self.texts.pop(0) if self.texts else UnavailableError("no text left")
        try:
            if isinstance(text, Exception):
                raise text
            for start in range(0, len(text), self.piece):
                yield text[start : start + self.piece]
        finally:
            self.closed += 1


def _vector(text: str) -> Vector:
    vector = np.zeros(256, dtype=np.float32)
    for word in text.lower().split():
        vector[sum(word.strip(".,?!").encode()) % 256] += 1.0
    length = float(np.linalg.norm(vector))
    return vector / length if length else vector
