"""Attached files as the settings want them read."""

from adapters.extractors.ocr import TesseractOcr
from adapters.extractors.processes import FileExtractor
from bot.settings import Settings
from core.ports import IncrementalSource, PageSource
from core.ports.attachments import AttachmentSource
from core.services.attaching import AttachingSource, FileReader, StoredBlocks


def with_files(settings: Settings, source: PageSource, index: StoredBlocks, *, edition: str) -> PageSource:
    """The source with the text of its files on its pages; as it is where it has none, or they are not wanted.

    ``edition`` names the rules of masking: stored text was masked by them.
    """
    wanted = settings.notion_attachments
    if wanted == "off" or not isinstance(source, IncrementalSource):
        return source
    if not isinstance(source, AttachmentSource):
        return source
    reader = FileReader(
        source=source,
        extractor=FileExtractor(),
        ocr=TesseractOcr(settings.notion_ocr) if settings.notion_ocr else None,
        external=wanted == "all",
        edition=edition,
    )
    return AttachingSource(source, reader, index)
