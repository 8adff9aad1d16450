"""The weekly digest."""

from dataclasses import replace

from tests.adapters.chat.digests import ScriptedDigests
from tests.adapters.chat.slack.harness import slack_session
from tests.fakes.slack.blockkit import control_tokens
from tests.fakes.slack.people import shown_text
from tests.fakes.slack.server import Fault


async def test_each_digest_is_posted_once_in_its_channel() -> None:
    """Figures and gaps, inert; a channel that is gone does not keep the others from theirs."""
    async with slack_session(starts=False) as session:
        session.digests = ScriptedDigests("slack", "C404", "C1", example="Where is <!here> the key?")
        await session.start()
        await session.until(lambda: session.slack.workspace.from_bot("C1"))

        (message,) = session.slack.workspace.from_bot("C1")
        shown = shown_text(message)
        assert "The week since 2026-03-02*: 37 of 40 questions answered; 9 judged good, 2 bad." in shown
        assert "3 × Where is &lt;!here&gt; the key?" in shown
        assert control_tokens([shown, message["text"]]) == []


async def test_a_digest_that_cannot_be_posted_now_is_due_again() -> None:
    """Slack fails: the week's figures are not lost for that."""
    async with slack_session(starts=False) as session:
        session.settings = replace(session.settings, lease_seconds=0.4)
        session.digests = digests = ScriptedDigests("slack", "C1")
        session.slack.provoke("chat.postMessage", Fault(status=503, times=2))
        await session.start()
        await session.until(lambda: session.slack.workspace.from_bot("C1"))

        assert len(session.slack.workspace.from_bot("C1")) == 1
        assert digests.waiting == []
        assert digests.put_back_times >= 1
