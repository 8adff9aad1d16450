"""How the bot bears a crowd in Discord: 200 ``/ask`` in 5 s in three servers on two shards, a model of 1 s.

``python -m tests.bench.discord_load`` prints how soon Discord was told and whether each question was
answered exactly once, first undisturbed, then with the gateway dropped twice; it fails if not.
"""

import asyncio
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from adapters.stores.claims import open_claims
from adapters.stores.schema import migrate
from bot.embedded import embedded_postgres
from tests.adapters.chat.answers import ScriptedAnswerer, an_answer
from tests.adapters.chat.discord.harness import discord_session
from tests.e2e.discord_crowd import Crowd

QUESTIONS, SECONDS, MODEL_SECONDS = 200, 5.0, 1.0


async def one_round(url: str, *, drops: int) -> bool:
    """Ask, wait, print; whether all is right."""
    answerer = ScriptedAnswerer(
        lambda question: an_answer(question, f"re: {question.text}"), seconds=MODEL_SECONDS
    )
    async with discord_session(answerer, limits=True, starts=False) as session, open_claims(url) as claims:
        session.claims = claims
        session.settings = replace(session.settings, lease_seconds=60.0, drain_seconds=30.0)
        crowd = Crowd(session, questions=QUESTIONS, seconds=SECONDS, drops=drops)
        crowd.prepare()
        await session.start()
        begun = time.monotonic()
        await crowd.ask()
        await crowd.is_answered(seconds=120)
        took = time.monotonic() - begun
        await session.stop()
        gateway = session.discord.gateway
        waits = sorted(crowd.waits())
        mistakes = crowd.mistakes()
        lines = (
            f"{QUESTIONS} /ask in {SECONDS:.0f} s in 3 servers on 2 shards, a model that takes "
            f"{MODEL_SECONDS:.0f} s, gateway dropped {drops} times ({gateway.resumed} resumes):",
            f"  deferred within 3 s: {sum(wait < 3 for wait in waits)} of {QUESTIONS}; median "
            f"{waits[len(waits) // 2] * 1000:.0f} ms, p99 {waits[int(len(waits) * 0.99)] * 1000:.0f} ms, "
            f"slowest {waits[-1] * 1000:.0f} ms",
            f"  answered exactly once, in its own channel: {QUESTIONS - len(mistakes)} of {QUESTIONS}; "
            f"asked of the model: {len(answerer.questions)}",
            f"  all answered after {took:.1f} s; rate limits met: {session.discord.limits.refused}",
        )
        sys.stdout.write("\n".join(lines) + "\n")
        for mistake in mistakes[:10]:
            sys.stdout.write(f"  WRONG: {mistake}\n")
        return not mistakes and len(answerer.questions) == QUESTIONS


def main() -> int:
    """Both rounds; 1 if something is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        home.chmod(0o755)
        with embedded_postgres(home) as url:
            asyncio.run(migrate(url))
            results = [asyncio.run(one_round(url, drops=drops)) for drops in (0, 2)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
