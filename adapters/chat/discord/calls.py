"""Calls of Discord's API: bounded in time, with the library's exceptions translated into ours."""

import asyncio
import logging
from collections.abc import Awaitable
from typing import TypeVar

import aiohttp
import discord

from core.errors import PermanentError, RateLimitedError, UnavailableError

logger = logging.getLogger(__name__)

CALL_SECONDS = 45.0
"""The library waits for rate limits and repeats by itself; this ends what never ends."""

ACK_SECONDS = 2.5
"""Discord waits three seconds for the first response to an interaction."""

UNKNOWN_CHANNEL = 10003
UNKNOWN_MESSAGE = 10008
UNKNOWN_WEBHOOK = 10015
UNKNOWN_INTERACTION = 10062
ALREADY_ACKNOWLEDGED = 40060
MISSING_ACCESS = 50001
MISSING_PERMISSIONS = 50013
CANNOT_DIRECT = 50007
INVALID_WEBHOOK_TOKEN = 50027
INVALID_FORM = 50035
THREAD_EXISTS = 160004

CANNOT_REPLY = 160002
"""A reply needs the permission to read the history; a message without reference does not."""

THREAD_LOCKED = 160005
ARCHIVED = 50083
NOT_FOR_TEXT = frozenset({50008, 50024, 40058})
"""Channels of a kind in which nothing can be written, such as a forum itself."""

EXPIRED = frozenset({UNKNOWN_WEBHOOK, UNKNOWN_INTERACTION, INVALID_WEBHOOK_TOKEN})
"""The interaction's token is of no use any more: nothing further may be sent to it."""

_CLOSED = NOT_FOR_TEXT | {UNKNOWN_CHANNEL, MISSING_ACCESS, MISSING_PERMISSIONS, CANNOT_DIRECT}
CLOSED = frozenset(_CLOSED | {THREAD_LOCKED, ARCHIVED})
"""A channel, thread or direct message in which the bot cannot write; so does every other 403."""

T = TypeVar("T")


class CallError(PermanentError):
    """Discord refused a call. ``code`` is its own error code, ``status`` the one of HTTP."""

    def __init__(self, message: str, *, code: int, status: int) -> None:
        super().__init__(message)
        self.code = code
        self.status = status


async def call(what: str, work: Awaitable[T], *, seconds: float | None = None) -> T:
    """The result of a call of the library's; ``what`` names it in messages.

    Raises:
        CallError: Discord refused it; says with which code. No text of anybody's is in the message.
        RateLimitedError: even the library's own waiting did not help.
        UnavailableError: Discord is away or too slow.
    """
    try:
        async with asyncio.timeout(seconds or CALL_SECONDS):
            return await work
    except discord.RateLimited as error:
        raise RateLimitedError(f"Discord: {what} is rate limited", retry_after=error.retry_after) from error
    except discord.HTTPException as error:
        raise _translated(what, error) from error
    except (aiohttp.ClientError, OSError, TimeoutError, RuntimeError) as error:
        # A RuntimeError is the library's own word for a session that was closed meanwhile.
        raise UnavailableError(f"Discord: {what} failed: {type(error).__name__}") from error


def _translated(what: str, error: discord.HTTPException) -> Exception:
    if error.status == 429:  # noqa: PLR2004 - too many requests
        wait = error.response.headers.get("Retry-After")
        return RateLimitedError(f"Discord: {what} is rate limited", retry_after=float(wait) if wait else None)
    if error.status >= 500:  # noqa: PLR2004 - the server's own fault
        return UnavailableError(f"Discord: {what} failed with HTTP {error.status}")
    return CallError(
        f"Discord refused {what} with HTTP {error.status}, code {error.code}",
        code=error.code,
        status=error.status,
    )


async def defer(interaction: discord.Interaction, *, private: bool, in_place: bool = False) -> bool:
    """Tell Discord that an answer will come; false if Discord says that it came too late to be told.

    Whether the reply is private is settled here: followups cannot change it (DSC-2). Where Discord does not
    answer, it may have understood: then its reply to the first followup tells. ``in_place``: the message with
    the pressed button is what will change.
    """
    try:
        await call(
            "acknowledging",
            interaction.response.defer(ephemeral=private, thinking=not in_place),
            seconds=ACK_SECONDS,
        )
    except discord.InteractionResponded:
        return True
    except CallError as error:
        if error.code == ALREADY_ACKNOWLEDGED:
            # Another process, or the same delivery twice; whose question it is the claim decides.
            return True
        logger.warning("interaction %d could not be acknowledged: %s", interaction.id, error)
        return False
    except (UnavailableError, RateLimitedError) as error:
        logger.warning("whether interaction %d is acknowledged is not known: %s", interaction.id, error)
    return True
