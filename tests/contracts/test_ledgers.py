"""What every ledger of syncs must do, beside the store that it belongs to."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest

from adapters.stores.ledger import open_ledger
from adapters.stores.ledger_memory import MemoryLedger
from adapters.stores.memory import MemoryStore
from adapters.stores.postgres import PostgresStore
from core.ports import PageWriter
from core.ports.ledger import Fate, Looks, RunRecord, SyncLedger, Trouble
from tests.builders_store import a_chunk, a_page, index_page, page_id

START = datetime(2026, 11, 2, 9, tzinfo=UTC)


@dataclass
class Books:
    """A store and its ledger."""

    store: PageWriter
    ledger: SyncLedger


@pytest.fixture
def memory_books() -> Books:
    """Both in dictionaries."""
    store = MemoryStore()
    return Books(store, MemoryLedger(store))


@pytest.fixture
async def postgres_books(postgres_store: PostgresStore, database_url: str) -> AsyncIterator[Books]:
    """Both in one database."""
    async with open_ledger(database_url) as ledger:
        yield Books(postgres_store, ledger)


@pytest.fixture(params=["memory_books", "postgres_books"])
def books(request: pytest.FixtureRequest) -> Books:
    """A store and its ledger, both empty."""
    opened: Books = request.getfixturevalue(request.param)
    return opened


def a_run(hour: int, *, reached_end: bool = True, complete: bool = True) -> RunRecord:
    """A run that began at this hour."""
    began = START + timedelta(hours=hour)
    return RunRecord(began, began + timedelta(minutes=1), reached_end, complete, {"listed": 3})


async def test_every_object_has_one_fate_and_they_add_up(books: Books) -> None:
    """Indexed, pending, empty, failed, skipped and gone: six objects, six fates."""
    await index_page(books.store, a_page(1), a_chunk(1, 0), a_chunk(1, 1))
    await books.store.put_pages([a_page(2), a_page(3, "", title=""), a_page(4), a_page(6)])
    await books.store.remove_pages([page_id(6)], proof="in_trash")
    troubles = [
        Trouble(page_id(4), "Page 4", "https://x", "HTTP 502"),
        Trouble(page_id(5), "", "", "not shared", skipped=True),
    ]

    await books.ledger.keep_run(a_run(0), troubles=troubles, healed=[])

    assert await books.ledger.totals() == dict.fromkeys(Fate, 1)
    indexed = await books.ledger.entry(page_id(1))
    assert indexed is not None
    assert (indexed.fate, indexed.chunks, indexed.title) == (Fate.INDEXED, 2, "Page 1")
    failed = await books.ledger.entry(page_id(4))
    assert failed is not None
    assert (failed.fate, failed.reason) == (Fate.FAILED, "HTTP 502")
    [gone] = await books.ledger.entries(Fate.GONE, limit=5)
    assert (gone.page_id, gone.title, gone.reason) == (page_id(6), "Page 6", "in_trash")
    assert await books.ledger.entry(page_id(99)) is None


async def test_a_healed_page_is_in_trouble_no_more(books: Books) -> None:
    """What failed is tried again; what is skipped is not; what came out well is forgotten."""
    troubles = [Trouble(page_id(n), f"Page {n}", "", "HTTP 502") for n in (1, 2)]
    skipped = Trouble(page_id(3), "", "", "forbidden", skipped=True)
    await books.ledger.keep_run(a_run(0), troubles=[*troubles, skipped], healed=[])
    assert await books.ledger.in_trouble() == [page_id(1), page_id(2)]

    await books.ledger.keep_run(a_run(1), troubles=[troubles[1]], healed=[page_id(1)])

    assert await books.ledger.in_trouble() == [page_id(2)]
    assert await books.ledger.entry(page_id(1)) is None


async def test_looks_are_those_of_runs_that_reached_their_end(books: Books) -> None:
    """A run that broke off is no ground to ask for changes from."""
    assert await books.ledger.looks() == Looks()
    await books.ledger.keep_run(a_run(0), troubles=[], healed=[])
    await books.ledger.keep_run(a_run(1, complete=False), troubles=[], healed=[])
    await books.ledger.keep_run(a_run(2, reached_end=False, complete=False), troubles=[], healed=[])

    assert await books.ledger.looks() == Looks(START + timedelta(hours=1), START)
    assert await books.ledger.looks("other roots") == Looks()


async def test_a_page_that_fails_again_and_again_rests_longer_each_time(books: Books) -> None:
    """One minute, two, four, up to six hours; healed, it begins anew."""
    trouble = Trouble(page_id(1), "Page 1", "https://x", "HTTP 502")
    moment = START
    pauses = []
    for _ in range(12):
        await books.ledger.note_pages(at=moment, troubles=[trouble], healed=[])
        entry = await books.ledger.entry(page_id(1))
        assert entry is not None
        assert entry.next_try is not None
        pauses.append((entry.next_try - moment) / timedelta(minutes=1))
        assert await books.ledger.in_trouble(due_by=entry.next_try - timedelta(seconds=1)) == []
        assert await books.ledger.in_trouble(due_by=entry.next_try) == [page_id(1)]
        # A clock that was set back: nothing rests for days.
        assert await books.ledger.in_trouble(due_by=entry.next_try - timedelta(hours=7)) == [page_id(1)]
        moment = entry.next_try
    assert pauses == [1, 2, 4, 8, 16, 32, 64, 128, 256, 360, 360, 360]

    await books.ledger.note_pages(at=moment, troubles=[], healed=[page_id(1)])
    assert await books.ledger.in_trouble() == []
    await books.ledger.note_pages(at=moment, troubles=[trouble], healed=[])
    entry = await books.ledger.entry(page_id(1))
    assert entry is not None
    assert entry.next_try == moment + timedelta(minutes=1)


async def test_runs_of_several_sources_are_told_apart(books: Books) -> None:
    """Each goes on from where it looked itself."""
    one = a_run(1)
    await books.ledger.keep_run(replace(one, source="notion:a"), troubles=[], healed=[])
    assert await books.ledger.looks("notion:a") == Looks(one.started, one.started)
    assert await books.ledger.looks("notion:b") == Looks()


async def test_a_skipped_object_is_never_tried_again(books: Books) -> None:
    """It has no next try."""
    skipped = Trouble(page_id(3), "", "", "forbidden", skipped=True)
    await books.ledger.note_pages(at=START, troubles=[skipped], healed=[])
    entry = await books.ledger.entry(page_id(3))
    assert entry is not None
    assert (entry.fate, entry.next_try) == (Fate.SKIPPED, None)
    assert await books.ledger.in_trouble(due_by=START + timedelta(days=9)) == []


async def test_a_page_that_another_names_is_pending_until_it_was_looked_at(books: Books) -> None:
    """It has a row from the moment it is named; one that was removed before is not counted twice."""
    await books.store.put_pages([a_page(1), a_page(3)])
    await books.store.remove_pages([page_id(3)], proof="in_trash")
    owed = {page_id(number): False for number in (1, 2, 3)}
    await books.store.owe_looks(owed, source="notion", owner="run")

    entry = await books.ledger.entry(page_id(2))
    named = await books.ledger.totals()
    await books.store.settle_looks(owner="run")
    looked_at = await books.ledger.totals()

    assert entry is not None
    assert (entry.fate, entry.reason) == (Fate.PENDING, "a page names it, and it was not read yet")
    assert named == {Fate.PENDING: 3}
    assert looked_at == {Fate.PENDING: 1, Fate.GONE: 1}
