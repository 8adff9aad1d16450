"""Several real processes of the bot on one database: each question is answered once."""

import asyncio

from tests.e2e.slack_crowd import Crowd, workers
from tests.fakes.slack import running_slack


async def test_slk1_two_processes_answer_a_crowd_once(database_url: str) -> None:
    """Forty mentions over ten channels while every socket is cut: one whole answer each, in its thread."""
    async with running_slack() as slack:
        crowd = Crowd(slack, mentions=40, channels=10, seconds=1.0)
        async with workers(slack, count=2, database_url=database_url, model_seconds=0.5):
            asking = asyncio.create_task(crowd.ask())
            await asyncio.sleep(0.5)
            await slack.socket.drop()
            await asking
            await crowd.is_answered(seconds=90)

        assert crowd.mistakes() == []


async def test_slk1_the_questions_of_a_killed_process_are_taken_over(database_url: str) -> None:
    """One of two processes is killed in the middle: the other answers what it left, each question once."""
    async with running_slack() as slack:
        crowd = Crowd(slack, mentions=20, channels=10, seconds=0.5)
        async with workers(
            slack, count=2, database_url=database_url, model_seconds=1.0, lease_seconds=2.0
        ) as running:
            await crowd.ask()
            await asyncio.sleep(0.6)
            running[0].kill()
            await crowd.is_answered(seconds=90)

        assert crowd.mistakes() == []
