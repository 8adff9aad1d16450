"""Frequent questions are answered anew after the index has changed, before somebody asks."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from core.domain.answers import NoAnswer, NoAnswerReason, Outcome
from core.domain.audiences import Audience, Scope
from core.domain.questions import Question
from core.errors import UnavailableError
from core.ports import Progress
from core.services.popular import ANSWERED_ANEW, REMEMBERED, PopularQuestions, keep_answered
from tests.core.services.answered import a_question, an_answer


class SteppedClock:
    """Moves when it is told to."""

    def __init__(self) -> None:
        self.time = datetime(2026, 5, 4, tzinfo=UTC)

    def now(self) -> datetime:
        """Where it stands."""
        return self.time


class Answerer:
    """Answers everything, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Question] = []
        self.error: Exception | None = None
        self.answers = True

    async def answer(self, question: Question, _: Progress | None = None) -> Outcome:
        """An answer, a refusal, or an error."""
        self.asked.append(question)
        if self.error is not None:
            raise self.error
        return an_answer(question) if self.answers else NoAnswer(NoAnswerReason.NO_RELEVANT_PAGES, "en")


@pytest.fixture
def site() -> tuple[PopularQuestions, Answerer, SteppedClock]:
    """A counter over an answerer and a clock."""
    answerer, clock = Answerer(), SteppedClock()
    return PopularQuestions(answerer, clock=clock), answerer, clock


Site = tuple[PopularQuestions, Answerer, SteppedClock]


async def test_what_is_asked_often_is_answered_anew_without_a_name(site: Site) -> None:
    """Whatever case and spaces; once is not often, and nobody's name is kept."""
    popular, answerer, _ = site
    for text in ("Where do I park?", "where do I  park?", "WHERE DO I PARK?", "Who is Bob?"):
        await popular.answer(a_question(text))
    answerer.asked.clear()

    answered = await popular.answer_anew()

    assert answered == 1
    [again] = answerer.asked
    assert again.text.lower() == "where do i park?"
    assert (again.id, again.asker, again.conversation.channel) == ("", "", "")


async def test_readers_are_counted_apart(site: Site) -> None:
    """The same words before other eyes are another question."""
    popular, _, _ = site
    few = Audience("few", ((Scope("some", frozenset()),),))
    for audience in (few, few, few, Audience("all", ((Scope("all", None),),))):
        await popular.answer(a_question(audience=audience))

    assert [one.audience.key for one in popular.frequent()] == [few.key]


async def test_what_was_asked_long_ago_is_not_frequent(site: Site) -> None:
    """Counts halve in two days."""
    popular, _, clock = site
    for _ in range(4):
        await popular.answer(a_question())
    now = len(popular.frequent())
    clock.time += timedelta(days=2)

    assert (now, len(popular.frequent())) == (1, 0)


async def test_follow_ups_and_refusals_are_not_counted(site: Site) -> None:
    """The first mean nothing outside of their thread, the second cost nothing."""
    popular, answerer, _ = site
    for _ in range(3):
        await popular.answer(a_question(turns=("Where do I park?",)))
    answerer.answers = False
    for _ in range(3):
        await popular.answer(a_question())

    assert popular.frequent() == ()


async def test_cost_and_memory_are_bounded(site: Site) -> None:
    """A chosen few are answered anew, the least frequent are forgotten first."""
    popular, answerer, _ = site
    for number in range(REMEMBERED + 10):
        for _ in range(3 if number < ANSWERED_ANEW + 5 else 1):
            await popular.answer(a_question(f"Question {number}?"))
    answerer.asked.clear()

    assert await popular.answer_anew() == ANSWERED_ANEW == len(answerer.asked)
    assert len(popular._frequencies._counts) == REMEMBERED


async def test_an_index_that_is_away_ends_the_round(site: Site) -> None:
    """The next change tries again."""
    popular, answerer, _ = site
    for number in range(2):
        for _ in range(3):
            await popular.answer(a_question(f"Question {number}?"))
    answerer.asked.clear()
    answerer.error = UnavailableError("away")

    assert await popular.answer_anew() == 0
    assert len(answerer.asked) == 1


async def test_a_change_that_has_settled_starts_a_round(site: Site) -> None:
    """While a sync goes on nothing is answered; at its end once."""
    popular, answerer, _ = site
    for _ in range(3):
        await popular.answer(replace(a_question(), id="E"))
    answerer.asked.clear()
    generations = iter((1, 1, 2, 3, 4, 4, 4))
    stop, rounds = asyncio.Event(), []

    async def generation() -> int:
        try:
            current = next(generations)
        except StopIteration:
            stop.set()
            return 4
        rounds.append((current, len(answerer.asked)))
        return current

    await asyncio.wait_for(keep_answered(popular, generation, stop, every=0.001), timeout=20)

    assert rounds == [(1, 0), (1, 0), (2, 0), (3, 0), (4, 0), (4, 0), (4, 1)]
    assert len(answerer.asked) == 1
