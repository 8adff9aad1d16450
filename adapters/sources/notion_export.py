"""Notion's "Markdown & CSV" export as a source: any member can download one, no token is needed.

An export has page ids but no block ids, so citations link to the page. It tells nothing of edits either:
``last_edited`` is null and every page is read at every sync, which costs no calls.
"""

import asyncio
import codecs
import weakref
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from adapters.markup.markdown import parse_markdown
from adapters.markup.markdown_text import table
from adapters.sources.export_files import ExportFile, open_export
from adapters.sources.export_rows import Properties, Table, read_table, split_properties
from adapters.sources.export_tree import Entry, find_entries, linked_page, parents_first, set_parents, url_of
from core.domain.documents import UNTITLED, Block, BlockKind, ObjectType, Page, PageRef
from core.domain.files import FileReport
from core.domain.ids import PageId
from core.errors import InvalidInputError, NotFoundError
from core.ports import Presence, Probe


class NotionExport:
    """A `PageSource` over an export: the zip as downloaded, or the folder it was unpacked to.

    Opening reads the table of contents only; pages are read one at a time. Usable as a context manager;
    else the files are closed with the object.

    Raises:
        InvalidInputError: the path holds no export, or one that must not be read.
    """

    def __init__(self, path: Path | str) -> None:
        stack = ExitStack()
        self._close = weakref.finalize(self, stack.close)
        try:
            files = open_export(Path(path), stack)
            self._entries = find_entries(files)
            if not self._entries:
                raise InvalidInputError(
                    f"there are no Notion pages in {Path(path).name}: expected files named like "
                    "'Title 0f3a9c1b2d4e5f60718293a4b5c6d7e8.md'. In Notion choose Export, Markdown & CSV"
                )
        except BaseException:
            self._close()
            raise
        self._tables: dict[PageId, Table] = {}
        self._refs: dict[PageId, PageRef] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the files; nothing can be read afterwards."""
        self._close()

    async def list_pages(self) -> AsyncIterator[PageRef]:
        """Every page and database, parents first.

        Raises:
            InvalidInputError: a file of the export is damaged.
        """
        for ref in (await self._all_refs()).values():
            yield ref

    async def read(self, ref: PageRef) -> Page:
        """The page with its blocks; of a database, the rows that have no page of their own.

        Raises:
            NotFoundError: the export has no such page.
            InvalidInputError: its file is damaged.
        """
        current = (await self._all_refs()).get(ref.id)
        if current is None:
            raise NotFoundError(f"the export has no page {ref.id}")
        entry = self._entries[ref.id]
        left_out = tuple(
            f"the file {name!r} has the same page id as another one, which was read"
            for name in entry.passed_over
        )
        return Page(
            current, await asyncio.to_thread(self._blocks, entry), files=FileReport(left_out=left_out)
        )

    async def probe(self, page_id: PageId) -> Probe:
        """A page that the export does not hold is not shared with us."""
        ref = (await self._all_refs()).get(page_id)
        return Probe(Presence.LIVE, ref) if ref is not None else Probe(Presence.NOT_SHARED)

    async def _all_refs(self) -> dict[PageId, PageRef]:
        if self._refs is None:
            self._refs = await asyncio.to_thread(self._make_refs)
        return self._refs

    def _make_refs(self) -> dict[PageId, PageRef]:
        for entry in self._entries.values():
            if entry.rows_file is not None:
                rows = read_table(_text(entry.rows_file))
                self._tables[entry.id] = rows
                entry.row_titles = frozenset(row[0] for row in rows.rows)
        titles = {entry.id: self._title(entry) for entry in self._entries.values()}
        set_parents(self._entries, titles)
        return {entry.id: self._ref(entry, titles[entry.id]) for entry in parents_first(self._entries)}

    def _title(self, entry: Entry) -> str:
        """The heading on top of the page: complete, where the file's name may be cut short."""
        title = _split_title(_text(entry.page))[0] if entry.page is not None else ""
        named = "" if entry.name == UNTITLED else entry.name
        return title or named

    def _ref(self, entry: Entry, title: str) -> PageRef:
        kind = (
            ObjectType.DATABASE if entry.is_database else ObjectType.ROW if entry.is_row else ObjectType.PAGE
        )
        return PageRef(
            id=entry.id,
            title=title,
            url=url_of(entry.id),
            parent_id=entry.parent.id if entry.parent is not None else None,
            object_type=kind,
            properties=self._properties_and_body(entry)[0],
        )

    def _properties_and_body(self, entry: Entry) -> tuple[Properties, str]:
        body = _split_title(_text(entry.page))[1] if entry.page is not None else ""
        if entry.parent is None or not entry.is_row:
            return (), body
        return split_properties(body, self._tables.get(entry.parent.id, Table()).columns)

    def _blocks(self, entry: Entry) -> tuple[Block, ...]:
        _, body = self._properties_and_body(entry)
        blocks = parse_markdown(body, resolve_link=_resolve, indented_code=False)
        rows = self._rows_without_page(entry)
        return (*blocks, Block(BlockKind.TABLE, rows)) if rows else blocks

    def _rows_without_page(self, entry: Entry) -> str:
        rows = self._tables.get(entry.id)
        if rows is None:
            return ""
        refs = self._refs or {}
        own_page = Counter(ref.title for ref in refs.values() if ref.parent_id == entry.id)
        left = []
        for row in rows.rows:
            if own_page[row[0]]:
                own_page[row[0]] -= 1
            else:
                left.append(row)
        return table([rows.columns, *left]) if left else ""


def _text(file: ExportFile) -> str:
    return _decoded(file.read()).replace("\r\n", "\n").replace("\r", "\n")


def _decoded(data: bytes) -> str:
    """Notion writes UTF-8; what an editor or a spreadsheet saved anew is read as that wrote it.

    A file that is UTF-8 but for damaged places keeps all the rest.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", errors="replace")
    text = data.decode("utf-8-sig", errors="replace")
    damaged = text.count("\N{REPLACEMENT CHARACTER}") - data.count("\N{REPLACEMENT CHARACTER}".encode())
    if damaged and damaged == sum(not character.isascii() for character in text):
        # Not one character beyond ASCII was valid: this is the code page of Western spreadsheets.
        return data.decode("cp1252", errors="replace")
    return text


def _split_title(text: str) -> tuple[str, str]:
    """The heading that Notion writes on top of each page, and what is below it."""
    first, _, rest = text.lstrip("\n").partition("\n")
    if not first.startswith("#") or first.lstrip("#")[:1] not in {"", " "} or first.startswith("##"):
        return "", text
    headings = [block for block in parse_markdown(first) if block.kind is BlockKind.HEADING]
    return (headings[0].text if headings else ""), rest


def _resolve(href: str) -> str | None:
    page_id = linked_page(href)
    return url_of(page_id) if page_id is not None else None
