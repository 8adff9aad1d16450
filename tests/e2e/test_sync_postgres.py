"""A sync into real PostgreSQL: the stand-in of Notion, the real client, the real store."""

from datetime import timedelta

import asyncpg

from adapters.embedders.hashing import HashingEmbedder
from adapters.stores.ledger import open_ledger
from adapters.stores.postgres import open_store
from core.errors import UnavailableError
from core.ports.ledger import Fate
from core.services.syncing import SyncSettings
from tests.core.services.sync_rig import SyncRig, sync_rig
from tests.fakes.notion import blocks, faults, generate, properties, richtext, routes


async def indexed(url: str) -> list[tuple[object, ...]]:
    """All passages of the index, chunk for chunk."""
    connection = await asyncpg.connect(url)
    try:
        rows = await connection.fetch(
            "SELECT page_id::text, chunk_index, page_title, heading_context, chunk_text, block_id::text "
            "FROM notion_embeddings ORDER BY page_id, chunk_level DESC, chunk_index"
        )
        return [tuple(row) for row in rows]
    finally:
        await connection.close()


def in_memory(rig: SyncRig) -> list[tuple[object, ...]]:
    """The same of the twin in memory."""
    return [
        (page_id, one.chunk.index, one.chunk.breadcrumb, context, one.chunk.body, one.chunk.block_id)
        for page_id in sorted(rig.pages())
        for one in rig.chunks(page_id)
        for context in (" > ".join(map(str, one.chunk.heading_path)),)
    ]


async def test_a_workspace_under_edit_ends_up_the_same_in_postgresql_and_in_memory(database_url: str) -> None:
    """First sync, edits, renames, moves, deletions, failures; and the ledger adds up."""
    profile = HashingEmbedder().profile
    fingerprint = profile.fingerprint("test")
    async with (
        sync_rig() as rig,
        open_store(database_url, profile=profile, fingerprint=fingerprint) as store,
        open_ledger(database_url) as ledger,
    ):
        workspace = rig.workspace
        rig.restart(writer=store, settings=SyncSettings(reconcile_every=timedelta(0)), ledger=ledger)
        generate(workspace, pages=60)
        root = workspace.add_page("Root", blocks=[blocks.paragraph("root text")])
        page = workspace.add_page("Page", parent=root, blocks=[blocks.code("x = 1", "python")])
        base = workspace.add_database("Base", parent=root, description="Things")
        row = workspace.add_row(base, "Row", properties={"Owner": properties.relation(page)})
        mention = blocks.paragraph(["see ", richtext.mention_page(page), " now"])
        workspace.append_blocks(root, [mention, blocks.table([["Tool", "Owner"], ["Miro", "Design"]])])
        assert (await rig.sync()).is_clean
        first = await indexed(database_url)
        assert any("Owner: [Page](" in str(one) for one in first)

        rig.later()
        workspace.rename(page, "Renamed")
        workspace.edit_block(workspace.block_ids(page)[0], "x = 2")
        gone = workspace.add_page("Gone", parent=page)
        rig.notion.server.faults.add(faults.bad_gateway(), route=routes.CHILDREN, times=9)
        await rig.sync()
        rig.notion.server.faults.clear()
        rig.embedder.error = UnavailableError("down")
        rig.later()
        workspace.append_blocks(page, [blocks.paragraph("written while the embedder was down")])
        assert (await rig.sync()).pending > 0
        rig.embedder.error = None
        workspace.trash(gone)
        workspace.move(page, None)
        rig.later()
        report = await rig.sync()

        assert report.is_clean, report
        result = await indexed(database_url)
        totals = await ledger.totals()
        assert set(totals) <= {Fate.INDEXED, Fate.GONE}
        assert any("[Renamed](" in str(one) for one in result)
        assert {row, page, root} <= {one[0] for one in result}

        rig.restart()
        assert (await rig.sync()).is_clean
        assert result == in_memory(rig)
        assert totals[Fate.INDEXED] == len(rig.pages())


async def test_a_page_that_is_unreadable_in_two_ways_is_one_trouble(database_url: str) -> None:
    """A page named anew that nobody may read, twice in one run: the run is kept, and the ledger adds up."""
    profile = HashingEmbedder().profile
    async with (
        sync_rig() as rig,
        open_store(database_url, profile=profile, fingerprint=profile.fingerprint("test")) as store,
        open_ledger(database_url) as ledger,
    ):
        rig.restart(writer=store, settings=SyncSettings(reconcile_every=timedelta(0)), ledger=ledger)
        old, new = rig.workspace.add_page("Old"), rig.workspace.add_page("New")
        page = rig.workspace.add_page("Page", parent=old, blocks=[blocks.paragraph("text")])
        assert (await rig.sync()).is_clean
        rig.later()
        rig.workspace.move(page, new)
        rig.notion.server.behaviour.search_omits.add(page)
        for route in (routes.PAGE, routes.DATABASE):
            rig.notion.server.faults.add(
                faults.restricted(), route=route, where=lambda request: page in request.path
            )
        for _ in range(2):
            assert [one.page_id for one in (await rig.sync()).failed] == [page]
            assert await ledger.totals() == {Fate.INDEXED: 2, Fate.FAILED: 1}
