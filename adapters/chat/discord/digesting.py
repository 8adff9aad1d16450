"""The weekly digest as a message in its channel."""

import logging

import discord

from adapters.chat.discord.administering import gaps_text
from adapters.chat.discord.asking import PLATFORM
from adapters.chat.discord.calls import call
from adapters.chat.discord.components import NO_MENTIONS
from adapters.chat.discord.render import CONTENT_LENGTH
from adapters.chat.discord.splitting import split
from core.errors import FootnoteError, TemporaryError
from core.ports.chat import Digest, Digests

logger = logging.getLogger(__name__)


async def post_digests(client: discord.Client, digests: Digests) -> None:
    """Post every digest that is due; one that Discord refuses is logged and not tried again.

    Raises:
        TemporaryError: Discord is away, or whether one is due cannot be known; it is due again.
    """
    while (digest := await digests.due(PLATFORM)) is not None:
        text = digest_text(digest)
        try:
            channel = client.get_partial_messageable(int(digest.channel))
            nonce = f"digest-{digest.since:%Y-%m-%d}"
            sending = channel.send(text, nonce=nonce, allowed_mentions=NO_MENTIONS, suppress_embeds=True)
            await call("posting the weekly digest", sending)
        except TemporaryError:
            await digests.put_back(PLATFORM, digest)
            raise
        except (FootnoteError, ValueError) as error:
            logger.warning("the weekly digest of %s could not be posted: %s", digest.channel, error)


def digest_text(digest: Digest) -> str:
    """How the week went, and what the wiki did not answer."""
    since = f"**The week since {digest.since:%Y-%m-%d}**"
    head = f"{since}: {digest.answered} of {digest.questions} questions answered"
    if digest.good or digest.bad:
        head += f"; {digest.good} judged good, {digest.bad} bad"
    return split(f"{head}.\n{gaps_text(digest.gaps)}", limit=CONTENT_LENGTH)[0]
