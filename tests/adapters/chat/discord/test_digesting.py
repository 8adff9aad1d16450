"""A weekly digest that Discord does not take now."""

from datetime import UTC, date, datetime
from typing import Any, cast

import discord
import pytest

from adapters.chat.discord.digesting import post_digests
from core.errors import UnavailableError
from core.ports.chat import Digest

DIGEST = Digest(
    channel="7",
    week=date(2026, 3, 9),
    since=datetime(2026, 3, 2, tzinfo=UTC),
    questions=40,
    answered=37,
    good=9,
    bad=2,
    gaps=(),
)


class Away:
    """A client whose connection is refused."""

    def get_partial_messageable(self, number: int) -> "Away":
        """The channel."""
        assert number == 7
        return self

    async def send(self, *_: Any, **__: Any) -> None:
        """Nothing comes of it."""
        raise ConnectionRefusedError


class OneDigest:
    """Due until somebody has taken it."""

    def __init__(self) -> None:
        self.waiting = [DIGEST]

    async def due(self, platform: str) -> Digest | None:
        """Once."""
        return self.waiting.pop() if platform == "discord" and self.waiting else None

    async def put_back(self, platform: str, digest: Digest) -> None:
        """As if it had not been taken."""
        assert platform == "discord"
        self.waiting.append(digest)


async def test_a_digest_that_cannot_be_posted_now_is_due_again() -> None:
    """Discord is away: the week's figures are not lost for that, and it is not asked again at once."""
    digests = OneDigest()
    with pytest.raises(UnavailableError, match="posting the weekly digest"):
        await post_digests(cast("discord.Client", Away()), digests)
    assert digests.waiting == [DIGEST]
