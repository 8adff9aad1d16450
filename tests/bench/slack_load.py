"""How the bot bears a crowd in Slack: 200 mentions in 5 s over 20 channels, two processes, a model of 1 s.

``python -m tests.bench.slack_load`` prints how fast Slack was acknowledged and whether each question was
answered exactly once in its own thread, first undisturbed, then with every socket cut twice; it fails if not.
"""

import asyncio
import sys
import tempfile
import time
from pathlib import Path

from adapters.stores.schema import migrate
from bot.embedded import embedded_postgres
from tests.e2e.slack_crowd import Crowd, workers
from tests.fakes.slack import running_slack
from tests.fakes.slack.delivery import ACK_SECONDS

MENTIONS, CHANNELS, SECONDS, MODEL_SECONDS = 200, 20, 5.0, 1.0
DROPS = (1.5, 3.5)
"""Seconds after the first question at which every socket is cut, in the second round."""


def percentile(values: list[float], share: float) -> float:
    """The value below which ``share`` of them lie."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


async def one_round(database_url: str, *, drops: tuple[float, ...]) -> bool:
    """Let the crowd ask once; prints the figures, says whether all is right."""
    async with running_slack() as slack:
        crowd = Crowd(slack, mentions=MENTIONS, channels=CHANNELS, seconds=SECONDS)
        async with workers(slack, count=2, database_url=database_url, model_seconds=MODEL_SECONDS):
            begun = time.monotonic()
            asking = asyncio.create_task(crowd.ask())
            for drop in drops:
                await asyncio.sleep(max(0.0, begun + drop - time.monotonic()))
                await slack.socket.drop()
            await asking
            await crowd.is_answered(seconds=240)
            took = time.monotonic() - begun
        acknowledged = [delivery.seconds for delivery in slack.postman.record]
        mistakes = crowd.mistakes()
        p99 = percentile(acknowledged, 0.99)
        lines = (
            f"{MENTIONS} mentions in {SECONDS:.0f} s over {CHANNELS} channels, 2 processes, "
            f"sockets cut {len(drops)} times:",
            f"  answered exactly once in its own thread: {MENTIONS - len(mistakes)} of {MENTIONS}",
            f"  acknowledged {len(acknowledged)} deliveries: median "
            f"{percentile(acknowledged, 0.5) * 1000:.0f} ms, p99 {p99 * 1000:.0f} ms, "
            f"slowest {max(acknowledged) * 1000:.0f} ms",
            f"  all answered after {took:.1f} s; a post a second and channel allows "
            f"{MENTIONS / CHANNELS:.0f} s; rate limits met: {dict(slack.limits.refused)}",
        )
        sys.stdout.write("\n".join(lines) + "\n")
        for mistake in mistakes[:10]:
            sys.stdout.write(f"  WRONG: {mistake}\n")
        return not mistakes and p99 <= ACK_SECONDS


def main() -> int:
    """Both rounds; 1 if something is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        home.chmod(0o755)
        with embedded_postgres(home) as url:
            asyncio.run(migrate(url))
            results = [asyncio.run(one_round(url, drops=drops)) for drops in ((), DROPS)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
