"""Word, PowerPoint and Excel files of the open formats."""

from collections.abc import Iterable, Iterator
from datetime import date, datetime
from io import BytesIO
from typing import Any
from zipfile import BadZipFile, ZipFile

from adapters.extractors.limits import FileLimits, Room
from adapters.extractors.web import blocks_of_html
from adapters.markup.escaping import escape_structure
from adapters.markup.markdown_text import table
from core.domain.attachments import ExtractedPart
from core.domain.documents import Block, BlockKind
from core.errors import UnreadableError


def check_archive(data: bytes, limits: FileLimits) -> None:
    """Look at what an archive says it holds before anything is unpacked.

    Raises:
        UnreadableError: broken, protected, or far larger inside than outside.
    """
    try:
        with ZipFile(BytesIO(data)) as archive:
            entries = archive.infolist()
    except (BadZipFile, OSError, ValueError) as error:
        raise UnreadableError("is broken") from error
    if len(entries) > limits.entries or sum(entry.file_size for entry in entries) > limits.unpacked:
        raise UnreadableError(f"unpacks to more than {limits.unpacked} bytes or {limits.entries} entries")
    if any(entry.flag_bits & 1 for entry in entries):
        raise UnreadableError("is protected by a password")


def read_docx(data: bytes, room: Room) -> list[ExtractedPart]:
    """The whole document as one part: Word's pages exist only on paper."""
    import mammoth

    ignore_images = mammoth.images.img_element(lambda _image: {})
    html = mammoth.convert_to_html(BytesIO(data), convert_image=ignore_images).value
    return [ExtractedPart("", blocks_of_html(html, room))]


def read_pptx(data: bytes, room: Room) -> list[ExtractedPart]:
    """The slides, labelled ``slide 3``, each with its notes."""
    from pptx import Presentation

    slides = list(Presentation(BytesIO(data)).slides)
    parts = []
    for number, slide in enumerate(slides[: room.pages(len(slides))], start=1):
        if room.is_full:
            break
        blocks = [block for shape in _flat(slide.shapes) for block in _of_shape(shape, room)]
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            blocks += _paragraphs(slide.notes_slide.notes_text_frame, room)
        parts.append(ExtractedPart(f"slide {number}", tuple(blocks)))
    return parts


def _flat(shapes: Iterable[Any]) -> Iterator[Any]:
    """All shapes, those of groups in their group's place."""
    stack = list(shapes)[::-1]
    while stack:
        shape = stack.pop()
        if hasattr(shape, "shapes"):
            stack.extend(list(shape.shapes)[::-1])
        else:
            yield shape


def _of_shape(shape: Any, room: Room) -> list[Block]:
    if getattr(shape, "has_table", False):
        rows = [[cell.text for cell in row.cells] for row in shape.table.rows]
        return [Block(BlockKind.TABLE, room.take(table(rows)))] if rows else []
    if not shape.has_text_frame:
        return []
    if shape.is_placeholder and "TITLE" in str(shape.placeholder_format.type):
        title = room.take(" ".join(shape.text_frame.text.split()))
        return [Block(BlockKind.HEADING, title, level=1)] if title else []
    return _paragraphs(shape.text_frame, room)


def _paragraphs(frame: Any, room: Room) -> list[Block]:
    texts = (" ".join(paragraph.text.split()) for paragraph in frame.paragraphs)
    return [Block(BlockKind.PARAGRAPH, escape_structure(room.take(text))) for text in texts if text]


def read_xlsx(data: bytes, room: Room) -> list[ExtractedPart]:
    """The visible sheets as tables of their values, labelled ``sheet Costs``."""
    from openpyxl import load_workbook

    workbook = load_workbook(BytesIO(data), read_only=True, data_only=True, keep_links=False)
    sheets = [sheet for sheet in workbook.worksheets if sheet.sheet_state == "visible"]
    parts = []
    for sheet in sheets[: room.pages(len(sheets))]:
        # Sizes that a file claims are not believed: rows without cells would be made up to fill them.
        sheet.reset_dimensions()
        rows = []
        for values in sheet.iter_rows(values_only=True):
            cells = [shown(value) for value in values]
            if any(cells):
                rows.append(room.take_cells(_without_empty_end(cells)))
            if room.is_full:
                break
        if rows:
            parts.append(ExtractedPart(f"sheet {sheet.title}", (Block(BlockKind.TABLE, table(rows)),)))
    return parts


def _without_empty_end(cells: list[str]) -> list[str]:
    while cells and not cells[-1]:
        cells.pop()
    return cells


def shown(value: object) -> str:
    """A cell as people read it."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case float() if value.is_integer():
            return str(int(value))
        case datetime():
            return value.isoformat(" ", "minutes").removesuffix(" 00:00")
        case date():
            return value.isoformat()
        case _:
            return " ".join(str(value).split())
