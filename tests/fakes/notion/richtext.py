"""Builders of rich text in the shapes Notion answers with.

Everything that takes text takes a string, one item made here, or a sequence of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Json = dict[str, Any]
Text = str | Json | Sequence[str | Json]

_PLAIN = {
    "bold": False,
    "italic": False,
    "strikethrough": False,
    "underline": False,
    "code": False,
    "color": "default",
}


def styled(*names: str, color: str = "default") -> Json:
    """Annotations with the named ones (``bold``, ``italic``, ``code``, …) switched on."""
    unknown = set(names) - set(_PLAIN)
    if unknown:
        raise ValueError(f"no such annotation: {sorted(unknown)}")
    return {**_PLAIN, **dict.fromkeys(names, True), "color": color}


def text(content: str, *names: str, link: str | None = None, color: str = "default") -> Json:
    """A run of text, for example ``text("bold ", "bold")``."""
    return {
        "type": "text",
        "text": {"content": content, "link": {"url": link} if link else None},
        "annotations": styled(*names, color=color),
        "plain_text": content,
        "href": link,
    }


def equation(expression: str) -> Json:
    """An equation inside a line."""
    return {
        "type": "equation",
        "equation": {"expression": expression},
        "annotations": styled(),
        "plain_text": expression,
        "href": None,
    }


def mention(kind: str, value: Json | str, plain_text: str | None, href: str | None = None) -> Json:
    """A mention of any kind, also of kinds that do not exist yet.

    ``plain_text`` None: the stand-in fills in what the target is called when it is read.
    """
    return {
        "type": "mention",
        "mention": {"type": kind, kind: value},
        "annotations": styled(),
        "plain_text": plain_text,
        "href": href,
    }


def mention_page(page_id: str, plain_text: str | None = None) -> Json:
    """A mention of a page; the title is looked up at reading unless given."""
    return mention("page", {"id": page_id}, plain_text, f"https://www.notion.so/{_hex(page_id)}")


def mention_database(database_id: str, plain_text: str | None = None) -> Json:
    """A mention of a database; the title is looked up at reading unless given."""
    href = f"https://www.notion.so/{_hex(database_id)}"
    return mention("database", {"id": database_id}, plain_text, href)


def mention_user(user_id: str, plain_text: str | None = None) -> Json:
    """A mention of a person; a user who is gone has only an id and the text ``@Anonymous``."""
    return mention("user", {"object": "user", "id": user_id}, plain_text)


def mention_date(start: str, end: str | None = None, time_zone: str | None = None) -> Json:
    """A mention of a date or a range of dates."""
    shown = f"{start} → {end}" if end else start
    return mention("date", {"start": start, "end": end, "time_zone": time_zone}, shown)


def mention_link_preview(url: str) -> Json:
    """A preview of a link to a connected service."""
    return mention("link_preview", {"url": url}, url, url)


def mention_link(url: str, title: str, **more: str) -> Json:
    """A link shown by its title."""
    return mention("link_mention", {"href": url, "title": title, **more}, title, url)


def mention_template(kind: str = "template_mention_date", value: str = "today") -> Json:
    """A placeholder in a template, replaced when the template is used."""
    return mention("template_mention", {"type": kind, kind: value}, f"@{value.title()}")


def mention_emoji(emoji_id: str, name: str, url: str) -> Json:
    """A custom emoji."""
    return mention("custom_emoji", {"id": emoji_id, "name": name, "url": url}, f":{name}:")


def rich(value: Text) -> list[Json]:
    """A list of rich text items from whatever a builder was given."""
    if isinstance(value, str):
        return [text(value)] if value else []
    if isinstance(value, dict):
        return [value]
    return [text(item) if isinstance(item, str) else item for item in value]


def plain(items: Sequence[Json]) -> str:
    """The plain text of a list of rich text items."""
    return "".join(item.get("plain_text") or "" for item in items)


def _hex(identifier: str) -> str:
    return identifier.replace("-", "").lower()
