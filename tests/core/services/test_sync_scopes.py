"""What a move means for those who may see one part of the workspace only, and how times compare."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from adapters.sources.notion_json import instant
from core.domain.audiences import Audience, Scope
from core.domain.documents import PageRef
from core.domain.ids import PageId
from core.ports import PageState, WordQuery
from core.services.comparing import is_unchanged
from tests.core.services.sync_rig import SyncRig, sync_rig
from tests.fakes.notion import blocks


def readers_of(root: str) -> Audience:
    """Those who may see one root and all below it."""
    return Audience(root, ((Scope(root, frozenset({PageId(root)})),),))


async def seen_by(rig: SyncRig, root: str) -> set[str]:
    """The titles that readers of a root find."""
    words = WordQuery(text="oak", terms=("oak",))
    found = await rig.store.search(vector=None, words=words, audience=readers_of(root), limit=20)
    pages = await rig.store.search_pages(words=words, audience=readers_of(root), limit=20)
    titles = {hit.title for hit in found.candidates}
    assert titles == {hit.title for hit in pages.candidates}
    return titles


@pytest.mark.parametrize("moves_ancestor", [False, True])
async def test_sy27_a_page_that_moves_changes_its_readers_with_the_next_sync(moves_ancestor: bool) -> None:
    """Invisible below the old root, visible below the new one; cached answers are of an older index."""
    async with sync_rig() as rig:
        old, new = rig.workspace.add_page("Board"), rig.workspace.add_page("Everybody")
        folder = rig.workspace.add_page("Folder", parent=old)
        page = rig.workspace.add_page("Desk", parent=folder, blocks=[blocks.paragraph("Made of oak.")])
        await rig.settled()
        assert (await seen_by(rig, old), await seen_by(rig, new)) == ({"Desk"}, set())
        generation = await rig.store.generation()

        rig.workspace.move(folder if moves_ancestor else page, new)
        report = await rig.sync()

        assert report.is_clean
        assert (await seen_by(rig, old), await seen_by(rig, new)) == (set(), {"Desk"})
        assert await rig.store.generation() > generation


def test_t4_times_are_compared_as_moments_whatever_their_zone_and_writing() -> None:
    """One moment in four writings is one moment; a later one in another zone is later."""
    same = [
        instant("2026-11-02T09:00:00.000Z"),
        instant("2026-11-02T09:00:00Z"),
        instant("2026-11-02T10:00:00.000+01:00"),
        instant("2026-11-02T03:30:00-05:30"),
    ]
    assert set(same) == {datetime(2026, 11, 2, 9, tzinfo=UTC)}
    ref = PageRef(PageId("a"), "Desk", "https://x", last_edited=same[0])
    state = PageState(ref, "", 1, datetime(2026, 11, 2, 9, 30, tzinfo=UTC), None)
    elsewhere = datetime(2026, 11, 2, 12, tzinfo=timezone(timedelta(hours=3)))
    assert is_unchanged(replace(ref, last_edited=elsewhere), state)
    # As texts "09:59+00:00" comes before "10:00+03:00"; as moments it comes after.
    assert not is_unchanged(replace(ref, last_edited=instant("2026-11-02T09:59:00.000+00:00")), state)
