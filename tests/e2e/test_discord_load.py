"""Two hundred questions in five seconds, in three servers on two shards, claimed in real PostgreSQL."""

from dataclasses import replace

import pytest

from adapters.stores.claims import open_claims
from tests.adapters.chat.answers import ScriptedAnswerer, an_answer
from tests.adapters.chat.discord.harness import discord_session
from tests.e2e.discord_crowd import Crowd

QUESTIONS = 200
SECONDS = 5.0


@pytest.mark.parametrize("drops", [0, 2])
async def test_200_questions_in_5_seconds_are_each_deferred_in_time_and_answered_once(
    database_url: str, drops: int
) -> None:
    """The model takes a second; with ``drops`` the gateway goes away twice meanwhile.

    The stand-in refuses what comes later than three seconds, so that every 200 is a deferral in time.
    """
    answerer = ScriptedAnswerer(lambda question: an_answer(question, f"re: {question.text}"), seconds=1.0)
    async with (
        discord_session(answerer, limits=True, starts=False) as session,
        open_claims(database_url) as claims,
    ):
        session.claims = claims
        session.settings = replace(session.settings, lease_seconds=60.0, drain_seconds=30.0)
        crowd = Crowd(session, questions=QUESTIONS, seconds=SECONDS, drops=drops)
        crowd.prepare()
        await session.start()
        await crowd.ask()
        await crowd.is_answered(seconds=60)
        await session.stop()

    assert session.discord.gateway.resumed >= drops
    assert crowd.mistakes() == []
    assert session.statuses("POST", "/callback$") == [200] * QUESTIONS
    assert len(answerer.questions) == QUESTIONS
