"""What a page shows of others: nothing dates it when that changes, and it must not be stale all the same."""

from core.domain.ids import PageId
from tests.core.services.sync_rig import SyncRig, sync_rig
from tests.fakes.notion import blocks, routes


def two_pages(rig: SyncRig, text: str = "apple") -> tuple[str, str, str]:
    """A page with a synced block, the block, and a page that shows it."""
    home = rig.workspace.add_page("Home", blocks=[blocks.synced_original([blocks.paragraph(text)])])
    [original] = rig.workspace.block_ids(home)
    body = [blocks.paragraph("intro"), blocks.synced_copy(original)]
    return home, original, rig.workspace.add_page("Copy", blocks=body)


async def test_sy10_an_edit_of_a_synced_block_reaches_every_page_that_shows_it() -> None:
    """Also through a copy within a synced block; each of them costs its own reading, once."""
    async with sync_rig() as rig:
        _, original, copy = two_pages(rig)
        between = rig.workspace.add_page(
            "Between", blocks=[blocks.synced_original([blocks.synced_copy(original)])]
        )
        [outer] = rig.workspace.block_ids(between)
        far = rig.workspace.add_page("Far", blocks=[blocks.synced_copy(outer)])
        await rig.settled()

        rig.workspace.edit_block(rig.workspace.block_ids(original)[0], "banana")
        rig.later(minutes=5)
        report = await rig.sync()

        assert report.read == 4
        for page in (copy, between, far):
            assert any("banana" in body for body in rig.bodies(page))
        assert not await rig.found("apple")
        rig.later()
        assert (await rig.sync()).read == 0


async def test_sy10_what_was_all_replaced_or_emptied_is_noticed_as_well() -> None:
    """The copy goes by the synced block, not by what stood in it."""
    async with sync_rig() as rig:
        _, original, _ = two_pages(rig)
        await rig.settled()
        rig.workspace.replace_blocks(original, [])
        rig.later(minutes=5)
        await rig.sync()
        assert not await rig.found("apple")
        rig.later()
        rig.workspace.append_blocks(original, [blocks.paragraph("cherry")])
        rig.later(minutes=5)
        await rig.sync()
        assert len(await rig.found("cherry")) == 2


async def test_not7_what_is_unshared_or_trashed_is_shown_by_no_copy_and_comes_back_with_it() -> None:
    """Text that the integration may not read any more leaves every page; shared again it returns."""
    async with sync_rig() as rig:
        home, _, copy = two_pages(rig)
        for take, give in (
            (rig.workspace.unshare, rig.workspace.share),
            (rig.workspace.trash, rig.workspace.restore),
        ):
            await rig.settled()
            assert len(await rig.found("apple")) == 2
            take(home)
            rig.later(minutes=5)
            await rig.reconcile()
            assert not await rig.found("apple")
            assert rig.bodies(copy) == ["intro"]
            give(home)
            rig.later(minutes=5)
            await rig.reconcile()
            assert len(await rig.found("apple")) == 2


async def test_a_copy_that_was_read_while_its_original_was_away_is_read_again_when_it_is_back() -> None:
    """The page of the original looks as it is stored; the copy does not show what it did."""
    async with sync_rig() as rig:
        home, _, copy = two_pages(rig)
        await rig.settled()
        rig.workspace.trash(home)
        rig.notion.server.behaviour.search_omits.add(home)
        rig.workspace.append_blocks(copy, [blocks.paragraph("more")])
        await rig.syncer.refresh(frozenset({PageId(copy)}))
        assert rig.bodies(copy) == ["intro\nmore"]
        rig.workspace.restore(home)
        rig.notion.server.behaviour.search_omits.clear()
        rig.later(minutes=5)
        await rig.sync()
        assert rig.bodies(copy) == ["intro\napple\nmore"]


async def test_a_first_sync_and_one_that_reads_everything_read_each_copy_once() -> None:
    """What was read after the last edit of its originals shows them as they are."""
    async with sync_rig() as rig:
        two_pages(rig)
        rig.later()
        assert (await rig.sync()).read == 2
        rig.later()
        assert (await rig.sync(full=True)).read == 2
        assert rig.notion.server.counts[routes.CHILDREN] == 4


async def test_pages_that_show_each_other_end() -> None:
    """Both are read once more after an edit just now, and no oftener."""
    async with sync_rig() as rig:
        home, original, copy = two_pages(rig)
        [back] = rig.workspace.append_blocks(copy, [blocks.synced_original([blocks.paragraph("plum")])])
        rig.workspace.append_blocks(home, [blocks.synced_copy(back)])
        rig.workspace.clock.advance(seconds=1)
        report = await rig.sync()
        assert report.is_clean
        assert report.read <= 4
        assert len(await rig.found("plum")) == len(await rig.found("apple")) == 2
        assert rig.workspace.knows(original)


async def test_a_move_reads_no_copy() -> None:
    """A page that hangs elsewhere shows what it did: only the one it came to is read."""
    async with sync_rig() as rig:
        home, _, _ = two_pages(rig)
        elsewhere = rig.workspace.add_page("Elsewhere")
        await rig.settled()
        rig.workspace.move(home, elsewhere)
        rig.later(minutes=5)
        await rig.reconcile()
        assert rig.notion.server.counts[routes.CHILDREN] == 1
