"""A sync that is killed at any write at all: whoever comes next ends where an undisturbed one would have."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from adapters.embedders.hashing import HashingEmbedder
from adapters.stores.ledger import open_ledger
from adapters.stores.ledger_memory import MemoryLedger
from adapters.stores.memory import MemoryStore
from adapters.stores.postgres import open_store
from core.domain.ids import PageId
from core.errors import UnavailableError
from core.ports import PageWriter
from core.ports.ledger import SyncLedger
from core.services.syncing import SyncSettings
from tests.core.services.sync_rig import SyncRig, sync_rig
from tests.fakes.notion import blocks, richtext

TABLES = "notion_pages, notion_tombstones, sync_runs, sync_troubles, sync_owed"
WRITES = {"put_pages", "touch", "remove_pages", "swap_chunks", "owe_looks", "settle_looks", "take_owed_looks"}


@dataclass
class Killer:
    """Counts down the writes of a process, and kills it right after the last one."""

    left: int

    async def __call__(self, write: Callable[..., Awaitable[Any]], *arguments: Any, **options: Any) -> Any:
        """Write, or be killed."""
        self.left -= 1
        if self.left < 0:
            # Of several readers each would go on to its next write.
            raise asyncio.CancelledError
        result = await write(*arguments, **options)
        if self.left == 0:
            raise asyncio.CancelledError
        return result


@dataclass
class Outage(Killer):
    """Lets all writes pass but one, at which the index is away."""

    async def __call__(self, write: Callable[..., Awaitable[Any]], *arguments: Any, **options: Any) -> Any:
        """Write, or say that nothing can be written."""
        self.left -= 1
        if self.left == 0:
            raise UnavailableError("the index is away")
        return await write(*arguments, **options)


class MortalWriter:
    """A writer of a process that dies, or whose index goes away."""

    def __init__(self, writer: PageWriter, killer: Killer) -> None:
        self._writer = writer
        self._killer = killer

    def __getattr__(self, name: str) -> Any:
        """The writer's own method; the killer stands before those that write."""
        method = getattr(self._writer, name)
        if name not in WRITES:
            return method
        return lambda *arguments, **options: self._killer(method, *arguments, **options)


@dataclass
class Index:
    """An index that outlives processes."""

    writer: PageWriter
    ledger: SyncLedger
    said: Callable[[PageId], Awaitable[list[str]]]

    async def content(self) -> list[tuple[str, str, list[str]]]:
        """Every page, where it stands and what its passages say; nothing may wait."""
        assert await self.writer.count_pending() == 0
        states = await self.writer.all_states(limit=1000)
        pages = [(one.ref.title, str(one.ref.parent_id), await self.said(one.ref.id)) for one in states]
        return sorted(pages)


def in_memory() -> Index:
    """An index in dictionaries."""
    store = MemoryStore()

    async def said(page: PageId) -> list[str]:
        return sorted(
            f"{one.chunk.breadcrumb}: {one.chunk.body}" for one in store._pages[page].chunks.values()
        )

    return Index(store, MemoryLedger(store), said)


@asynccontextmanager
async def in_postgres(url: str) -> AsyncIterator[Index]:
    """An index in a database, empty at first."""
    profile = HashingEmbedder().profile
    connection = await asyncpg.connect(url)
    await connection.execute(f"TRUNCATE {TABLES} CASCADE")

    async def said(page: PageId) -> list[str]:
        rows = await connection.fetch(
            "SELECT page_title, chunk_text FROM notion_embeddings WHERE page_id = $1::uuid", page
        )
        return sorted(f"{row['page_title']}: {row['chunk_text']}" for row in rows)

    async with (
        open_store(url, profile=profile, fingerprint=profile.fingerprint("test")) as store,
        open_ledger(url) as ledger,
    ):
        try:
            yield Index(store, ledger, said)
        finally:
            await connection.close()


async def make(rig: SyncRig) -> dict[str, str]:
    """A small workspace; the ids by title."""
    pages = rig.workspace
    root = pages.add_page("Root", blocks=[blocks.paragraph("root text")])
    shown = pages.add_page("Shown", parent=root, blocks=[blocks.paragraph("shown text")])
    doomed = pages.add_page("Doomed", parent=root, blocks=[blocks.paragraph("doomed text")])
    pages.add_page("Below the doomed", parent=doomed, blocks=[blocks.paragraph("also doomed")])
    moving = pages.add_page("Moving", parent=root, blocks=[blocks.paragraph("moving text")])
    other = pages.add_page("Other", blocks=[blocks.paragraph("other text")])
    links: list[str | richtext.Json] = [
        "see ",
        richtext.mention_page(shown),
        " and ",
        richtext.mention_page(doomed),
        " now",
    ]
    pages.add_page("Linking", blocks=[blocks.paragraph(links)])
    home = pages.add_page("Home", blocks=[blocks.synced_original([blocks.paragraph("synced text")])])
    pages.add_page("Copy", blocks=[blocks.synced_copy(pages.block_ids(home)[0])])
    return {"home": home, "root": root, "shown": shown, "doomed": doomed, "moving": moving, "other": other}


def edit(rig: SyncRig, ids: dict[str, str]) -> None:
    """Everything whose traces lie on more than one page."""
    pages, hidden_from_search = rig.workspace, rig.notion.server.behaviour.search_omits
    hidden = pages.add_page("Hidden", parent=ids["root"], blocks=[blocks.paragraph("hidden text")])
    below = pages.add_page("Deepest", parent=hidden, blocks=[blocks.paragraph("deepest text")])
    # Only the blocks of the page above name them.
    hidden_from_search |= {hidden, below, ids["moving"]}
    pages.rename(ids["shown"], "Renamed")
    pages.append_blocks(pages.block_ids(ids["home"])[0], [blocks.paragraph("more synced text")])
    pages.trash(ids["doomed"])
    pages.move(ids["moving"], ids["other"])
    pages.append_blocks(ids["root"], [blocks.paragraph(["see ", richtext.mention_page(hidden), " too"])])


async def after_a_kill(index: Index, killer: Killer, *, first: bool, everything: bool) -> bool:
    """A process is killed in mid-run and another one runs; false if nothing happened to the first.

    ``first``: in the very first run; else when a synced workspace was edited. ``everything``: both runs list
    everything instead of asking for changes.
    """
    settings = SyncSettings(reconcile_every=timedelta(0 if everything else 999))
    async with sync_rig() as rig:
        ids = await make(rig)
        if not first:
            rig.restart(writer=index.writer, ledger=index.ledger, settings=settings)
            await rig.settled()
        edit(rig, ids)
        mortal = MortalWriter(index.writer, killer)
        rig.restart(writer=mortal, ledger=index.ledger, settings=settings)
        was_killed = False
        try:
            await rig.sync()
        except asyncio.CancelledError:
            was_killed = True
        except UnavailableError:
            pass
        was_killed = was_killed or killer.left <= 0
        rig.later()
        rig.restart(writer=index.writer, ledger=index.ledger, settings=settings)
        assert (await rig.sync()).is_clean
        return was_killed


NEVER = 10**6


@pytest.mark.parametrize("everything", [False, True], ids=["changes", "everything"])
@pytest.mark.parametrize("first", [False, True], ids=["edits", "first sync"])
async def test_f34_a_sync_that_is_killed_at_any_write_loses_nothing(first: bool, everything: bool) -> None:
    """New, moved, renamed and removed pages, however they were noticed, end up as if nothing had happened."""
    undisturbed = in_memory()
    assert not await after_a_kill(undisturbed, Killer(NEVER), first=first, everything=everything)
    expected = await undisturbed.content()
    assert {title for title, *_ in expected} == {
        *("Root", "Renamed", "Moving", "Other", "Linking", "Hidden", "Deepest", "Home", "Copy")
    }

    kills = 0
    while True:
        index = in_memory()
        if not await after_a_kill(index, Killer(kills + 1), first=first, everything=everything):
            break
        kills += 1
        assert await index.content() == expected, kills

    assert kills >= 6


async def test_f34_an_index_that_is_away_at_any_write_loses_nothing() -> None:
    """Whether the run breaks off or lives with it, the next run of changes ends where it should have."""
    undisturbed = in_memory()
    assert not await after_a_kill(undisturbed, Outage(NEVER), first=False, everything=False)
    expected = await undisturbed.content()

    outages = 0
    while True:
        index = in_memory()
        if not await after_a_kill(index, Outage(outages + 1), first=False, everything=False):
            break
        outages += 1
        assert await index.content() == expected, outages

    assert outages >= 6


async def test_f34_a_sync_into_postgresql_killed_at_any_write_loses_nothing(database_url: str) -> None:
    """The same over real transactions."""
    undisturbed = in_memory()
    await after_a_kill(undisturbed, Killer(NEVER), first=False, everything=False)
    expected = await undisturbed.content()

    kills = 0
    while True:
        async with in_postgres(database_url) as index:
            if not await after_a_kill(index, Killer(kills + 1), first=False, everything=False):
                break
            kills += 1
            assert await index.content() == expected, kills

    assert kills >= 6
