"""Tables of an export, and the property lines on top of a row's page."""

import csv
import io
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

MAX_FIELD = 16 * 2**20
"""Characters in one cell; the csv module would stop at 131,072."""

# Relations name the related page's file: "Ann (../People/Ann%203f...9c.md)".
_FILE_REFERENCE = re.compile(r"(?:(?<!\s)\s+)?\([^()\s]*[0-9a-f]{32}\.(?:md|csv)\)", re.IGNORECASE)
_PROPERTY_LINE = re.compile(r"(?P<name>[^:\n]{1,100}): (?P<value>\S.*)")

Properties = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A database's rows; the first column holds the titles."""

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()

    def properties(self, row: Sequence[str]) -> Properties:
        """A row's values by column, without its title and what is empty."""
        pairs = zip(self.columns[1:], row[1:], strict=False)
        return tuple((name, readable(value)) for name, value in pairs if name and value.strip())


def read_table(text: str) -> Table:
    """The table in a CSV file; what cannot be read ends it."""
    csv.field_size_limit(MAX_FIELD)
    rows: list[tuple[str, ...]] = []
    reader = csv.reader(io.StringIO(text.replace("\0", ""), newline=""))
    # Half a table is worth more than none; its pages are read from their own files.
    with suppress(csv.Error):
        rows.extend(tuple(value.strip() for value in row) for row in reader if any(map(str.strip, row)))
    return Table(rows[0], tuple(rows[1:])) if rows else Table()


def readable(value: str) -> str:
    """A value without the file names that relations carry."""
    return " ".join(_FILE_REFERENCE.sub("", value).split())


def split_properties(text: str, columns: Sequence[str]) -> tuple[Properties, str]:
    """The ``Name: value`` lines at the start of a row's page, and the text behind them.

    With known columns a line that names none of them goes on with the value above; without, every line of
    the first paragraph has to look like a property.
    """
    stripped = text.lstrip("\n")
    head, _, rest = stripped.partition("\n\n")
    lines = head.split("\n")
    found = _by_columns(lines, columns) if columns else _by_looks(lines)
    if not found:
        return (), text
    return tuple((name, readable(value)) for name, value in found if value.strip()), rest


def _by_columns(lines: Sequence[str], columns: Sequence[str]) -> list[tuple[str, str]]:
    known = set(columns)
    found: list[tuple[str, str]] = []
    for line in lines:
        name, colon, value = line.partition(":")
        if colon and name.strip() in known:
            found.append((name.strip(), value.strip()))
        elif found:
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
        else:
            return []
    return found


def _by_looks(lines: Sequence[str]) -> list[tuple[str, str]]:
    matches = [_PROPERTY_LINE.fullmatch(line.strip()) for line in lines]
    found = [(match["name"].strip(), match["value"]) for match in matches if match]
    return found if len(found) == len(lines) else []
