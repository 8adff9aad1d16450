"""Builders of questions and answers that show only what matters to a test."""

from datetime import UTC, datetime

from core.domain.answers import Answer, Candidate, Citation, Passage, Retrieval, Span
from core.domain.audiences import EVERYTHING, Audience
from core.domain.ids import BlockId, ChunkId, PageId
from core.domain.questions import Conversation, Question, Turn

PAGE = PageId("0b4d7f5e-0000-4000-8000-000000000001")
BLOCK = BlockId("0b4d7f5e-0000-4000-8000-00000000000b")


def a_question(
    text: str = "How many vacation days do I have?",
    *,
    asker: str = "U1",
    audience: Audience = EVERYTHING,
    turns: tuple[str, ...] = (),
) -> Question:
    """A question of somebody in some channel."""
    return Question(
        id=f"event of {asker}",
        text=text,
        asker=asker,
        conversation=Conversation(platform="slack", workspace="T1", channel="C1", thread="1700.01"),
        audience=audience,
        asked_at=datetime(2026, 5, 4, 9, 30, tzinfo=UTC),
        turns=tuple(Turn(turn) for turn in turns),
    )


def a_passage(
    body: str = "Thirty days.", *, chunk_id: int = 7, last_edited: datetime | None = None
) -> Passage:
    """A passage found by vector."""
    candidate = Candidate(
        chunk_id=ChunkId(chunk_id),
        page_id=PAGE,
        title="Vacation",
        breadcrumb="HR > Vacation",
        page_url="https://www.notion.so/Vacation-0b4d7f5e000040008000000000000001",
        body=body,
        path=(PAGE,),
        block_id=BLOCK,
        last_edited=last_edited,
        semantic_rank=1,
        cosine=0.9,
    )
    return Passage(candidate=candidate, rrf=0.016, score=0.5)


def an_answer(
    question: Question | None = None,
    *,
    text: str = "You have thirty days.",
    body: str = "Thirty days.",
    generation: int = 1,
    degraded: bool = False,
    last_edited: datetime | None = None,
) -> Answer:
    """An answer of one sentence resting on one passage."""
    passage = a_passage(body, last_edited=last_edited)
    return Answer(
        spans=(Span(text, (1,)),),
        citations=(Citation(number=1, passage=passage, quote=body),),
        retrieval=Retrieval(
            question=question or a_question(),
            query="vacation days",
            language="en",
            passages=(passage,),
            generation=generation,
            timings={"search": 3.5},
        ),
        language="en",
        degraded=degraded,
    )
