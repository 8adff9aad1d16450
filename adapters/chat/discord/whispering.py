"""Short words for one person alone."""

import logging
from typing import Any

import discord

from adapters.chat.discord.calls import ALREADY_ACKNOWLEDGED, EXPIRED, CallError, call
from adapters.chat.discord.components import NO_MENTIONS
from adapters.chat.discord.escaping import escaped
from core.errors import FootnoteError

logger = logging.getLogger(__name__)


async def whisper(
    interaction: discord.Interaction, text: str, *, view: discord.ui.View | None = None
) -> None:
    """Tell the person alone; an interaction that is gone is no reason to fail. ``text`` is shown as it is."""
    arguments: dict[str, Any] = {
        "ephemeral": True, "allowed_mentions": NO_MENTIONS, "suppress_embeds": True,
    }  # fmt: skip
    if view is not None:
        arguments["view"] = view
    drawn = escaped(text)
    try:
        if interaction.response.is_done():
            await call("a followup", interaction.followup.send(drawn, **arguments))
        else:
            await call("a response", interaction.response.send_message(drawn, **arguments))
    except CallError as error:
        is_usual = error.code in EXPIRED or error.code == ALREADY_ACKNOWLEDGED
        level = logging.INFO if is_usual else logging.WARNING
        logger.log(level, "interaction %d could not be told: %s", interaction.id, error)
    except (FootnoteError, discord.InteractionResponded) as error:
        logger.warning("interaction %d could not be told: %s", interaction.id, error)
