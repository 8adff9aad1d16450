"""Attached files become part of their page: known ones as stored, new ones downloaded and read."""

import logging
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from core.domain.attachments import Extracted, ExtractedPart, as_blocks, notes_of, parts_of, with_parts
from core.domain.documents import Block, BlockKind, Page, PageRef
from core.domain.files import Attachment, AttachmentKind, FileContent, FileReport
from core.domain.ids import BlockId, PageId
from core.errors import ConfigurationError, NotFoundError, RefusedError, TemporaryError, UnreadableError
from core.ports import IncrementalSource, Probe
from core.ports.attachments import AttachmentSource, Extractor, Ocr
from core.ports.source_time import SourceTime

_logger = logging.getLogger("footnote.sync")


class StoredBlocks(Protocol):
    """What the index holds of pages: a part of `core.ports.PageWriter`."""

    async def stored_blocks(self, page_id: PageId) -> tuple[Block, ...] | None:
        """As `PageWriter.stored_blocks`."""


MAX_FILES = 200
"""Files of one page that are read; more are left out and said so."""


class FileReader:
    """Reads files of pages. With ``external`` also those that lie outside of the source's own storage.

    ``edition`` names what else decides how a file's text is stored, such as rules of masking: files that were
    read under another one are read again.
    """

    def __init__(
        self,
        *,
        source: AttachmentSource,
        extractor: Extractor,
        ocr: Ocr | None = None,
        external: bool = False,
        edition: str = "",
    ) -> None:
        self._source = source
        self._extractor = extractor
        self._ocr = ocr
        self._external = external
        self._versions = ":".join((extractor.version, ocr.version if ocr is not None else "", edition))

    async def attach(self, page: Page, stored: tuple[Block, ...]) -> Page:
        """The page with its files below their blocks; ``stored`` is the page as it was read before.

        A file of the same key is not downloaded again. One that fails leaves the page as it is, with what was
        stored of the same block before if the failure may pass.

        Raises:
            RefusedError: the source refused us altogether.
        """
        wanted = [one for one in page.attachments if self._is_readable(one)]
        known = parts_of(stored)
        parts: dict[BlockId | None, tuple[Block, ...]] = {}
        outcome = _Outcome()
        for one in wanted[:MAX_FILES]:
            found = known.get((one.block_id, self._key(one)))
            if found is not None:
                outcome.reused += 1
                outcome.left_out += notes_of(found)
            else:
                found = await self._read(one, page, _of_block(one.block_id, known), outcome)
            parts[one.block_id] = (*parts.get(one.block_id, ()), *found)
        if len(wanted) > MAX_FILES:
            outcome.left_out.append(f"{len(wanted) - MAX_FILES} files beyond the first {MAX_FILES}")
        return replace(
            page,
            blocks=with_parts(page.blocks, parts),
            attachments=(),
            files=FileReport(outcome.read, outcome.reused, tuple(outcome.left_out), tuple(outcome.postponed)),
        )

    def _is_readable(self, one: Attachment) -> bool:
        if one.is_external and not self._external:
            return False
        if one.kind is AttachmentKind.IMAGE:
            return self._ocr is not None
        return self._extractor.can_read(one.name)

    def _key(self, one: Attachment) -> str:
        return f"{one.key}:{self._versions}"

    async def _read(
        self, one: Attachment, page: Page, before: tuple[Block, ...], outcome: "_Outcome"
    ) -> tuple[Block, ...]:
        note = ""
        try:
            extracted = await self._extracted(one, await self._source.download(one, page.ref))
        except RefusedError:
            raise
        except (TemporaryError, ConfigurationError) as error:
            _logger.info("A file in block %s is left for the next run: %s", one.block_id, error)
            outcome.postponed.append(f"the file {one.name!r} could not be had: {error}")
            return before
        except (UnreadableError, NotFoundError) as error:
            _logger.info("A file in block %s is left out: %s", one.block_id, error)
            note = f"the file {one.name!r} {error}"
            extracted = Extracted(())
        else:
            outcome.read += 1
            if extracted.left_out:
                note = f"the file {one.name!r}: {extracted.left_out}"
        if note:
            outcome.left_out.append(note)
        return as_blocks(one, self._key(one), extracted, note=note)

    async def _extracted(self, one: Attachment, content: FileContent) -> Extracted:
        if one.kind is AttachmentKind.IMAGE:
            return await self._recognised(one, content)
        extracted = await self._extractor.extract(content, name=one.name)
        if self._ocr is None or not one.name.lower().endswith(".pdf"):
            return extracted
        read = {number: part for part in extracted.parts if (number := _page_number(part.label))}
        try:
            scanned = await self._recognised(one, content, but=frozenset(read))
        except UnreadableError as error:
            if not read:
                raise
            return replace(extracted, left_out=f"its scanned pages: {error}")
        both = {**{_page_number(part.label) or 1: part for part in scanned.parts}, **read}
        return replace(extracted, parts=tuple(part for _, part in sorted(both.items())))

    async def _recognised(
        self, one: Attachment, content: FileContent, *, but: frozenset[int] = frozenset()
    ) -> Extracted:
        if self._ocr is None:
            return Extracted(())
        texts = await self._ocr.read(content, name=one.name, but=but)
        return Extracted(
            tuple(
                ExtractedPart(
                    f"page {number}" if len(texts) > 1 else "", (Block(BlockKind.PARAGRAPH, text.strip()),)
                )
                for number, text in enumerate(texts, start=1)
                if text.strip()
            )
        )


class _Outcome:
    """What happened to the files of one page."""

    def __init__(self) -> None:
        self.read = 0
        self.reused = 0
        self.left_out: list[str] = []
        self.postponed: list[str] = []


def _page_number(label: str) -> int | None:
    """Of a part that is a page of a PDF."""
    name, _, number = label.partition(" ")
    return int(number) if name == "page" and number.isdecimal() else None


def _of_block(
    block_id: BlockId | None, known: Mapping[tuple[BlockId | None, str], tuple[Block, ...]]
) -> tuple[Block, ...]:
    """What was read of this block's file before, whichever it was; nothing of files in properties."""
    if block_id is None:
        return ()
    return next((parts for (owner, _), parts in known.items() if owner == block_id), ())


class AttachingSource:
    """A source whose pages come with the text of their files."""

    def __init__(self, source: IncrementalSource, reader: FileReader, index: StoredBlocks) -> None:
        self._source = source
        self._reader = reader
        self._index = index

    def list_pages(self) -> AsyncIterator[PageRef]:
        """As `PageSource.list_pages`."""
        return self._source.list_pages()

    async def read(self, ref: PageRef) -> Page:
        """As `PageSource.read`."""
        page = await self._source.read(ref)
        if not page.attachments:
            return page
        return await self._reader.attach(page, await self._index.stored_blocks(ref.id) or ())

    async def probe(self, page_id: PageId) -> Probe:
        """As `PageSource.probe`."""
        return await self._source.probe(page_id)

    def changed_since(self, moment: datetime) -> AsyncIterator[PageRef]:
        """As `IncrementalSource.changed_since`."""
        return self._source.changed_since(moment)

    def rows(self, ref: PageRef) -> AsyncIterator[PageRef]:
        """As `IncrementalSource.rows`."""
        return self._source.rows(ref)

    @property
    def requests_sent(self) -> int:
        """As `IncrementalSource.requests_sent`."""
        return self._source.requests_sent

    @property
    def time(self) -> SourceTime:
        """As `IncrementalSource.time`."""
        return self._source.time
