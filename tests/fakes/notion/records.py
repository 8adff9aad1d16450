"""What the workspace remembers: plain mutable records, one per kind of object."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from tests.fakes.notion.richtext import Json, plain


def dashed(identifier: str) -> str:
    """The usual form of an id: lower case with dashes. ValueError if it is none."""
    return str(UUID(hex=identifier.replace("-", "")))


@dataclass(frozen=True, slots=True)
class Parent:
    """Where an object hangs: ``page_id``, ``block_id``, ``database_id``, ``data_source_id``,
    ``workspace`` or a kind that does not exist yet (then with that id)."""

    kind: str
    id: str = ""

    def as_json(self) -> Json:
        """The parent as an answer shows it (without the database of a data source)."""
        value: Any = True if self.kind == "workspace" else self.id
        return {"type": self.kind, self.kind: value}


WORKSPACE = Parent("workspace")


@dataclass(frozen=True, slots=True)
class Seen:
    """What the search index knew of an object from a moment on."""

    at: datetime
    title: str
    edited: datetime
    in_trash: bool


@dataclass(slots=True)
class Record:
    """What all objects have."""

    id: str
    parent: Parent
    created: datetime
    edited: datetime
    created_by: str
    edited_by: str
    in_trash: bool = False
    shared: bool | None = None  # None: as the parent is
    extra: Json = field(default_factory=dict)  # shown as it stands, for keys nobody knows yet


@dataclass(slots=True)
class Block(Record):
    """One block; ``content`` is what stands under its type's name."""

    type: str = "paragraph"
    content: Json = field(default_factory=dict)
    children: list[str] = field(default_factory=list)
    has_children: bool | None = None  # None: as it is


@dataclass(slots=True)
class Page(Record):
    """A page or a row of a data source."""

    properties: dict[str, Json] = field(default_factory=dict)
    children: list[str] = field(default_factory=list)
    url: str = ""
    icon: Json | None = None
    cover: Json | None = None
    locked: bool = False
    seen: list[Seen] = field(default_factory=list)

    @property
    def title(self) -> str:
        """The name, whatever the title property is called."""
        for value in self.properties.values():
            if value["type"] == "title":
                return plain(value["title"])
        return ""


@dataclass(slots=True)
class Database(Record):
    """A container of data sources; a linked view only refers to sources of another one."""

    title: list[Json] = field(default_factory=list)
    description: list[Json] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    url: str = ""
    icon: Json | None = None
    cover: Json | None = None
    inline: bool = False
    locked: bool = False
    linked: bool = False


@dataclass(slots=True)
class DataSource(Record):
    """A table: columns and rows."""

    title: list[Json] = field(default_factory=list)
    description: list[Json] = field(default_factory=list)
    schema: dict[str, Json] = field(default_factory=dict)
    rows: list[str] = field(default_factory=list)
    url: str = ""
    icon: Json | None = None
    cover: Json | None = None
    inline: bool = False
    seen: list[Seen] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class User:
    """A member, a guest or a bot. Guests are unknown to the users endpoints."""

    id: str
    name: str | None
    email: str | None = None
    kind: str = "person"
    guest: bool = False


@dataclass(slots=True)
class Comment:
    """A comment of a discussion on a page or a block."""

    id: str
    parent: Parent
    discussion: str
    rich_text: list[Json]
    created: datetime
    edited: datetime
    by: str


@dataclass(slots=True)
class StoredFile:
    """A file of Notion's own storage."""

    id: str
    name: str
    content: bytes
    content_type: str
    redirect_to: str | None = None
    status: int = 200


@dataclass(frozen=True, slots=True)
class Event:
    """Something a webhook may tell of."""

    type: str
    entity: str
    entity_kind: str
    parent: Parent
    at: datetime
    author: str
    blocks: tuple[tuple[str, str], ...] = ()
    properties: tuple[str, ...] = ()
