"""Pages about to be cited are looked at once more: what changed or went since the last sync is not cited."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from core.domain.answers import Answer, NoAnswer, NoAnswerReason, Outcome
from core.domain.audiences import Audience, Scope
from core.domain.ids import PageId
from core.domain.questions import Question
from core.errors import FootnoteError
from core.ports import Answerer, PageSource, PageStates, Presence, Progress
from core.services.caching import readdressed

_logger = logging.getLogger("footnote.recheck")

ATTEMPTS = 3
"""Answers made for one question, each without the outdated pages of those before."""

MOST_REMEMBERED = 10_000

Report = Callable[[frozenset[PageId]], Awaitable[None]]
"""Has pages looked at by whoever syncs: read again, or removed."""


class Freshness(Protocol):
    """Tells whether pages are as the index has them."""

    async def outdated(self, pages: Collection[PageId]) -> frozenset[PageId]:
        """Those that were edited or went since; what cannot be looked at counts as it is. Never raises."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a look showed; no time of an edit where the page is gone."""

    at: float
    is_live: bool
    last_edited: datetime | None


class SourceFreshness:
    """Looks at pages in their source, each at most once in ``remember`` seconds.

    All looks for one answer together may take ``patience`` seconds. Pages of other sources than
    ``source_name`` are not looked at. What is found outdated is passed on to ``report``.
    """

    def __init__(
        self,
        source: PageSource,
        pages: PageStates,
        report: Report,
        *,
        source_name: str,
        patience: float = 2.0,
        remember: float = 30.0,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source = source
        self._pages = pages
        self._report = report
        self._source_name = source_name
        self._patience = patience
        self._remember = remember
        self._monotonic = monotonic
        self._seen: dict[PageId, _Seen] = {}

    async def outdated(self, pages: Collection[PageId]) -> frozenset[PageId]:
        """As `Freshness.outdated`."""
        try:
            states = await self._pages.states(sorted(pages))
            ours = [one for one, state in states.items() if state.source in {"", self._source_name}]
            await self._look_at(ours)
        except FootnoteError as error:
            _logger.warning("Pages about to be cited could not be looked at: %s", error)
            return frozenset()
        found = frozenset(one for one in ours if self._is_outdated(one, states[one].ref.last_edited))
        if found:
            await self._pass_on(found)
        # What the index lost meanwhile is gone for sure.
        return found | (frozenset(pages) - states.keys())

    async def _pass_on(self, outdated: frozenset[PageId]) -> None:
        """What cannot be passed on is outdated all the same; the next sync finds it."""
        try:
            await self._report(outdated)
        except FootnoteError as error:
            _logger.warning("Outdated pages could not be passed on: %s", error)

    async def _look_at(self, pages: Collection[PageId]) -> None:
        now = self._monotonic()
        unseen = [
            one for one in pages if (seen := self._seen.get(one)) is None or now - seen.at >= self._remember
        ]
        if not unseen:
            return
        looks = {asyncio.ensure_future(self._look(page_id)) for page_id in unseen}
        try:
            _, late = await asyncio.wait(looks, timeout=self._patience)
        finally:
            # Also when nobody waits for the answer any longer.
            for look in looks:
                look.cancel()
            results = await asyncio.gather(*looks, return_exceptions=True)
        for error in results:
            if isinstance(error, Exception):
                _logger.info("A page about to be cited could not be looked at: %s", type(error).__name__)
        if late:
            _logger.info("%d pages about to be cited were not looked at in time", len(late))
        while len(self._seen) > MOST_REMEMBERED:
            del self._seen[next(iter(self._seen))]

    async def _look(self, page_id: PageId) -> None:
        found = await self._source.probe(page_id)
        is_live = found.presence is Presence.LIVE
        edited = found.ref.last_edited if found.ref is not None else None
        self._seen.pop(page_id, None)
        self._seen[page_id] = _Seen(self._monotonic(), is_live, edited)

    def _is_outdated(self, page_id: PageId, stored: datetime | None) -> bool:
        seen = self._seen.get(page_id)
        if seen is None:
            return False
        if not seen.is_live:
            return True
        return seen.last_edited is not None and (stored is None or seen.last_edited > stored)


class RecheckingAnswerer:
    """Answers as the one behind it does, but rests nothing on a page that changed or went since it was read.

    Such a page, with what lies below it, is left out and the question is answered anew.
    """

    def __init__(self, answerer: Answerer, freshness: Freshness) -> None:
        self._answerer = answerer
        self._freshness = freshness

    async def answer(self, question: Question, progress: Progress | None = None) -> Outcome:
        """As the answerer behind.

        Raises:
            TemporaryError: as the answerer behind.
        """
        # Words that may rest on what is gone are not shown before they were checked.
        silent = _StagesAlone(progress) if progress is not None else None
        without: frozenset[PageId] = frozenset()
        for _ in range(ATTEMPTS):
            outcome = await self._answerer.answer(_without(question, without), silent)
            if not isinstance(outcome, Answer):
                break
            cited = {citation.passage.candidate.page_id for citation in outcome.citations}
            outdated = await self._freshness.outdated(cited)
            if not outdated:
                break
            without |= outdated
        else:
            outcome = NoAnswer(NoAnswerReason.NO_RELEVANT_PAGES, outcome.language)
        return readdressed(outcome, question) if without else outcome


class _StagesAlone:
    """Progress without the text."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    async def stage(self, name: str) -> None:
        """As `Progress.stage`."""
        await self._progress.stage(name)

    async def text(self, so_far: str) -> None:
        """Nothing."""


def _without(question: Question, pages: frozenset[PageId]) -> Question:
    if not pages:
        return question
    current = Audience("current", groups=((Scope("current", None, exclude=pages),),))
    return replace(question, audience=question.audience.intersect(current))
