"""What a crash costs in Slack: a process of the bot is killed with SIGKILL at random moments, under load.

``python -m tests.bench.slack_crash`` lets people ask all the time while one of two processes is killed and
started anew, over and over. It prints how many questions were lost (none may be) and how many got more than
one message: the window between Slack's taking a post and our noting it. ``--unseen SECONDS`` lets Slack show
a new message in its thread only after a while.
"""

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from adapters.stores.schema import migrate
from bot.embedded import embedded_postgres
from tests.e2e.slack_crowd import Crowd, Fleet
from tests.fakes.slack import FakeSlack, running_slack
from tests.fakes.slack.people import shown_text

KILLS, CHANNELS, PAUSE = 40, 5, 0.8
"""Deaths, channels, and seconds between two questions. Few channels, since a process that has just begun must
look up each, and Slack tells of fifty a minute."""

MODEL_SECONDS, LEASE_SECONDS = 1.0, 4.0
PATIENCE_SECONDS = 300.0
"""After the last question: fifty threads a minute can be read, and some questions wait for that."""

EARLIEST, LATEST = 1.0, 6.0
"""Seconds between a process's being ready and its death."""


@dataclass(frozen=True, slots=True)
class Toll:
    """What became of the questions."""

    questions: int
    kills: int
    interrupted: int
    lost: int
    doubled: int
    given_up: int

    def lines(self) -> str:
        """For people."""
        return (
            f"{self.kills} times SIGKILL at random moments, {self.questions} questions over {CHANNELS} "
            f"channels, 2 processes, lease {LEASE_SECONDS:.0f} s:\n"
            f"  questions that had to be taken over: {self.interrupted}\n"
            f"  lost = {self.lost}\n"
            f"  doubles = {self.doubled} of {self.kills}\n"
            f"  given up with an apology, since each of several holders was killed = {self.given_up}\n"
        )


async def run(database_url: str, *, kills: int, unseen: float, seed: int) -> Toll:
    """Kill and ask; returns the toll once everything is answered, or nothing more comes."""
    chance = random.Random(seed)
    async with running_slack() as slack:
        slack.methods.unseen_seconds = unseen
        crowd = Crowd(slack, mentions=0, channels=CHANNELS, seconds=0)
        crowd.gather()
        fleet = Fleet(
            slack, database_url=database_url, model_seconds=MODEL_SECONDS, lease_seconds=LEASE_SECONDS
        )
        async with fleet.running(2):
            stop = asyncio.Event()
            asking = asyncio.create_task(crowd.ask_on(stop, pause=PAUSE))
            for number in range(kills):
                await asyncio.sleep(chance.uniform(EARLIEST, LATEST))
                await fleet.replace(number % 2)
                if number % 10 == 9:
                    sys.stderr.write(f"{number + 1} killed, {len(crowd.asked)} asked\n")
            stop.set()
            await asking
            await settled(crowd, slack)
            interrupted = await fleet.taken_over()
        for line in crowd.mistakes()[:10]:
            sys.stderr.write(f"  {line}\n")
        return toll(crowd, kills=kills, interrupted=interrupted)


async def settled(crowd: Crowd, slack: FakeSlack) -> None:
    """Wait until all is answered, or nothing has been posted for long."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while crowd.unanswered() and time.monotonic() < deadline:  # noqa: ASYNC110 - what is waited for has no event
        await asyncio.sleep(0.2)
    # What is taken over late would be posted within a few leases.
    await asyncio.sleep(3 * LEASE_SECONDS)
    await slack.postman.idle()


def toll(crowd: Crowd, *, kills: int, interrupted: int) -> Toll:
    """Count threads without a whole answer, and threads with more than one message of ours."""
    replies = Counter(str(message.get("thread_ts")) for message in crowd.slack.workspace.from_bot())
    return Toll(
        questions=len(crowd.asked),
        kills=kills,
        interrupted=interrupted,
        lost=len(crowd.unanswered()),
        doubled=sum(replies[thread] > 1 for thread in crowd.asked),
        given_up=sum("several attempts" in shown_text(one) for one in crowd.slack.workspace.from_bot()),
    )


def main() -> int:
    """1 if a question was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--unseen", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        home.chmod(0o755)
        with embedded_postgres(home) as url:
            asyncio.run(migrate(url))
            found = asyncio.run(run(url, kills=given.kills, unseen=given.unseen, seed=given.seed))
    sys.stdout.write(found.lines())
    return 1 if found.lost else 0


if __name__ == "__main__":
    sys.exit(main())
