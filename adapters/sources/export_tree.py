"""Which file of an export is which page, and which page stands above it.

Notion names files ``Title <32 hex>.md`` and puts the pages below one into a folder named like it: with the id
(``Title <32 hex>/``), without (``Title/``, since 2024), perhaps cut short. Folders that no page is named like
(``Private & Shared``, teamspaces) are passed over. A database is ``Title <32 hex>.csv`` with the current view
and ``..._all.csv`` with every row.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote

from adapters.sources.export_files import ExportFile
from core.domain.ids import PageId, parse_page_id, without_dashes

_ID = r"(?P<id>[0-9a-fA-F]{32})"
_FILE = re.compile(
    rf"(?P<title>.*){_ID}(?P<all>_all)?\.(?P<suffix>md|markdown|csv)", re.DOTALL | re.IGNORECASE
)
_FOLDER = re.compile(rf"(?P<title>.*){_ID}", re.DOTALL)
_BEFORE_ID = " _-"
"""What stands between a title and the id behind it."""

SHORTEST_CUT = 12
"""Characters; a folder name at least this long may be the beginning of a longer title."""


@dataclass(slots=True)
class Entry:
    """A page or database of the export."""

    id: PageId
    name: str
    folder: tuple[str, ...]
    page: ExportFile | None = None
    table: ExportFile | None = None
    all_rows: ExportFile | None = None
    parent: "Entry | None" = None
    row_titles: frozenset[str] = field(default=frozenset())
    passed_over: list[str] = field(default_factory=list)
    """Files with the same id as one that is read."""

    @property
    def is_database(self) -> bool:
        """Whether it has rows."""
        return self.rows_file is not None

    @property
    def rows_file(self) -> ExportFile | None:
        """The table with all rows, else with those of the current view."""
        return self.all_rows or self.table

    @property
    def is_row(self) -> bool:
        """Whether it stands right below a database."""
        return self.parent is not None and self.parent.is_database


def url_of(page_id: PageId) -> str:
    """Notion's address for a page known by its id alone (NOT-12)."""
    return f"https://www.notion.so/{without_dashes(page_id)}"


def find_entries(files: Iterable[ExportFile]) -> dict[PageId, Entry]:
    """The pages and databases among the files; of two files for one page the first counts."""
    found: dict[PageId, Entry] = {}
    for file in files:
        match = _FILE.fullmatch(file.name)
        if match is None:
            continue
        page_id = parse_page_id(match["id"])
        entry = found.setdefault(
            page_id, Entry(page_id, match["title"].rstrip(_BEFORE_ID).strip(), file.path[:-1])
        )
        if match["suffix"].lower() != "csv":
            former, entry.page = entry.page, entry.page or file
        elif match["all"]:
            former, entry.all_rows = entry.all_rows, entry.all_rows or file
        else:
            former, entry.table = entry.table, entry.table or file
        if former is not None:
            entry.passed_over.append("/".join(file.path))
    return found


def set_parents(entries: Mapping[PageId, Entry], titles: Mapping[PageId, str]) -> None:
    """Find each entry's parent by the folder it is in; ``titles`` decide where two parents have one name."""
    beside: dict[tuple[str, ...], list[Entry]] = defaultdict(list)
    for entry in entries.values():
        beside[entry.folder].append(entry)
    named: dict[tuple[str, ...], list[Entry]] = {}
    for entry in entries.values():
        for depth in range(len(entry.folder), 0, -1):
            folder = entry.folder[:depth]
            if folder not in named:
                named[folder] = _named_by(folder, entries, beside.get(folder[:-1], ()))
            candidates = [one for one in named[folder] if one is not entry]
            if candidates:
                entry.parent = _best(candidates, entry, titles.get(entry.id, entry.name))
                break


def parents_first(entries: Mapping[PageId, Entry]) -> list[Entry]:
    """All entries, none before its parent; a cycle, which no export has, would be cut where it is entered."""
    ordered: dict[PageId, Entry] = {}
    for entry in entries.values():
        chain: list[Entry] = []
        above: Entry | None = entry
        while above is not None and above.id not in ordered and above not in chain:
            chain.append(above)
            above = above.parent
        ordered.update((one.id, one) for one in reversed(chain))
    return list(ordered.values())


def linked_page(href: str) -> PageId | None:
    """The page that a relative link between exported files means; null for attachments and the like."""
    name = unquote(href.split("?", 1)[0].split("#", 1)[0]).replace("\\", "/").rsplit("/", 1)[-1]
    match = _FILE.fullmatch(name)
    return parse_page_id(match["id"]) if match else None


def _named_by(
    folder: tuple[str, ...], entries: Mapping[PageId, Entry], beside: Sequence[Entry]
) -> list[Entry]:
    """The pages a folder may belong to: the one whose id it carries, else those beside it by name."""
    match = _FOLDER.fullmatch(folder[-1])
    if match and (owner := entries.get(parse_page_id(match["id"]))):
        return [owner]
    return _named_like((match["title"].rstrip(_BEFORE_ID) if match else folder[-1]).strip(), beside)


def _named_like(name: str, entries: Sequence[Entry]) -> list[Entry]:
    exact = [one for one in entries if one.name == name]
    if exact or len(name) < SHORTEST_CUT:
        return exact
    longer = [one for one in entries if one.name.startswith(name)]
    return longer or [one for one in entries if len(one.name) >= SHORTEST_CUT and name.startswith(one.name)]


def _best(candidates: Sequence[Entry], entry: Entry, title: str) -> Entry:
    """Of parents with one name: the one that links to the page or has it as a row, else a page, else any."""
    if len(candidates) == 1:
        return candidates[0]
    for one in candidates:
        if one.page is not None and without_dashes(entry.id).encode() in one.page.read().lower():
            return one
        if title in one.row_titles:
            return one
    return next((one for one in candidates if not one.is_database), candidates[0])
