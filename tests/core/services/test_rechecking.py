"""Pages about to be cited are looked at in Notion: what was edited or is gone is not cited."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from core.domain.answers import Answer, NoAnswer, Outcome
from core.domain.ids import PageId
from core.domain.questions import Question
from core.errors import UnavailableError
from core.ports import Probe, Progress
from core.services.answering import Answering
from core.services.rechecking import RecheckingAnswerer, SourceFreshness
from core.services.retriever import Retriever
from tests.core.services.answered import a_question
from tests.core.services.sync_rig import SyncRig, sync_rig
from tests.fakes.notion import blocks, faults, routes
from tests.fakes.notion.faults import Action

VACATION = "Every employee has 28 days of paid vacation in each calendar year."
ALSO = "The handbook says: every employee has 28 days of paid vacation."
QUESTION = a_question("How many days of paid vacation does every employee have?")


@dataclass
class Told:
    """What an asker is shown while an answer is made."""

    stages: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    async def stage(self, name: str) -> None:
        """Note it."""
        self.stages.append(name)

    async def text(self, so_far: str) -> None:
        """Note it."""
        self.texts.append(so_far)


@dataclass
class Recheck:
    """A synced workspace of two pages that say the same, and an answerer that looks at what it cites."""

    rig: SyncRig
    answerer: RecheckingAnswerer
    vacation: str
    handbook: str
    reported: list[frozenset[PageId]]
    time: list[float]

    async def ask(self, progress: Progress | None = None) -> Outcome:
        """Ask, and count requests anew."""
        self.rig.notion.server.forget()
        return await self.answerer.answer(QUESTION, progress)

    async def cited(self) -> set[str]:
        """The pages that an answer cites."""
        outcome = await self.ask()
        assert isinstance(outcome, Answer), outcome
        return {str(citation.passage.candidate.page_id) for citation in outcome.citations}


@asynccontextmanager
async def recheck(patience: float = 20.0, *, is_deaf: bool = False) -> AsyncIterator[Recheck]:
    """Both pages are indexed and nothing counts as recent."""
    async with sync_rig() as rig:
        vacation = rig.workspace.add_page("Vacation", blocks=[blocks.paragraph(VACATION)])
        handbook = rig.workspace.add_page("Handbook", blocks=[blocks.paragraph(ALSO)])
        await rig.settled()
        reported: list[frozenset[PageId]] = []
        time = [1000.0]

        async def report(pages: frozenset[PageId]) -> None:
            reported.append(pages)
            if is_deaf:
                raise UnavailableError("nobody can be told")

        freshness = SourceFreshness(
            rig.notion.source,
            rig.store,
            report,
            source_name="",
            patience=patience,
            monotonic=lambda: time[0],
        )
        answering = Answering(retriever=Retriever(index=rig.store, embedder=rig.embedder))
        answerer = RecheckingAnswerer(answering, freshness)
        yield Recheck(rig, answerer, vacation, handbook, reported, time)


async def test_unchanged_pages_are_cited_and_looked_at_once_in_half_a_minute() -> None:
    """A second answer costs no request; one half a minute later does."""
    async with recheck() as made:
        first = await made.cited()
        looks = made.rig.notion.server.total
        again, requests = await made.cited(), made.rig.notion.server.total
        made.time[0] += 31
        await made.cited()

        assert first == again
        assert looks == len(first)
        assert requests == 0
        assert made.rig.notion.server.counts == {routes.PAGE: looks}
        assert made.reported == []


@pytest.mark.parametrize("what", ["edited", "in the trash", "unshared"])
async def test_a_page_that_changed_or_went_is_not_cited_and_is_reported(what: str) -> None:
    """The question is answered from the other page, and a worker is told; once synced all is cited again."""
    async with recheck() as made:
        workspace = made.rig.workspace
        match what:
            case "edited":
                workspace.edit_block(workspace.block_ids(made.vacation)[0], "There are 20 days of vacation.")
            case "in the trash":
                workspace.trash(made.vacation)
            case _:
                workspace.unshare(made.vacation)

        outcome = await made.ask()
        assert isinstance(outcome, Answer)
        assert {str(one.passage.candidate.page_id) for one in outcome.citations} == {made.handbook}
        assert made.reported == [frozenset({made.vacation})]
        assert outcome.retrieval.question == QUESTION

        await made.rig.syncer.refresh(made.reported[0])
        if what == "edited":
            workspace.trash(made.handbook)
            made.rig.later()
            made.time[0] += 31
            assert await made.cited() == {made.vacation}


async def test_a_changed_page_is_not_cited_though_nobody_can_be_told() -> None:
    """That it is outdated is known, whoever hears of it."""
    async with recheck(is_deaf=True) as made:
        made.rig.workspace.trash(made.vacation)

        assert await made.cited() == {made.handbook}
        assert made.reported == [frozenset({made.vacation})]


async def test_where_everything_cited_is_gone_there_is_no_answer() -> None:
    """Rather none than one that rests on what nobody may read any more."""
    async with recheck() as made:
        for page in (made.vacation, made.handbook):
            made.rig.workspace.unshare(page)

        assert isinstance(await made.ask(), NoAnswer)
        assert frozenset.union(*made.reported) == {made.vacation, made.handbook}


@pytest.mark.parametrize(
    "trouble",
    [faults.bad_gateway(), faults.restricted(), faults.unauthorized(), faults.overloaded(retry_after=3)],
    ids=["502", "403", "401", "529"],
)
async def test_trouble_with_notion_leaves_the_answer_as_it_is(trouble: Action) -> None:
    """It proves nothing about the pages."""
    async with recheck() as made:
        made.rig.workspace.trash(made.vacation)
        made.rig.notion.server.faults.add(trouble)

        assert made.vacation in await made.cited()
        assert made.reported == []


async def test_a_slow_notion_delays_an_answer_by_no_more_than_the_patience() -> None:
    """Looks that do not come back in time are given up."""

    class Slow:
        """A source that never answers."""

        given_up = 0

        async def probe(self, page_id: PageId) -> Probe:
            """Wait for ever."""
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.given_up += 1
                raise
            raise AssertionError(page_id)

    async with recheck() as made:
        slow = Slow()

        async def report(pages: frozenset[PageId]) -> None:
            raise AssertionError(pages)

        freshness = SourceFreshness(slow, made.rig.store, report, source_name="", patience=0.01)  # type: ignore[arg-type] # only looks are asked for
        pages = [PageId(made.vacation), PageId(made.handbook)]

        assert await freshness.outdated(pages) == frozenset()
        assert slow.given_up == 2


async def test_pages_of_another_source_are_not_looked_at() -> None:
    """Notion's API knows nothing of what an export gave; what left the index meanwhile is gone."""
    async with recheck() as made:
        freshness = SourceFreshness(made.rig.notion.source, made.rig.store, _never, source_name="another")
        states = await made.rig.store.states([PageId(made.vacation)])
        assert [state.source for state in states.values()] == [""]
        page = made.rig.store._pages[PageId(made.vacation)]
        page.stored = type(page.stored)(
            page=page.stored.page,
            content_text=page.stored.content_text,
            content_hash=page.stored.content_hash,
            source="export",
        )
        made.rig.workspace.trash(made.vacation)
        unknown = PageId("0b4d7f5e-0000-4000-8000-00000000ffff")

        assert await freshness.outdated([PageId(made.vacation), unknown]) == {unknown}


async def _never(pages: frozenset[PageId]) -> None:
    raise AssertionError(pages)


async def test_text_is_shown_only_once_it_was_checked() -> None:
    """Stages go on; nothing is streamed that may have to be taken back."""
    async with recheck() as made:
        told = Told()
        await made.ask(told)

        assert told.stages == ["search", "write"]
        assert told.texts == []


async def test_a_page_edited_again_and_again_does_not_keep_an_answer_for_ever() -> None:
    """After three attempts there is none."""

    class AlwaysOutdated:
        """Whatever is cited was just edited."""

        looks = 0

        async def outdated(self, pages: frozenset[PageId]) -> frozenset[PageId]:
            """All of them."""
            self.looks += 1
            return frozenset(pages)

    class Stubborn:
        """Cites the same page whoever asks."""

        def __init__(self, outcome: Outcome) -> None:
            self._outcome = outcome

        async def answer(self, question: Question, progress: Progress | None = None) -> Outcome:
            """The same answer."""
            del question, progress
            return self._outcome

    async with recheck() as made:
        freshness = AlwaysOutdated()
        answerer = RecheckingAnswerer(Stubborn(await made.ask()), freshness)  # type: ignore[arg-type] # sets are collections

        assert isinstance(await answerer.answer(QUESTION), NoAnswer)
        assert freshness.looks == 3
