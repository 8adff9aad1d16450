"""From a question to the passages an answer may rest on: one search, and what is tried when it is weak."""

from dataclasses import replace

from core.domain.answers import Retrieval
from core.domain.questions import Question
from core.services.refusals import Judge, Verdict
from core.services.retriever import Retriever
from core.services.rewriting import Rewriter
from core.services.surroundings import Surroundings


class Seeking:
    """Searches, and judges whether what was found answers.

    Where it does not, the question is searched once more in other words, if there is a ``rewriter``; then
    whole pages are tried by their words. ``surroundings`` complete the passages of what answers.
    """

    def __init__(
        self,
        *,
        retriever: Retriever,
        judge: Judge,
        rewriter: Rewriter | None = None,
        surroundings: Surroundings | None = None,
    ) -> None:
        self._retriever = retriever
        self._judge = judge
        self._rewriter = rewriter
        self._surroundings = surroundings

    async def seek(self, question: Question) -> tuple[Retrieval, Verdict]:
        """What was found and whether it answers.

        Raises:
            TemporaryError: neither vectors nor words could be searched.
        """
        retrieval, verdict = await self._found(question)
        if verdict.is_answerable and self._surroundings is not None:
            retrieval = await self._surroundings.without_summaries(retrieval)
        return retrieval, verdict

    async def completed(self, retrieval: Retrieval) -> Retrieval:
        """The passages with their neighbours, for a model to read."""
        return (
            retrieval if self._surroundings is None else await self._surroundings.with_neighbours(retrieval)
        )

    async def _found(self, question: Question) -> tuple[Retrieval, Verdict]:
        retrieval = await self._retriever.retrieve(question)
        verdict = self._judge(retrieval)
        if verdict.is_answerable or retrieval.degraded:
            return retrieval, verdict
        if (again := await self._in_other_words(question, retrieval)) is not None:
            return again
        pages = await self._retriever.retrieve_pages(retrieval)
        second = self._judge(pages)
        # Other passages are nearer: a page found by words alone must have them all.
        is_found = second.is_answerable and second.is_confident
        return (pages, second) if is_found else (retrieval, verdict)

    async def _in_other_words(self, question: Question, first: Retrieval) -> tuple[Retrieval, Verdict] | None:
        """The second search, where it answers. It is the asker's question all the same, in their language."""
        if self._rewriter is None or (text := await self._rewriter.rewrite(question)) is None:
            return None
        found = await self._retriever.retrieve(replace(question, text=text, turns=()))
        again = replace(found, question=question, language=first.language)
        verdict = self._judge(again)
        return (again, verdict) if verdict.is_answerable else None
