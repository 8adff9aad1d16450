"""Tolerant access to Notion's JSON: whatever is missing or of another type reads as empty, never raises."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from core.domain.ids import BlockId, InvalidIdError, PageId, parse_block_id, parse_page_id

Json = Mapping[str, Any]
"""A JSON object as the API gave it; its fields may be missing, null or of a type nobody documented."""

_UNREADABLE = {0: None} | dict.fromkeys(range(0xD800, 0xE000), "\N{REPLACEMENT CHARACTER}")


def clean(text: str) -> str:
    """Text that any database takes: without NUL, and without half of a surrogate pair."""
    return text if text.isascii() and "\0" not in text else text.translate(_UNREADABLE)


def as_mapping(value: object) -> Json:
    """The object, or an empty one."""
    return value if isinstance(value, Mapping) else {}


def as_list(value: object) -> Sequence[Any]:
    """The list, or an empty one."""
    return value if isinstance(value, list | tuple) else ()


def as_text(value: object) -> str:
    """The string, or an empty one."""
    return clean(value) if isinstance(value, str) else ""


def type_of(value: Json) -> str:
    """The ``type`` field, or nothing."""
    return as_text(value.get("type"))


def payload(value: Json) -> Json:
    """What an object of type X holds under the key X, as blocks, properties and mentions do."""
    return as_mapping(value.get(type_of(value)))


def page_id(value: object) -> PageId | None:
    """The id in canonical form, or null where there is none."""
    try:
        return parse_page_id(value) if isinstance(value, str) else None
    except InvalidIdError:
        return None


def block_id(value: object) -> BlockId | None:
    """The id in canonical form, or null where there is none."""
    try:
        return parse_block_id(value) if isinstance(value, str) else None
    except InvalidIdError:
        return None


def instant(value: object) -> datetime | None:
    """A time of the API (``…:00.000Z`` or ``…:43.405+00:00``) as an instant; null where it is none (T4)."""
    try:
        parsed = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    if parsed is None:
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def is_gone(value: Json) -> bool:
    """Whether a page, database or block lies in the trash; older API versions call it archived (NOT-1)."""
    flag = value.get("in_trash")
    return bool(value.get("archived") if flag is None else flag)
