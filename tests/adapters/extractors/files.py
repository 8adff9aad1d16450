"""Files made on the spot: PDF by hand, Office files by the libraries that others write them with."""

import re
import zlib
from collections.abc import Sequence
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

from docx import Document
from openpyxl import Workbook
from pptx import Presentation
from pypdf import PdfReader, PdfWriter


def pdf(pages: Sequence[Sequence[str]], *, packed: bool = True) -> bytes:
    """A PDF whose pages hold these lines."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>"]
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects.append(f"<< /Type /Pages /Count {len(pages)} /Kids [{kids}] >>".encode())
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
    for number, lines in enumerate(pages):
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {5 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
        drawn = ["BT /F1 11 Tf 14 TL 50 800 Td"]
        drawn += [f"({_escaped(line)}) Tj T*" for line in lines]
        stream = "\n".join([*drawn, "ET"]).encode("cp1252")
        filtered = zlib.compress(stream) if packed else stream
        kind = b"/Filter /FlateDecode " if packed else b""
        objects.append(
            b"<< " + kind + f"/Length {len(filtered)} >>\nstream\n".encode() + filtered + b"\nendstream"
        )
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, content in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n".encode() + content + b"\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{place:010} 00000 n \n".encode() for place in places)
    out += f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF".encode()
    return bytes(out)


def _escaped(line: str) -> str:
    return line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def encrypted_pdf(password: str) -> bytes:
    """A PDF that opens with a password only."""
    writer = PdfWriter(clone_from=PdfReader(BytesIO(pdf([["secret"]]))))
    writer.encrypt(password, algorithm="RC4-128")
    return _saved(writer.write)


def docx() -> bytes:
    """A Word file with headings, a list, a table and a link."""
    document = Document()
    document.add_heading("Travel policy", level=1)
    document.add_paragraph("Book trains before planes.")
    document.add_heading("Hotels", level=2)
    document.add_paragraph("Up to 120 euros a night.", style="List Bullet")
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(
        [cell for row in table.rows for cell in row.cells], ["City", "Limit", "Oslo", "180"], strict=True
    ):
        cell.text = text
    return _saved(document.save)


def pptx() -> bytes:
    """Two slides: a title with items and a note, and a table."""
    show = Presentation()
    slide = show.slides.add_slide(show.slide_layouts[1])
    slide.shapes.title.text = "Roadmap"
    slide.placeholders[1].text = "Ship the widget"
    slide.notes_slide.notes_text_frame.text = "Mention the delay."
    other = show.slides.add_slide(show.slide_layouts[5])
    other.shapes.title.text = "Budget"
    table = other.shapes.add_table(1, 2, 0, 0, 100, 100).table
    table.cell(0, 0).text, table.cell(0, 1).text = "Rent", "4200"
    return _saved(show.save)


def xlsx() -> bytes:
    """Two visible sheets and a hidden one."""
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Costs"
    sheet.append(["Item", "Price"])
    sheet.append(["Desk | oak", 250.0])
    book.create_sheet("People").append(["Name", True])
    hidden = book.create_sheet("Salaries")
    hidden.append(["secret"])
    hidden.sheet_state = "hidden"
    return _saved(book.save)


def zip_bomb(size: int) -> bytes:
    """An archive named as a Word file, of so many zeros."""
    out = BytesIO()
    with ZipFile(out, "w", ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", b"\0" * size)
    return out.getvalue()


def _saved(save: object) -> bytes:
    out = BytesIO()
    save(out)  # type: ignore[operator] # each library's own method, all of which take a file
    return out.getvalue()


def xlsx_with_far_cells(*, rows: int, column: int) -> bytes:
    """A workbook whose rows hold one cell each, far to the right."""
    workbook = Workbook()
    for row in range(1, rows + 1):
        workbook.active.cell(row=row, column=column, value="x")
    return _saved(workbook.save)


def with_entity(document: bytes, part: str, declared: str, entity: str) -> bytes:
    """An office file one of whose parts declares an entity, and shows it in its first text."""
    made = BytesIO()
    with ZipFile(BytesIO(document)) as given, ZipFile(made, "w", ZIP_DEFLATED) as changed:
        for name in given.namelist():
            content = given.read(name)
            if name == part:
                text = re.sub(r"^<\?xml[^>]*\?>", "", content.decode())
                at = re.search(r"<(?:w:t|a:t|t)(?: [^>]*)?>", text)
                assert at is not None, "no text to put an entity in"
                text = text[: at.end()] + entity + text[at.end() :]
                content = f'<?xml version="1.0" encoding="UTF-8"?>{declared}{text}'.encode()
            changed.writestr(name, content)
    return made.getvalue()
