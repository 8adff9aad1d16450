"""The sample workspace as a source."""

from adapters.sources.sample import SampleSource
from core.domain.documents import BlockKind, ObjectType, PageRef, walk
from core.domain.ids import PageId
from core.ports import Presence


async def listed(source: SampleSource) -> list[PageRef]:
    """Everything a source lists, in order."""
    return [ref async for ref in source.list_pages()]


async def test_every_page_reads_with_its_own_id_on_every_block() -> None:
    """All listed pages are readable, and citations can link to their blocks."""
    source = SampleSource()

    for ref in await listed(source):
        page = await source.read(ref)
        assert page.ref == ref
        assert ref.title
        assert ref.url.startswith("https://www.notion.so/")
        if ref.object_type is ObjectType.PAGE:
            assert all(block.id for block, _ in walk(page.blocks))


async def test_parents_come_before_their_children() -> None:
    """A writer that stores in this order always knows the parent."""
    seen: set[PageId] = set()

    for ref in await listed(SampleSource()):
        assert ref.parent_id is None or ref.parent_id in seen
        seen.add(ref.id)


async def test_sy15_rows_show_their_properties_with_the_formats_of_their_columns() -> None:
    """A row's parent is its database, and a deposit in euros says so."""
    refs = await listed(SampleSource())
    camera = next(ref for ref in refs if ref.title == "Wärmebildkamera")
    database = next(ref for ref in refs if ref.id == camera.parent_id)

    assert camera.object_type is ObjectType.ROW
    assert ("Pfand", "50 €") in camera.properties
    assert (database.object_type, database.title) == (ObjectType.DATABASE, "Geräteverleih")


async def test_the_sample_shows_every_kind_of_block() -> None:
    """Tables, code, lists, quotes and headings are all in the demo; parts are those of attached files."""
    source = SampleSource()
    kinds = {block.kind for ref in await listed(source) for block, _ in walk((await source.read(ref)).blocks)}

    assert kinds == set(BlockKind) - {BlockKind.PART}


async def test_probing_tells_known_from_unknown_pages() -> None:
    """What is not in the sample is not shared."""
    source = SampleSource()
    first = (await listed(source))[0]

    assert (await source.probe(first.id)).ref == first
    assert (
        await source.probe(PageId("00000000-0000-0000-0000-000000000000"))
    ).presence is Presence.NOT_SHARED
