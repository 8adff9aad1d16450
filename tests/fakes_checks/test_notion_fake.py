"""The stand-in for Notion answers the real client as Notion does."""

from __future__ import annotations

import httpx
import pytest
from notion_client import AsyncClient
from notion_client.errors import APIResponseError
from notion_client.helpers import async_collect_paginated_api

from tests.fakes.notion import NotionServer, Parent, Workspace, blocks, showcase
from tests.fakes.notion import properties as prop
from tests.fakes.notion import richtext as rt
from tests.fakes_checks.notion_client_for import client_for, code_of, names


async def test_f2_deep_nesting_is_served_level_by_level(workspace: Workspace, notion: AsyncClient) -> None:
    """1,200 bullets inside each other can be stored and walked."""
    page = workspace.add_page("Deep", blocks=[blocks.nested([f"level {n}" for n in range(1, 1201)])])
    below, seen = page, []
    while True:
        answer = (await notion.blocks.children.list(below))["results"]
        if not answer:
            break
        seen.append(answer[0]["bulleted_list_item"]["rich_text"][0]["plain_text"])
        if not answer[0]["has_children"]:
            break
        below = answer[0]["id"]
        if len(seen) == 5:
            below = workspace.find_block(page, "level 1199")
    assert seen == [f"level {n}" for n in (1, 2, 3, 4, 5, 1200)]


async def test_children_are_never_inline(workspace: Workspace, notion: AsyncClient) -> None:
    """A block with children says so and holds no child."""
    page = workspace.add_page("Toggle", blocks=[blocks.toggle("Open me", [blocks.paragraph("inside")])])
    (block,) = (await notion.blocks.children.list(page))["results"]
    assert block["has_children"] is True
    assert "children" not in block
    assert "children" not in block["toggle"]
    (inner,) = (await notion.blocks.children.list(block["id"]))["results"]
    assert inner["parent"] == {"type": "block_id", "block_id": block["id"]}


async def test_times_are_rounded_down_to_the_minute(workspace: Workspace, notion: AsyncClient) -> None:
    """F23: two edits in one minute look the same; databases carry another format."""
    page = workspace.add_page("Minute", blocks=[blocks.paragraph("one")])
    base = workspace.add_database("Table", parent=page)
    workspace.clock.advance(minutes=5, seconds=10)
    workspace.edit_block(workspace.find_block(page, "one"), "two")
    first = await notion.pages.retrieve(page)
    workspace.clock.advance(seconds=40)
    workspace.edit_block(workspace.find_block(page, "two"), "three")
    second = await notion.pages.retrieve(page)
    assert first["last_edited_time"] == second["last_edited_time"] == "2026-11-02T09:05:00.000Z"
    database = await notion.databases.retrieve(base)
    assert database["created_time"] == "2026-11-02T09:00:00.000+00:00"


async def test_editing_below_does_not_touch_what_is_above(workspace: Workspace, notion: AsyncClient) -> None:
    """A child page's edit leaves the page above as it was; a nested block's edit dates its page only."""
    top = workspace.add_page("Top", blocks=[blocks.toggle("Fold", [blocks.paragraph("inner")])])
    child = workspace.add_page("Child", parent=top, blocks=[blocks.paragraph("text")])
    fold = workspace.find_block(top, "Fold")
    before = (await notion.pages.retrieve(top))["last_edited_time"]
    workspace.clock.advance(hours=1)
    workspace.edit_block(workspace.find_block(child, "text"), "other")
    workspace.rename(child, "Renamed")
    assert (await notion.pages.retrieve(top))["last_edited_time"] == before
    assert (await notion.pages.retrieve(child))["last_edited_time"] > before
    workspace.edit_block(workspace.find_block(top, "inner"), "changed")
    assert (await notion.pages.retrieve(top))["last_edited_time"] > before
    assert (await notion.blocks.retrieve(fold))["last_edited_time"] == before


async def test_a_rename_changes_title_address_and_the_block_above(
    workspace: Workspace, notion: AsyncClient
) -> None:
    """The new name is in the page, in its address and in the parent's child_page block."""
    top = workspace.add_page("Top")
    page = workspace.add_page("Old name", parent=top)
    old = await notion.pages.retrieve(page)
    workspace.rename(page, "New name")
    new = await notion.pages.retrieve(page)
    (block,) = (await notion.blocks.children.list(top))["results"]
    assert old["url"] == f"https://www.notion.so/Old-name-{page.replace('-', '')}"
    assert new["url"] == f"https://www.notion.so/New-name-{page.replace('-', '')}"
    assert block["id"] == page
    assert block["child_page"] == {"title": "New name"}


async def test_a_move_changes_the_parent_and_not_the_date(workspace: Workspace, notion: AsyncClient) -> None:
    """SY3, SY27: a moved page keeps its last_edited_time and leaves its old parent's list."""
    one, two = workspace.add_page("One"), workspace.add_page("Two")
    page = workspace.add_page("Wanderer", parent=one)
    workspace.clock.advance(hours=1)
    workspace.move(page, two)
    moved = await notion.pages.retrieve(page)
    assert moved["parent"] == {"type": "page_id", "page_id": two}
    assert moved["last_edited_time"] == "2026-11-02T09:00:00.000Z"
    assert names(await notion.blocks.children.list(one)) == []
    assert names(await notion.blocks.children.list(two)) == [page]


async def test_trash_restore_and_deletion_for_ever(workspace: Workspace, notion: AsyncClient) -> None:
    """Trashed is 200 with in_trash, also for what is below; out of the trash is 404."""
    top = workspace.add_page("Top")
    page = workspace.add_page("Bin", parent=top)
    below = workspace.add_page("Below", parent=page)
    workspace.trash(page)
    assert [(await notion.pages.retrieve(key))["in_trash"] for key in (page, below)] == [True, True]
    assert names(await notion.search()) == [top]
    assert names(await notion.blocks.children.list(top)) == []
    assert set(names(await notion.search(filter={"in_trash": True}))) == {page, below}
    workspace.restore(page)
    assert (await notion.pages.retrieve(below))["in_trash"] is False
    workspace.delete_forever(page)
    for key in (page, below):
        with pytest.raises(APIResponseError) as raised:
            await notion.pages.retrieve(key)
        assert (raised.value.status, code_of(raised.value)) == (404, "object_not_found")


async def test_a_deleted_block_leaves_the_listing_but_can_be_retrieved(
    workspace: Workspace, notion: AsyncClient
) -> None:
    """The listing has one block less; the block itself says in_trash."""
    page = workspace.add_page("Page", blocks=[blocks.paragraph("keep"), blocks.paragraph("drop")])
    doomed = workspace.find_block(page, "drop")
    workspace.delete_block(doomed)
    assert len(names(await notion.blocks.children.list(page))) == 1
    assert (await notion.blocks.retrieve(doomed))["in_trash"] is True


async def test_the_older_version_has_archived_and_transcription(
    workspace: Workspace, server: NotionServer, notion: AsyncClient
) -> None:
    """NOT-1: 2025-09-03 answers with archived beside in_trash, and calls meeting notes transcription."""
    page = workspace.add_page("Meeting", blocks=[blocks.meeting_notes("Weekly", [blocks.paragraph("sum")])])
    async with client_for(server, version="2025-09-03") as older:
        old_page, new_page = await older.pages.retrieve(page), await notion.pages.retrieve(page)
        (old_block,) = (await older.blocks.children.list(page))["results"]
    (new_block,) = (await notion.blocks.children.list(page))["results"]
    assert (old_page["archived"], old_page["in_trash"]) == (False, False)
    assert "archived" not in new_page
    assert (old_block["type"], new_block["type"]) == ("transcription", "meeting_notes")
    summary = new_block["meeting_notes"]["children"]["summary_block_id"]
    assert names(await notion.blocks.children.list(summary)) == [workspace.find_block(page, "sum")]


async def test_f3_a_synced_copy_points_at_the_original(
    workspace: Workspace, server: NotionServer, notion: AsyncClient
) -> None:
    """The text is under the original's id; the copy's own children are 404 unless switched on."""
    home = workspace.add_page("Home", blocks=[blocks.synced_original([blocks.paragraph("shared text")])])
    (original,) = workspace.block_ids(home)
    away = workspace.add_page("Away", blocks=[blocks.synced_copy(original)])
    (copy,) = (await notion.blocks.children.list(away))["results"]
    assert copy["has_children"] is True
    assert copy["synced_block"]["synced_from"]["block_id"] == original
    with pytest.raises(APIResponseError):
        await notion.blocks.children.list(copy["id"])
    (inner,) = (await notion.blocks.children.list(original))["results"]
    server.behaviour.synced_copies_list_children = True
    (same,) = (await notion.blocks.children.list(copy["id"]))["results"]
    assert (same["id"], same["parent"]) == (inner["id"], {"type": "block_id", "block_id": original})
    workspace.unshare(home)
    for key in (copy["id"], original):
        with pytest.raises(APIResponseError) as raised:
            await notion.blocks.children.list(key)
        assert code_of(raised.value) == "object_not_found"


async def test_f4_children_of_an_unsupported_block_are_refused(
    workspace: Workspace, notion: AsyncClient
) -> None:
    """A type the API does not know is listed, and its children call is 400."""
    strange = blocks.raw("external_object_instance_page", {}, has_children=True)
    page = workspace.add_page("P", blocks=[blocks.paragraph("a"), strange, blocks.paragraph("b")])
    listed = (await notion.blocks.children.list(page))["results"]
    assert [block["type"] for block in listed] == ["paragraph", "external_object_instance_page", "paragraph"]
    with pytest.raises(APIResponseError) as raised:
        await notion.blocks.children.list(listed[1]["id"])
    assert (raised.value.status, code_of(raised.value)) == (400, "validation_error")


async def test_f15_mentions_of_pages_carry_the_title_of_the_moment(
    workspace: Workspace, notion: AsyncClient
) -> None:
    """The text of a mention is the page's title when read, or Untitled if the page is not shared."""
    target = workspace.add_page("Target")
    page = workspace.add_page("Page", blocks=[blocks.paragraph([rt.mention_page(target)])])

    async def shown() -> str:
        (block,) = (await notion.blocks.children.list(page))["results"]
        return str(block["paragraph"]["rich_text"][0]["plain_text"])

    assert await shown() == "Target"
    workspace.rename(target, "Renamed")
    assert await shown() == "Renamed"
    workspace.unshare(target)
    assert await shown() == "Untitled"


async def test_f29_a_shared_page_below_a_private_one(workspace: Workspace, notion: AsyncClient) -> None:
    """The child answers, its parent is 404."""
    parent = workspace.add_page("Private", shared=False)
    child = workspace.add_page("Open", parent=parent, shared=True)
    assert (await notion.pages.retrieve(child))["parent"] == {"type": "page_id", "page_id": parent}
    with pytest.raises(APIResponseError) as raised:
        await notion.pages.retrieve(parent)
    assert (raised.value.status, code_of(raised.value)) == (404, "object_not_found")
    assert names(await notion.search()) == [child]


async def test_unsharing_takes_what_hangs_below_and_sharing_gives_it_back(
    workspace: Workspace, notion: AsyncClient
) -> None:
    """NOT-7: no trace is left of an unshared subtree, in retrievals, listings or search."""
    top = workspace.add_page("Top")
    page = workspace.add_page("Page", parent=top)
    below = workspace.add_page("Below", parent=page)
    workspace.unshare(page)
    assert names(await notion.search()) == [top]
    assert names(await notion.blocks.children.list(top)) == []
    with pytest.raises(APIResponseError):
        await notion.pages.retrieve(below)
    workspace.share(page)
    assert (await notion.pages.retrieve(below))["id"] == below


async def test_not15_page_markdown_is_cut_and_names_what_is_missing(
    workspace: Workspace, server: NotionServer, notion: AsyncClient
) -> None:
    """Beyond the limit the answer is truncated; the ids it names can be fetched one by one."""
    content = [blocks.paragraph("one"), blocks.unsupported(), blocks.paragraph("three")]
    page = workspace.add_page("Page", blocks=content)
    ids = workspace.block_ids(page)
    whole = await notion.pages.retrieve_markdown(page)
    assert (whole["truncated"], whole["unknown_block_ids"]) == (False, [ids[1]])
    assert whole["markdown"].startswith("one\n<unknown url=")
    server.behaviour.markdown_block_limit = 2
    cut = await notion.pages.retrieve_markdown(page)
    assert (cut["truncated"], cut["unknown_block_ids"]) == (True, [ids[1], ids[2]])
    rest = await notion.pages.retrieve_markdown(ids[2])
    assert rest["markdown"] == "three"


async def test_comments_belong_to_one_page_or_block(
    workspace: Workspace, server: NotionServer, notion: AsyncClient
) -> None:
    """A page's comments are its own; a block's have to be asked for; the right can be missing."""
    page = workspace.add_page("Page", blocks=[blocks.paragraph("text")])
    block = workspace.find_block(page, "text")
    first = workspace.add_comment(page, "Looks good")
    reply = workspace.add_comment(page, "Thanks", discussion=first)
    inline = workspace.add_comment(block, "Typo?")
    listed = await notion.comments.list(block_id=page)
    assert names(listed) == [first, reply]
    assert len({item["discussion_id"] for item in listed["results"]}) == 1
    assert names(await notion.comments.list(block_id=block)) == [inline]
    server.behaviour.rights.discard("read_comments")
    with pytest.raises(APIResponseError) as raised:
        await notion.comments.list(block_id=page)
    assert (raised.value.status, code_of(raised.value)) == (403, "restricted_resource")


async def test_users_members_and_the_bot(workspace: Workspace, notion: AsyncClient) -> None:
    """The bot knows itself; members are listed with their addresses."""
    kim = workspace.add_user("Kim", "kim@example.org")
    assert (await notion.users.me())["id"] == workspace.bot.id
    assert set(names(await notion.users.list())) == {workspace.bot.id, workspace.author.id, kim}
    assert (await notion.users.retrieve(kim))["person"] == {"email": "kim@example.org"}


async def test_f19_file_addresses_are_signed_and_end(workspace: Workspace, notion: AsyncClient) -> None:
    """NOT-13: the address works for an hour; a fresh one comes with every retrieval; forgery is 403."""
    stored = workspace.add_file("plan.pdf", b"%PDF-1.7 plan", "application/pdf")
    page = workspace.add_page("Page", blocks=[blocks.pdf(stored, "Floor plan")])
    (block,) = (await notion.blocks.children.list(page))["results"]
    address = block["pdf"]["file"]["url"]
    assert block["pdf"]["file"]["expiry_time"] == "2026-11-02T10:00:00.000Z"
    assert "X-Amz-Signature" in address
    async with httpx.AsyncClient() as web:
        good = await web.get(address)
        assert (good.status_code, good.content) == (200, b"%PDF-1.7 plan")
        assert good.headers["content-type"] == "application/pdf"
        assert (await web.get(address.replace("Expires=3600", "Expires=9999"))).status_code == 403
        workspace.clock.advance(hours=1)
        late = await web.get(address)
        assert (late.status_code, "expired" in late.text) == (403, True)
        (again,) = (await notion.blocks.children.list(page))["results"]
        assert (await web.get(again["pdf"]["file"]["url"])).status_code == 200


async def test_f9_unknown_keys_types_and_parents_can_be_served(
    workspace: Workspace, notion: AsyncClient
) -> None:
    """NOT-10: keys, block types, mentions, properties and parents that nobody knows yet."""
    parent = Parent("agent_id", "11111111-1111-4111-8111-111111111111")
    content = [
        blocks.paragraph([rt.mention("hologram", {"id": "x"}, "shown text")]),
        {**blocks.paragraph("b"), "brand_new": {"x": 1}},
    ]
    page = workspace.add_page(
        "Page", parent=parent, blocks=content, properties={"Odd": prop.value("hologram", {"a": 1})}
    )
    workspace.pages[page].extra["brand_new"] = {"x": 1}
    answer = await notion.pages.retrieve(page)
    assert answer["parent"] == {"type": "agent_id", "agent_id": parent.id}
    assert answer["brand_new"] == {"x": 1}
    assert answer["properties"]["Odd"]["hologram"] == {"a": 1}
    first, second = (await notion.blocks.children.list(page))["results"]
    assert first["paragraph"]["rich_text"][0]["mention"]["type"] == "hologram"
    assert second["brand_new"] == {"x": 1}


async def test_the_showcase_serves_every_block_type(workspace: Workspace, notion: AsyncClient) -> None:
    """All 37 types of the typings but the old name of meeting notes come over the API."""
    shown = showcase.build(workspace)
    kinds, waiting = set(), [shown.page]
    while waiting:
        for block in await async_collect_paginated_api(notion.blocks.children.list, block_id=waiting.pop()):
            kinds.add(block["type"])
            source = block.get("synced_block", {}).get("synced_from") or {"block_id": block["id"]}
            if block["has_children"] and block["type"] != "child_page":
                waiting.append(source["block_id"])
    assert kinds == (blocks.SUPPORTED | {"unsupported"}) - {"transcription"}
    assert len(kinds) == 36
