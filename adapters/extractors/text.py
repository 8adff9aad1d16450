"""Markdown, plain text and CSV, in whatever encoding they come."""

import csv
import re
from io import StringIO

from adapters.extractors.limits import Room
from adapters.markup.markdown import parse_markdown, plain_blocks
from adapters.markup.markdown_text import table
from core.domain.attachments import ExtractedPart
from core.domain.documents import Block, BlockKind
from core.errors import UnreadableError

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_SAMPLE = 8192
"""Characters of a table that show how its columns are set apart."""

_OLDER = (
    *("cp1252", "cp1251", "cp1250", "cp1253", "cp1254", "cp1255", "cp1256", "koi8_r", "utf_16"),
    *("shift_jis", "euc_jp", "gb18030", "big5", "euc_kr"),
)
"""Encodings that programs still write; with rarer ones beside them a short text would be anybody's guess."""

_MOST_CONTROL = 0.01
"""The share of control characters above which a file is no text."""


def decode(data: bytes) -> str:
    """The text of a file.

    Raises:
        UnreadableError: it is no text in any encoding.
    """
    for encoding in ("utf-8-sig", "utf-16") if data[:2] in {b"\xff\xfe", b"\xfe\xff"} else ("utf-8-sig",):
        try:
            return _checked(data.decode(encoding))
        except UnicodeDecodeError:
            continue
    from charset_normalizer import from_bytes

    best = from_bytes(data, cp_isolation=list(_OLDER)).best()
    if best is None:
        raise UnreadableError("is no text in any known encoding")
    return _checked(str(best))


def _checked(text: str) -> str:
    sample = text[: 10 * _SAMPLE]
    strange = sum(ord(sign) < ord(" ") and sign not in "\t\n\r\f\v" for sign in sample)
    if strange > _MOST_CONTROL * len(sample):
        raise UnreadableError("holds bytes that are no text")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_markdown(text: str, room: Room) -> list[ExtractedPart]:
    """The document as one part, less the settings at its top."""
    return [ExtractedPart("", parse_markdown(room.take(_FRONT_MATTER.sub("", text, count=1))))]


def read_text(text: str, room: Room) -> list[ExtractedPart]:
    """The paragraphs as one part; nothing in them is read as structure."""
    return [ExtractedPart("", plain_blocks(room.take(text)))]


def read_csv(text: str, room: Room) -> list[ExtractedPart]:
    """One table.

    Raises:
        UnreadableError: its quotes do not close.
    """
    text = room.take(text)
    try:
        dialect: type[csv.Dialect] = csv.Sniffer().sniff(text[:_SAMPLE], delimiters=",;\t|")
    except csv.Error:
        dialect = csv.excel
    # A cell may hold lines, and signs that end a line elsewhere; and it may be as long as the file.
    csv.field_size_limit(max(len(text), 1))
    try:
        rows = [
            row
            for row in csv.reader(StringIO(text, newline=""), dialect)
            if any(cell.strip() for cell in row)
        ]
    except csv.Error as error:
        raise UnreadableError("is no table") from error
    return [ExtractedPart("", (Block(BlockKind.TABLE, table(rows)),))] if rows else []
