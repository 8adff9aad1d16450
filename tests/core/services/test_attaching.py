"""Files on pages, from the stand-in of Notion to the passages that cite them."""

import logging
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from adapters.extractors.processes import FileExtractor
from adapters.sources.notion import NotionSource
from adapters.transport.downloads import Downloader
from core.domain.documents import walk
from core.domain.files import FileContent
from core.domain.ids import PageId
from core.errors import UnreadableError
from core.ports.attachments import Ocr
from core.services.attaching import AttachingSource, FileReader
from core.services.sync_report import SyncReport
from tests.adapters.extractors import files
from tests.core.services.sync_rig import SyncRig, sync_rig
from tests.fakes.notion import blocks, faults, properties, routes


@dataclass
class FakeOcr:
    """Recognises the same text in every picture."""

    seen: list[str] = field(default_factory=list)
    pages: int = 1
    is_broken: bool = False
    version = "fake 1"

    async def read(self, content: FileContent, *, name: str, but: Collection[int] = ()) -> tuple[str, ...]:
        """As `Ocr.read`."""
        assert content.data
        self.seen.append(name)
        if self.is_broken:
            raise UnreadableError("is a picture that nobody can read")
        pages = range(1, self.pages + 1)
        return tuple("" if page in but else "Whiteboard: launch in June" for page in pages)


@asynccontextmanager
async def attaching_rig(*, external: bool = False, ocr: Ocr | None = None) -> AsyncIterator[SyncRig]:
    """A workspace whose files are downloaded from loopback and read."""
    async with sync_rig() as rig:
        rig.notion.source._downloader = Downloader(allowed_origins=[rig.notion.server.url])
        reader = FileReader(source=rig.notion.source, extractor=FileExtractor(), ocr=ocr, external=external)
        rig.syncer._source = AttachingSource(rig.notion.source, reader, rig.store)
        yield rig


def downloads(rig: SyncRig) -> int:
    """Files fetched in the last run."""
    return rig.notion.server.counts[routes.FILE]


async def synced(rig: SyncRig) -> SyncReport:
    """A run after enough time for nothing to count as recent."""
    rig.later()
    return await rig.sync()


async def test_rows15_18_19_a_file_is_found_and_cited_by_name_and_page_with_its_blocks_link() -> None:
    """The passage stands under the page's headings and the file's page, its link leads to the file."""
    async with attaching_rig() as rig:
        stored = rig.workspace.add_file(
            "expenses.pdf", files.pdf([["Receipts"], ["Taxi rides need a reason."]])
        )
        page = rig.workspace.add_page(
            "Finance", blocks=[blocks.heading(2, "Rules"), blocks.file(stored, "expenses.pdf", "the rules")]
        )

        report = await rig.sync()

        assert report.is_clean
        assert (report.files, report.files_reused, report.left_out) == (1, 0, ())
        [hit] = [hit for hit in await rig.found("taxi") if "Taxi" in hit.body]
        assert hit.body == "Taxi rides need a reason."
        assert [heading.text for heading in hit.heading_path] == ["Rules", "expenses.pdf, page 2"]
        assert hit.block_id == rig.workspace.children_of(page)[1]
        [text] = [one.chunk.text_to_embed for one in rig.chunks(page) if "Taxi" in one.chunk.body]
        assert text == "[Finance > ## Rules > expenses.pdf, page 2] Taxi rides need a reason."
        assert [hit.title for hit in await rig.found("receipts", pages=True)] == ["Finance"]


async def test_headings_inside_a_file_stand_below_its_name_and_end_with_it() -> None:
    """What follows the file stands under the page's own headings again."""
    async with attaching_rig() as rig:
        stored = rig.workspace.add_file("policy.docx", files.docx())
        page = rig.workspace.add_page(
            "Travel",
            blocks=[
                blocks.heading(1, "Files"),
                blocks.file(stored, "policy.docx"),
                blocks.paragraph("Ask Ada afterwards."),
            ],
        )
        await rig.sync()
        paths = {
            one.chunk.body.splitlines()[0]: [heading.text for heading in one.chunk.heading_path]
            for one in rig.chunks(page)
        }
        assert paths["Book trains before planes."] == ["Files", "policy.docx", "Travel policy"]
        assert paths["- Up to 120 euros a night."] == ["Files", "policy.docx", "Travel policy", "Hotels"]
        assert paths["policy.docx"] == ["Files"]
        assert "Ask Ada afterwards." in "\n".join(
            one.chunk.body
            for one in rig.chunks(page)
            if [heading.text for heading in one.chunk.heading_path] == ["Files"]
        )


async def test_an_unchanged_file_is_not_downloaded_again() -> None:
    """Neither when its page is edited nor when everything is read, although its address is new each time."""
    async with attaching_rig() as rig:
        stored = rig.workspace.add_file("a.txt", b"The key hangs over the fridge.")
        page = rig.workspace.add_page("Keys", blocks=[blocks.file(stored, "a.txt")])
        await rig.sync()
        assert downloads(rig) == 1

        rig.later()
        rig.workspace.append_blocks(page, [blocks.paragraph("Edited.")])
        report = await synced(rig)
        assert (report.files, report.files_reused, downloads(rig)) == (0, 1, 0)

        rig.later()
        report = await rig.sync(full=True)
        assert (report.files, report.files_reused, downloads(rig)) == (0, 1, 0)
        assert any("fridge" in body for body in rig.bodies(page))


async def test_a_replaced_file_is_read_anew_and_a_removed_one_answers_no_more() -> None:
    """The old text goes with the old file."""
    async with attaching_rig() as rig:
        page = rig.workspace.add_page(
            "Keys", blocks=[blocks.file(rig.workspace.add_file("a.txt", b"Old secret place."), "a.txt")]
        )
        await rig.sync()
        [block] = rig.workspace.children_of(page)
        rig.workspace.delete_block(block)
        rig.workspace.append_blocks(
            page, [blocks.file(rig.workspace.add_file("a.txt", b"New place."), "a.txt")]
        )
        report = await synced(rig)
        assert report.files == 1
        assert not await rig.found("secret")
        assert await rig.found("new")
        rig.workspace.delete_block(rig.workspace.children_of(page)[0])
        await synced(rig)
        assert not [hit for hit in await rig.found("place") if "place" in hit.body.lower()]


async def test_a_broken_file_fails_alone_once_and_is_said() -> None:
    """The page is indexed without it, and the file is not fetched again and again."""
    async with attaching_rig() as rig:
        broken = rig.workspace.add_file("b.pdf", files.encrypted_pdf("x"))
        fine = rig.workspace.add_file("c.txt", b"Coffee is free.")
        page = rig.workspace.add_page("Mixed", blocks=[blocks.pdf(broken), blocks.file(fine, "c.txt")])

        report = await rig.sync()

        assert report.is_clean
        [left_out] = report.left_out
        assert (left_out.page_id, left_out.reason) == (page, "the file 'b.pdf' is protected by a password")
        assert await rig.found("coffee")
        rig.workspace.append_blocks(page, [blocks.paragraph("Edited.")])
        again = await synced(rig)
        assert again.files_reused == 2
        assert [one.reason for one in again.left_out] == [left_out.reason]
        assert downloads(rig) == 0


async def test_a_file_that_cannot_be_had_for_now_is_tried_again_and_keeps_its_old_text() -> None:
    """The page is stored, counts as failed, and is whole after the next run."""
    async with attaching_rig() as rig:
        stored = rig.workspace.add_file("a.txt", b"The printer is called Otto.")
        page = rig.workspace.add_page(
            "Printer", blocks=[blocks.paragraph("Intro."), blocks.file(stored, "a.txt")]
        )
        rig.notion.server.faults.add(faults.bad_gateway(), route=routes.FILE, times=1)

        report = await rig.sync()

        assert [(one.page_id, "a.txt" in one.reason) for one in report.failed] == [(page, True)]
        assert await rig.found("intro")
        report = await synced(rig)
        assert report.is_clean, report
        assert await rig.found("otto")
        assert (await synced(rig)).read == 0


async def test_f19_an_expired_address_is_asked_for_anew_and_no_signature_is_kept(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """One more request for the block; nothing signed in the index, the report or the log."""
    caplog.set_level(logging.DEBUG)
    async with attaching_rig() as rig:
        rig.notion.server.behaviour.file_lifetime = timedelta(0)
        stored = rig.workspace.add_file("a.txt", b"The printer is called Otto.")
        page = rig.workspace.add_page("Printer", blocks=[blocks.file(stored, "a.txt")])
        asked = rig.notion.server.requests

        original = rig.notion.api.block

        async def block_with_lifetime(block_id: str) -> object:
            rig.notion.server.behaviour.file_lifetime = timedelta(hours=1)
            return await original(block_id)

        rig.notion.api.block = block_with_lifetime  # type: ignore[method-assign,assignment] # time goes by
        report = await rig.sync()

        assert report.is_clean
        assert downloads(rig) == 2
        assert await rig.found("otto")
        assert any("X-Amz-Signature" in str(record.query) for record in asked)
        everything = (str(rig.content()), str(await rig.store.stored_blocks(PageId(page))), str(report))
        assert not any("Amz" in text for text in everything)
        assert "Amz" not in caplog.text


async def test_files_elsewhere_are_read_only_where_that_is_wanted() -> None:
    """By default a link to another server is a link (NOT-13)."""
    for external in (False, True):
        async with attaching_rig(external=external) as rig:
            stored = rig.workspace.add_file("a.txt", b"Outside text.")
            address, _ = rig.notion.server._files.sign(stored["file"]["$file"], timedelta(hours=1))
            rig.workspace.add_page("Link", blocks=[blocks.file(address, "a.txt")])
            report = await rig.sync()
            assert downloads(rig) == report.files == external
            assert bool(await rig.found("outside")) is external


async def test_pictures_are_read_by_whoever_recognises_text() -> None:
    """Without such a reader their captions stand alone, and nothing is downloaded."""
    for ocr in (None, FakeOcr()):
        async with attaching_rig(ocr=ocr) as rig:
            picture = rig.workspace.add_file("board.png", b"\x89PNG")
            rig.workspace.add_page("Board", blocks=[blocks.image(picture, "after the meeting")])
            await rig.sync()
            assert downloads(rig) == (ocr is not None)
            assert bool(await rig.found("whiteboard")) is (ocr is not None)
            assert await rig.found("meeting")


async def test_a_scan_without_text_is_given_to_whoever_recognises_text() -> None:
    """A PDF whose pages hold no text."""
    ocr = FakeOcr()
    async with attaching_rig(ocr=ocr) as rig:
        rig.workspace.add_page(
            "Scan", blocks=[blocks.pdf(rig.workspace.add_file("scan.pdf", files.pdf([[]])))]
        )
        await rig.sync()
        assert ocr.seen == ["scan.pdf"]
        assert await rig.found("june")


@pytest.mark.parametrize("is_broken", [False, True])
async def test_only_the_scanned_pages_of_a_pdf_are_recognised(is_broken: bool) -> None:
    """Text and scans stand under their pages; scans that cannot be read cost no text."""
    ocr = FakeOcr(pages=3, is_broken=is_broken)
    async with attaching_rig(ocr=ocr) as rig:
        stored = rig.workspace.add_file("mixed.pdf", files.pdf([["Typed first."], [], ["Typed last."]]))
        page = rig.workspace.add_page("Mixed", blocks=[blocks.pdf(stored)])

        report = await rig.sync()

        parts = [one.chunk for one in rig.chunks(page) if one.chunk.heading_path]
        by_page = {chunk.heading_path[-1].text: chunk.body for chunk in parts}
        assert by_page["mixed.pdf, page 1"] == "Typed first."
        assert by_page["mixed.pdf, page 3"] == "Typed last."
        assert ("mixed.pdf, page 2" in by_page) is not is_broken
        assert bool(report.left_out) is is_broken


async def test_files_in_a_rows_properties_are_read_and_cited_with_the_rows_link() -> None:
    """Those that Notion stores, each once; an expired address is asked for anew, a replaced file is read."""
    async with attaching_rig() as rig:
        contract = rig.workspace.add_file("contract.txt", b"The notice period is ninety days.")
        annex = rig.workspace.add_file("annex.txt", b"The annex names three bridges.")
        base = rig.workspace.add_database("Contracts")
        value = properties.files({"name": "contract.txt", **contract}, {"name": "annex.txt", **annex})
        row = rig.workspace.add_row(base, "Acme", properties={"Signed": value})
        rig.notion.server.faults.add(faults.error(403, "AccessDenied"), route=routes.FILE, times=1)

        report = await rig.sync()

        assert report.is_clean
        assert (report.files, report.left_out) == (2, ())
        [hit] = [hit for hit in await rig.found("ninety") if "ninety" in hit.body]
        assert (hit.page_id, hit.block_id) == (row, None)
        assert [heading.text for heading in hit.heading_path] == ["contract.txt"]
        assert await rig.found("bridges")
        rig.workspace.append_blocks(row, [blocks.paragraph("Edited.")])
        again = await synced(rig)
        assert (again.files, again.files_reused, downloads(rig)) == (0, 2, 0)

        changed = rig.workspace.add_file("contract.txt", b"The notice period is ten weeks.")
        rig.workspace.set_properties(row, {"Signed": properties.files({"name": "contract.txt", **changed})})
        assert (await synced(rig)).files == 1
        assert await rig.found("weeks")
        assert not [hit for word in ("ninety", "bridges") for hit in await rig.found(word)]
        assert "X-Amz" not in str([rig.store._pages[PageId(row)].stored])


async def test_a_row_that_is_read_without_its_entry_keeps_its_files() -> None:
    """A new process that goes on with a single row asks for its properties."""
    async with attaching_rig() as rig:
        stored = rig.workspace.add_file("a.txt", b"The key hangs over the fridge.")
        base = rig.workspace.add_database("Keys")
        value = properties.files({"name": "a.txt", **stored})
        row = rig.workspace.add_row(base, "Kitchen", properties={"File": value})
        await rig.sync()
        ref = (await rig.store.states([PageId(row)]))[PageId(row)].ref

        page = await NotionSource(rig.notion.api).read(ref)

        assert [one.name for one in page.attachments] == ["a.txt"]


async def test_deeply_nested_files_and_copies_are_found() -> None:
    """A file a hundred toggles deep is read like any other."""
    async with attaching_rig() as rig:
        stored = rig.workspace.add_file("deep.txt", b"Deep words.")
        inner = blocks.file(stored, "deep.txt")
        for _ in range(100):
            inner = blocks.toggle("level", [inner])
        page = rig.workspace.add_page("Deep", blocks=[inner])
        await rig.sync()
        assert any("Deep words." in body for body in rig.bodies(page))


async def test_no_connection_is_made_for_addresses_inside() -> None:
    """A file that claims to lie in a private network is left out, with the reason."""
    async with attaching_rig(external=True) as rig:
        page = rig.workspace.add_page(
            "Trap",
            blocks=[
                blocks.file("http://169.254.169.254/latest/a.txt", "a.txt"),
                blocks.file("https://127.0.0.1/b.txt", "b.txt"),
            ],
        )
        report = await rig.sync()
        assert [one.reason for one in report.left_out] == [
            "the file 'a.txt' its address is not https",
            "the file 'b.txt' its address is not on the public internet",
        ]
        stored = await rig.store.stored_blocks(PageId(page))
        assert stored is not None
        assert len([block for block, _ in walk(stored) if block.text]) == 2
