"""Answers and answerers that tests script."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from core.domain.answers import (
    Answer,
    Candidate,
    Citation,
    NoAnswer,
    NoAnswerReason,
    Outcome,
    Passage,
    Retrieval,
    Span,
)
from core.domain.documents import Heading
from core.domain.ids import BlockId, ChunkId, PageId
from core.domain.questions import Question
from core.ports import Progress

EDITED = datetime(2026, 3, 1, 12, tzinfo=UTC)


def page_id(number: int) -> PageId:
    """A page's id by number."""
    return PageId(f"00000000-0000-4000-8000-{number:012d}")


def a_passage(
    number: int = 1, *, title: str = "Parental leave", url: str = "", heading: str = "Length"
) -> Passage:
    """A retrieved passage of page ``number``."""
    return Passage(
        candidate=Candidate(
            chunk_id=ChunkId(number),
            page_id=page_id(number),
            title=title,
            breadcrumb=f"Handbook > {title}",
            page_url=url or f"https://www.notion.so/{page_id(number).replace('-', '')}",
            body="Parental leave is sixteen weeks.",
            path=(page_id(number),),
            block_id=BlockId(f"10000000-0000-4000-8000-{number:012d}"),
            heading_path=(Heading(1, heading),) if heading else (),
            last_edited=EDITED,
        ),
        rrf=0.03,
        score=0.9,
    )


def an_answer(
    question: Question,
    text: str = "Parental leave is **sixteen weeks**.",
    *,
    passages: Sequence[Passage] = (),
    language: str = "en",
    degraded: bool = False,
) -> Answer:
    """An answer of one stretch that every passage supports."""
    found = tuple(passages) or (a_passage(),)
    return Answer(
        spans=(Span(text=text, cites=tuple(range(1, len(found) + 1))),),
        citations=tuple(
            Citation(number=number, passage=passage, quote=passage.candidate.body)
            for number, passage in enumerate(found, start=1)
        ),
        retrieval=Retrieval(question=question, query=question.text, language=language, passages=found),
        language=language,
        degraded=degraded,
    )


def no_answer(question: Question, reason: NoAnswerReason = NoAnswerReason.NO_RELEVANT_PAGES) -> NoAnswer:
    """The wiki does not know."""
    del question
    return NoAnswer(reason=reason, language="en")


class ScriptedAnswerer:
    """Answers as it is told: after ``seconds``, showing ``drafts`` on the way, or failing."""

    def __init__(
        self,
        answer: Callable[[Question], Outcome] = an_answer,
        *,
        seconds: float = 0.0,
        drafts: Sequence[str] = (),
        error: Exception | None = None,
    ) -> None:
        self.answer_with = answer
        self.seconds = seconds
        self.drafts = drafts
        self.error = error
        self.questions: list[Question] = []
        self.release = asyncio.Event()
        self.release.set()

    async def answer(self, question: Question, progress: Progress | None = None) -> Outcome:
        """As scripted; waits while ``release`` is cleared."""
        self.questions.append(question)
        if progress is not None:
            await progress.stage("search")
        steps = max(len(self.drafts), 1)
        for number in range(steps):
            await asyncio.sleep(self.seconds / steps)
            if progress is not None and number < len(self.drafts):
                if number == 0:
                    await progress.stage("write")
                await progress.text(self.drafts[number])
        await self.release.wait()
        if self.error is not None:
            raise self.error
        return self.answer_with(question)


def by_text(answers: Mapping[str, str]) -> Callable[[Question], Outcome]:
    """Answers by the question's text."""
    return lambda question: an_answer(question, answers.get(question.text, "I know nothing of that."))
