"""Switches: how far the stand-in is from an ideal API. The defaults are what Notion does usually."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tests.fakes.notion.clock import to_http_date

READER = frozenset({"read_content", "read_comments", "read_users", "read_emails"})
"""All rights of a reading integration; take some away to get 403 (or users without a name)."""


@dataclass(slots=True)
class Behaviour:
    """Change attributes at any time; the next request sees it."""

    rights: set[str] = field(default_factory=lambda: set(READER))
    search_omits: set[str] = field(default_factory=set)
    """Ids that search never returns, although the objects are there and shared."""
    search_lag: timedelta = timedelta(0)
    """Search knows what was so long ago: new objects are missing, edits do not move up."""
    search_shows_trashed: bool = False
    """Listings contain trashed pages as well (F21)."""
    search_cap: int | None = None
    """So many results per search; then ``request_status`` says incomplete."""
    query_cap: int = 10_000
    """So many rows per query; then ``has_more`` is false and ``request_status`` incomplete."""
    request_status_on: str = "every"
    """Which pages of a capped listing say incomplete: ``every``, ``first`` or ``last``."""
    request_status_when_complete: bool = False
    """Whether listings that hold everything say so."""
    inherit_trash: bool = True
    """Whether what lies below something trashed is shown as trashed too."""
    unshared_children_listed: bool = False
    """Whether a listing names child pages that the integration may not open."""
    synced_copies_list_children: bool = False
    """Whether a synced block's copy answers with the original's children; users report 404 for it,
    so a client has to ask the original, whose id stands in ``synced_from``."""
    markdown_block_limit: int = 20_000
    """So many blocks in one Markdown answer; the rest is ``truncated``."""
    date_header: Callable[[datetime], str | None] = to_http_date
    """What stands in ``Date``, by the server's own time; null leaves the header out."""
    file_lifetime: timedelta = timedelta(hours=1)
    """How long the signed address of a file is good."""
