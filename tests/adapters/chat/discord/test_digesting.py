"""A weekly digest that Discord does not take now."""

from typing import Any, cast

import discord
import pytest

from adapters.chat.discord.digesting import post_digests
from core.errors import UnavailableError
from tests.adapters.chat.digests import ScriptedDigests


class Away:
    """A client whose connection is refused."""

    def get_partial_messageable(self, number: int) -> "Away":
        """The channel."""
        assert number == 7
        return self

    async def send(self, *_: Any, **__: Any) -> None:
        """Nothing comes of it."""
        raise ConnectionRefusedError


async def test_a_digest_that_cannot_be_posted_now_is_due_again() -> None:
    """Discord is away: the week's figures are not lost for that, and it is not asked again at once."""
    digests = ScriptedDigests("discord", "7")
    due = list(digests.waiting)
    with pytest.raises(UnavailableError, match="posting the weekly digest"):
        await post_digests(cast("discord.Client", Away()), digests)
    assert digests.waiting == due
