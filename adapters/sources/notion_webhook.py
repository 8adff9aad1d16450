"""Notion's webhook: requests checked and turned into hints that something changed (NOT-17).

An event holds no content, may come late, twice, in any order or never: it only says where to look.
"""

import hmac
import json
import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from http import HTTPStatus

from adapters.sources.notion_json import Json, as_mapping, as_text, page_id
from core.domain.ids import PageId

SIGNATURE_HEADER = "X-Notion-Signature"
MAX_BODY = 1_000_000
"""Bytes; events are a few kilobytes."""

MAX_TOKEN = 500
"""Characters; Notion's have some fifty."""

REMEMBERED_EVENTS = 10_000
"""Ids kept to tell a repeated delivery; a forgotten one costs one look at a page."""

_logger = logging.getLogger("footnote.notion.webhook")

Hint = Callable[[PageId | None], None]
"""Told which page to look at; null for a change that only a look at all changes can follow."""


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
    return Delivery(as_text(event.get("id")), _hints(event, comments=comments))


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


class WebhookReceiver:
    """Answers deliveries at once and passes hints on; knows nothing of any web server.

    ``token`` is the verification token of the subscription. Without one the first handshake is accepted and
    given to ``on_handshake``, so that an operator can paste it into Notion; it is never logged. With
    ``comments`` a comment is a hint on its page.
    """

    def __init__(
        self,
        *,
        hint: Hint,
        token: str | None = None,
        on_handshake: Callable[[str], None] | None = None,
        comments: bool = False,
    ) -> None:
        self._hint = hint
        self._token = token
        self._on_handshake = on_handshake
        self._comments = comments
        self._seen: OrderedDict[str, None] = OrderedDict()

    def receive(self, body: bytes, headers: Mapping[str, str]) -> HTTPStatus:
        """The status to answer a POST with; ``body`` is raw, since the signature is over its bytes."""
        if len(body) > MAX_BODY:
            return HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        signature = _header(headers, SIGNATURE_HEADER)
        if self._token is None:
            return self._shake_hands(body, signature)
        if not _is_signed(body, signature, self._token):
            _logger.warning("A webhook request without a valid signature was refused.")
            return HTTPStatus.UNAUTHORIZED
        event = _parse(body)
        if event is None:
            return HTTPStatus.BAD_REQUEST
        if "verification_token" not in event:
            self._take(event)
        return HTTPStatus.OK

    def _shake_hands(self, body: bytes, signature: str) -> HTTPStatus:
        token = offered_token(body, signature)
        if token is None or self._on_handshake is None:
            # Nothing can be checked yet, so nothing is believed.
            return HTTPStatus.UNAUTHORIZED
        self._token = token
        self._on_handshake(token)
        return HTTPStatus.OK

    def _take(self, event: Json) -> None:
        identifier = as_text(event.get("id"))
        if identifier in self._seen:
            return
        if identifier:
            self._seen[identifier] = None
            if len(self._seen) > REMEMBERED_EVENTS:
                self._seen.popitem(last=False)
        for hint in _hints(event, comments=self._comments):
            self._hint(hint)


def _header(headers: Mapping[str, str], name: str) -> str:
    return next((value for key, value in headers.items() if key.lower() == name.lower()), "")


def _is_signed(body: bytes, signature: str, token: str) -> bool:
    return hmac.compare_digest(signature.encode("utf-8", "replace"), sign(body, token).encode())


def _parse(body: bytes) -> Json | None:
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        # Nobody has signed this yet: it may be nested as deeply as anybody likes.
        return None
    return parsed if isinstance(parsed, Mapping) else None
