"""The real adapter against the stand-in, with everything else in memory."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from adapters.chat.slack import SlackChat, SlackSettings
from adapters.chat.slack.judging import PageEditors
from adapters.chat.slack.settings import Pace
from adapters.stores.claims_memory import ClaimTable, MemoryClaims
from adapters.stores.kept_answers_memory import MemoryKeptAnswers
from core.domain.audiences import EVERYTHING, Audience, Scope
from core.domain.ids import PageId
from core.domain.places import AskerKind, ChannelKind, Place
from core.ports import Answerer
from core.ports.chat import (
    Claims,
    Digests,
    Insights,
    KeptAnswers,
)
from core.ports.replies import GivenReplies
from tests.adapters.chat.answers import ScriptedAnswerer, page_id
from tests.adapters.chat.doubles import RecordedFeedback, ScriptedAdministration
from tests.fakes.slack import APP_TOKEN, BOT_TOKEN, FakeSlack, People, running_slack

WAIT_SECONDS = 15.0
PUBLIC_PAGES = Audience(name="public", groups=((Scope(name="public", include=frozenset({page_id(1)})),),))


class SystemClock:
    """Now."""

    def now(self) -> datetime:
        """The current instant."""
        return datetime.now(UTC)


@dataclass
class OpenAudiences:
    """Members see everything, strangers and shared channels one public page; ``closed`` channels nobody."""

    closed: frozenset[str] = frozenset()
    admins: frozenset[str] = frozenset()
    places: list[Place] = field(default_factory=list)

    def audience_for(self, place: Place) -> Audience:
        """By who asks where."""
        self.places.append(place)
        is_open = place.asker_kind is AskerKind.MEMBER and place.channel_kind is not ChannelKind.SHARED
        return EVERYTHING if is_open else PUBLIC_PAGES

    def channel_audience(self, place: Place) -> Audience:
        """Private channels see everything, others the public page."""
        is_open = place.channel_kind in (ChannelKind.PRIVATE, ChannelKind.DIRECT)
        return EVERYTHING if is_open else PUBLIC_PAGES

    def may_ask(self, place: Place) -> bool:
        """Everywhere but in closed channels."""
        return place.channel not in self.closed

    def is_admin(self, place: Place) -> bool:
        """By name."""
        return place.asker in self.admins

    def explain(self, place: Place) -> str:
        """One sentence."""
        return f"This channel ({place.channel_kind}) sees <everything> & more."


@dataclass
class StoredTitles:
    """Every page is stored; ``moved`` ones are where nobody but everybody-seers look."""

    moved: set[PageId] = field(default_factory=set)

    async def titles(self, ids: Sequence[PageId], *, audience: Audience) -> Mapping[PageId, str | None]:
        """A title where the audience admits the page."""
        return {
            one: "A title" if audience.admits(() if one in self.moved else (one,)) else None for one in ids
        }


@dataclass
class Session:
    """Everything a test looks at."""

    slack: FakeSlack
    people: People
    answerer: ScriptedAnswerer
    audiences: OpenAudiences
    feedback: RecordedFeedback
    administration: ScriptedAdministration
    table: ClaimTable
    settings: SlackSettings
    kept: KeptAnswers = field(default_factory=lambda: MemoryKeptAnswers(clock=SystemClock()))
    titles: StoredTitles = field(default_factory=StoredTitles)
    claims: Claims | None = None
    insights: Insights | None = None
    editors: PageEditors | None = None
    digests: Digests | None = None
    given: GivenReplies | None = None
    chats: list[tuple[SlackChat, asyncio.Event, "asyncio.Task[None]"]] = field(default_factory=list)

    async def start(
        self, *, settings: SlackSettings | None = None, answerer: Answerer | None = None
    ) -> SlackChat:
        """Run one more process."""
        chat = SlackChat(
            settings or self.settings,
            answerer=answerer or self.answerer,
            claims=self.claims or MemoryClaims(clock=SystemClock(), table=self.table),
            kept=self.kept,
            titles=self.titles,
            audiences=self.audiences,
            feedback=self.feedback,
            administration=self.administration,
            clock=SystemClock(),
            insights=self.insights,
            editors=self.editors,
            digests=self.digests,
            replies=self.given,
        )
        stop = asyncio.Event()
        task = asyncio.create_task(chat.run(stop))
        self.chats.append((chat, stop, task))
        ready = asyncio.create_task(chat.ready.wait())
        await asyncio.wait({ready, task}, return_when=asyncio.FIRST_COMPLETED, timeout=WAIT_SECONDS)
        ready.cancel()
        if task.done():
            task.result()
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

    async def settled(self) -> None:
        """Wait until everything was delivered, every claimed question is answered, and nothing thinks on."""
        await self.slack.postman.idle()
        await self.until(lambda: all(row.is_done for row in self.table.rows))
        await self.until(lambda: not self.slack.workspace.thinking)
        await self.slack.postman.idle()

    def replies(self, thread: str) -> list[dict[str, Any]]:
        """What the bot posted in a thread."""
        return self.slack.workspace.from_bot(thread=thread)


@asynccontextmanager
async def slack_session(
    answerer: ScriptedAnswerer | None = None, *, limits: bool = False, starts: bool = True, **changes: Any
) -> AsyncIterator[Session]:
    """A workspace with one process; people U1 and U2, admin UADMIN, channels C1 and C2 (private)."""
    async with running_slack() as slack:
        slack.limits.is_on = limits
        workspace = slack.workspace
        for user in ("U1", "U2"):
            workspace.add_user(user)
        workspace.add_user("UADMIN", is_admin=True)
        workspace.add_user("UGUEST", is_restricted=True)
        workspace.add_user("UEXT", team_id="T2", is_stranger=True)
        workspace.add_channel("C1", name="general")
        workspace.add_channel("C2", name="secret", kind="group")
        workspace.add_channel("C3", name="partners", is_ext_shared=True)
        settings = SlackSettings(
            bot_token=BOT_TOKEN,
            app_token=APP_TOKEN,
            base_url=slack.api_url,
            lease_seconds=5.0,
            pace=Pace() if limits else Pace(post=0.0, quick=0.05, stream=0.1, edit=0.2),
        )
        session = Session(
            slack=slack,
            people=People(slack),
            answerer=answerer or ScriptedAnswerer(),
            audiences=OpenAudiences(),
            feedback=RecordedFeedback(),
            administration=ScriptedAdministration(),
            table=ClaimTable(),
            settings=replace(settings, **changes),
        )
        session.administration.example = "Where is <!channel> the VPN?"
        try:
            if starts:
                await session.start()
            yield session
        finally:
            await session.stop()
