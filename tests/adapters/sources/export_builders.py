"""Exports as Notion makes them, built in the test."""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

from adapters.sources.notion_export import NotionExport
from core.domain.documents import Page, PageRef


def hex_id(number: int) -> str:
    """A page's id as file names carry it."""
    return f"{number:032x}"


def uuid(number: int) -> str:
    """The same id with dashes."""
    digits = hex_id(number)
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def zipped(files: Mapping[str, str | bytes]) -> bytes:
    """A zip with these files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def written(folder: Path, content: bytes, name: str = "export.zip") -> Path:
    """A file with this content."""
    path = folder / name
    path.write_bytes(content)
    return path


def open_files() -> int:
    """How many files this process has open."""
    return len(list(Path("/dev/fd").iterdir()))


async def listed(export: NotionExport) -> dict[str, PageRef]:
    """Every page by its id with dashes, in order."""
    return {str(ref.id): ref async for ref in export.list_pages()}


async def page(export: NotionExport, number: int) -> Page:
    """One page read in full."""
    return await export.read((await listed(export))[uuid(number)])
