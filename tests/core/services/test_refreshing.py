"""What Notion's webhook tells of, looked at page by page."""

import json

from adapters.sources.notion_webhook import check_delivery
from core.domain.ids import PageId
from core.services.sync_report import SyncReport
from tests.core.services.sync_rig import SyncRig, sync_rig
from tests.fakes.notion import Webhooks, blocks, routes


async def followed(rig: SyncRig) -> SyncReport:
    """Look at what the workspace's events since the last call name, or at everything if one names no page."""
    hooks = Webhooks(rig.workspace, "")
    pages: set[PageId] = set()
    anything = False
    for payload in reversed(hooks.pending()):
        body = json.dumps(payload).encode()
        delivery = check_delivery(body, hooks.sign(body), hooks.verification_token)
        assert delivery is not None
        anything = anything or None in delivery.hints
        pages |= {page for page in delivery.hints if page is not None}
    rig.notion.server.forget()
    return await (rig.syncer.run(also=frozenset(pages)) if anything else rig.syncer.refresh(frozenset(pages)))


async def test_an_edit_is_followed_without_a_listing() -> None:
    """One look at the page, one reading; no search."""
    async with sync_rig() as rig:
        page = rig.workspace.add_page("Page", blocks=[blocks.paragraph("old words")])
        await rig.settled()
        rig.workspace.events.clear()
        rig.workspace.edit_block(rig.workspace.block_ids(page)[0], "new words")

        report = await followed(rig)

        assert report.is_clean
        assert rig.bodies(page) == ["new words"]
        assert rig.notion.server.counts == {routes.PAGE: 1, routes.CHILDREN: 1}


async def test_not7_a_deletion_is_followed_at_once() -> None:
    """The page and what hung on it stop answering."""
    async with sync_rig() as rig:
        page = rig.workspace.add_page("Page", blocks=[blocks.paragraph("goneword")])
        below = rig.workspace.add_page("Below", parent=page, blocks=[blocks.paragraph("belowword")])
        await rig.settled()
        rig.workspace.events.clear()
        rig.workspace.trash(page)

        await followed(rig)

        assert below not in rig.pages()
        assert await rig.found("goneword belowword") == []


async def test_created_moved_and_renamed_pages_are_followed() -> None:
    """Whatever the order of the events."""
    async with sync_rig() as rig:
        here = rig.workspace.add_page("Here")
        there = rig.workspace.add_page("There")
        page = rig.workspace.add_page("Page", parent=here, blocks=[blocks.paragraph("text")])
        await rig.settled()
        rig.workspace.events.clear()
        fresh = rig.workspace.add_page("Fresh", parent=there, blocks=[blocks.paragraph("freshword")])
        rig.workspace.move(page, there)
        rig.workspace.rename(there, "Elsewhere")

        await followed(rig)

        assert rig.chunks(page)[0].chunk.breadcrumb == "Elsewhere > Page"
        assert rig.chunks(fresh)[0].chunk.breadcrumb == "Elsewhere > Fresh"


async def test_a_change_of_a_database_asks_for_all_changes() -> None:
    """A schema has no page of its own to look at."""
    async with sync_rig() as rig:
        base = rig.workspace.add_database("Base")
        await rig.settled()
        rig.workspace.events.clear()
        rig.workspace.rename(base, "Things")
        rig.workspace.rename(rig.workspace.databases[base].sources[0], "Things")
        row = rig.workspace.add_row(base, "Row")

        await followed(rig)

        assert row in rig.pages()
        assert rig.chunks(row)[0].chunk.body == "Row"
