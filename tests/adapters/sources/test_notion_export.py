"""Notion's Markdown & CSV export: pages, parents, databases, links."""

import unicodedata
from collections.abc import Mapping
from pathlib import Path

import pytest

from adapters.sources.notion_export import NotionExport
from core.domain.documents import Block, BlockKind, ObjectType, PageRef
from core.domain.ids import PageId
from core.errors import NotFoundError
from core.ports import PageSource, Presence
from tests.adapters.sources.export_builders import hex_id, listed, open_files, page, uuid, written, zipped

TOP = "Private & Shared/"
WIKI = f"{TOP}Wiki {hex_id(1)}.md"
OFFICE = f"{TOP}Wiki/Office {hex_id(2)}.md"
TASKS = f"{TOP}Wiki/Tasks {hex_id(3)}"
WORKSPACE: Mapping[str, str | bytes] = {
    WIKI: (
        f"# Wiki\n\nWelcome.\n\n[Office](Wiki/Office%20{hex_id(2)}.md)\n\n"
        f"[Tasks](Wiki/Tasks%20{hex_id(3)}.csv)\n"
    ),
    OFFICE: (
        "# Office\n\n## Hours\n\n9 to 5.\n\n![plan.png](Office/plan.png)\n\n"
        "![The third floor](Office/plan.png)\n"
    ),
    f"{TOP}Wiki/Office/plan.png": b"\x89PNG",
    f"{TASKS}.csv": "\ufeffName,Owner,Notes\nFix printer,Ann,\n",
    f"{TASKS}_all.csv": (
        '\ufeffName,Owner,Notes\nFix printer,Ann,"call, then wait"\nBuy paper,Bo,\nNo page,Cy,by hand\n'
    ),
    f"{TOP}Wiki/Tasks/Fix printer {hex_id(4)}.md": (
        f"# Fix printer\n\nOwner: Ann (../People/Ann%20{hex_id(9)}.md)\n"
        "Notes: call, then\nwait\n\nIt is the one on floor 3.\n"
    ),
    f"{TOP}Wiki/Tasks/Buy paper {hex_id(5)}.md": "# Buy paper\n\nOwner: Bo\n",
}


def parents(refs: Mapping[str, PageRef]) -> dict[str, str | None]:
    """Titles to their parents' titles."""
    return {
        ref.title: refs[str(ref.parent_id)].title if ref.parent_id is not None else None
        for ref in refs.values()
    }


async def test_pages_have_titles_parents_and_links(tmp_path: Path) -> None:
    """Ids from file names, titles from headings, parents from folders, parents first."""
    with NotionExport(written(tmp_path, zipped(WORKSPACE))) as export:
        source: PageSource = export
        refs = await listed(export)

    assert source is export
    assert parents(refs) == {
        "Wiki": None,
        "Office": "Wiki",
        "Tasks": "Wiki",
        "Buy paper": "Tasks",
        "Fix printer": "Tasks",
    }
    assert next(iter(refs)) == uuid(1)
    assert refs[uuid(2)].url == f"https://www.notion.so/{hex_id(2)}"
    assert [refs[uuid(number)].object_type for number in (1, 3, 4)] == [
        ObjectType.PAGE,
        ObjectType.DATABASE,
        ObjectType.ROW,
    ]
    assert all(ref.last_edited is None for ref in refs.values())


async def test_a_page_has_blocks_without_ids(tmp_path: Path) -> None:
    """The title is no block; links lead to Notion; of images the caption stays."""
    with NotionExport(written(tmp_path, zipped(WORKSPACE))) as export:
        wiki, office = await page(export, 1), await page(export, 2)

    assert wiki.blocks == (
        Block(BlockKind.PARAGRAPH, "Welcome."),
        Block(BlockKind.PARAGRAPH, f"[Office](https://www.notion.so/{hex_id(2)})"),
        Block(BlockKind.PARAGRAPH, f"[Tasks](https://www.notion.so/{hex_id(3)})"),
    )
    assert office.blocks == (
        Block(BlockKind.HEADING, "Hours", level=2),
        Block(BlockKind.PARAGRAPH, "9 to 5."),
        Block(BlockKind.PARAGRAPH, "The third floor"),
    )


async def test_u6_a_child_pages_text_stands_only_under_the_child(tmp_path: Path) -> None:
    """The parent holds a link to it."""
    with NotionExport(written(tmp_path, zipped(WORKSPACE))) as export:
        wiki, office = await page(export, 1), await page(export, 2)

    assert "9 to 5." in str(office.blocks)
    assert "9 to 5." not in str(wiki.blocks)


async def test_sy15_a_row_has_its_properties(tmp_path: Path) -> None:
    """Several lines belong to one value; file names of relations are left out; the body is what remains."""
    with NotionExport(written(tmp_path, zipped(WORKSPACE))) as export:
        row, bare = await page(export, 4), await page(export, 5)

    assert row.ref.properties == (("Owner", "Ann"), ("Notes", "call, then wait"))
    assert row.blocks == (Block(BlockKind.PARAGRAPH, "It is the one on floor 3."),)
    assert (bare.ref.properties, bare.blocks) == ((("Owner", "Bo"),), ())


async def test_f6_rows_without_a_page_are_kept_in_the_database(tmp_path: Path) -> None:
    """From the table with all rows; those with pages of their own are not repeated."""
    with NotionExport(written(tmp_path, zipped(WORKSPACE))) as export:
        database = await page(export, 3)

    assert database.blocks == (
        Block(
            BlockKind.TABLE,
            "| Name | Owner | Notes |\n| --- | --- | --- |\n| No page | Cy | by hand |",
        ),
    )


async def test_a_database_with_a_page_of_its_own_is_one_page(tmp_path: Path) -> None:
    """Some exports write a stub beside the table."""
    files = {**WORKSPACE, f"{TASKS}.md": "# Tasks\n\nAll that has to be done.\n"}

    with NotionExport(written(tmp_path, zipped(files))) as export:
        refs = await listed(export)
        database = await page(export, 3)

    assert len(refs) == 5
    assert database.ref.object_type is ObjectType.DATABASE
    assert database.blocks[0] == Block(BlockKind.PARAGRAPH, "All that has to be done.")


async def test_the_unpacked_folder_reads_like_the_zip(tmp_path: Path) -> None:
    """File by file the same pages."""
    for name, content in WORKSPACE.items():
        path = tmp_path / "unpacked" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)

    with (
        NotionExport(tmp_path / "unpacked") as folder,
        NotionExport(written(tmp_path, zipped(WORKSPACE))) as archive,
    ):
        assert await listed(folder) == await listed(archive)
        for number in range(1, 6):
            assert await page(folder, number) == await page(archive, number)


@pytest.mark.parametrize("levels", [1, 2])
async def test_parts_inside_the_download_are_read_as_one_export(tmp_path: Path, levels: int) -> None:
    """``ExportBlock-...-Part-1.zip`` and so on, a page in one part and its folder in another."""
    names = list(WORKSPACE)
    parts = [
        zipped({name: WORKSPACE[name] for name in chosen}) for chosen in (names[:1], names[1:4], names[3:])
    ]
    whole = zipped({f"ExportBlock-0a1b-Part-{number}.zip": part for number, part in enumerate(parts, 1)})
    for _ in range(levels - 1):
        whole = zipped({"0a1b_ExportBlock-2c3d.zip": whole})

    with NotionExport(written(tmp_path, whole)) as export:
        assert len(await listed(export)) == 5
        assert (await page(export, 2)).blocks[0].text == "Hours"


async def test_an_unpacked_download_with_its_parts_still_packed_is_read(tmp_path: Path) -> None:
    """What a file manager makes of the download."""
    (tmp_path / "download").mkdir()
    written(tmp_path / "download", zipped(WORKSPACE), "ExportBlock-0a1b-Part-1.zip")

    with NotionExport(tmp_path / "download") as export:
        assert len(await listed(export)) == 5


async def test_a_zip_that_somebody_attached_is_no_part(tmp_path: Path) -> None:
    """Attachments lie in folders and may be anything."""
    files = {**WORKSPACE, f"{TOP}Wiki/backup export.zip": zipped({f"Leak {hex_id(7)}.md": "# Leak"})}

    with NotionExport(written(tmp_path, zipped(files))) as export:
        assert uuid(7) not in await listed(export)


async def test_folders_with_ids_name_the_parent(tmp_path: Path) -> None:
    """As exports did before 2024, with a parent whose title another page shares."""
    files = {
        f"Export-0a1b/Team {hex_id(1)}.md": "# Team",
        f"Export-0a1b/Team {hex_id(2)}.md": "# Team",
        f"Export-0a1b/Team {hex_id(2)}/Plan {hex_id(3)}.md": "# Plan",
        f"Export-0a1b/Team {hex_id(2)}/Plan {hex_id(3)}/Step {hex_id(4)}.md": "# Step",
    }

    with NotionExport(written(tmp_path, zipped(files))) as export:
        refs = await listed(export)

    assert (refs[uuid(3)].parent_id, refs[uuid(4)].parent_id) == (uuid(2), uuid(3))


async def test_of_two_parents_with_one_name_the_one_that_links_counts(tmp_path: Path) -> None:
    """Folders without ids cannot tell them apart."""
    files = {
        f"Team {hex_id(1)}.md": "# Team",
        f"Team {hex_id(2)}.md": f"# Team\n\n[Plan](Team/Plan%20{hex_id(3)}.md)",
        f"Team/Plan {hex_id(3)}.md": "# Plan",
    }

    with NotionExport(written(tmp_path, zipped(files))) as export:
        assert (await listed(export))[uuid(3)].parent_id == uuid(2)


async def test_a_row_belongs_to_the_database_of_two_parents_with_one_name(tmp_path: Path) -> None:
    """A page and a database called alike share a folder."""
    files = {
        f"Team {hex_id(1)}.md": "# Team",
        f"Team {hex_id(2)}.csv": "Name,Role\nAnn,Lead\n",
        f"Team/Ann {hex_id(3)}.md": "# Ann\n\nRole: Lead\n",
        f"Team/History {hex_id(4)}.md": "# History",
    }

    with NotionExport(written(tmp_path, zipped(files))) as export:
        refs = await listed(export)

    assert (refs[uuid(3)].parent_id, refs[uuid(3)].properties) == (uuid(2), (("Role", "Lead"),))
    assert (refs[uuid(4)].parent_id, refs[uuid(4)].object_type) == (uuid(1), ObjectType.PAGE)


async def test_titles_cut_short_in_file_names_are_whole_and_still_found(tmp_path: Path) -> None:
    """The heading has the whole title; a folder cut shorter than its page still names it."""
    title = "A very long title about the onboarding of new colleagues in every office"
    files = {
        f"{title[:50]} {hex_id(1)}.md": f"# {title}\n",
        f"{title[:40]}/Child {hex_id(2)}.md": "# Child",
        f"{title[:40]}/{'x' * 180} {hex_id(3)}.md": "text without a heading",
    }

    with NotionExport(written(tmp_path, zipped(files))) as export:
        refs = await listed(export)

    assert refs[uuid(1)].title == title
    assert (refs[uuid(2)].parent_id, refs[uuid(3)].parent_id) == (uuid(1), uuid(1))
    assert refs[uuid(3)].title == "x" * 180


async def test_folders_that_are_no_pages_are_passed_over(tmp_path: Path) -> None:
    """Teamspaces and the like; what stands above them still counts."""
    files = {
        f"Teamspace/Wiki {hex_id(1)}.md": "# Wiki",
        f"Teamspace/Wiki/Somewhere/Deep {hex_id(2)}.md": "# Deep",
        f"Private & Shared 2/Alone {hex_id(3)}.md": "# Alone",
    }

    with NotionExport(written(tmp_path, zipped(files))) as export:
        assert parents(await listed(export)) == {"Wiki": None, "Deep": "Wiki", "Alone": None}


async def test_untitled_pages_are_listed(tmp_path: Path) -> None:
    """With an empty title, as Notion has them."""
    with NotionExport(
        written(tmp_path, zipped({f"Untitled {hex_id(1)}.md": "# Untitled\n\ntext", f"{hex_id(2)}.md": ""}))
    ) as e:
        refs = await listed(e)

    assert [refs[uuid(1)].title, refs[uuid(2)].title] == ["Untitled", ""]


async def test_names_in_any_unicode_form_and_encoding_match(tmp_path: Path) -> None:
    """A decomposed folder of a composed page, UTF-8 not marked as such, Windows separators."""
    composed = unicodedata.normalize("NFC", "Prüfung")
    decomposed = unicodedata.normalize("NFD", "Prüfung")
    content = zipped(
        {f"{composed} {hex_id(1)}.md": "# Prüfung", f"{decomposed}\\Teil {hex_id(2)}.md": "# Teil"}
    )
    # Take the mark for UTF-8 from every header, as many zip tools leave it out.
    unmarked = content.replace(b"PK\x03\x04\x14\x00\x00\x08", b"PK\x03\x04\x14\x00\x00\x00").replace(
        b"PK\x01\x02\x14\x03\x14\x00\x00\x08", b"PK\x01\x02\x14\x03\x14\x00\x00\x00"
    )
    assert unmarked != content

    for variant in (content, unmarked):
        with NotionExport(written(tmp_path, variant)) as export:
            assert parents(await listed(export)) == {"Prüfung": None, "Teil": "Prüfung"}


async def test_links_are_resolved_by_the_id_in_the_file_name(tmp_path: Path) -> None:
    """Percent-encoded, with parentheses, to pages not exported; attachments lose the link."""
    text = (
        f"# A\n\n[B (x)](../Some%20Folder/B%20(x)%20{hex_id(2)}.md) [part](B%20{hex_id(2)}.md#h) "
        f"[away](Away%20{hex_id(8)}.md) [db](T%20{hex_id(3)}.csv?v=1) [doc](A/file.pdf) [web](https://e.example)"
    )

    with NotionExport(written(tmp_path, zipped({f"A {hex_id(1)}.md": text}))) as export:
        (block,) = (await page(export, 1)).blocks

    assert block.text == (
        f"[B (x)](https://www.notion.so/{hex_id(2)}) [part](https://www.notion.so/{hex_id(2)}) "
        f"[away](https://www.notion.so/{hex_id(8)}) [db](https://www.notion.so/{hex_id(3)}) "
        "doc [web](https://e.example)"
    )


async def test_f11_what_notion_indents_is_no_code(tmp_path: Path) -> None:
    """Text below a toggle or paragraph is indented by four blanks; code is always fenced."""
    toggle = "- Toggle\n    \n    inside\n    \n    ```sh\n    # make\n    ```\n"
    text = f"# A\n\nParent\n\n    Child text\n\n{toggle}"

    with NotionExport(written(tmp_path, zipped({f"A {hex_id(1)}.md": text}))) as export:
        blocks = (await page(export, 1)).blocks

    assert blocks == (
        Block(BlockKind.PARAGRAPH, "Parent"),
        Block(BlockKind.PARAGRAPH, "Child text"),
        Block(
            BlockKind.LIST_ITEM,
            "- Toggle",
            children=(Block(BlockKind.PARAGRAPH, "inside"), Block(BlockKind.CODE, "```sh\n# make\n```")),
        ),
    )


async def test_a_page_that_begins_with_a_property_like_line_keeps_it(tmp_path: Path) -> None:
    """Only rows have properties."""
    with NotionExport(
        written(tmp_path, zipped({f"A {hex_id(1)}.md": "# A\n\nNote: this is text.\n"}))
    ) as export:
        found = await page(export, 1)

    assert (found.ref.properties, found.blocks) == ((), (Block(BlockKind.PARAGRAPH, "Note: this is text."),))


async def test_a_row_whose_first_line_is_no_column_keeps_its_text(tmp_path: Path) -> None:
    """A colon alone makes no property."""
    files = {f"T {hex_id(1)}.csv": "Name,Owner\nA,\n", f"T/A {hex_id(2)}.md": "# A\n\nNote: this is text.\n"}

    with NotionExport(written(tmp_path, zipped(files))) as export:
        found = await page(export, 2)

    assert (found.ref.properties, found.blocks[0].text) == ((), "Note: this is text.")


async def test_one_page_in_two_places_is_listed_once(tmp_path: Path) -> None:
    """The first file counts."""
    files = {f"A/X {hex_id(1)}.md": "# X\n\nfirst", f"B/X {hex_id(1).upper()}.md": "# X\n\nsecond"}

    with NotionExport(written(tmp_path, zipped(files))) as export:
        assert list(await listed(export)) == [uuid(1)]
        assert (await page(export, 1)).blocks[0].text == "first"


async def test_a_file_that_is_no_utf8_is_read_all_the_same(tmp_path: Path) -> None:
    """What holds no valid UTF-8 beyond ASCII is in the code page of Western spreadsheets."""
    with NotionExport(
        written(tmp_path, zipped({f"A {hex_id(1)}.md": b"# A\r\n\r\nGr\xfc\xdfe from here\r\n"}))
    ) as export:
        assert (await page(export, 1)).blocks[0].text == "Grüße from here"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
async def test_a_file_that_an_editor_saved_anew_keeps_its_letters(tmp_path: Path, encoding: str) -> None:
    """Spreadsheets and editors write other encodings; umlauts and dashes come through all the same."""
    files = {
        f"Büro {hex_id(1)}.md": "# Grüße\n\nÄrger über Öl – 5 €\n".encode(encoding),
        f"Liste {hex_id(2)}.csv": "Name,Ort\nJürgen,Köln\n".encode(encoding),
    }

    with NotionExport(written(tmp_path, zipped(files))) as export:
        refs = await listed(export)
        texts = [(await page(export, number)).blocks[0].text for number in (1, 2)]

    assert sorted(ref.title for ref in refs.values()) == ["Grüße", "Liste"]
    assert any(text == "Ärger über Öl – 5 €" for text in texts)
    assert any("| Jürgen | Köln |" in text for text in texts)


async def test_one_damaged_place_leaves_the_other_letters(tmp_path: Path) -> None:
    """A text that is UTF-8 in all other places is not taken for another encoding."""
    data = "# Grüße\n\nÄrger ".encode() + b"\xff" + " über Öl\n".encode()

    with NotionExport(written(tmp_path, zipped({f"Page {hex_id(1)}.md": data}))) as export:
        [ref] = (await listed(export)).values()
        [block] = (await page(export, 1)).blocks

    assert (ref.title, block.text) == ("Grüße", "Ärger \N{REPLACEMENT CHARACTER} über Öl")


async def test_probe_and_read_tell_what_is_not_there(tmp_path: Path) -> None:
    """A page the export does not hold is not shared, and cannot be read."""
    with NotionExport(written(tmp_path, zipped(WORKSPACE))) as export:
        live, gone = await export.probe(PageId(uuid(1))), await export.probe(PageId(uuid(99)))
        with pytest.raises(NotFoundError, match="no page"):
            await export.read(PageRef(PageId(uuid(99)), "", ""))

    assert (live.presence, gone.presence, gone.ref) == (Presence.LIVE, Presence.NOT_SHARED, None)
    assert live.ref is not None
    assert live.ref.title == "Wiki"


def test_files_are_closed_with_the_export(tmp_path: Path) -> None:
    """Also when nobody closes it."""
    content = zipped({"ExportBlock-1-Part-1.zip": zipped(WORKSPACE)})
    path = written(tmp_path, content)
    before = open_files()

    export = NotionExport(path)
    assert open_files() > before
    del export

    assert open_files() == before


async def test_a_second_file_with_the_id_of_another_is_named_in_the_report(tmp_path: Path) -> None:
    """The first counts; the other is not lost without a word."""
    name = f"Page {hex_id(1)}.md"
    files = {f"A/{name}": "# Page\n\nFirst text.", f"B/{name}": "# Page\n\nSecond text."}
    with NotionExport(written(tmp_path, zipped(files))) as export:
        found = await page(export, 1)

    assert [block.text for block in found.blocks] == ["First text."]
    assert found.files.left_out == (
        f"the file 'B/{name}' has the same page id as another one, which was read",
    )
