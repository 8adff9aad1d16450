"""Replies in PostgreSQL beside the pages they rest on: what changed, handed out once."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from adapters.stores.given_replies import MAX_ATTEMPTS, PostgresReplies, open_given_replies
from adapters.stores.postgres import PostgresStore, open_store
from core.domain.answers import Answer
from core.ports.replies import ReplyPlace
from core.services.given_replies import RememberedReplies
from tests.adapters.chat.answers import a_passage, an_answer
from tests.builders_store import FINGERPRINT, PROFILE, a_chunk, a_page, index_page, page_id
from tests.core.services.answered import a_question

BEFORE = "You have 28 days of vacation a year. Unused days are not paid out. Ask your team lead first."


@dataclass
class Clock:
    """A moment that tests move."""

    moment: datetime = field(default_factory=lambda: datetime.now(UTC))

    def now(self) -> datetime:
        """That moment."""
        return self.moment


@dataclass
class Shelf:
    """The store, the book and the service over both."""

    store: PostgresStore
    book: PostgresReplies
    clock: Clock
    replies: RememberedReplies

    async def write(self, number: int, text: str) -> None:
        """Index a page of one passage."""
        await index_page(self.store, a_page(number, text), a_chunk(number, 0, text))

    async def taken(self, platform: str = "slack") -> list[str]:
        """The messages handed out to be marked."""
        return [one.place.message for one in await self.replies.changed(platform, limit=10)]


@asynccontextmanager
async def a_shelf(database_url: str, *, days: int = 14) -> AsyncIterator[Shelf]:
    """A process over the test's database."""
    async with (
        open_store(database_url, profile=PROFILE, fingerprint=FINGERPRINT) as store,
        open_given_replies(database_url) as book,
    ):
        clock = Clock()
        yield Shelf(store, book, clock, RememberedReplies(book, clock=clock, days=days))


@pytest.fixture
async def shelf(database_url: str) -> AsyncIterator[Shelf]:
    """One with a page."""
    async with a_shelf(database_url) as opened:
        await opened.write(1, BEFORE)
        yield opened


def place(message: str = "17.01", platform: str = "slack") -> ReplyPlace:
    """Where a reply stands."""
    return ReplyPlace(platform, "T1", "C1", message, thread="17.00", question="17.00")


def cites(*texts: tuple[int, str]) -> Answer:
    """An answer that rests on these passages."""
    passages = [
        replace(
            a_passage(number),
            candidate=replace(
                a_passage(number).candidate,
                page_id=page_id(number),
                path=(page_id(number),),
                body=text,
                language="en",
            ),
        )
        for number, text in texts
    ]
    return an_answer(a_question(), passages=passages)


async def test_a_reply_is_handed_out_once_when_its_source_says_something_else(shelf: Shelf) -> None:
    """Not before, not for what is not material, and to one of two processes."""
    await shelf.replies.given(place(), cites((1, BEFORE)))
    assert await shelf.replies.look() == 0
    await shelf.write(1, BEFORE.replace("Ask", "Please ask"))
    assert await shelf.replies.look() == 0
    await shelf.write(1, BEFORE.replace("28", "30"))

    assert await shelf.replies.look() == 1
    assert await shelf.replies.look() == 0
    assert await shelf.taken("discord") == []
    assert await shelf.taken() == ["17.01"]
    assert await shelf.taken() == []
    await shelf.replies.settled(place())
    await shelf.write(1, BEFORE.replace("28", "31"))
    assert await shelf.replies.look() == 0


async def test_other_pages_may_change_as_they_like(shelf: Shelf) -> None:
    """Only what is cited counts."""
    await shelf.write(2, "The trial runs 45 days.")
    await shelf.replies.given(place(), cites((1, BEFORE)))
    await shelf.replies.given(place("18.01"), cites((2, "The trial runs 45 days.")))
    await shelf.write(2, "The trial runs 60 days.")

    assert await shelf.replies.look() == 1
    assert await shelf.taken() == ["18.01"]


async def test_a_removed_page_is_a_change(shelf: Shelf) -> None:
    """Removed and emptied alike."""
    await shelf.write(2, "The trial runs 45 days.")
    await shelf.replies.given(place(), cites((1, BEFORE)))
    await shelf.replies.given(place("18.01"), cites((2, "The trial runs 45 days.")))
    assert await shelf.replies.look() == 0
    await shelf.store.remove_pages([page_id(1)], proof="in_trash")
    await index_page(shelf.store, a_page(2, ""))

    assert await shelf.replies.look() == 2
    assert sorted(await shelf.taken()) == ["17.01", "18.01"]


async def test_a_change_between_answer_and_memory_is_seen(shelf: Shelf) -> None:
    """The page changed while the answer was being posted."""
    await shelf.write(1, BEFORE.replace("28", "30"))
    await shelf.replies.given(place(), cites((1, BEFORE)))

    assert await shelf.replies.look() == 1


async def test_a_page_that_is_not_embedded_yet_is_not_judged(shelf: Shelf) -> None:
    """Its passages are those of before; what they say is said once the new ones are there."""
    await shelf.replies.given(place(), cites((1, BEFORE)))
    await shelf.replies.look()
    await shelf.store.put_pages([a_page(1, BEFORE.replace("28", "30"))])
    assert await shelf.replies.look() == 0
    await shelf.write(1, BEFORE.replace("28", "30"))

    assert await shelf.replies.look() == 1


async def test_what_was_seen_survives_a_restart(database_url: str) -> None:
    """Changed replies are rows, and so is who was at it; given up after some attempts."""
    async with a_shelf(database_url) as first:
        await first.write(1, BEFORE)
        await first.replies.given(place(), cites((1, BEFORE)))
        await first.write(1, BEFORE.replace("28", "30"))
        assert await first.replies.look() == 1
        assert await first.taken() == ["17.01"]
    connection = await asyncpg.connect(database_url)
    async with a_shelf(database_url) as second:
        assert await second.taken() == []
        for _ in range(MAX_ATTEMPTS - 1):
            await connection.execute("UPDATE given_replies SET lease_until = now()")
            assert await second.taken() == ["17.01"]
        await connection.execute("UPDATE given_replies SET lease_until = now()")
        assert await second.taken() == []
    await connection.close()


async def test_a_reply_given_anew_rests_on_the_new_passages(shelf: Shelf) -> None:
    """Asked again, it is remembered in the place of the former."""
    await shelf.replies.given(place(), cites((1, BEFORE)))
    await shelf.write(1, BEFORE.replace("28", "30"))
    await shelf.replies.given(place(), cites((1, BEFORE.replace("28", "30"))))

    assert await shelf.replies.look() == 0


async def test_old_replies_are_forgotten(shelf: Shelf) -> None:
    """After the days that are set nothing is marked, and nothing is left."""
    await shelf.replies.given(place(), cites((1, BEFORE)))
    shelf.clock.moment += timedelta(days=15)
    await shelf.write(1, BEFORE.replace("28", "30"))

    assert await shelf.replies.look() == 0
    assert await shelf.book.prune(before=shelf.clock.moment + timedelta(days=1)) == 0


async def test_with_no_days_nothing_is_kept(database_url: str) -> None:
    """The setting is off."""
    async with a_shelf(database_url, days=0) as shelf:
        await shelf.write(1, BEFORE)
        await shelf.replies.given(place(), cites((1, BEFORE)))
        await shelf.write(1, BEFORE.replace("28", "30"))

        assert await shelf.replies.look() == 0
        assert await shelf.taken() == []
        assert await shelf.book.prune(before=shelf.clock.moment + timedelta(days=1)) == 0


async def test_a_look_at_the_old_answer_marks_no_new_one(shelf: Shelf) -> None:
    """Asked again while the old answer is compared, the new one in its place is as fresh as it looks."""
    await shelf.replies.given(place(), cites((1, BEFORE)))
    await shelf.write(1, "You have 30 days of vacation a year.")
    suspects = await shelf.book.suspects(since=shelf.clock.moment - timedelta(days=1), limit=10)
    shelf.clock.moment += timedelta(seconds=5)
    await shelf.replies.given(place(), cites((1, "You have 30 days of vacation a year.")))

    await shelf.book.settle(dict.fromkeys(suspects, True))

    assert len(suspects) == 1
    assert await shelf.taken() == []


async def test_no_text_and_nobody_is_kept(shelf: Shelf, database_url: str) -> None:
    """Neither question nor passage can be read in the tables."""
    await shelf.replies.given(place(), cites((1, BEFORE)))
    connection = await asyncpg.connect(database_url)
    rows = await connection.fetch("SELECT reply::text AS line FROM given_replies AS reply")
    rows += await connection.fetch("SELECT one::text AS line FROM given_reply_passages AS one")
    await connection.close()

    told = " ".join(row["line"] for row in rows).lower()
    assert "17.01" in told
    for word in ("vacation", "how many", "u1", "team lead", "paid"):
        assert word not in told


async def test_a_database_that_is_away_costs_the_mark_and_not_the_reply(
    database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """What is posted stands; nothing is raised at the platform, and one line says what was lost."""
    async with open_given_replies(database_url) as book:
        replies = RememberedReplies(book, clock=Clock(), days=14)

    await replies.given(place(), cites((1, BEFORE)))

    assert [record.levelname for record in caplog.records if "cannot be remembered" in record.message] == [
        "WARNING"
    ]
