"""A crowd that asks at once in three servers on two shards."""

import asyncio
import random
from dataclasses import dataclass, field

from tests.adapters.chat.discord.harness import Session
from tests.fakes.discord import Channel, Interaction, shown_text
from tests.fakes.discord.rest import ACKNOWLEDGE_SECONDS


@dataclass
class Crowd:
    """``questions`` within ``seconds``; the gateway goes away ``drops`` times meanwhile."""

    session: Session
    questions: int
    seconds: float
    drops: int
    channels: list[Channel] = field(default_factory=list)
    asked: list[Interaction] = field(default_factory=list)

    def prepare(self) -> None:
        """A channel in each of three servers, on both of two shards; Alice is in all of them."""
        world = self.session.discord.world
        world.shards = 2
        home = world.shard_of(self.session.guild.id)
        self.channels = [self.session.channel]
        for name, shard in (("Second", 1 - home), ("Third", home)):
            guild = world.add_guild(name, shard=shard)
            world.join(self.session.alice, guild)
            self.channels.append(world.add_channel(guild, "general"))

    async def ask(self) -> None:
        """All the questions at uneven intervals; connections break after equal shares of them."""
        dice = random.Random(5)
        loop = asyncio.get_running_loop()
        begun = loop.time()
        moments = sorted(dice.uniform(0, self.seconds) for _ in range(self.questions))
        break_at = {self.questions * (number + 1) // (self.drops + 1) for number in range(self.drops)}
        for number, moment in enumerate(moments):
            await asyncio.sleep(max(0.0, begun + moment - loop.time()))
            if number in break_at:
                await self.session.discord.gateway.drop()
            channel = self.channels[number % len(self.channels)]
            self.asked.append(
                self.session.people.slash(self.session.alice, channel, "ask", question=f"question {number}?")
            )

    async def is_answered(self, *, seconds: float) -> None:
        """Wait until as many answers are there as questions."""
        async with asyncio.timeout(seconds):
            while len(self._answered()) < self.questions:  # noqa: ASYNC110 - no event tells
                await asyncio.sleep(0.05)

    def waits(self) -> list[float]:
        """Seconds until each question was acknowledged; without end where it was not."""
        return [
            (one.acknowledged - one.made).total_seconds() if one.acknowledged else float("inf")
            for one in self.asked
        ]

    def mistakes(self) -> list[str]:
        """Whatever is not one deferral in time and one answer to each question, in its own channel."""
        found = [f"acknowledged after {wait:.1f} s" for wait in self.waits() if wait >= ACKNOWLEDGE_SECONDS]
        refused = [status for status in self.session.statuses("POST", "/callback$") if status != 200]
        found += [f"an acknowledgement was refused: {status}" for status in refused]
        answers = self._answered()
        for number, interaction in enumerate(self.asked):
            where = answers.count((f"question {number}?", interaction.channel))
            if where != 1:
                found.append(f"question {number}? has {where} answers in its channel")
        if (posted := len(self.session.discord.world.from_bot())) != self.questions:
            found.append(f"{posted} messages to {self.questions} questions")
        return found

    def _answered(self) -> list[tuple[str, int]]:
        """The questions whose answers can be read, with the channel, one for each message that answers."""
        return [
            (text.split("re: ")[1].split("?")[0] + "?", message.channel)
            for message in self.session.discord.world.from_bot()
            if "re: " in (text := shown_text(message)) and "Sources" in text
        ]
