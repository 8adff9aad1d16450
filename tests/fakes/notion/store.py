"""The state of a workspace and the questions one can ask it; changes are in ``workspace``."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from datetime import datetime
from uuid import UUID

from tests.fakes.notion.clock import Clock
from tests.fakes.notion.records import (
    Block,
    Comment,
    Database,
    DataSource,
    Event,
    Page,
    Parent,
    Record,
    Seen,
    StoredFile,
    User,
    dashed,
)
from tests.fakes.notion.richtext import Json, plain

HISTORY_KEPT = 8  # states of an object that a lagging search index can still be at


class Store:
    """Objects by id. Ids, when not given, follow from ``seed``, so that runs repeat."""

    def __init__(self, *, clock: Clock | None = None, seed: int = 0, shared: bool = True) -> None:
        self.clock = clock or Clock()
        self.random = random.Random(seed)
        self.shared = shared  # whether objects without a word about it are open to the integration
        self.pages: dict[str, Page] = {}
        self.blocks: dict[str, Block] = {}
        self.databases: dict[str, Database] = {}
        self.sources: dict[str, DataSource] = {}
        self.users: dict[str, User] = {}
        self.comments: dict[str, Comment] = {}
        self.files: dict[str, StoredFile] = {}
        self.events: list[Event] = []
        self.version = 0  # grows with every change
        self.id = self.new_id()
        self.name = "Stand-in"
        self.bot = User(self.new_id(), "Footnote", kind="bot")
        self.author = User(self.new_id(), "Robin Example", "robin@example.org")
        self.users = {user.id: user for user in (self.bot, self.author)}

    def new_id(self) -> str:
        """A fresh id of version 4."""
        return str(UUID(int=self.random.getrandbits(128), version=4))

    # -- finding ----------------------------------------------------------------------------------

    def record(self, identifier: str) -> Page | Block | Database | DataSource:
        """Whatever has this id. KeyError if nothing has."""
        key = dashed(identifier)
        for table in (self.blocks, self.pages, self.databases, self.sources):
            if key in table:
                return table[key]
        raise KeyError(f"the workspace holds no object {identifier}")

    def knows(self, identifier: str) -> bool:
        """Whether some object has this id."""
        return any(identifier in t for t in (self.blocks, self.pages, self.databases, self.sources))

    def children_of(self, identifier: str) -> list[str]:
        """The list of block ids below a page or a block; databases have none."""
        found = self.record(identifier)
        return found.children if isinstance(found, Page | Block) else []

    def parent_of(self, record: Record) -> Record | None:
        """The object above, if there is one and it is known."""
        if record.parent.kind == "workspace" or not self.knows(record.parent.id):
            return None
        return self.record(record.parent.id)

    def upwards(self, record: Record) -> Iterator[Record]:
        """The object itself, then everything above it."""
        seen: set[str] = set()
        current: Record | None = record
        while current is not None and current.id not in seen:
            seen.add(current.id)
            yield current
            current = self.parent_of(current)

    def page_of(self, record: Record) -> Page | None:
        """The page that holds a block (or the page itself)."""
        return next((above for above in self.upwards(record) if isinstance(above, Page)), None)

    def reachable(self, identifier: str) -> bool:
        """Whether the integration may see the object: the nearest word about sharing counts."""
        if not self.knows(identifier):
            return False
        for above in self.upwards(self.record(identifier)):
            if above.shared is not None:
                return above.shared
        return self.shared

    def trashed(self, record: Record) -> bool:
        """Whether the object or anything above it lies in the trash."""
        return any(above.in_trash for above in self.upwards(record))

    def descendants(self, identifier: str) -> Iterator[str]:
        """All ids below an object, in document order; rows and sources of databases included."""
        stack = [dashed(identifier)]
        while stack:
            current = stack.pop()
            if current != dashed(identifier):
                yield current
            found = self.record(current)
            below = found.sources if isinstance(found, Database) and not found.linked else []
            if isinstance(found, DataSource):
                below = found.rows
            elif isinstance(found, Page | Block):
                below = found.children
            stack.extend(reversed([child for child in below if self.knows(child)]))

    # -- names ------------------------------------------------------------------------------------

    def title(self, identifier: str) -> str:
        """What a page, a database or a data source is called."""
        found = self.record(identifier)
        if isinstance(found, Page):
            return found.title
        return plain(found.title) if isinstance(found, Database | DataSource) else ""

    def url(self, identifier: str) -> str:
        """The address that answers give: with the title in it, so a rename changes it."""
        found = self.record(identifier)
        if isinstance(found, Block):
            page = self.page_of(found)
            return f"{self.url(page.id) if page else ''}#{found.id.replace('-', '')}"
        if found.url:
            return found.url
        digits = found.id.replace("-", "")
        if not isinstance(found, Page):
            return f"https://www.notion.so/{digits}"
        words = re.sub(r"[^0-9A-Za-z]+", "-", found.title).strip("-")
        return f"https://www.notion.so/{words + '-' if words else ''}{digits}"

    def text_of(self, block_id: str) -> str:
        """The plain text of one block, captions and table cells included."""
        found = self.record(block_id)
        if not isinstance(found, Block):
            return self.title(block_id)
        content = found.content
        parts = [plain(content.get(key) or []) for key in ("rich_text", "caption", "title")]
        parts += [plain(cell) for cell in content.get("cells", [])]
        return " ".join(part for part in [*parts, content.get("expression", "")] if part)

    def find_block(self, page_id: str, words: str) -> str:
        """The id of the first block of a page (child pages excluded) whose text has these words."""
        stack = list(reversed(self.children_of(page_id)))
        while stack:
            current = stack.pop()
            found = self.record(current)
            if not isinstance(found, Block):
                continue
            if words in self.text_of(current):
                return current
            stack.extend(reversed(found.children))
        raise KeyError(f"no block of page {page_id} has the words {words!r}")

    # -- changing, used by the mutations ----------------------------------------------------------

    def changed(self, record: Record, at: datetime, by: str | None = None) -> None:
        """Note that an object was edited; a block's edit also counts for its page, nothing above."""
        self.version += 1
        record.edited, record.edited_by = at, by or self.author.id
        page = self.page_of(record) if isinstance(record, Block) else None
        if page is not None:
            page.edited, page.edited_by = at, record.edited_by
        for touched in (record, page):
            if isinstance(touched, Page | DataSource):
                self.index(touched, at)

    def index(self, record: Page | DataSource, at: datetime) -> None:
        """Give the search index the object's present state."""
        state = Seen(at, self.title(record.id), record.edited, self.trashed(record))
        record.seen.append(state)
        del record.seen[:-HISTORY_KEPT]

    def tell(
        self,
        kind: str,
        record: Record | Comment,
        at: datetime,
        *,
        blocks: tuple[tuple[str, str], ...] = (),
        properties: tuple[str, ...] = (),
    ) -> None:
        """Note an event for the webhooks."""
        entity_kind = kind.split(".", 1)[0]
        self.events.append(
            Event(kind, record.id, entity_kind, record.parent, at, self.author.id, blocks, properties)
        )

    def placed(self, parent: Parent | str | None) -> Parent:
        """A parent from an id (its kind is looked up), a ready parent, or None for the workspace."""
        if parent is None:
            return Parent("workspace")
        if isinstance(parent, Parent):
            return parent
        found = self.record(parent)
        kinds: dict[type[Record], str] = {
            Page: "page_id",
            Block: "block_id",
            Database: "database_id",
            DataSource: "data_source_id",
        }
        return Parent(kinds[type(found)], found.id)

    def put_in(self, identifier: str, parent: Parent, position: int | None) -> None:
        """Enter a child in its parent's list of blocks, if the parent has one."""
        if parent.kind in ("page_id", "block_id") and self.knows(parent.id):
            siblings = self.children_of(parent.id)
            siblings.insert(len(siblings) if position is None else position, identifier)

    def take_out(self, identifier: str, parent: Parent) -> int | None:
        """Remove a child from its parent's list; its old position."""
        if parent.kind not in ("page_id", "block_id") or not self.knows(parent.id):
            return None
        siblings = self.children_of(parent.id)
        if identifier not in siblings:
            return None
        position = siblings.index(identifier)
        siblings.remove(identifier)
        return position

    def block_spec_extra(self, spec: Json) -> Json:
        """Keys of a block spec that are shown as they stand."""
        own = {"type", "children", "id", "has_children", "$section", "object", spec["type"]}
        return {key: value for key, value in spec.items() if key not in own}
