"""The weekly digest."""

from datetime import UTC, datetime

from core.ports.chat import Digest, Gap
from tests.adapters.chat.slack.harness import slack_session
from tests.fakes.slack.blockkit import control_tokens
from tests.fakes.slack.people import shown_text


class TwoDigests:
    """One for a channel that there is, one for a channel that there is not."""

    def __init__(self) -> None:
        gap = Gap(count=3, examples=("Where is <!here> the key?",), nearest_pages=())
        self.waiting = [
            Digest(
                channel=channel,
                since=datetime(2026, 3, 2, tzinfo=UTC),
                questions=40,
                answered=37,
                good=9,
                bad=2,
                gaps=(gap,),
            )
            for channel in ("C404", "C1")
        ]

    async def due(self, platform: str) -> Digest | None:
        """Each once."""
        return self.waiting.pop(0) if platform == "slack" and self.waiting else None


async def test_each_digest_is_posted_once_in_its_channel() -> None:
    """Figures and gaps, inert; a channel that is gone does not keep the others from theirs."""
    async with slack_session(starts=False) as session:
        session.digests = TwoDigests()
        await session.start()
        await session.until(lambda: session.slack.workspace.from_bot("C1"))

        (message,) = session.slack.workspace.from_bot("C1")
        shown = shown_text(message)
        assert "The week since 2026-03-02*: 37 of 40 questions answered; 9 judged good, 2 bad." in shown
        assert "3 × Where is &lt;!here&gt; the key?" in shown
        assert control_tokens([shown, message["text"]]) == []
