"""Objects as Notion answers them, for one API version and one integration's rights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.fakes.notion import properties as prop
from tests.fakes.notion.clock import to_millisecond, to_minute
from tests.fakes.notion.records import (
    WORKSPACE,
    Block,
    Comment,
    Database,
    DataSource,
    Page,
    Parent,
    Record,
    User,
)
from tests.fakes.notion.richtext import Json
from tests.fakes.notion.workspace import Workspace

REFERENCES_SHOWN = 25  # references of one property in a page object; the rest needs the property endpoint
CURRENT = "2026-03-11"
OLDER = "2025-09-03"


def partial_user(identifier: str) -> Json:
    """A user as most objects name one."""
    return {"object": "user", "id": identifier}


@dataclass(slots=True)
class Presenter:
    """Makes answers. ``sign`` turns a stored file's id into a signed address and its expiry."""

    workspace: Workspace
    version: str
    sign: Callable[[str], tuple[str, str]]
    emails: bool = True  # capability: read user information with addresses
    names: bool = True  # capability: read user information
    inherit_trash: bool = True

    # -- objects ----------------------------------------------------------------------------------

    def page(self, page: Page, only: frozenset[str] | None = None) -> Json:
        """A page object; ``only`` limits the properties to these ids."""
        cells = self.workspace.cells(page)
        shown = {
            name: self.property(page, value)
            for name, value in cells.items()
            if only is None or value["id"] in only or name in only
        }
        return {
            "object": "page",
            "id": page.id,
            **self._times(page, to_minute),
            **self._people(page),
            "cover": self.files(page.cover),
            "icon": self.files(page.icon),
            "parent": self.parent(page.parent),
            **self._trash(page),
            "is_archived": False,
            "is_locked": page.locked,
            "properties": shown,
            "url": self.workspace.url(page.id),
            "public_url": None,
            **page.extra,
        }

    def block(self, record: Page | Block | Database) -> Json:
        """A block object; pages and databases appear as ``child_page`` and ``child_database``."""
        if isinstance(record, Block):
            kind, content = self._renamed(record.type), self.content(record.content)
        else:
            kind = "child_page" if isinstance(record, Page) else "child_database"
            content = {"title": self.workspace.title(record.id)}
        return {
            "object": "block",
            "id": record.id,
            "parent": self.parent(record.parent),
            **self._times(record, to_minute),
            **self._people(record),
            "has_children": self.has_children(record),
            **self._trash(record),
            "type": kind,
            kind: content,
            **(record.extra if isinstance(record, Block) else {}),
        }

    def has_children(self, record: Page | Block | Database) -> bool:
        """Whether the children endpoint has something to say; a synced copy always claims so."""
        if isinstance(record, Database):
            return False
        if isinstance(record, Block):
            if record.has_children is not None:
                return record.has_children
            if record.type == "synced_block" and record.content.get("synced_from"):
                return True
        return bool(record.children)

    def database(self, database: Database) -> Json:
        """A container: no columns, only the list of its data sources."""
        reachable = [key for key in database.sources if self.workspace.reachable(key)]
        sources = [{"id": key, "name": self.workspace.title(key)} for key in reachable]
        return {
            "object": "database",
            "id": database.id,
            "title": self.rich(database.title),
            "description": self.rich(database.description),
            "parent": self.parent(database.parent),
            "is_inline": database.inline,
            **self._trash(database),
            "is_locked": database.locked,
            **self._times(database, to_millisecond),
            "data_sources": sources,
            "icon": self.files(database.icon),
            "cover": self.files(database.cover),
            "url": self.workspace.url(database.id),
            "public_url": None,
            **database.extra,
        }

    def data_source(self, source: DataSource) -> Json:
        """A table with its columns."""
        container = self.workspace.databases.get(source.parent.id)
        return {
            "object": "data_source",
            "id": source.id,
            "title": self.rich(source.title),
            "description": self.rich(source.description),
            "parent": self.parent(source.parent),
            "database_parent": self.parent(container.parent if container else WORKSPACE),
            "is_inline": source.inline,
            **self._trash(source),
            **self._times(source, to_minute),
            **self._people(source),
            "properties": {
                name: self._column(source, name, config) for name, config in source.schema.items()
            },
            "icon": self.files(source.icon),
            "cover": self.files(source.cover),
            "url": self.workspace.url(container.id if container else source.id),
            "public_url": None,
            **source.extra,
        }

    def _column(self, source: DataSource, name: str, config: Json) -> Json:
        shown = {"id": prop.property_id(config["type"], name), "name": name, **config}
        if config["type"] == "relation" and "data_source_id" not in config["relation"]:
            ids = {"database_id": source.parent.id, "data_source_id": source.id}
            shown["relation"] = {
                **ids,
                "type": "single_property",
                "single_property": {},
                **config["relation"],
            }
        return shown

    def user(self, user: User) -> Json:
        """A user in full; an address only with the capability for it."""
        answer: Json = {"object": "user", "id": user.id, "name": user.name, "avatar_url": None}
        if user.kind == "bot":
            owner = {"type": "workspace", "workspace": True}
            limits = {"max_file_upload_size_in_bytes": 5_242_880}
            bot = {
                "owner": owner,
                "workspace_name": self.workspace.name,
                "workspace_id": self.workspace.id,
                "workspace_limits": limits,
            }
            return {**answer, "type": "bot", "bot": bot if user is self.workspace.bot else {}}
        person = {"email": user.email} if user.email and self.emails else {}
        return {**answer, "type": "person", "person": person}

    def comment(self, comment: Comment) -> Json:
        """A comment of an open discussion."""
        user = self.workspace.users.get(comment.by)
        return {
            "object": "comment",
            "id": comment.id,
            "parent": comment.parent.as_json(),
            "discussion_id": comment.discussion,
            "created_time": to_minute(comment.created),
            "last_edited_time": to_minute(comment.edited),
            "created_by": partial_user(comment.by),
            "rich_text": self.rich(comment.rich_text),
            "display_name": {"type": "user", "resolved_name": user.name if user else None},
        }

    def property(self, page: Page, value: Json) -> Json:
        """A property of a page object: computed values filled in, references cut at 25."""
        kind = value["type"]
        shown = {**value, kind: self.property_value(page, value)}
        items = shown[kind]
        if kind in ("relation", "people"):
            shown[kind] = items[:REFERENCES_SHOWN]
            if kind == "relation":
                shown["has_more"] = len(items) > REFERENCES_SHOWN
        elif kind in ("title", "rich_text"):
            shown[kind] = _first_references(items)
        elif kind == "rollup" and items["type"] == "array":
            shown[kind] = {**items, "array": items["array"][:REFERENCES_SHOWN]}
        return shown

    def property_value(self, page: Page, value: Json) -> Any:
        """What stands under the type's name, uncut."""
        kind, content = value["type"], value[value["type"]]
        if kind in prop.COMPUTED and content is None:
            when = page.created if kind == "created_time" else page.edited
            who = page.created_by if kind == "created_by" else page.edited_by
            return to_minute(when) if kind.endswith("_time") else self.person(who)
        if kind in ("title", "rich_text"):
            return self.rich(content)
        if kind == "people":
            return [self.person(item["id"]) if item["object"] == "user" else item for item in content]
        if kind in ("created_by", "last_edited_by"):
            return self.person(content["id"])
        if kind == "files":
            return [self.files(item) for item in content]
        return content

    # -- parts ------------------------------------------------------------------------------------

    def person(self, identifier: str) -> Json:
        """A user in full if known and allowed; a guest or a deleted user is an id and no more."""
        user = self.workspace.users.get(identifier)
        if user is None or user.guest or not self.names:
            return partial_user(identifier)
        return self.user(user)

    def parent(self, parent: Parent) -> Json:
        """A parent; that of a row names the database beside the data source."""
        answer = parent.as_json()
        if parent.kind == "data_source_id" and parent.id in self.workspace.sources:
            answer["database_id"] = self.workspace.sources[parent.id].parent.id
        return answer

    def rich(self, items: list[Json]) -> list[Json]:
        """Rich text with mentions filled in."""
        return [self._mention(item) if item.get("type") == "mention" else item for item in items]

    def content(self, content: Json) -> Json:
        """A block's content with mentions and signed addresses filled in."""
        shown = dict(content)
        for key in ("rich_text", "caption", "title"):
            if isinstance(shown.get(key), list):
                shown[key] = self.rich(shown[key])
        if "cells" in shown:
            shown["cells"] = [self.rich(cell) for cell in shown["cells"]]
        return self.files(shown) or {}

    def files(self, content: Json | None) -> Json | None:
        """Content in which a stored file has a fresh signed address."""
        if not content or not isinstance(content.get("file"), dict) or "$file" not in content["file"]:
            return content
        url, expiry = self.sign(content["file"]["$file"])
        return {**content, "file": {"url": url, "expiry_time": expiry}}

    def _mention(self, item: Json) -> Json:
        target = item["mention"]
        kind = target["type"]
        plain_text = item.get("plain_text")
        if kind == "user":
            person = self.person(target["user"]["id"])
            name = person.get("name")
            shown = plain_text if plain_text is not None else f"@{name or 'Anonymous'}"
            return {**item, "mention": {"type": "user", "user": person}, "plain_text": shown}
        if plain_text is None:
            identifier = target[kind]["id"]
            known = self.workspace.reachable(identifier)
            name = self.workspace.title(identifier) if known else ""
            return {**item, "plain_text": name or "Untitled"}
        return item

    def _times(self, record: Record, write: Callable[[Any], str]) -> Json:
        return {"created_time": write(record.created), "last_edited_time": write(record.edited)}

    def _people(self, record: Record) -> Json:
        return {
            "created_by": partial_user(record.created_by),
            "last_edited_by": partial_user(record.edited_by),
        }

    def _trash(self, record: Record) -> Json:
        gone = self.workspace.trashed(record) if self.inherit_trash else record.in_trash
        return {"in_trash": gone} if self.version >= CURRENT else {"in_trash": gone, "archived": gone}

    def _renamed(self, kind: str) -> str:
        return "transcription" if kind == "meeting_notes" and self.version < CURRENT else kind


def _first_references(items: list[Json]) -> list[Json]:
    """Rich text up to and with its 25th mention of a page or person."""
    count = 0
    for index, item in enumerate(items):
        if item.get("type") == "mention" and item["mention"]["type"] in ("page", "user"):
            count += 1
            if count > REFERENCES_SHOWN:
                return items[:index]
    return items
