"""One process of the bot for tests of several: the real adapter and claims, a model that only takes its time.

Run as ``python -m tests.e2e.slack_worker JSON``; prints ``ready`` when it is connected.
"""

import asyncio
import json
import signal
import sys
from typing import Any

from adapters.chat.slack import SlackChat, SlackSettings
from adapters.stores.claims import open_claims
from adapters.stores.kept_answers_memory import MemoryKeptAnswers
from core.domain.questions import Question
from tests.adapters.chat.answers import ScriptedAnswerer, an_answer
from tests.adapters.chat.doubles import RecordedFeedback, ScriptedAdministration
from tests.adapters.chat.slack.harness import (
    OpenAudiences,
    StoredTitles,
    SystemClock,
)
from tests.fakes.slack import APP_TOKEN, BOT_TOKEN


def answer(question: Question) -> Any:
    """Says which question it answers, so that a mix-up is seen."""
    return an_answer(question, f"The answer to “{question.text}” is **yes**.")


async def run(config: dict[str, Any]) -> None:
    """Serve until SIGTERM."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    settings = SlackSettings(
        bot_token=BOT_TOKEN,
        app_token=APP_TOKEN,
        base_url=config["base_url"],
        lease_seconds=config["lease_seconds"],
    )
    drafts = ("The answer", "The answer to", "The answer to that is")
    async with open_claims(config["database_url"]) as claims:
        chat = SlackChat(
            settings,
            answerer=ScriptedAnswerer(answer, seconds=config["model_seconds"], drafts=drafts),
            claims=claims,
            kept=MemoryKeptAnswers(clock=SystemClock()),
            titles=StoredTitles(),
            audiences=OpenAudiences(),
            feedback=RecordedFeedback(),
            administration=ScriptedAdministration(),
            clock=SystemClock(),
        )
        running = asyncio.create_task(chat.run(stop))
        await chat.ready.wait()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await running


if __name__ == "__main__":
    asyncio.run(run(json.loads(sys.argv[1])))
