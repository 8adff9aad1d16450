"""The same question in Slack and in Discord: one generation, one answer, each in the platform's own form."""

import re

from adapters.caches.memory import MemoryCache
from core.domain.answers import Retrieval
from core.domain.models import Fingerprint
from core.services.answering import Answering
from core.services.caching import AnswerCache, Making
from core.services.refusals import Verdict
from core.services.retriever import Retriever
from tests.adapters.chat.discord.harness import discord_session
from tests.adapters.chat.slack.harness import slack_session
from tests.core.services.found import ScriptedGenerator, ScriptedIndex, WordEmbedder, a_hit
from tests.fakes.discord import BOT_USER, shown_text
from tests.fakes.slack.workspace import BOT_USER as SLACK_BOT

QUESTION = "How many vacation days do I have?"
DRAFT = "You have **28 vacation days**. [1]\n\n- They end in *March*. [2]"
LINKS = (
    "https://www.notion.so/Page-1-0b4d7f5e000040008000000000000001#b10c0000000040008000000000000001",
    "https://www.notion.so/Page-2-0b4d7f5e000040008000000000000002#b10c0000000040008000000000000002",
)

IN_DISCORD = f"""You have **28 vacation days**. [1](<{LINKS[0]}>)

- They end in *March*. [2](<{LINKS[1]}>)
**Sources**
1. [Page 1](<{LINKS[0]}>) · last edited 2026-05-01
2. [Page 2](<{LINKS[1]}>) · last edited 2026-05-01"""

IN_SLACK = (
    f"You have **28 vacation days**. [1]({LINKS[0]})\n\n- They end in *March*. [2]({LINKS[1]})",
    f"*Sources*\n1. <{LINKS[0]}|Page 1> · last edited 2026-05-01\n"
    f"2. <{LINKS[1]}|Page 2> · last edited 2026-05-01",
)


def willing(retrieval: Retrieval) -> Verdict:
    """Answers whenever there is a passage."""
    return Verdict(is_answerable=bool(retrieval.passages), is_confident=True)


def an_answering(generator: ScriptedGenerator) -> Answering:
    """The real service with a cache, over two pages that answer the question."""
    hits = (a_hit(1, "You have 28 vacation days."), a_hit(2, "Your vacation days end in March."))
    embedder = WordEmbedder()
    return Answering(
        retriever=Retriever(index=ScriptedIndex(*hits), embedder=embedder),
        generator=generator,
        embedder=embedder,
        cache=AnswerCache(MemoryCache(), Making(model="test", prompt="1", index=Fingerprint("f"))),
        judge=willing,
    )


async def test_one_generation_gives_the_same_answer_and_citations_on_both_platforms() -> None:
    """Both places see everything, so the second platform is served from the cache, drawn its own way."""
    generator = ScriptedGenerator(DRAFT)
    answering = an_answering(generator)
    async with slack_session(starts=False) as slack, discord_session(starts=False) as discord:
        await slack.start(answerer=answering)
        await discord.start(answerer=answering)
        thread = slack.people.write("C1", "U1", f"<@{SLACK_BOT}> {QUESTION}")
        await slack.settled()
        discord.people.say(discord.alice, discord.channel, f"<@{BOT_USER}> {QUESTION}")
        (in_discord,) = await discord.posted()

        (in_slack,) = slack.replies(thread)
        markdown = [block["text"] for block in in_slack["blocks"] if block["type"] == "markdown"]
        listed = [
            "\n".join(element["text"] for element in block["elements"])
            for block in in_slack["blocks"]
            if block["type"] == "context"
        ]

    assert len(generator.prompts) == 1
    assert shown_text(in_discord) == IN_DISCORD
    assert (*markdown, *listed) == IN_SLACK


async def test_shr2_whatever_a_model_links_to_discord_shows_links_to_retrieved_pages_only() -> None:
    """Invented numbers and foreign addresses of a draft do not survive the way to the message."""
    draft = "You have **28 vacation days**. [1] [9] See [the form](https://evil.example/form). [1]"
    async with discord_session(starts=False) as discord:
        await discord.start(answerer=an_answering(ScriptedGenerator(draft)))
        discord.people.say(discord.alice, discord.channel, f"<@{BOT_USER}> {QUESTION}")
        (message,) = await discord.posted()

    addresses = re.findall(r"https?://[^\s<>)]+", shown_text(message))
    assert len(addresses) >= 2
    assert set(addresses) <= set(LINKS)
