"""Builders of blocks, one per type of the API, for ``Workspace.add_page(blocks=[…])``.

A builder gives ``{"type": T, T: content, "children": […]}``: the official content of the type,
without the id, times and parent that the workspace adds when the block is put somewhere.
Children stand under ``children`` here and never in an answer of the API.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.fakes.notion.richtext import Json, Text, rich

Blocks = Sequence[Json]

SUPPORTED = frozenset(
    (
        *("paragraph", "heading_1", "heading_2", "heading_3", "heading_4"),
        *("bulleted_list_item", "numbered_list_item", "quote", "to_do", "toggle", "template"),
        *("synced_block", "child_page", "child_database", "equation", "code", "callout", "divider"),
        *("breadcrumb", "table_of_contents", "tab", "column_list", "column", "link_to_page"),
        *("table", "table_row", "meeting_notes", "transcription", "embed", "bookmark", "image"),
        *("video", "pdf", "file", "audio", "link_preview"),
    )
)
"""Types whose children may be listed; the 37th type of the typings is ``unsupported``."""


def raw(kind: str, content: Json, children: Blocks = (), **extra: Any) -> Json:
    """A block of any type. ``extra`` keys (``id``, ``has_children``, …) go into the object."""
    return {"type": kind, kind: content, "children": list(children), **extra}


def _text(kind: str, value: Text, children: Blocks, color: str, **content: Any) -> Json:
    return raw(kind, {"rich_text": rich(value), "color": color, **content}, children)


def paragraph(value: Text = "", children: Blocks = (), color: str = "default") -> Json:
    """A paragraph; an empty one is an empty line."""
    return _text("paragraph", value, children, color, icon=None)


def heading(level: int, value: Text, children: Blocks = (), toggleable: bool | None = None) -> Json:
    """A heading of level 1 to 4; it is a toggle when it has children, unless said otherwise."""
    if not 1 <= level <= 4:
        raise ValueError("headings have the levels 1 to 4")
    toggle_state = bool(children) if toggleable is None else toggleable
    return _text(f"heading_{level}", value, children, "default", is_toggleable=toggle_state)


def bulleted(value: Text, children: Blocks = ()) -> Json:
    """An item of a bulleted list."""
    return _text("bulleted_list_item", value, children, "default")


def numbered(value: Text, children: Blocks = (), start: int | None = None, style: str | None = None) -> Json:
    """An item of a numbered list; ``start`` and ``style`` (numbers, letters, roman) are optional."""
    more: Json = {}
    if start is not None:
        more["list_start_index"] = start
    if style is not None:
        more["list_format"] = style
    return _text("numbered_list_item", value, children, "default", **more)


def quote(value: Text, children: Blocks = ()) -> Json:
    """A quotation."""
    return _text("quote", value, children, "default")


def to_do(value: Text, checked: bool = False, children: Blocks = ()) -> Json:
    """A task with a check box."""
    return _text("to_do", value, children, "default", checked=checked)


def toggle(value: Text, children: Blocks = ()) -> Json:
    """A line that folds its children away."""
    return _text("toggle", value, children, "default")


def callout(value: Text, icon: str | None = "💡", children: Blocks = ()) -> Json:
    """A boxed text with an emoji."""
    shown = {"type": "emoji", "emoji": icon} if icon else None
    return _text("callout", value, children, "default", icon=shown)


def template(value: Text, children: Blocks = ()) -> Json:
    """A template button."""
    return raw("template", {"rich_text": rich(value)}, children)


def code(value: Text, language: str = "plain text", caption: Text = "") -> Json:
    """A code block; Notion splits long code into several runs, so ``value`` may be a sequence."""
    return raw("code", {"rich_text": rich(value), "caption": rich(caption), "language": language})


def equation(expression: str) -> Json:
    """An equation as a block."""
    return raw("equation", {"expression": expression})


def divider() -> Json:
    """A rule across the page."""
    return raw("divider", {})


def breadcrumb() -> Json:
    """The path of the page."""
    return raw("breadcrumb", {})


def table_of_contents() -> Json:
    """The list of headings."""
    return raw("table_of_contents", {"color": "gray"})


def tab(*tabs: tuple[str, Blocks]) -> Json:
    """Tabs: each is a paragraph with the label and the tab's blocks below it."""
    return raw("tab", {}, [paragraph(label, inside) for label, inside in tabs])


def columns(*contents: Blocks) -> Json:
    """A list of columns."""
    ratio = round(1 / len(contents), 4) if contents else 1
    inside = [raw("column", {"width_ratio": ratio}, blocks) for blocks in contents]
    return raw("column_list", {}, inside)


def table(rows: Sequence[Sequence[Text]], header: bool = True, row_header: bool = False) -> Json:
    """A simple table; its rows are children of type ``table_row``."""
    content = {
        "table_width": max((len(row) for row in rows), default=1),
        "has_column_header": header,
        "has_row_header": row_header,
    }
    return raw("table", content, [table_row(*row) for row in rows])


def table_row(*cells: Text) -> Json:
    """One row of a simple table."""
    return raw("table_row", {"cells": [rich(cell) for cell in cells]})


def synced_original(children: Blocks, uid: str | None = None) -> Json:
    """A synced block's original; give it an id to copy it."""
    extra = {"id": uid} if uid else {}
    return raw("synced_block", {"synced_from": None}, children, **extra)


def synced_copy(original_id: str) -> Json:
    """A copy of a synced block. It says it has children; they are listed under the original's id."""
    return raw("synced_block", {"synced_from": {"type": "block_id", "block_id": original_id}})


def child_page(title: str, blocks: Blocks = (), uid: str | None = None) -> Json:
    """A page that stands at this place; putting the block creates it."""
    extra = {"id": uid} if uid else {}
    return raw("child_page", {"title": title}, blocks, **extra)


def link_to_page(target: str, kind: str = "page_id") -> Json:
    """A link to a page (``page_id``), a database (``database_id``) or a comment."""
    return raw("link_to_page", {"type": kind, kind: target})


def meeting_notes(
    title: Text,
    summary: Blocks = (),
    notes: Blocks = (),
    transcript: Blocks = (),
    status: str = "notes_ready",
) -> Json:
    """Meeting notes: three sections, whose ids stand in the block's content."""
    content = {"title": rich(title), "status": status, "children": {}}
    sections = [("summary", summary), ("notes", notes), ("transcript", transcript)]
    inside = [{**paragraph("", blocks), "$section": name} for name, blocks in sections if blocks]
    return raw("meeting_notes", content, inside)


def bookmark(url: str, caption: Text = "") -> Json:
    """A bookmark of a web page."""
    return raw("bookmark", {"url": url, "caption": rich(caption)})


def embed(url: str, caption: Text = "") -> Json:
    """An embedded web page."""
    return raw("embed", {"url": url, "caption": rich(caption)})


def link_preview(url: str) -> Json:
    """A preview of a link; Notion makes these, integrations cannot."""
    return raw("link_preview", {"url": url})


def _media(kind: str, source: str | Json, caption: Text, name: str | None) -> Json:
    content = external(source) if isinstance(source, str) else dict(source)
    content["caption"] = rich(caption)
    if name is not None:
        content["name"] = name
    return raw(kind, content)


def external(url: str) -> Json:
    """A file that lies elsewhere."""
    return {"type": "external", "external": {"url": url}}


def hosted(url: str, expiry_time: str = "2026-11-02T10:00:00.000Z") -> Json:
    """A file of Notion's with a fixed address; ``Workspace.add_file`` gives a living one."""
    return {"type": "file", "file": {"url": url, "expiry_time": expiry_time}}


def image(source: str | Json, caption: Text = "") -> Json:
    """A picture from a URL, or from what ``Workspace.add_file`` returned."""
    return _media("image", source, caption, None)


def video(source: str | Json, caption: Text = "") -> Json:
    """A film."""
    return _media("video", source, caption, None)


def audio(source: str | Json, caption: Text = "") -> Json:
    """A sound."""
    return _media("audio", source, caption, None)


def pdf(source: str | Json, caption: Text = "") -> Json:
    """A PDF shown in the page."""
    return _media("pdf", source, caption, None)


def file(source: str | Json, name: str, caption: Text = "") -> Json:
    """A file to download."""
    return _media("file", source, caption, name)


def unsupported(block_type: str = "button", has_children: bool = False) -> Json:
    """A block that the API does not show, such as a button."""
    return raw("unsupported", {"block_type": block_type}, has_children=has_children)


def nested(texts: Sequence[str]) -> Json:
    """Bulleted items, each inside the one before; built without recursion."""
    if not texts:
        raise ValueError("nesting needs at least one text")
    inner: list[Json] = []
    for value in reversed(texts):
        inner = [bulleted(value, inner)]
    return inner[0]
