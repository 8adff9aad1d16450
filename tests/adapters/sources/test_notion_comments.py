"""Comments: optional, and cited as comments."""

import pytest

from adapters.sources.notion import NotionSource
from adapters.sources.notion_comments import CommentScope
from core.domain.ids import PageId
from core.services.syncing import SyncSettings
from tests.core.services.sync_rig import SyncRig, sync_rig
from tests.fakes.notion import blocks, faults, routes
from tests.fakes.notion.faults import Action


def with_comments(rig: SyncRig, scope: CommentScope) -> None:
    """Let the rig read comments."""
    rig.notion.source = NotionSource(rig.notion.api, comments=scope)
    rig.restart(settings=SyncSettings(read_hinted=scope is not CommentScope.OFF))


@pytest.mark.parametrize(
    ("scope", "requests", "found"),
    [
        (CommentScope.OFF, 0, set[str]()),
        (CommentScope.PAGE, 1, {"whole"}),
        (CommentScope.ALL, 4, {"whole", "inline", "nested"}),
    ],
)
async def test_comments_are_read_as_the_setting_says(
    scope: CommentScope, requests: int, found: set[str]
) -> None:
    """Off by default; each scope costs what it says."""
    async with sync_rig() as rig:
        with_comments(rig, scope)
        page = rig.workspace.add_page(
            "Plan",
            blocks=[blocks.heading(1, "Dates"), blocks.bulleted("June", [blocks.paragraph("Or July.")])],
        )
        june = rig.workspace.find_block(page, "June")
        rig.workspace.add_comment(page, "The whole plan needs an owner.")
        rig.workspace.add_comment(june, "An inline doubt.")
        rig.workspace.add_comment(rig.workspace.find_block(page, "Or July."), "A nested doubt.")

        report = await rig.sync()

        assert report.is_clean
        assert rig.notion.server.counts[routes.COMMENTS] == requests
        assert {word for word in ("whole", "inline", "nested") if await rig.found(word)} == found


async def test_a_comment_is_cited_as_one_with_author_day_and_the_blocks_link() -> None:
    """It stands under its block's headings, in a section called Comments."""
    async with sync_rig() as rig:
        with_comments(rig, CommentScope.ALL)
        page = rig.workspace.add_page(
            "Plan",
            blocks=[blocks.heading(1, "Dates"), blocks.paragraph("June."), blocks.paragraph("Budget.")],
        )
        june = rig.workspace.find_block(page, "June.")
        ada = rig.workspace.add_user("Ada")
        rig.workspace.add_comment(june, "Better **July**.", by=ada)
        await rig.sync()
        [hit] = [hit for hit in await rig.found("july") if "July" in hit.body]
        assert hit.body == "Ada (2026-11-02): Better **July**."
        assert [heading.text for heading in hit.heading_path] == ["Dates", "Comments"]
        assert hit.block_id == june
        [after] = [one.chunk for one in rig.chunks(page) if "Budget." in one.chunk.body]
        assert [heading.text for heading in after.heading_path] == ["Dates"]


async def test_an_integration_that_may_not_read_comments_still_reads_pages(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """One refusal is asked for, one line says what to do."""
    async with sync_rig() as rig:
        with_comments(rig, CommentScope.ALL)
        rig.notion.server.behaviour.rights.discard("read_comments")
        for number in range(3):
            rig.workspace.add_page(f"Page {number}", blocks=[blocks.paragraph(f"Text {number}.")])
        report = await rig.sync()
        assert report.is_clean
        assert report.changed == 3
        lines = [record.getMessage() for record in caplog.records if "Read comments" in record.getMessage()]
        assert 1 <= len(lines) <= 3
        assert await rig.found("text")


async def test_a_new_comment_arrives_with_its_webhook_although_it_dates_no_page() -> None:
    """The page it hangs on is looked at and read again; a removed comment goes the same way."""
    async with sync_rig() as rig:
        with_comments(rig, CommentScope.PAGE)
        page = rig.workspace.add_page("Plan", blocks=[blocks.paragraph("June.")])
        await rig.settled()

        comment = rig.workspace.add_comment(page, "Ask the landlord.")
        await rig.syncer.refresh(frozenset({PageId(page)}))
        assert await rig.found("landlord")

        rig.workspace.delete_comment(comment)
        await rig.syncer.refresh(frozenset({PageId(page)}))
        assert not await rig.found("landlord")


@pytest.mark.parametrize("refusal", [faults.error(400, "validation_error"), faults.restricted()])
async def test_comments_that_are_refused_on_one_block_are_read_on_all_others(refusal: Action) -> None:
    """A refusal there is that block's state; the pages behind it keep their comments."""
    async with sync_rig() as rig:
        with_comments(rig, CommentScope.ALL)
        on = [
            rig.workspace.block_ids(
                rig.workspace.add_page(f"Page {number}", blocks=[blocks.paragraph("text")])
            )[0]
            for number in range(8)
        ]
        for number, block in enumerate(on):
            rig.workspace.add_comment(block, f"remark{number}")
        rig.notion.server.faults.add(
            refusal, route=routes.COMMENTS, where=lambda request: request.value("block_id") == on[0]
        )
        await rig.sync()
        shown = [number for number in range(8) if await rig.found(f"remark{number}")]
        assert shown == list(range(1, 8))


async def test_comments_are_asked_for_again_once_somebody_allowed_them() -> None:
    """A worker that ran without the capability needs no restart."""
    async with sync_rig() as rig:
        with_comments(rig, CommentScope.PAGE)
        rig.notion.server.behaviour.rights.discard("read_comments")
        for number in range(9):
            page = rig.workspace.add_page(f"Page {number}", blocks=[blocks.paragraph("text")])
            rig.workspace.add_comment(page, f"remark{number}")
        await rig.sync()
        assert rig.notion.server.counts[routes.COMMENTS] < 9

        rig.notion.server.behaviour.rights.add("read_comments")
        await rig.sync(full=True)
        assert [number for number in range(9) if not await rig.found(f"remark{number}")] == []
