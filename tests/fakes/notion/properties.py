"""Builders of property values and columns of a data source, in the shapes Notion answers with.

A value is ``{"type": T, T: value}``; the workspace adds the property's id. A column (schema) is
made of the same names: ``column("select", options=["Open", "Done"])``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from zlib import crc32

from tests.fakes.notion.richtext import Json, Text, rich

COMPUTED = frozenset({"created_time", "last_edited_time", "created_by", "last_edited_by"})
"""Types whose value the workspace knows itself."""

_EMPTY: dict[str, Any] = {
    "title": [],
    "rich_text": [],
    "people": [],
    "relation": [],
    "multi_select": [],
    "files": [],
    "checkbox": False,
    "formula": {"type": "string", "string": None},
    "rollup": {"type": "array", "array": [], "function": "show_original"},
    "unique_id": {"prefix": None, "number": None},
    "button": {},
}

COLORS = ("default", "gray", "brown", "orange", "yellow", "green", "blue", "purple", "pink", "red")


def value(kind: str, content: Any) -> Json:
    """A value of any type, also of types that do not exist yet."""
    return {"type": kind, kind: content}


def empty(kind: str) -> Json:
    """What an untouched cell of a column holds."""
    return value(kind, _EMPTY.get(kind))


def title(content: Text) -> Json:
    """The name of a page; exactly one column of a data source has this type."""
    return value("title", rich(content))


def rich_text(content: Text) -> Json:
    """A text."""
    return value("rich_text", rich(content))


def number(content: float | None) -> Json:
    """A number; how it is shown stands in the column's format."""
    return value("number", content)


def option(name: str) -> Json:
    """An option of select, multi-select or status; id and colour follow from the name."""
    digest = crc32(name.encode())
    return {"id": f"{digest:08x}", "name": name, "color": COLORS[digest % len(COLORS)]}


def select(name: str | None) -> Json:
    """One of several options."""
    return value("select", option(name) if name else None)


def status(name: str | None) -> Json:
    """A state."""
    return value("status", option(name) if name else None)


def multi_select(*names: str) -> Json:
    """Several options."""
    return value("multi_select", [option(name) for name in names])


def date(start: str | None, end: str | None = None, time_zone: str | None = None) -> Json:
    """A date, a time or a range."""
    content = {"start": start, "end": end, "time_zone": time_zone} if start else None
    return value("date", content)


def people(*user_ids: str) -> Json:
    """Users; those who are unknown (guests, deleted) come out with an id only."""
    return value("people", [{"object": "user", "id": user_id} for user_id in user_ids])


def relation(*page_ids: str) -> Json:
    """Links to rows of another data source; an answer shows at most 25 of them."""
    return value("relation", [{"id": page_id} for page_id in page_ids])


def checkbox(checked: bool) -> Json:
    """A check box."""
    return value("checkbox", checked)


def url(address: str | None) -> Json:
    """A web address."""
    return value("url", address)


def email(address: str | None) -> Json:
    """A mail address."""
    return value("email", address)


def phone_number(digits: str | None) -> Json:
    """A telephone number."""
    return value("phone_number", digits)


def files(*items: Json) -> Json:
    """Files: each is ``{"name": …}`` joined with ``blocks.external`` or ``Workspace.add_file``."""
    return value("files", list(items))


def formula(kind: str, result: Any) -> Json:
    """A computed value: ``string``, ``number``, ``boolean``, ``date`` or ``unsupported``."""
    return value("formula", {"type": kind, kind: result})


def rollup(kind: str, result: Any, function: str = "show_original") -> Json:
    """A value gathered over a relation: ``number``, ``date``, ``array`` or ``unsupported``."""
    return value("rollup", {"type": kind, kind: result, "function": function})


def unique_id(number_: int | None = None, prefix: str | None = None) -> Json:
    """A running number, such as ``TASK-17``."""
    return value("unique_id", {"prefix": prefix, "number": number_})


def verification(state: str = "unverified", by: str | None = None) -> Json:
    """Whether a wiki page is verified."""
    user = {"object": "user", "id": by} if by else None
    return value("verification", {"state": state, "date": None, "verified_by": user})


def place(lat: float, lon: float, name: str | None = None) -> Json:
    """A spot on the map."""
    return value("place", {"lat": lat, "lon": lon, "name": name, "address": None})


def button() -> Json:
    """A button; it has no value."""
    return value("button", {})


def computed(kind: str) -> Json:
    """A value the workspace fills in: created or last edited, by whom or when."""
    if kind not in COMPUTED:
        raise ValueError(f"{kind} is not computed by Notion")
    return value(kind, None)


def column(kind: str, *, options: Sequence[str] = (), **config: Any) -> Json:
    """A column of a data source; ``config`` is what its type needs (``format``, ``prefix``, …)."""
    content: Json = dict(config)
    if kind in ("select", "multi_select", "status"):
        content["options"] = [{**option(name), "description": None} for name in options]
    if kind == "status":
        ids = [item["id"] for item in content["options"]]
        content["groups"] = [{"id": "group", "name": "To-do", "color": "gray", "option_ids": ids}]
    defaults: dict[str, Json] = {
        "number": {"format": "number"},
        "formula": {"expression": ""},
        "unique_id": {"prefix": None},
        "rollup": {
            "function": "show_original",
            "rollup_property_name": "Name",
            "relation_property_name": "Relation",
            "rollup_property_id": "title",
            "relation_property_id": "rel1",
        },
    }
    return {"type": kind, kind: {**defaults.get(kind, {}), **content}, "description": None}


def column_for(sample: Json) -> Json:
    """The column that a value of this type would stand in."""
    return column(sample["type"])


def property_id(kind: str, name: str) -> str:
    """A property's id: ``title`` for the title, else four signs, some percent-encoded as in Notion."""
    if kind == "title":
        return "title"
    digest = crc32(f"{kind}/{name}".encode())
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    picked = [letters[(digest >> shift) % len(letters)] for shift in (0, 6, 12)]
    special = ("%3A", "%7B", "x", "%40", "Q")[digest % 5]
    return picked[0] + special + picked[1] + picked[2]
