"""The unmodified client in an independent simulation of Discord: virtual deadlines, permissions, pings.

simcord was written by others and knows nothing of the stand-in in `tests.fakes.discord`.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import discord
import pytest
import simcord

from adapters.chat.discord import DiscordChat, DiscordSettings
from adapters.chat.discord.client import FootnoteClient
from adapters.stores.claims_memory import ClaimTable, MemoryClaims
from core.domain.answers import Outcome
from core.domain.questions import Question
from tests.adapters.chat.answers import ScriptedAnswerer, an_answer, no_answer, page_id
from tests.adapters.chat.discord.harness import (
    ListedSuggestions,
    MemoryRecords,
    OpenAudiences,
)
from tests.adapters.chat.doubles import RecordedFeedback, ScriptedAdministration

SETTINGS = DiscordSettings(token="simulated", edit_seconds=0.05, shards=1)


class SimulatedClock:
    """The simulation's time, once there is one."""

    def __init__(self) -> None:
        self.env: Any = None

    def now(self) -> datetime:
        """The current instant of the simulation."""
        if self.env is None:
            return datetime.now(UTC)
        found: datetime = self.env.now()
        return found


@dataclass
class Simulation:
    """Everything a test looks at."""

    env: Any
    answerer: ScriptedAnswerer
    feedback: RecordedFeedback
    administration: ScriptedAdministration
    table: ClaimTable
    make: Callable[[], FootnoteClient]
    guild: Any = None
    channel: Any = None
    alice: Any = None
    extra: dict[str, Any] = field(default_factory=dict)

    async def answered(self, *, questions: int = 1) -> None:
        """Wait until all claimed questions are answered."""
        async with asyncio.timeout(15):
            while len(self.table.rows) < questions or not all(row.is_done for row in self.table.rows):
                await self.env.settle()
                await asyncio.sleep(0.01)
        await self.env.settle()


@asynccontextmanager
async def simulation(
    answer: Callable[[Question], Outcome] = an_answer, **changes: Any
) -> AsyncIterator[Simulation]:
    """A server with Alice in it, and the client connected to it."""
    clock, table = SimulatedClock(), ClaimTable()
    answerer, feedback = ScriptedAnswerer(answer), RecordedFeedback()
    administration = ScriptedAdministration(step_seconds=0.0)
    settings = replace(SETTINGS, **changes)
    chat = DiscordChat(
        settings,
        answerer=answerer,
        claims=MemoryClaims(clock=clock, table=table),
        audiences=OpenAudiences(),
        feedback=feedback,
        administration=administration,
        clock=clock,
        suggestions=ListedSuggestions(texts=("Leave", "Lending")),
        records=MemoryRecords(),
    )
    async with simcord.run(chat.make_client(settings)) as env:
        clock.env = env
        guild = env.create_guild()
        yield Simulation(
            env=env,
            answerer=answerer,
            feedback=feedback,
            administration=administration,
            table=table,
            make=lambda: chat.make_client(settings),
            guild=guild,
            channel=guild.create_text_channel("general"),
            alice=guild.add_member(env.create_user("alice")),
        )


def text_of(message: Any) -> str:
    """All that a person reads in a message of the simulation."""
    found = [message.content or ""]

    def walk(components: Any) -> None:
        for component in components or ():
            if component.get("type") == 10:
                found.append(component["content"])
            walk(component.get("components"))

    walk(message.components)
    return "\n".join(found)


async def test_f59_ask_is_deferred_and_followed_up() -> None:
    """Acknowledged by a deferral; the answer takes its place."""
    async with simulation() as world:
        result = await world.alice.slash(world.channel, "ask", question="How long?")
        await world.answered()

        first = next(entry for entry in world.env.http_requests if entry.path.endswith("/callback"))
        assert first.json is not None
        assert first.json["type"] == 5
        assert "Parental leave" in text_of(result.response)


async def test_dsc2_the_deferral_decides_who_sees_the_answer() -> None:
    """Private from the first response to the last followup."""
    text = "word " * 1500
    async with simulation(lambda question: an_answer(question, text)) as world:
        result = await world.alice.slash(world.channel, "ask", question="How long?", private=True)
        await world.answered()

        assert result.ephemeral
        assert all(followup.ephemeral for followup in result.followups)


async def test_dsc1_sixteen_minutes_later_the_answer_goes_to_the_channel() -> None:
    """The simulation refuses the token (10015) from then on."""
    async with simulation(answer_seconds=100_000.0) as world:
        world.answerer.seconds = 15.5 * 60
        await world.alice.slash(world.channel, "ask", question="How long?")
        await world.env.advance_time(16 * 60)
        await world.answered()

        posted = [entry for entry in world.env.http_requests if entry.method == "POST"]
        assert any(entry.path == f"/channels/{world.channel.id}/messages" for entry in posted)


@pytest.mark.parametrize("layout", [True, False])
async def test_f61_dsc3_an_answer_of_6500_characters_is_taken(*, layout: bool) -> None:
    """The simulation knows the true limits: 2,000 and 4,000."""
    words = [f"word{number:05d}" for number in range(650)]
    async with simulation(lambda question: an_answer(question, " ".join(words)), layout=layout) as world:
        result = await world.alice.slash(world.channel, "ask", question="Everything?")
        await world.answered()

        shown = "\n".join(text_of(message) for message in (result.response, *result.followups))
        assert [word for word in shown.split() if word.startswith("word")] == words


async def test_f63_dsc4_a_mass_mention_in_an_answer_notifies_nobody() -> None:
    """Whatever the message says, the simulation finds nobody mentioned."""
    text = "Write @everyone and <@&{role}> and <@{user}> before deploys"
    async with simulation() as world:
        role = world.guild.create_role("Ops")
        world.answerer.answer_with = lambda question: an_answer(
            question, text.format(role=role.id, user=world.alice.id)
        )
        result = await world.alice.slash(world.channel, "ask", question="deploys?")
        await world.answered()

        message: discord.Message = result.response.message
        assert not message.mention_everyone
        assert message.role_mentions == []
        assert message.mentions == []


async def test_dsc5_a_hidden_verb_is_not_offered_and_an_override_does_not_help() -> None:
    """The simulation refuses the first; our own check the second."""
    async with simulation() as world:
        assert "resync" not in world.alice.available_commands(world.channel)
        with pytest.raises(simcord.SetupError):
            await world.alice.slash(world.channel, "resync")
        registered = await world.env.bot.tree.fetch_commands()
        resync = next(command for command in registered if command.name == "resync")
        world.guild.set_command_permissions(resync, {world.alice: True})
        result = await world.alice.slash(world.channel, "resync")

        assert result.ephemeral
        assert "only administrators" in text_of(result.response)
        assert world.administration.requests == []


async def test_dsc5_a_manager_of_the_server_may_resync() -> None:
    """Manage Server is enough."""
    async with simulation() as world:
        role = world.guild.create_role("Managers", permissions=discord.Permissions(manage_guild=True))
        ada = world.guild.add_member(world.env.create_user("ada"), roles=[role])
        result = await ada.slash(world.channel, "resync")
        await world.env.settle()

        assert "is done" in text_of(result.response)


async def test_dsc9_f60_a_failure_is_told_and_raises_nothing() -> None:
    """The simulation fails a test whose bot raised; this one passes."""
    async with simulation() as world:
        world.answerer.error = RuntimeError("secret detail")
        result = await world.alice.slash(world.channel, "ask", question="How long?")
        await world.answered()

        assert "did not work" in text_of(result.response)
        assert world.env.errors == []


async def test_buttons_survive_a_restart() -> None:
    """A new client knows the old message's buttons by their ids."""
    async with simulation() as world:
        result = await world.alice.slash(world.channel, "ask", question="How long?")
        await world.answered()
        question = world.answerer.questions[0].id
        await world.env.restart_bot(world.make())
        opened = await world.alice.click(
            result.response, custom_id=f"footnote:bad:{question}:en:{page_id(1)}"
        )
        await world.alice.submit_modal(opened, {"text": "outdated"})

        assert opened.modal is not None
        assert [reason for *_, reason in world.feedback.judged] == ["", "outdated"]


async def test_f64_an_empty_message_and_a_bare_mention_raise_nothing() -> None:
    """The first is ignored, the second gets help."""
    async with simulation(no_answer) as world:
        await world.alice.send(world.channel, "hello everybody")
        await world.alice.send(world.channel, f"<@{world.env.bot.user.id}>")
        await world.answered()

        assert "Ask me a question" in text_of_message(world.channel.last_message)
        assert world.env.errors == []


async def test_typing_offers_what_begins_so() -> None:
    """Through the simulation's own autocompletion."""
    async with simulation() as world:
        choices = await world.alice.autocomplete(world.channel, "ask", "question", "le")

        assert [choice["value"] for choice in choices] == ["Leave", "Lending"]


async def test_answer_this_works_on_a_message_that_the_bot_may_not_read() -> None:
    """Its content comes with the menu."""
    async with simulation() as world:
        said = await world.alice.send(world.channel, "Does anybody know how long leave is?")
        result = await world.alice.context_menu(world.channel, "Answer this", said)
        await world.answered()

        assert world.answerer.questions[0].text == "Does anybody know how long leave is?"
        assert "Parental leave" in text_of(result.response)


def text_of_message(message: discord.Message) -> str:
    """The texts of a message as the library holds it."""
    texts = [message.content]
    texts += [
        component.content
        for component in message.components
        if isinstance(component, discord.components.TextDisplay)
    ]
    return "\n".join(texts)
