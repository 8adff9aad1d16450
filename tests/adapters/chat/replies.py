"""Builders of outcomes for renderers."""

from datetime import UTC, datetime
from typing import Any

from core.domain.answers import Answer, Candidate, Citation, Passage, Retrieval, Span
from core.domain.audiences import EVERYTHING
from core.domain.documents import Heading
from core.domain.ids import BlockId, ChunkId, PageId
from core.domain.questions import Conversation, Question

PAGE = PageId("0b4d7f5e-0000-4000-8000-000000000001")
BLOCK = BlockId("0b4d7f5e-0000-4000-8000-00000000000b")
PAGE_URL = "https://www.notion.so/Vacation-0b4d7f5e000040008000000000000001"
BLOCK_URL = f"{PAGE_URL}#0b4d7f5e00004000800000000000000b"


def a_source(**overrides: Any) -> Passage:
    """A passage of the vacation page."""
    settled: dict[str, Any] = {
        "chunk_id": ChunkId(1),
        "page_id": PAGE,
        "title": "Vacation",
        "breadcrumb": "HR > Vacation",
        "page_url": PAGE_URL,
        "body": "You have 28 days.",
        "path": (PAGE,),
        "block_id": BLOCK,
        "heading_path": (Heading(1, "Rules"), Heading(2, "Days")),
        "last_edited": datetime(2026, 5, 1, 9, 30, tzinfo=UTC),
        "semantic_rank": 1,
        "cosine": 0.9,
    }
    return Passage(candidate=Candidate(**(settled | overrides)), rrf=0.016, score=0.9)


def a_reply(
    *spans: Span, sources: tuple[Passage, ...] | None = None, language: str = "en", degraded: bool = False
) -> Answer:
    """An answer citing each source under its number."""
    passages = (a_source(),) if sources is None else sources
    question = Question(
        id="1",
        text="How many days?",
        asker="U1",
        conversation=Conversation(platform="console"),
        audience=EVERYTHING,
        asked_at=datetime(2026, 5, 4, tzinfo=UTC),
    )
    return Answer(
        spans=spans or (Span("You have 28 days.", (1,)),),
        citations=tuple(
            Citation(number=place, passage=passage, quote="")
            for place, passage in enumerate(passages, start=1)
        ),
        retrieval=Retrieval(question=question, query="days", language=language, passages=passages),
        language=language,
        degraded=degraded,
    )
