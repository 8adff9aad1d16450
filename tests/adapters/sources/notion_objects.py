"""Builders of API objects that show only what matters to a test."""

from typing import Any
from uuid import UUID

Object = dict[str, Any]


def an_id(number: int) -> str:
    """A readable id: the number in hexadecimal digits."""
    return str(UUID(int=number))


def run(text: str, *, href: str | None = None, **annotations: bool) -> Object:
    """One text item of a rich text."""
    return {
        "type": "text",
        "text": {"content": text, "link": {"url": href} if href else None},
        "annotations": {
            "bold": False,
            "italic": False,
            "strikethrough": False,
            "underline": False,
            "code": False,
            "color": "default",
            **annotations,
        },
        "plain_text": text,
        "href": href,
    }


def mention(kind: str, held: Any, plain_text: str, *, href: str | None = None) -> Object:
    """One mention of a rich text."""
    return {
        **run(plain_text, href=href),
        "type": "mention",
        "mention": {"type": kind, kind: held},
    }


def block(kind: str, number: int = 1, *, children: list[Object] | None = None, **held: Any) -> Object:
    """A block of any type; ``children`` as the source nests them."""
    made: Object = {
        "object": "block",
        "id": an_id(number),
        "type": kind,
        "has_children": bool(children),
        "in_trash": False,
        kind: held,
    }
    if children:
        made["children"] = children
    return made


def text_block(kind: str, text: str, number: int = 1, **held: Any) -> Object:
    """A block whose rich text is one plain run."""
    return block(kind, number, rich_text=[run(text)] if text else [], **held)


def table(rows: list[list[list[Object]]], *, header: bool = True, row_header: bool = False) -> Object:
    """A simple table; each cell is a rich text."""
    made = block("table", table_width=len(rows[0]), has_column_header=header, has_row_header=row_header)
    made["children"] = [block("table_row", 100 + number, cells=row) for number, row in enumerate(rows)]
    return made
