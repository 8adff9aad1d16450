"""People edit, move, rename, trash and share while a run reads: what it saw half is seen whole afterwards."""

import os
import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from adapters.sources.notion import NotionSource
from adapters.sources.notion_api import NotionApi
from tests.core.services.sync_rig import SyncRig, sync_rig
from tests.fakes.notion import Workspace, blocks, faults, richtext, routes
from tests.fakes.notion.server import RequestRecord

PAGES = 14
SEEDS = [int(one) for one in os.environ.get("FOOTNOTE_STORMS", "7").split(",")]
"""Of the storms that are played; name others to look for faults."""


def whenever(rig: SyncRig, happens: Callable[[RequestRecord], None]) -> None:
    """Let something happen just before each answer."""

    def strikes(request: RequestRecord) -> bool:
        happens(request)
        return False

    rig.notion.server.faults.add(faults.slow(0), where=strikes)


async def fresh(rig: SyncRig) -> SyncRig:
    """An index made anew of the same workspace."""
    async with NotionApi(rig.notion.server.token, base_url=rig.notion.server.url) as api:
        made = SyncRig(rig.notion, type(rig.store)(), rig.embedder, rig.syncer)
        made.notion = replace(rig.notion, api=api, source=NotionSource(api))
        made.restart()
        assert (await made.sync()).is_clean
    return made


class People:
    """What they do to pages, by chance: some are trashed and restored, others unshared and shared."""

    def __init__(self, workspace: Workspace, pages: list[str], seed: int) -> None:
        self._workspace = workspace
        self._pages = pages
        self._chance = random.Random(seed)

    def __call__(self, _: RequestRecord) -> None:
        """One of them does one thing."""
        workspace, chance = self._workspace, self._chance
        workspace.clock.advance(seconds=chance.choice([0, 1, 5]))
        number = chance.randrange(len(self._pages))
        page, other = self._pages[number], chance.choice(self._pages)
        match chance.choice(["rename", "append", "move", "take", "give"]):
            case "rename":
                workspace.rename(page, f"New {chance.randrange(999)}")
            case "append":
                workspace.append_blocks(page, [blocks.paragraph(f"more {chance.randrange(999)}")])
            case "move":
                if other not in {page, *workspace.descendants(page)}:
                    workspace.move(page, other)
            case "take":
                (workspace.trash if number % 2 else workspace.unshare)(page)
            case _:
                (workspace.restore if number % 2 else workspace.share)(page)


@pytest.mark.parametrize("seed", SEEDS)
async def test_sy4_whatever_happens_while_runs_read_a_quiet_one_ends_like_a_fresh_index(seed: int) -> None:
    """Four runs, each answer of which comes after another change; then everything is listed once in peace."""
    async with sync_rig() as rig:
        chance = random.Random(seed)
        pages = [rig.workspace.add_page("Root", blocks=[blocks.paragraph("root text")])]
        for number in range(PAGES):
            body = [blocks.paragraph(f"text {number}"), blocks.toggle("box", [blocks.paragraph("inside")])]
            pages.append(rig.workspace.add_page(f"Page {number}", parent=chance.choice(pages), blocks=body))
        for _ in range(10):
            link = richtext.mention_page(chance.choice(pages))
            rig.workspace.append_blocks(chance.choice(pages), [blocks.paragraph(["see ", link])])
        await rig.settled()
        whenever(rig, People(rig.workspace, pages, seed))
        for number in range(4):
            await rig.sync(full=number % 2 == 1)
            rig.later()
        rig.notion.server.faults.clear()
        rig.later()

        assert (await rig.reconcile(confirm_removal=True)).is_clean

        expected = await fresh(rig)
        assert rig.pages() == expected.pages()
        assert rig.content() == expected.content()


@pytest.mark.parametrize("is_back", [False, True], ids=["stays away", "is back at once"])
async def test_f21_a_page_whose_ancestor_is_trashed_while_it_is_read_is_never_emptied(is_back: bool) -> None:
    """Its blocks look trashed for a moment, and nothing dates them: the page is gone whole, or read whole."""
    async with sync_rig() as rig:
        above = rig.workspace.add_page("Above", blocks=[blocks.paragraph("above")])
        page = rig.workspace.add_page("Page", parent=above, blocks=[blocks.paragraph("page text")])
        await rig.settled()
        rig.workspace.append_blocks(page, [blocks.paragraph("more")])
        rig.workspace.clock.advance(minutes=10)

        def happens(request: RequestRecord) -> None:
            is_first = rig.notion.server.counts[routes.CHILDREN] == 1
            if request.route == routes.CHILDREN and page in request.path and is_first:
                rig.workspace.trash(above)
            elif request.route == routes.PAGE and is_back:
                rig.workspace.restore(above)

        whenever(rig, happens)
        await rig.sync()
        assert rig.bodies(page) in ([], ["page text\nmore"])
        rig.notion.server.faults.clear()
        rig.workspace.restore(above)
        rig.later()
        await rig.reconcile()
        assert rig.bodies(page) == ["page text\nmore"]


async def test_t26_a_page_that_goes_after_one_that_names_it_was_read_leaves_its_title_nowhere() -> None:
    """The one that names it was read in this very run, but before: it is read again."""
    async with sync_rig() as rig:
        secret = rig.workspace.add_page("Merger with Initech", blocks=[blocks.paragraph("plans")])
        link = richtext.mention_page(secret)
        naming = rig.workspace.add_page("Naming", blocks=[blocks.paragraph(["see ", link, " for more"])])
        await rig.settled()
        rig.workspace.append_blocks(naming, [blocks.paragraph("edited")])
        read: list[str] = []

        def happens(request: RequestRecord) -> None:
            if read:
                rig.workspace.unshare(secret)
            if request.route == routes.CHILDREN and naming in request.path:
                read.append(request.path)

        whenever(rig, happens)
        rig.notion.server.behaviour.search_omits.add(secret)
        await rig.reconcile()
        assert not await rig.found("initech")
