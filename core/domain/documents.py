"""Pages as trees of blocks, and the chunks they are cut into."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from core.domain.files import NO_FILES, Attachment, FileReport
from core.domain.ids import BlockId, PageId, without_dashes

UNTITLED = "Untitled"
"""Shown where Notion has no title, as Notion itself does."""


class BlockKind(StrEnum):
    """What a block is to the chunker; every source maps its own types to these."""

    HEADING = "heading"
    """Opens a section; ``level`` 1 to 3, ``text`` without hash marks."""
    PARAGRAPH = "paragraph"
    """Prose, and whatever else is one run of text: captions, bookmarks, bold level-4 headings."""
    LIST_ITEM = "list_item"
    """Bullet, number, to-do or toggle: ``text`` carries its marker, children are one level deeper."""
    QUOTE = "quote"
    """Quote or callout; ``text`` carries its marker."""
    CODE = "code"
    """A whole fenced block including its fences, long enough for what it holds."""
    TABLE = "table"
    """Markdown rows, one a line: header, separator, then the body."""
    PART = "part"
    """Opens a section below all headings: a page of an attached file, or comments. ``text`` names it, its
    headings stand below it."""
    CONTAINER = "container"
    """Column, synced block, tab: no text of its own, children stay at the same depth."""


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a page with everything below it.

    ``text`` is the Markdown of this block alone, without indentation and without its children.
    ``id`` is null where the source has none (an export); citations then link to the page. ``file_key`` says
    which file a part was read from, and how; it holds nothing secret. ``note`` says what of the file was left
    out, and why; it is for administrators and no part of the text. ``mirrors`` is the block, mostly on
    another page, whose children a copy shows.
    """

    kind: BlockKind
    text: str = ""
    id: BlockId | None = None
    level: int = 0
    children: tuple["Block", ...] = ()
    file_key: str = ""
    note: str = ""
    mirrors: BlockId | None = None


class ObjectType(StrEnum):
    """What a stored page is in Notion."""

    PAGE = "page"
    DATABASE = "database"
    ROW = "row"


@dataclass(frozen=True, slots=True)
class PageRef:
    """What a listing tells of a page without reading its blocks.

    ``last_edited`` is rounded down to the minute by Notion. ``parent_id`` is the nearest page or database
    above, whatever blocks, columns or data sources lie between; null at the top of the workspace or where
    the parent is not shared. ``properties`` are rendered (name, value) pairs of a database row.
    """

    id: PageId
    title: str
    url: str
    parent_id: PageId | None = None
    last_edited: datetime | None = None
    object_type: ObjectType = ObjectType.PAGE
    properties: tuple[tuple[str, str], ...] = ()
    data_source_id: PageId | None = None
    last_edited_by: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """A page that was read in full.

    ``children`` are the pages and databases its blocks mention as their own: a listing may have missed them.
    ``attachments`` are files on it, not yet downloaded; ``files`` says what became of them once they were.
    """

    ref: PageRef
    blocks: tuple[Block, ...]
    children: tuple[PageId, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    files: FileReport = NO_FILES


PART_LEVEL = 4
"""The level of a part's name: below all headings of a page."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading that stands above a passage; ``level`` 1 to 3, ``text`` without hash marks.

    Level 4 is the name of a part (a page of an attached file, or comments), 5 to 7 are headings inside it.
    """

    level: int
    text: str

    def __str__(self) -> str:
        if self.level == PART_LEVEL:
            return self.text
        return f"{'#' * (self.level % PART_LEVEL)} {self.text}"


def heading_context(path: Sequence[Heading]) -> str:
    """The heading path as the index stores it: ``# Main > ## Sub``."""
    return " > ".join(str(heading) for heading in path)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of a page, as it is embedded and cited.

    ``index`` counts 0..n-1 within page and level. ``level`` 0 is a summary of the whole page, 1 a detail.
    ``body`` is the text without prefix: breadcrumb and heading path are columns of their own, so nothing
    ever has to be parsed back out of a text (inventory X6, T13). ``overlap`` is how many characters at the
    start of ``body`` repeat the end of the chunk before. ``context`` is a sentence that a model wrote about
    the passage: embedded and searched with it, never shown. ``attachment_id`` names the attached file that
    it was read from, if it was.
    """

    page_id: PageId
    index: int
    body: str
    breadcrumb: str = ""
    heading_path: tuple[Heading, ...] = ()
    block_id: BlockId | None = None
    level: int = 1
    overlap: int = 0
    context: str = ""
    attachment_id: str | None = None

    @property
    def text_to_embed(self) -> str:
        """``[Wiki > Setup > # Installation] body``; no bracket where there is neither title nor heading.

        A context stands on a line of its own before the body.
        """
        prefix = " > ".join(part for part in (self.breadcrumb, heading_context(self.heading_path)) if part)
        body = f"{self.context}\n{self.body}" if self.context else self.body
        return f"[{prefix}] {body}" if prefix else body

    @property
    def searched_headings(self) -> str:
        """What is searched by words beside title and body: the headings, and the context below them."""
        return "\n".join(part for part in (heading_context(self.heading_path), self.context) if part)


@dataclass(frozen=True, slots=True)
class PlacedPage:
    """A page and where it lives: ``ancestors`` from the top of the workspace down, the page not included."""

    ref: PageRef
    ancestors: tuple[PageRef, ...] = field(default=())

    @property
    def breadcrumb(self) -> str:
        """Up to two ancestors and the page's own title, joined by `` > `` (inventory row 34, K14)."""
        return breadcrumb(tuple(ancestor.title for ancestor in self.ancestors), self.ref.title)


MAX_BREADCRUMB_ANCESTORS = 2


def breadcrumb(ancestor_titles: Sequence[str], title: str) -> str:
    """``Setup > Installation > Linux``: at most two ancestors, nearest last; untitled ones are named so."""
    titles = (*ancestor_titles[-MAX_BREADCRUMB_ANCESTORS:], title) if ancestor_titles else (title,)
    return " > ".join(one.strip() or UNTITLED for one in titles) if title.strip() or ancestor_titles else ""


def link_to_block(page_url: str, block_id: BlockId | None) -> str:
    """The page's own link, pointing at the block where there is one; the host is never rebuilt (NOT-12)."""
    if block_id is None:
        return page_url
    return f"{page_url.split('#', 1)[0]}#{without_dashes(block_id)}"


def walk(blocks: Sequence[Block]) -> Iterator[tuple[Block, int]]:
    """Every block in reading order with its depth; iterative, since Notion pages nest 1,000 deep and more."""
    stack: list[tuple[Block, int]] = [(block, 0) for block in reversed(blocks)]
    while stack:
        block, depth = stack.pop()
        yield block, depth
        deeper = depth + (block.kind is BlockKind.LIST_ITEM)
        stack.extend((child, deeper) for child in reversed(block.children))
