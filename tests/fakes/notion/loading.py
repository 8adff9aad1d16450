"""Workspaces from elsewhere: a folder of JSON in Notion's shapes, and large made-up ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from tests.fakes.notion import blocks as build
from tests.fakes.notion.clock import parse
from tests.fakes.notion.records import Block, Database, DataSource, Page, Parent, Record, User
from tests.fakes.notion.richtext import Json
from tests.fakes.notion.workspace import Workspace

_COMMON = ("id", "parent", "created_time", "last_edited_time", "created_by", "last_edited_by")
_SHOWN = ("object", "archived", "in_trash", "is_archived", "public_url", "database_parent")


def load(workspace: Workspace, folder: Path | Traversable) -> None:
    """Read ``workspace.json`` (users, databases, data_sources) and ``pages/*.json``.

    A page's file is ``{"page": page object, "blocks": [block objects]}`` with the children of a
    block under ``children``. The clock moves to the latest edit, if that lies ahead.
    """
    frame = json.loads((folder / "workspace.json").read_text(encoding="utf-8"))
    for item in frame.get("users", []):
        email = item.get("person", {}).get("email")
        workspace.users[item["id"]] = User(item["id"], item.get("name"), email, item.get("type", "person"))
    for item in frame.get("databases", []):
        workspace.databases[item["id"]] = _database(workspace, item)
    for item in frame.get("data_sources", []):
        workspace.sources[item["id"]] = _data_source(workspace, item)
    files = sorted((folder / "pages").iterdir(), key=lambda file: file.name)
    documents = [
        json.loads(file.read_text(encoding="utf-8")) for file in files if file.name.endswith(".json")
    ]
    for document in documents:
        page = _page(workspace, document["page"])
        workspace.pages[page.id] = page
        _blocks(workspace, page, document["blocks"])
    _connect(workspace)


def _connect(workspace: Workspace) -> None:
    """Rows into their tables, tables into their containers, everything into the search index."""
    for page in sorted(workspace.pages.values(), key=lambda item: (item.created, item.id)):
        source = workspace.sources.get(page.parent.id)
        if source is not None and page.id not in source.rows:
            source.rows.append(page.id)
    for source in workspace.sources.values():
        container = workspace.databases.get(source.parent.id)
        if container is not None and source.id not in container.sources:
            container.sources.append(source.id)
    latest = workspace.clock.now()
    indexed: list[Page | DataSource] = [*workspace.pages.values(), *workspace.sources.values()]
    for record in indexed:
        latest = max(latest, record.edited)
        workspace.index(record, record.edited)
    workspace.clock.set(latest)
    workspace.version += 1


def _base(workspace: Workspace, item: Json) -> dict[str, Any]:
    parent = item.get("parent") or {"type": "workspace"}
    identifier = parent.get(parent["type"])
    nobody = {"id": workspace.author.id}
    return {
        "id": item["id"],
        "parent": Parent(parent["type"], identifier if isinstance(identifier, str) else ""),
        "created": parse(item["created_time"]),
        "edited": parse(item["last_edited_time"]),
        "created_by": item.get("created_by", nobody)["id"],
        "edited_by": item.get("last_edited_by", nobody)["id"],
        "in_trash": bool(item.get("in_trash", item.get("archived", False))),
    }


def _extra(item: Json, *known: str) -> Json:
    return {key: value for key, value in item.items() if key not in (*_COMMON, *_SHOWN, *known)}


def _database(workspace: Workspace, item: Json) -> Database:
    known = ("title", "description", "is_inline", "is_locked", "data_sources", "url", "icon", "cover")
    database = Database(**_base(workspace, item), extra=_extra(item, *known))
    database.title, database.description = item["title"], item.get("description", [])
    database.inline, database.locked = item.get("is_inline", False), item.get("is_locked", False)
    database.sources = [source["id"] for source in item.get("data_sources", [])]
    database.url, database.icon, database.cover = item.get("url", ""), item.get("icon"), item.get("cover")
    return database


def _data_source(workspace: Workspace, item: Json) -> DataSource:
    known = ("title", "description", "is_inline", "properties", "url", "icon", "cover")
    source = DataSource(**_base(workspace, item), extra=_extra(item, *known))
    source.title, source.description = item["title"], item.get("description", [])
    source.inline, source.schema = item.get("is_inline", False), dict(item["properties"])
    source.url, source.icon, source.cover = item.get("url", ""), item.get("icon"), item.get("cover")
    return source


def _page(workspace: Workspace, item: Json) -> Page:
    page = Page(
        **_base(workspace, item), extra=_extra(item, "properties", "url", "icon", "cover", "is_locked")
    )
    page.properties, page.locked = dict(item["properties"]), item.get("is_locked", False)
    page.url, page.icon, page.cover = item.get("url", ""), item.get("icon"), item.get("cover")
    return page


def _blocks(workspace: Workspace, page: Page, items: list[Json]) -> None:
    """Blocks below a page; child pages and databases only keep their place here."""
    stack: list[tuple[Record, list[Json]]] = [(page, items)]
    while stack:
        holder, level = stack.pop()
        siblings = workspace.children_of(holder.id)
        for item in level:
            siblings.append(item["id"])
            if item["type"] in ("child_page", "child_database"):
                continue
            kind = item["type"]
            extra = _extra(item, "type", kind, "has_children", "children")
            block = Block(**_base(workspace, item), extra=extra, type=kind, content=item[kind])
            if not item.get("children"):
                block.has_children = item.get("has_children")
            workspace.blocks[block.id] = block
            stack.append((block, item.get("children", [])))


_WORDS = (
    *("harbour", "lantern", "copper", "meadow", "winter", "engine", "ledger", "orchard", "granite"),
    *("signal", "velvet", "timber", "anchor", "marble", "thunder", "saddle", "compass", "pepper"),
    *("whistle", "canyon"),
)


def generate(
    workspace: Workspace, *, pages: int = 1000, blocks: int = 5, levels: int = 3, roots: int = 10
) -> list[str]:
    """A tree of pages, each with some blocks; the ids of the roots.

    With the defaults: 10 roots, 99 pages below each in two more levels, 5 blocks of text per page
    and a ``child_page`` block for each page but the roots, so about 6,000 blocks. Every block's
    text is unlike any other.
    """
    heads = [workspace.add_page(_name(index), blocks=list(_texts(index, blocks))) for index in range(roots)]
    parents, made = list(heads), roots
    for level in range(1, levels):
        left = levels - level
        width = pages - made if left == 1 else min(pages - made, _share(pages, roots, level, levels))
        fresh = []
        for index in range(made, made + width):
            above = parents[index % len(parents)]
            fresh.append(workspace.add_page(_name(index), parent=above, blocks=list(_texts(index, blocks))))
        parents, made = fresh or parents, made + width
    return heads


def _share(pages: int, roots: int, level: int, levels: int) -> int:
    """Pages of a level so that each level is larger than the one above by one factor."""
    factor = float((pages / roots) ** (1 / (levels - 1)))
    return max(1, round(roots * factor**level))


def _name(index: int) -> str:
    return f"{_WORDS[index % 20].title()} {_WORDS[index // 20 % 20]} {index}"


def _texts(index: int, count: int) -> Iterator[Json]:
    for number in range(count):
        words = " ".join(_WORDS[(index * 7 + number * 3 + step * (step + 1)) % 20] for step in range(12))
        sentence = f"Note {number} of page {index}: {words}."
        yield build.heading(2, sentence) if number % 5 == 0 else build.paragraph(sentence)
