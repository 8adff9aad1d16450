"""Notion's webhook: requests checked and turned into hints that something changed (NOT-17).

An event holds no content, may come late, twice, in any order or never: it only says where to look.
"""

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from adapters.sources.notion_json import Json, as_mapping, as_text, page_id
from core.domain.ids import PageId

SIGNATURE_HEADER = "X-Notion-Signature"
MAX_BODY = 1_000_000
"""Bytes; events are a few kilobytes."""

MAX_EVENT_ID = 200
"""Characters; Notion's have 36."""

MAX_TOKEN = 500
"""Characters; Notion's have some fifty."""


def sign(body: bytes, token: str) -> str:
    """The signature of a raw body under a verification token."""
    return f"sha256={hmac.new(token.encode(), body, sha256).hexdigest()}"


@dataclass(frozen=True, slots=True)
class Delivery:
    """A signed delivery: its id, and the pages to look at; null for a change that no page names."""

    event: str
    hints: tuple[PageId | None, ...]


def check_delivery(body: bytes, signature: str, token: str, *, comments: bool = False) -> Delivery | None:
    """What was delivered, or null if it was not signed with the token; the signature is checked first.

    A signed body that is no event holds no hints. ``comments``: whether comments are read, so that one is a
    reason to look at its page.
    """
    if not _is_signed(body, signature, token):
        return None
    event = _parse(body) or {}
    return Delivery(as_text(event.get("id"))[:MAX_EVENT_ID], _hints(event, comments=comments))


def offered_token(body: bytes, signature: str) -> str | None:
    """The token of a handshake, or null if it is none; a signature must be by that very token."""
    if len(body) > MAX_BODY:
        return None
    token = as_text((_parse(body) or {}).get("verification_token"))
    if not token or len(token) > MAX_TOKEN or (signature and not _is_signed(body, signature, token)):
        return None
    return token


def _hints(event: Json, *, comments: bool) -> tuple[PageId | None, ...]:
    kind = as_text(event.get("type")).partition(".")[0]
    if kind == "page":
        return (page_id(as_mapping(event.get("entity")).get("id")),)
    if kind == "comment" and comments:
        return (page_id(as_mapping(event.get("data")).get("page_id")),)
    return (None,) if kind in {"database", "data_source"} else ()


def _is_signed(body: bytes, signature: str, token: str) -> bool:
    return hmac.compare_digest(signature.encode("utf-8", "replace"), sign(body, token).encode())


def _parse(body: bytes) -> Json | None:
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        # Nobody has signed this yet: it may be nested as deeply as anybody likes.
        return None
    return parsed if isinstance(parsed, Mapping) else None
