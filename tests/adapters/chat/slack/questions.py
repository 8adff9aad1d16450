"""Questions that show only what matters to a test."""

from datetime import UTC, datetime

from adapters.chat.slack.asking import Asked
from core.domain.audiences import EVERYTHING
from core.domain.questions import Conversation, Question


def a_question(text: str = "How long is parental leave?") -> Question:
    """Somebody's question."""
    return Question(
        id="Ev1",
        text=text,
        asker="U1",
        conversation=Conversation(platform="slack", workspace="T1", channel="C1", thread="1.0"),
        audience=EVERYTHING,
        asked_at=datetime(2026, 3, 1, tzinfo=UTC),
    )


def asked(text: str = "How long is parental leave?", *, response_url: str = "") -> Asked:
    """The same as Slack delivered it."""
    return Asked(
        event="Ev1",
        team="T1",
        channel="C1",
        user="U1",
        text=text,
        message="1.0",
        thread="1.0",
        response_url=response_url,
    )
