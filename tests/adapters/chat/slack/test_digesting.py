"""The weekly digest."""

from dataclasses import replace
from datetime import UTC, date, datetime

from core.ports.chat import Digest, Gap
from tests.adapters.chat.slack.harness import slack_session
from tests.fakes.slack.blockkit import control_tokens
from tests.fakes.slack.people import shown_text
from tests.fakes.slack.server import Fault


class TwoDigests:
    """One for a channel that there is, one for a channel that there is not."""

    def __init__(self) -> None:
        self.put_back_times = 0
        gap = Gap(count=3, examples=("Where is <!here> the key?",), nearest_pages=())
        self.waiting = [
            Digest(
                channel=channel,
                week=date(2026, 3, 9),
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

    async def put_back(self, platform: str, digest: Digest) -> None:
        """The next to be due."""
        assert platform == "slack"
        self.put_back_times += 1
        self.waiting.insert(0, digest)


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


async def test_a_digest_that_cannot_be_posted_now_is_due_again() -> None:
    """Slack is limited for longer than a call waits: the week's figures are not lost for that."""
    async with slack_session(starts=False) as session:
        session.settings = replace(session.settings, lease_seconds=0.4)
        session.digests = digests = TwoDigests()
        del digests.waiting[0]
        session.slack.provoke("chat.postMessage", Fault(status=503, times=2))
        await session.start()
        await session.until(lambda: session.slack.workspace.from_bot("C1"))

        assert len(session.slack.workspace.from_bot("C1")) == 1
        assert digests.waiting == []
        assert digests.put_back_times >= 1
