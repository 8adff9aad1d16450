"""The real adapter against the stand-in, with everything else in memory."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from adapters.chat.discord import DiscordChat, DiscordSettings
from adapters.stores.claims_memory import ClaimTable, MemoryClaims
from core.domain.audiences import EVERYTHING, NOTHING, Audience, Scope
from core.domain.places import AskerKind, ChannelKind, Place
from core.ports import Answerer
from core.ports.chat import (
    Claims,
    Digests,
)
from core.ports.replies import GivenReplies
from tests.adapters.chat.answers import ScriptedAnswerer, page_id
from tests.adapters.chat.doubles import RecordedFeedback, ScriptedAdministration
from tests.fakes.discord import (
    BOT_TOKEN,
    Channel,
    FakeDiscord,
    Guild,
    Message,
    People,
    User,
    running_discord,
)

WAIT_SECONDS = 20.0
PUBLIC_PAGES = Audience(name="public", groups=((Scope(name="public", include=frozenset({page_id(1)})),),))


class MemoryRecords:
    """Which commands were registered, for as long as the test runs."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}

    async def get(self, key: str) -> str:
        """As the protocol says."""
        return self.values.get(key, "")

    async def put(self, key: str, value: str) -> None:
        """As the protocol says."""
        self.values[key] = value

    async def keys(self) -> Sequence[str]:
        """As the protocol says."""
        return tuple(self.values)


@dataclass
class OpenAudiences:
    """Members see everything, strangers nothing; in public channels one page is left out for nobody."""

    closed: frozenset[str] = frozenset()
    admins: frozenset[str] = frozenset()
    places: list[Place] = field(default_factory=list)

    def audience_for(self, place: Place) -> Audience:
        """By who asks where."""
        self.places.append(place)
        if place.asker_kind is AskerKind.MEMBER and place.channel_kind is not ChannelKind.SHARED:
            return EVERYTHING
        return PUBLIC_PAGES if place.channel_kind is ChannelKind.DIRECT else NOTHING

    def channel_audience(self, place: Place) -> Audience:
        """Private channels see everything, others the public page."""
        is_open = place.channel_kind in (ChannelKind.PRIVATE, ChannelKind.DIRECT)
        return EVERYTHING if is_open else PUBLIC_PAGES

    def may_ask(self, place: Place) -> bool:
        """Everywhere but in closed channels."""
        return place.channel not in self.closed

    def is_admin(self, place: Place) -> bool:
        """By the name of a person or a role."""
        return not self.admins.isdisjoint({place.asker, *place.groups})

    def explain(self, place: Place) -> str:
        """One sentence."""
        return f"This channel ({place.channel_kind}) sees <everything> & @everyone."


@dataclass
class ListedSuggestions:
    """Offers what begins so, and remembers for whom."""

    texts: tuple[str, ...] = ()
    audiences: list[Audience] = field(default_factory=list)
    seconds: float = 0.0

    async def suggest(self, typed: str, *, audience: Audience, limit: int) -> Sequence[str]:
        """As the port says, for a fixed list."""
        self.audiences.append(audience)
        await asyncio.sleep(self.seconds)
        return [text for text in self.texts if text.lower().startswith(typed.lower())][:limit]


@dataclass
class KnownEditors:
    """Addresses by page."""

    emails: dict[str, str] = field(default_factory=dict)
    error: Exception | None = None

    async def email_of_last_editor(self, page_id: str) -> str:
        """As the protocol says."""
        if self.error is not None:
            raise self.error
        return self.emails.get(page_id, "")


@dataclass
class Session:
    """Everything a test looks at."""

    discord: FakeDiscord
    people: People
    answerer: ScriptedAnswerer
    audiences: OpenAudiences
    feedback: RecordedFeedback
    administration: ScriptedAdministration
    suggestions: ListedSuggestions
    table: ClaimTable
    records: MemoryRecords
    settings: DiscordSettings
    guild: Guild
    channel: Channel
    closed: Channel
    alice: User
    bob: User
    admin: User
    claims: Claims | None = None
    editors: KnownEditors = field(default_factory=KnownEditors)
    digests: Digests | None = None
    given: GivenReplies | None = None
    chats: list[tuple[DiscordChat, asyncio.Event, "asyncio.Task[None]"]] = field(default_factory=list)

    def make_chat(
        self, *, settings: DiscordSettings | None = None, answerer: Answerer | None = None
    ) -> DiscordChat:
        """One more process that is not started."""
        clock = self.discord.world.clock
        return DiscordChat(
            settings or self.settings,
            answerer=answerer or self.answerer,
            claims=self.claims or MemoryClaims(clock=clock, table=self.table),
            audiences=self.audiences,
            feedback=self.feedback,
            administration=self.administration,
            clock=clock,
            suggestions=self.suggestions,
            editors=self.editors,
            digests=self.digests,
            replies=self.given,
            records=self.records,
        )

    async def start(
        self, *, settings: DiscordSettings | None = None, answerer: Answerer | None = None
    ) -> DiscordChat:
        """Run one more process and wait until it is connected."""
        chat = self.make_chat(settings=settings, answerer=answerer)
        stop = asyncio.Event()
        task = asyncio.create_task(chat.run(stop))
        self.chats.append((chat, stop, task))
        ready = asyncio.create_task(chat.ready.wait())
        await asyncio.wait({ready, task}, return_when=asyncio.FIRST_COMPLETED, timeout=WAIT_SECONDS)
        ready.cancel()
        if task.done():
            self.chats.pop()
            task.result()
        assert chat.ready.is_set()
        return chat

    async def stop(self) -> None:
        """Stop every process in good order."""
        for _, stop, _ in self.chats:
            stop.set()
        chats, self.chats = self.chats, []
        for _, _, task in chats:
            await asyncio.wait_for(task, timeout=WAIT_SECONDS)

    async def until(self, is_true: Callable[[], object]) -> None:
        """Wait for a condition."""
        async with asyncio.timeout(WAIT_SECONDS):
            while not is_true():  # noqa: ASYNC110 - what is waited for has no event
                await asyncio.sleep(0.01)

    async def settled(self, *, questions: int = 1) -> None:
        """Wait until so many questions were claimed and all are answered."""
        await self.until(
            lambda: len(self.table.rows) >= questions and all(row.is_done for row in self.table.rows)
        )

    async def posted(self, *, count: int = 1, channel: int | None = None) -> list[Message]:
        """Wait until the bot has posted so many messages, and everything claimed is answered."""
        await self.until(lambda: len(self.discord.world.from_bot(channel)) >= count)
        await self.until(lambda: all(row.is_done for row in self.table.rows))
        return self.discord.world.from_bot(channel)

    async def posted_now(self, count: int) -> list[Message]:
        """Wait until the bot has posted so many messages, finished or not."""
        await self.until(lambda: len(self.discord.world.from_bot()) >= count)
        return self.discord.world.from_bot()

    def statuses(self, method: str, pattern: str) -> list[int]:
        """What requests that match were answered with."""
        return [call.status for call in self.discord.called(method, pattern)]


@asynccontextmanager
async def discord_session(
    answerer: ScriptedAnswerer | None = None, *, limits: bool = False, starts: bool = True, **changes: Any
) -> AsyncIterator[Session]:
    """A server with a public and a closed channel, Alice and Bob, an administrator, and one process."""
    async with running_discord() as discord:
        discord.limits.is_on = limits
        world = discord.world
        guild = world.add_guild("Company")
        alice, bob, admin = (world.add_user(name) for name in ("alice", "bob", "ada"))
        managers = world.add_role(guild, "Managers", allows=1 << 5)
        world.join(alice, guild)
        world.join(bob, guild)
        world.join(admin, guild, managers)
        settings = DiscordSettings(
            token=BOT_TOKEN,
            base_url=discord.api_url,
            gateway_url=discord.gateway_url,
            lease_seconds=5.0,
            drain_seconds=2.0,
            edit_seconds=0.05,
            guild_seconds=0.1,
        )
        session = Session(
            discord=discord,
            people=discord.people,
            answerer=answerer or ScriptedAnswerer(),
            audiences=OpenAudiences(),
            feedback=RecordedFeedback(),
            administration=ScriptedAdministration(),
            suggestions=ListedSuggestions(),
            table=ClaimTable(),
            records=MemoryRecords(),
            settings=replace(settings, **changes),
            guild=guild,
            channel=world.add_channel(guild, "general"),
            closed=world.add_channel(guild, "board", closed_to_everyone=True),
            alice=alice,
            bob=bob,
            admin=admin,
        )
        try:
            if starts:
                await session.start()
            yield session
        finally:
            await session.stop()


def addresses(text: str) -> list[str]:
    """The targets of all links in a text of Discord's Markdown."""
    return re.findall(r"\]\(<([^<>]+)>\)", text)
