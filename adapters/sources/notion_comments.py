"""Comments on a page as sections of their own, so that an answer cites them as comments."""

import logging
from collections.abc import AsyncIterator, Sequence
from enum import StrEnum

from adapters.sources.notion_api import ForbiddenError, NotionApi
from adapters.sources.notion_files import walk_live
from adapters.sources.notion_json import Json, as_mapping, as_text, block_id
from adapters.sources.notion_text import date_range, render
from adapters.sources.notion_tree import together
from core.domain.attachments import with_parts
from core.domain.documents import Block, BlockKind
from core.domain.ids import BlockId, PageId
from core.errors import NotFoundError, UnreadableError

TITLE = "Comments"
"""What a section of comments is called."""

_AT_ONCE = 4
"""Blocks whose comments are asked for side by side."""

_ENOUGH_REFUSALS = 3
"""So many in a row are no matter of single objects: the integration may read no comments at all."""

_logger = logging.getLogger("footnote.notion")


class CommentScope(StrEnum):
    """Which comments are read. Notion gives those of one block for one request."""

    OFF = "off"
    PAGE = "page"
    """Discussions on pages as a whole: one request more for every page read."""
    ALL = "all"
    """Also those on single blocks: one request more for every block read."""


class CommentReader:
    """Reads open comments; resolved ones the API does not give."""

    def __init__(self, api: NotionApi, scope: CommentScope) -> None:
        self._api = api
        self._scope = scope
        self._refused_in_a_row = 0

    def ask_again(self) -> None:
        """Somebody may have turned on the capability meanwhile."""
        self._refused_in_a_row = 0

    async def with_comments(
        self, page: PageId, raw: Sequence[object], blocks: tuple[Block, ...]
    ) -> tuple[Block, ...]:
        """The blocks of a page with comments below what they were written on, the page's own at its end.

        Raises:
            TemporaryError: some could not be read.
        """
        if self._scope is CommentScope.OFF:
            return blocks
        of_page = await self._section(page, None)
        if self._scope is CommentScope.ALL:
            identifiers = filter(None, (block_id(one.get("id")) for one in walk_live(raw)))
            sections: dict[BlockId | None, tuple[Block, ...]] = {
                identifier: part async for identifier, part in self._sections(tuple(identifiers))
            }
            blocks = with_parts(blocks, sections)
        return (*blocks, *of_page)

    async def _sections(
        self, identifiers: Sequence[BlockId]
    ) -> AsyncIterator[tuple[BlockId, tuple[Block, ...]]]:
        for start in range(0, len(identifiers), _AT_ONCE):
            some = identifiers[start : start + _AT_ONCE]
            found = await together(self._section(one, one) for one in some)
            for identifier, part in zip(some, found, strict=True):
                if part:
                    yield identifier, part

    async def _section(self, on: str, link: BlockId | None) -> tuple[Block, ...]:
        """The comments on one page or block; nothing where the integration may not read them."""
        if self._refused_in_a_row >= _ENOUGH_REFUSALS:
            return ()
        try:
            texts = [_shown(comment) async for comment in self._api.comments(on)]
        except NotFoundError:
            return ()
        except ForbiddenError as error:
            self._refused_in_a_row += 1
            if self._refused_in_a_row == _ENOUGH_REFUSALS:
                _logger.warning(
                    "Comments cannot be read: turn on the capability 'Read comments' in the integration's "
                    "settings, or set NOTION_COMMENTS=off. (%s)",
                    error,
                )
            return ()
        except UnreadableError as error:
            _logger.warning("The comments on %s cannot be read: %s", on, error)
            return ()
        self._refused_in_a_row = 0
        lines = tuple(Block(BlockKind.PARAGRAPH, text, link) for text in texts if text)
        return (Block(BlockKind.PART, TITLE, link, children=lines),) if lines else ()


def _shown(comment: Json) -> str:
    """``Ada (2026-11-02): Is this still true?``"""
    text = render(comment.get("rich_text")).strip()
    if not text:
        return ""
    name = as_text(as_mapping(comment.get("display_name")).get("resolved_name")).strip()
    name = name or as_text(as_mapping(comment.get("created_by")).get("name")).strip()
    day = date_range({"start": as_text(comment.get("created_time"))[:10]})
    who = f"{name} ({day})" if name and day else name or day
    return f"{who}: {text}" if who else text
