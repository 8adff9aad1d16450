"""What is offered to somebody who is typing, by the real database."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from adapters.stores.learning import PostgresLearning, open_learning
from adapters.stores.postgres import PostgresStore, open_store
from adapters.stores.suggestions import PostgresSuggestions, open_suggestions
from core.domain.audiences import EVERYTHING, NOTHING, Audience, Scope
from core.ports.learning import Exchange, PassageTrace
from tests.builders_store import FINGERPRINT, PROFILE, a_page, block_id, page_id

HANDBOOK = Audience("handbook", ((Scope("handbook", frozenset({page_id(1)})),),))


@dataclass
class Rig:
    """The index, the log of questions, and what is offered."""

    store: PostgresStore
    log: PostgresLearning
    suggestions: PostgresSuggestions

    async def offered(self, typed: str, *, audience: Audience = EVERYTHING, limit: int = 25) -> list[str]:
        """What one gets for it."""
        return list(await self.suggestions.suggest(typed, audience=audience, limit=limit))

    async def asked(
        self, text: str, *people: str, pages: tuple[int, ...] = (1,), outcome: str = "answered"
    ) -> None:
        """The same question of several people, answered from these pages."""
        traces = tuple(
            PassageTrace(page_id(page), block_id(page), "hash", 0.7, 0.4, is_cited=True) for page in pages
        )
        await self.log.record(
            [
                Exchange(
                    event=f"{text}-{person}",
                    platform="discord",
                    person=person,
                    audience=EVERYTHING,
                    asked_at=datetime.now(UTC),
                    text=text,
                    language="en",
                    outcome=outcome,
                    passages=traces,
                )
                for person in people
            ]
        )


@pytest.fixture
async def rig(database_url: str) -> AsyncIterator[Rig]:
    """Two pages: the handbook with leave below it, and the board's."""
    async with (
        open_store(database_url, profile=PROFILE, fingerprint=FINGERPRINT, chunker="chunker-1") as store,
        open_learning(database_url) as log,
        open_suggestions(database_url) as suggestions,
    ):
        await store.put_pages(
            [
                a_page(1, title="Handbook"),
                a_page(2, title="Leave and 100% pay", parent=1),
                a_page(3, title="Leaving bonus of the board"),
            ]
        )
        yield Rig(store=store, log=log, suggestions=suggestions)


async def test_titles_that_begin_so_come_before_those_that_contain_it(rig: Rig) -> None:
    """In any case, at most as many as asked for."""
    assert await rig.offered("lea") == ["Leave and 100% pay", "Leaving bonus of the board"]
    assert await rig.offered("PAY") == ["Leave and 100% pay"]
    assert await rig.offered("lea", limit=1) == ["Leave and 100% pay"]


async def test_signs_of_patterns_mean_themselves(rig: Rig) -> None:
    """A percent sign is no placeholder, nor is an underscore or a backslash."""
    assert await rig.offered("100%") == ["Leave and 100% pay"]
    assert await rig.offered("l_ave") == []
    assert await rig.offered("\\") == []
    assert await rig.offered("\x00lea") == ["Leave and 100% pay", "Leaving bonus of the board"]


async def test_nothing_outside_the_audience_is_offered(rig: Rig) -> None:
    """Neither a title nor a question whose answer rested on another page as well."""
    await rig.asked("lease a bicycle?", "U1", "U2", pages=(1,))
    await rig.asked("leaked bonus?", "U1", "U2", pages=(1, 3))

    assert await rig.offered("lea", audience=HANDBOOK) == ["Leave and 100% pay", "lease a bicycle?"]
    assert "leaked bonus?" in await rig.offered("lea")
    assert await rig.offered("lea", audience=NOTHING) == []


async def test_a_question_is_offered_once_two_people_had_it_answered(rig: Rig) -> None:
    """What one person asked stays theirs, and what was not answered helps nobody."""
    await rig.asked("How do I get a raise?", "U1")
    await rig.asked("How do I park?", "U1", "U2")
    await rig.asked("How do I fly?", "U1", "U2", outcome="no_relevant_pages")
    await rig.asked("How do I vanish?", "U1", "U2", pages=(9,))

    assert await rig.offered("how do") == ["How do I park?"]
