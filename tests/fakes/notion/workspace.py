"""Changes to a workspace: what people do in Notion, callable from a test."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from tests.fakes.notion import properties as prop
from tests.fakes.notion.blocks import Blocks
from tests.fakes.notion.records import (
    Block,
    Comment,
    Database,
    DataSource,
    Page,
    Parent,
    Record,
    StoredFile,
    User,
    dashed,
)
from tests.fakes.notion.richtext import Json, Text, rich
from tests.fakes.notion.tables import Tables


class Workspace(Tables):
    """A workspace that tests build and change. All methods take ids with or without dashes.

    Edits carry the clock's time; a block's edit also dates its page, and never the page above.
    """

    # -- pages ------------------------------------------------------------------------------------

    def add_page(
        self,
        title: Text = "",
        *,
        parent: Parent | str | None = None,
        blocks: Blocks = (),
        properties: dict[str, Json] | None = None,
        uid: str | None = None,
        url: str = "",
        icon: Json | None = None,
        shared: bool | None = None,
        position: int | None = None,
        title_property: str = "title",
    ) -> str:
        """A new page; its id. ``parent`` None is the workspace itself."""
        at = self.clock.stamp()
        above = self.placed(parent)
        key = dashed(uid) if uid else self.new_id()
        values = {title_property: prop.title(title), **(properties or {})}
        page = Page(key, above, at, at, self.author.id, self.author.id, shared=shared, url=url, icon=icon)
        page.properties = values
        self.pages[key] = page
        self.put_in(key, above, position)
        self._place(blocks, Parent("page_id", key), page.children, at)
        self.changed(page, at)
        self._parent_gained(above, at)
        self.tell("page.created", page, at)
        return key

    def add_row(
        self,
        data_source: str,
        title: Text = "",
        *,
        properties: dict[str, Json] | None = None,
        blocks: Blocks = (),
        uid: str | None = None,
        url: str = "",
        shared: bool | None = None,
    ) -> str:
        """A page in a data source (or in the first one of a database); its id."""
        key = dashed(data_source)
        source = self.sources[self.databases[key].sources[0] if key in self.databases else key]
        values = dict(properties or {})
        parent = Parent("data_source_id", source.id)
        self.learn_columns(parent, values)
        for name, config in source.schema.items():
            if config["type"] == "unique_id" and name not in values:
                values[name] = prop.unique_id(len(source.rows) + 1, config["unique_id"]["prefix"])
        heading = next(name for name, config in source.schema.items() if config["type"] == "title")
        row = self.add_page(
            title,
            parent=parent,
            blocks=blocks,
            properties=values,
            uid=uid,
            url=url,
            shared=shared,
            title_property=heading,
        )
        source.rows.append(row)
        return row

    def rename(self, identifier: str, title: Text) -> None:
        """Give a page, a database or a data source another title. Nothing above or below is dated."""
        found, at = self.record(identifier), self.clock.stamp()
        if isinstance(found, Page):
            name = next(key for key, value in found.properties.items() if value["type"] == "title")
            found.properties[name] = prop.title(title)
            self.changed(found, at)
            if found.parent.kind == "data_source_id":
                self.tell("page.properties_updated", found, at, properties=("title",))
            else:  # the documentation's own example of this event is a new title
                self.tell("page.content_updated", found, at, blocks=((found.id, "page"),))
        elif isinstance(found, Database | DataSource):
            found.title = rich(title)
            self.changed(found, at)
            kind = "database" if isinstance(found, Database) else "data_source"
            self.tell(f"{kind}.schema_updated", found, at)
        else:
            raise ValueError("a block has no title; use edit_block")

    def move(
        self,
        identifier: str,
        parent: Parent | str | None,
        *,
        position: int | None = None,
        touch: bool = False,
    ) -> None:
        """Hang a page or a database elsewhere. Notion does not date a moved page unless ``touch``."""
        found, at = self.record(identifier), self.clock.stamp()
        if isinstance(found, Block | DataSource):
            raise ValueError("only pages and databases move; delete and append blocks")
        above = self.placed(parent)
        old = found.parent
        self._leave(found)
        found.parent = above
        if above.kind == "data_source_id":
            self.sources[above.id].rows.append(found.id)
        self.put_in(found.id, above, position)
        self.version += 1
        if touch:
            self.changed(found, at)
        self._reindex(found.id, at)
        for side in (old, above):
            self._parent_gained(side, at)
        self.tell("page.moved" if isinstance(found, Page) else "database.moved", found, at)

    def trash(self, identifier: str) -> None:
        """Put a page, a database or a data source in the trash, with all that is below."""
        self._set_trash(self.record(identifier), True)

    def restore(self, identifier: str) -> None:
        """Take an object out of the trash."""
        self._set_trash(self.record(identifier), False)

    def delete_forever(self, identifier: str) -> None:
        """Remove an object and everything below, as after thirty days in the trash: then it is a 404."""
        found = self.record(identifier)
        doomed = [found.id, *self.descendants(identifier)]
        self._leave(found)
        for key in doomed:
            for table in (self.pages, self.blocks, self.databases, self.sources):
                table.pop(key, None)
        self.version += 1

    def unshare(self, identifier: str, *, event: bool = False) -> None:
        """Take the object and what hangs below from the integration; without a word, as Notion does."""
        self._set_shared(identifier, False, "page.deleted" if event else None)

    def share(self, identifier: str, *, event: bool = False) -> None:
        """Open the object and what hangs below to the integration."""
        self._set_shared(identifier, True, "page.undeleted" if event else None)

    def set_properties(self, page_id: str, values: dict[str, Json]) -> None:
        """Change cells of a row."""
        page, at = self.pages[dashed(page_id)], self.clock.stamp()
        self.learn_columns(page.parent, values)
        page.properties.update(values)
        self.changed(page, at)
        ids = tuple(self.property_id(page, name) for name in values)
        self.tell("page.properties_updated", page, at, properties=ids)

    def lock(self, page_id: str, locked: bool = True) -> None:
        """Lock or unlock a page."""
        page, at = self.pages[dashed(page_id)], self.clock.stamp()
        page.locked = locked
        self.changed(page, at)
        self.tell("page.locked" if locked else "page.unlocked", page, at)

    # -- blocks -----------------------------------------------------------------------------------

    def append_blocks(self, parent: str, blocks: Blocks, *, position: int | None = None) -> list[str]:
        """Put blocks at the end of a page or block (or at a position); their ids."""
        above, at = self.record(parent), self.clock.stamp()
        if not isinstance(above, Page | Block):
            raise ValueError("blocks live in pages and blocks")
        fresh: list[str] = []
        self._place(blocks, self.placed(above.id), fresh, at)
        where = len(above.children) if position is None else position
        above.children[where:where] = fresh
        self.changed(above, at)
        self._content_event(above, [(key, "block") for key in fresh], at)
        return fresh

    def edit_block(self, block_id: str, new: Text) -> None:
        """Change a block's text, or (with something a builder made) its type and content."""
        block, at = self.blocks[dashed(block_id)], self.clock.stamp()
        if isinstance(new, dict) and new.get("type") in new and "annotations" not in new:
            block.type, block.content = new["type"], new[new["type"]]
        else:
            block.content = {**block.content, "rich_text": rich(new)}
        self.changed(block, at)
        self._content_event(block, [(block.id, "block")], at)

    def delete_block(self, block_id: str) -> None:
        """Put a block in the trash; a retrieval still shows it, listings do not."""
        block, at = self.blocks[dashed(block_id)], self.clock.stamp()
        self.take_out(block.id, block.parent)
        block.in_trash = True
        self.changed(block, at)
        self._content_event(block, [(block.id, "block")], at)

    def replace_blocks(self, parent: str, blocks: Blocks) -> list[str]:
        """Empty a page or block (child pages stay) and put other blocks in; their ids."""
        for child in [key for key in self.children_of(parent) if key in self.blocks]:
            self.delete_block(child)
        return self.append_blocks(parent, blocks)

    def block_ids(self, parent: str) -> tuple[str, ...]:
        """The ids directly below a page or block, in order."""
        return tuple(self.children_of(parent))

    # -- people, comments, files ------------------------------------------------------------------

    def add_user(
        self,
        name: str | None,
        email: str | None = None,
        *,
        kind: str = "person",
        guest: bool = False,
        uid: str | None = None,
    ) -> str:
        """A member, or a guest, whom no endpoint names; the id."""
        user = User(dashed(uid) if uid else self.new_id(), name, email, kind, guest)
        self.users[user.id] = user
        self.version += 1
        return user.id

    def add_comment(
        self, parent: str, text: Text, *, discussion: str | None = None, by: str | None = None
    ) -> str:
        """A comment on a page or block; the id. Give ``discussion`` to answer an earlier comment."""
        at = self.clock.stamp()
        thread = self.comments[discussion].discussion if discussion else self.new_id()
        comment = Comment(
            self.new_id(), self.placed(parent), thread, rich(text), at, at, by or self.author.id
        )
        self.comments[comment.id] = comment
        self.version += 1
        self.tell("comment.created", comment, at)
        return comment.id

    def delete_comment(self, comment_id: str) -> None:
        """Remove a comment (or resolve it: then it is not listed either)."""
        comment, at = self.comments.pop(comment_id), self.clock.stamp()
        self.version += 1
        self.tell("comment.deleted", comment, at)

    def add_file(
        self,
        name: str,
        content: bytes,
        content_type: str = "application/octet-stream",
        *,
        redirect_to: str | None = None,
        status: int = 200,
    ) -> Json:
        """A file of Notion's storage, to be handed to ``blocks.pdf`` and its like.

        Every answer gives it a fresh signed address. ``redirect_to`` and ``status`` are for
        downloads that go wrong.
        """
        stored = StoredFile(self.new_id(), name, content, content_type, redirect_to, status)
        self.files[stored.id] = stored
        return {"type": "file", "file": {"$file": stored.id}}

    # -- inside -----------------------------------------------------------------------------------

    def _place(self, specs: Sequence[Json], parent: Parent, into: list[str], at: datetime) -> None:
        """Make blocks of what builders gave. A stack, not recursion: nesting may be very deep."""
        stack: list[tuple[Sequence[Json], Parent, list[str]]] = [(specs, parent, into)]
        while stack:
            level, above, siblings = stack.pop()
            for spec in level:
                key = dashed(spec["id"]) if "id" in spec else self.new_id()
                siblings.append(key)
                record = self._child_page(key, above, spec, at) or self._block(key, above, spec, at)
                kind = "page_id" if isinstance(record, Page) else "block_id"
                if spec.get("children"):
                    stack.append((spec["children"], Parent(kind, key), record.children))

    def _child_page(self, key: str, above: Parent, spec: Json, at: datetime) -> Page | None:
        if spec["type"] != "child_page":
            return None
        page = Page(key, above, at, at, self.author.id, self.author.id)
        page.properties = {"title": prop.title(spec["child_page"]["title"])}
        self.pages[key] = page
        self.index(page, at)
        self.tell("page.created", page, at)
        return page

    def _block(self, key: str, above: Parent, spec: Json, at: datetime) -> Block:
        kind = spec["type"]
        block = Block(key, above, at, at, self.author.id, self.author.id, type=kind, content=dict(spec[kind]))
        block.has_children = spec.get("has_children")
        block.extra = self.block_spec_extra(spec)
        self.blocks[key] = block
        if "$section" in spec:
            holder = self.blocks[above.id].content
            holder["children"] = {**holder["children"], f"{spec['$section']}_block_id": key}
        return block

    def _parent_gained(self, above: Parent, at: datetime) -> None:
        """A page that gained or lost a child page has other content, so it is dated."""
        if above.kind in ("page_id", "block_id") and self.knows(above.id):
            holder = self.record(above.id)
            self.changed(holder, at)
            self._content_event(holder, [], at)
        elif above.kind == "data_source_id" and above.id in self.sources:
            self.tell("data_source.content_updated", self.sources[above.id], at)

    def _content_event(self, record: Record, blocks: list[tuple[str, str]], at: datetime) -> None:
        page = self.page_of(record)
        if page is not None:
            self.tell("page.content_updated", page, at, blocks=tuple(blocks))

    def _leave(self, record: Record) -> None:
        self.take_out(record.id, record.parent)
        if record.parent.kind == "data_source_id" and record.parent.id in self.sources:
            rows = self.sources[record.parent.id].rows
            if record.id in rows:
                rows.remove(record.id)

    def _set_trash(self, record: Page | Block | Database | DataSource, gone: bool) -> None:
        if isinstance(record, Block):
            raise ValueError("blocks are deleted with delete_block")
        at = self.clock.stamp()
        record.in_trash = gone
        self.changed(record, at)
        self._reindex(record.id, at)
        self._parent_gained(record.parent, at)
        kind = {Page: "page", Database: "database", DataSource: "data_source"}[type(record)]
        self.tell(f"{kind}.{'deleted' if gone else 'undeleted'}", record, at)

    def _reindex(self, identifier: str, at: datetime) -> None:
        """Tell the search index of an object and all below it: it may lie in the trash now, or no more."""
        for key in (identifier, *self.descendants(identifier)):
            found = self.record(key)
            if isinstance(found, Page | DataSource):
                self.index(found, at)

    def _set_shared(self, identifier: str, shared: bool, event: str | None) -> None:
        record = self.record(identifier)
        record.shared = shared
        self.version += 1
        if event:
            self.tell(event, record, self.clock.stamp())
