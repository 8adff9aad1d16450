"""Whether a listed page must be read again, and the hash that says whether what was read is new."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from hashlib import sha256

from core.domain.documents import Block, PageRef
from core.ports import PageState

OVERLAP = timedelta(minutes=2)
"""Notion rounds the time of an edit down to the minute and its search lags: an edit this close to the last
look may not have been seen (U2, SY4, F23)."""

HARMLESS = OVERLAP - timedelta(minutes=1)
"""A look may be dated so much too late and hide nothing: of the overlap the rounding takes one minute."""


def content_hash(ref: PageRef, blocks: Sequence[Block]) -> str:
    """Over everything that is embedded or cited: title, parent, url, properties and content (U1, X17)."""
    digest = sha256()
    described = (ref.title, ref.parent_id, ref.data_source_id, ref.url, ref.object_type, ref.properties)
    digest.update(json.dumps(described).encode())
    # A stack, since pages nest a thousand levels deep; the depth keeps equal texts of another shape apart.
    stack = [(block, 0) for block in reversed(blocks)]
    while stack:
        block, depth = stack.pop()
        row: tuple[object, ...] = (block.kind, block.level, block.id, depth, block.text)
        if block.mirrors is not None:
            row = (*row, block.mirrors)
        digest.update(b"\n" + json.dumps(row).encode())
        stack.extend((child, depth + 1) for child in reversed(block.children))
    return digest.hexdigest()


def is_unchanged(ref: PageRef, state: PageState | None) -> bool:
    """Whether the index holds the page as it is listed, beyond doubt (SY1, SY4)."""
    return state is not None and _same_entry(ref, state.ref) and has_same_blocks(ref, state)


def has_same_blocks(ref: PageRef, state: PageState) -> bool:
    """Whether the blocks are as stored, even if the entry differs: a page that moves is not dated."""
    if ref.last_edited is None or ref.last_edited != state.ref.last_edited:
        return False
    return ref.last_edited + OVERLAP <= state.synced_at


def _same_entry(one: PageRef, other: PageRef) -> bool:
    return (
        one.title == other.title
        and one.url == other.url
        and one.parent_id == other.parent_id
        and one.data_source_id == other.data_source_id
        and one.object_type == other.object_type
        and one.properties == other.properties
    )


def moment_to_ask_from(last_look: datetime) -> datetime:
    """From when on changes are asked for: the last look less the overlap, at a full minute (NOT-8)."""
    return (last_look - OVERLAP).replace(second=0, microsecond=0)
