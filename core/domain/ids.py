"""Identifiers of Notion objects in one canonical form: lower-case UUIDs with dashes."""

import re
from typing import NewType
from urllib.parse import parse_qs, unquote, urlsplit

PageId = NewType("PageId", str)
"""A Notion page, database or data source: lower-case UUID with dashes."""

BlockId = NewType("BlockId", str)
"""A Notion block: lower-case UUID with dashes."""

ChunkId = NewType("ChunkId", int)
"""The row of a chunk in the index; changes whenever the page is indexed again."""

_BARE_HEX = re.compile(r"[0-9a-f]{32}")
_DASHED = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TRAILING_ID = re.compile(r"(?:^|[^0-9a-f])([0-9a-f]{32})$")


class InvalidIdError(ValueError):
    """The text holds no Notion id."""

    def __init__(self, text: str) -> None:
        super().__init__(
            f"{text!r} is not a Notion page id: expected 32 hexadecimal digits, with or without dashes, "
            "or the page's link"
        )


def parse_page_id(text: str) -> PageId:
    """The id in ``text``: bare hex, dashed, or a link of any Notion host.

    In a link the page shown on top (``?p=``) wins over the one below it; the fragment (a block) is ignored.

    Raises:
        InvalidIdError: nothing in the text is a Notion id.
    """
    found = _find_id(text.strip())
    if found is None:
        raise InvalidIdError(text)
    return PageId(found)


def parse_block_id(text: str) -> BlockId:
    """The id in ``text``, as for pages.

    Raises:
        InvalidIdError: nothing in the text is a Notion id.
    """
    found = _find_id(text.strip())
    if found is None:
        raise InvalidIdError(text)
    return BlockId(found)


def without_dashes(identifier: str) -> str:
    """The 32 hexadecimal digits alone, as Notion writes them in links."""
    return identifier.replace("-", "")


def _find_id(text: str) -> str | None:
    if "://" in text:
        return _find_id_in_link(text)
    lowered = text.lower()
    if _DASHED.fullmatch(lowered) or _BARE_HEX.fullmatch(lowered):
        return _dashed(lowered)
    # "Team-Wiki-<32 hex>", the last part of a link without its host.
    return _last_id(lowered)


def _find_id_in_link(link: str) -> str | None:
    try:
        parts = urlsplit(link)
    except ValueError:
        return None
    for peeked in parse_qs(parts.query).get("p", []):
        if found := _find_id_without_link(peeked):
            return found
    last_segment = unquote(parts.path).rstrip("/").rsplit("/", 1)[-1]
    return _find_id_without_link(last_segment)


def _find_id_without_link(segment: str) -> str | None:
    return None if "://" in segment else _find_id(segment)


def _last_id(lowered: str) -> str | None:
    if match := re.search(_DASHED.pattern + "$", lowered):
        return match.group()
    if match := _TRAILING_ID.search(lowered):
        return _dashed(match.group(1))
    return None


def _dashed(lowered: str) -> str:
    digits = without_dashes(lowered)
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
