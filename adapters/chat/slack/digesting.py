"""The weekly digest as a message in its channel."""

import logging

from adapters.chat.slack import blocks
from adapters.chat.slack.administering import gaps_text
from adapters.chat.slack.render import Message
from adapters.chat.slack.splitting import split
from adapters.chat.slack.web import SlackWeb
from core.errors import FootnoteError, TemporaryError
from core.ports.chat import Digest, Digests

logger = logging.getLogger(__name__)

MAX_TEXT = 2_900


async def post_digests(web: SlackWeb, digests: Digests, *, platform: str) -> None:
    """Post every digest that is due; one that Slack refuses is logged and not tried again.

    Raises:
        TemporaryError: Slack is away, or whether one is due cannot be known; it is due again.
    """
    while (digest := await digests.due(platform)) is not None:
        try:
            await web.post(channel=digest.channel, message=digest_message(digest))
        except TemporaryError:
            await digests.put_back(platform, digest)
            raise
        except FootnoteError as error:
            logger.warning("the weekly digest of %s could not be posted: %s", digest.channel, error)


def digest_message(digest: Digest) -> Message:
    """How the week went, and what the wiki did not answer."""
    since = f"*The week since {digest.since:%Y-%m-%d}*"
    head = f"{since}: {digest.answered} of {digest.questions} questions answered"
    if digest.good or digest.bad:
        head += f"; {digest.good} judged good, {digest.bad} bad"
    text = split(f"{head}.\n{gaps_text(digest.gaps)}", limit=MAX_TEXT)[0]
    return Message(text=text, blocks=(blocks.section(text),))
