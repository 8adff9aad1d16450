"""The places in which a reply can reach its asker, best first."""

import logging
from collections.abc import AsyncGenerator
from datetime import datetime
from enum import Enum, auto

import discord

from adapters.chat.discord.asking import Asked
from adapters.chat.discord.calls import CallError, call
from adapters.chat.discord.surfaces import ChannelSurface, GoneError, InteractionSurface, Surface
from core.errors import FootnoteError

logger = logging.getLogger(__name__)


class _Way(Enum):
    INTERACTION = auto()
    CHANNEL = auto()
    DIRECT = auto()


class Surfaces:
    """Where one reply is shown, and where next if it cannot be shown there.

    ``current`` is null before `advance` where the first place has to be looked up, and behind the last one.
    """

    def __init__(self, client: discord.Client, asked: Asked, *, now: datetime, token_seconds: float) -> None:
        self._client = client
        self._asked = asked
        self._ways = list(_ways(asked, is_open=asked.is_open(now, seconds=token_seconds)))
        self.current: Surface | None = None
        if self._ways and self._ways[0] is not _Way.DIRECT:
            self.current = self._surface(self._ways.pop(0))

    async def advance(self) -> Surface | None:
        """The next place; null if there is none."""
        self.current = None
        if self._ways:
            way = self._ways.pop(0)
            self.current = await self._direct() if way is _Way.DIRECT else self._surface(way)
        return self.current

    def _surface(self, way: _Way) -> Surface:
        if way is _Way.INTERACTION:
            # Whoever goes on in a thread was told privately that an answer comes.
            return InteractionSurface(self._client, self._asked, private=bool(self._asked.posts_in))
        return ChannelSurface(self._client, self._asked)

    @property
    def is_direct_next(self) -> bool:
        """Whether only the asker's direct messages are left."""
        return self._ways[:1] == [_Way.DIRECT]

    async def _direct(self) -> Surface | None:
        return await direct_surface(self._client, self._asked)


def _ways(asked: Asked, *, is_open: bool) -> tuple[_Way, ...]:
    """A reply for all may go to its asker alone where the channel is closed, never the other way round."""
    interaction = (_Way.INTERACTION,) if is_open else ()
    if asked.again:
        return (_Way.CHANNEL, *interaction)
    if asked.is_direct:
        return (*interaction, _Way.CHANNEL)
    if asked.is_private:
        return (*interaction, _Way.DIRECT)
    if asked.posts_in:
        return (_Way.CHANNEL, *interaction, _Way.DIRECT)
    return (*interaction, _Way.CHANNEL, _Way.DIRECT)


async def direct_surface(client: discord.Client, asked: Asked) -> ChannelSurface | None:
    """The asker's direct messages; null where they take none."""
    try:
        user = await call("looking up a user", client.fetch_user(int(asked.user)))
        direct = await call("opening a direct message", user.create_dm())
    except FootnoteError as error:
        logger.warning("the asker cannot be written to directly: %s", error)
        return None
    return ChannelSurface(client, asked, channel=str(direct.id))


async def find_reply(client: discord.Client, asked: Asked, *, now: datetime, token_seconds: float) -> str:
    """The id of the finished reply that an earlier process posted, empty if there is none to be seen.

    Looked for in direct messages only where the reply belongs there.

    Raises:
        UnavailableError, RateLimitedError: Discord cannot be asked.
    """
    surfaces = Surfaces(client, asked, now=now, token_seconds=token_seconds)
    if surfaces.current is None:
        await surfaces.advance()
    while (surface := surfaces.current) is not None:
        try:
            if found := await surface.find(asked.event):
                return found
        except (GoneError, CallError) as error:
            logger.info("a place cannot be searched for a reply: %s", error)
        if surfaces.is_direct_next:
            return ""
        await surfaces.advance()
    return ""


async def private_surfaces(
    client: discord.Client, asked: Asked, *, now: datetime, token_seconds: float
) -> AsyncGenerator[Surface, None]:
    """Places for what concerns nobody but the asker, best first.

    The last is the channel itself, unless it was asked privately. Whoever asks for one has not shown anything
    else in reply to the question.
    """
    if asked.is_open(now, seconds=token_seconds):
        interaction = InteractionSurface(client, asked, private=True)
        try:
            # For what is asked again the response is the reply itself, and stays.
            if not (asked.is_private or asked.posts_in or asked.again):
                await interaction.withdraw()
            yield interaction
        except FootnoteError as error:
            logger.info("a public response cannot be taken back: %s", error)
    if (direct := await direct_surface(client, asked)) is not None:
        yield direct
    if not asked.is_private or asked.is_direct:
        yield ChannelSurface(client, asked)
