"""Two processes that are restarted one after the other, and a gateway that drops, while people ask."""

import asyncio
from collections import Counter
from contextlib import AsyncExitStack

from adapters.stores.claims import open_claims
from tests.adapters.chat.answers import ScriptedAnswerer, an_answer
from tests.adapters.chat.discord.harness import Session, discord_session
from tests.fakes.discord import BOT_USER, shown_text

QUESTIONS = 60
RESTARTS, DROPS = (15, 30, 45), (22, 37)
"""After how many questions the older process is stopped and another started, or connections are cut."""


async def test_restarts_and_drops_lose_no_question_and_answer_none_twice(database_url: str) -> None:
    """Commands, private ones among them, and mentions; no notice of a restart is left over either."""
    answerer = ScriptedAnswerer(lambda question: an_answer(question, f"re: {question.text}"), seconds=0.8)
    async with (
        AsyncExitStack() as stack,
        discord_session(answerer, starts=False, drain_seconds=0.3, lease_seconds=3.0) as session,
    ):

        async def start() -> None:
            session.claims = await stack.enter_async_context(open_claims(database_url))
            await session.start()

        await start()
        await start()
        for number in range(QUESTIONS):
            ask(session, number)
            await asyncio.sleep(0.04)
            if number in RESTARTS:
                _, stop, _ = session.chats[0]
                stop.set()
                stopped = session.chats.pop(0)
                await start()
                session.chats.append(stopped)
            if number in DROPS:
                await session.discord.gateway.drop()
        async with asyncio.timeout(90):
            while sum(answered(session).values()) < QUESTIONS:  # noqa: ASYNC110 - no event tells
                await asyncio.sleep(0.1)
        await session.stop()

    assert answered(session) == Counter(f"question {number}" for number in range(QUESTIONS))
    assert len(session.discord.world.from_bot()) == QUESTIONS
    assert not any(message.is_loading for message in session.discord.world.messages.values())


def ask(session: Session, number: int) -> None:
    """Every third as a mention, some of the others privately."""
    text = f"question {number}?"
    if number % 3 == 0:
        session.people.say(session.alice, session.channel, f"<@{BOT_USER}> {text}")
    else:
        session.people.slash(session.alice, session.channel, "ask", question=text, private=number % 5 == 0)


def answered(session: Session) -> Counter[str]:
    """How often each question's answer can be read."""
    texts = [shown_text(message) for message in session.discord.world.from_bot()]
    return Counter(text.split("re: ")[1].split("?")[0] for text in texts if "re: " in text)
