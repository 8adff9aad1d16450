"""Given replies whose source says something else by now, as every platform goes through them."""

import logging
from collections.abc import Awaitable, Callable

from core.errors import FootnoteError
from core.ports.replies import ChangedReply, GivenReplies

logger = logging.getLogger(__name__)

AT_ONCE = 5
"""Replies marked in one look: each costs two calls, and questions go first."""


async def mark_each(
    replies: GivenReplies,
    platform: str,
    mark: Callable[[ChangedReply], Awaitable[None]],
    is_final: Callable[[FootnoteError], bool],
) -> None:
    """Mark some of the replies that are due; what fails is handed out again, not for ever.

    ``is_final`` tells the refusals after which there is nothing left to be marked: the reply was deleted, or
    nobody may write there any more.

    Raises:
        TemporaryError: nothing can be known of them now.
    """
    for changed in await replies.changed(platform, limit=AT_ONCE):
        try:
            await mark(changed)
        except FootnoteError as error:
            if not is_final(error):
                logger.warning("a reply is marked later: %s", error)
                continue
        await replies.settled(changed.place)
