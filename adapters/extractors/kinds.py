"""Which kind of file this is: by its name first, by its first bytes where the two must agree."""

from enum import StrEnum

from core.errors import UnreadableError


class FileKind(StrEnum):
    """The kinds that can be read."""

    PDF = "pdf"
    DOCX = "docx"
    PPTX = "pptx"
    XLSX = "xlsx"
    HTML = "html"
    MARKDOWN = "markdown"
    CSV = "csv"
    TEXT = "text"


ENDINGS = {
    "pdf": FileKind.PDF,
    "docx": FileKind.DOCX,
    "docm": FileKind.DOCX,
    "pptx": FileKind.PPTX,
    "pptm": FileKind.PPTX,
    "xlsx": FileKind.XLSX,
    "xlsm": FileKind.XLSX,
    "html": FileKind.HTML,
    "htm": FileKind.HTML,
    "xhtml": FileKind.HTML,
    "md": FileKind.MARKDOWN,
    "markdown": FileKind.MARKDOWN,
    "csv": FileKind.CSV,
    "tsv": FileKind.CSV,
    "txt": FileKind.TEXT,
    "text": FileKind.TEXT,
    "log": FileKind.TEXT,
    "rst": FileKind.TEXT,
}
"""Kinds by the ending of a name."""

_ZIPPED = frozenset({FileKind.DOCX, FileKind.PPTX, FileKind.XLSX})
_PDF_MARK_WITHIN = 1024
"""Bytes before which a PDF's mark has to stand, as readers allow."""


def kind_by_name(name: str) -> FileKind | None:
    """The kind that the ending of the name says; null for any other."""
    return ENDINGS.get(name.rpartition(".")[2].lower()) if "." in name else None


def check_first_bytes(data: bytes, kind: FileKind) -> None:
    """A file must be what its name says, so that no reader meets what it was not made for.

    Raises:
        UnreadableError: it is something else, or empty.
    """
    if not data.strip():
        raise UnreadableError("is empty")
    if kind is FileKind.PDF:
        right = b"%PDF-" in data[:_PDF_MARK_WITHIN]
    elif kind in _ZIPPED:
        right = data.startswith(b"PK\x03\x04")
    else:
        right = not data.startswith((b"%PDF-", b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"\x7fELF", b"MZ"))
    if not right:
        raise UnreadableError(f"is not the {kind} file that its name says")
