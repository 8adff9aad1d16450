"""A wiki in which every text ever written holds a word of its own, and two processes that answer from it.

Whatever an answer rests on can be told from the words in it, and whether these words were in the index when
the question was asked is looked up in the database itself, past the code that answers.
"""

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import asyncpg
import pytest
import redis.asyncio

from adapters.caches.connecting import RedisConnection
from bot import wiring
from bot.clock import SystemClock
from bot.settings import Settings
from bot.wiring import App, open_app
from core.domain.answers import NoAnswer, Outcome
from core.domain.audiences import Audience
from core.domain.documents import Block, BlockKind, Page, PageRef
from core.domain.ids import PageId
from core.domain.places import ChannelKind, Place
from core.domain.questions import Conversation, Question
from core.errors import NotFoundError
from core.ports import Presence, Probe, Prompt
from core.services.syncing import Syncer, SyncSettings
from tests.builders_store import a_ref, block_id, page_id

TOPICS = ("harbour", "orchard", "furnace")
PAGES = 4
WORD = re.compile(r"zq\d+x")
EPOCH = datetime(2026, 1, 5, tzinfo=UTC)

RULES = (
    # Who is in which channel sees what; a test changes from one to another.
    """[scopes.A]
include = ["{0}"]
[scopes.B]
include = ["{1}", "{2}"]
exclude = ["{0}"]
[slack.channels]
C1 = ["A"]
C2 = ["A", "B"]
""",
    """[scopes.All]
include = "everything"
[scopes.B]
include = ["{1}"]
[slack.channels]
C1 = ["All"]
C2 = ["B"]
""",
    """[scopes.A]
include = ["{0}", "{2}"]
[slack.channels]
C1 = ["A"]
""",
)


class Notebook:
    """The workspace as people edit it, and the `PageSource` that a sync reads."""

    def __init__(self) -> None:
        self._edits = count(1)
        self._pages: dict[int, Page] = {}

    def write(self, number: int, *, parent: int | None = None) -> None:
        """A page with a new title and new text."""
        edit = next(self._edits)
        ref = a_ref(number, title=f"Log zq{edit}0x", parent=parent, last_edited=self._moment(edit))
        topic = TOPICS[number % len(TOPICS)]
        text = f"The {topic} opens at hour {edit} as note zq{edit}1x says, and the {topic} closes later."
        block = Block(kind=BlockKind.PARAGRAPH, text=text, id=block_id(number))
        self._pages[number] = Page(ref, (block,))

    def move(self, number: int, parent: int | None) -> None:
        """A page elsewhere in the tree, its text as it was."""
        if number in self._pages and parent != number:
            page, edit = self._pages[number], next(self._edits)
            above = page_id(parent) if parent is not None else None
            ref = replace(page.ref, parent_id=above, last_edited=self._moment(edit))
            self._pages[number] = Page(ref, page.blocks)

    def remove(self, number: int) -> None:
        """Into the trash."""
        self._pages.pop(number, None)

    def _moment(self, edit: int) -> datetime:
        return EPOCH + timedelta(minutes=10 * edit)

    # --- as a sync sees it ---

    async def list_pages(self) -> AsyncIterator[PageRef]:
        """Every page that is there."""
        for number in sorted(self._pages):
            yield self._pages[number].ref

    async def read(self, ref: PageRef) -> Page:
        """A page as it is now.

        Raises:
            NotFoundError: it is gone.
        """
        for page in self._pages.values():
            if page.ref.id == ref.id:
                return page
        raise NotFoundError("gone")

    async def probe(self, page_id: PageId) -> Probe:
        """Whether a page is there."""
        found = [page.ref for page in self._pages.values() if page.ref.id == page_id]
        return Probe(Presence.LIVE, found[0]) if found else Probe(Presence.IN_TRASH)


class Copier:
    """A model that repeats each source it is given and names it."""

    model = "copier"
    context_tokens = 8192

    async def write(self, prompt: Prompt) -> AsyncIterator[str]:
        """Every sentence of the sources."""
        for number, text in enumerate(
            re.findall(r"The \w+ opens at hour .*? closes later\.", prompt.user), 1
        ):
            yield f"{text[:-1]} [{number}]. "


@dataclass(frozen=True, slots=True)
class Indexed:
    """A page as the database holds it at a moment: every word of ours in it, and where it is."""

    path: tuple[PageId, ...]
    words: frozenset[str]


@dataclass
class Site:
    """Two processes over one database and one Redis."""

    database_url: str
    redis_url: str
    rules: Path
    notebook: Notebook = field(default_factory=Notebook)
    asked: int = 0
    values: dict[Any, bytes] = field(default_factory=dict)

    async def open(self) -> None:
        """Start both."""
        self._stacks = [AsyncExitStack(), AsyncExitStack()]
        self._database = await asyncpg.connect(self.database_url)
        self.set_rules(0)
        self.apps = [await self._start(number) for number in (0, 1)]

    async def close(self) -> None:
        """Stop both."""
        for stack in self._stacks:
            await stack.aclose()
        await self._database.close()

    async def restart(self, number: int) -> None:
        """End one process and start another in its place."""
        await self._stacks[number].aclose()
        self._stacks[number] = AsyncExitStack()
        self.apps[number] = await self._start(number)

    async def _start(self, number: int) -> App:
        wide = {f"FOOTNOTE_LIMIT_{kind}": "100000/s" for kind in ("PERSON", "CHANNEL", "WORKSPACE")}
        variables = {
            "DATABASE_URL": self.database_url,
            "REDIS_URL": self.redis_url,
            "EMBEDDING_MODEL": "hashing:384",
            "FOOTNOTE_CONFIG": str(self.rules),
            "FOOTNOTE_RECORD": "off",
            **wide,
        }
        return await self._stacks[number].enter_async_context(open_app(Settings.from_mapping(variables)))

    def set_rules(self, number: int) -> None:
        """Put another footnote.toml into force, in both processes."""
        self.rules.write_text(RULES[number].format(*map(page_id, range(1, 4))), encoding="utf-8")
        for app in getattr(self, "apps", ()):
            app.audiences.refresh()

    async def sync(self, number: int) -> None:
        """A whole run by one of the processes."""
        app = self.apps[number]
        syncer = Syncer(
            source=self.notebook,
            writer=app.writer,
            embedder=app.embedder,
            chunk_settings=app.chunk_settings,
            clock=SystemClock(),
            settings=SyncSettings(max_removed=1000, max_removed_share=1.0),
        )
        await syncer.run(full=True, confirm_removal=True)

    async def ask(self, number: int, topic: str, channel: str) -> Outcome:
        """A question of somebody in a channel, put to one of the processes."""
        self.asked += 1
        app = self.apps[number]
        place = Place("slack", "T1", channel, ChannelKind.PUBLIC, "U1")
        question = Question(
            id=f"E{self.asked}",
            text=f"When does the {topic} open?",
            asker="U1",
            conversation=Conversation("slack", "T1", channel),
            audience=app.audiences.audience_for(place),
            asked_at=datetime.now(UTC),
        )
        return await app.answerer.answer(question)

    async def indexed(self) -> tuple[Indexed, ...]:
        """What the index holds now."""
        rows = await self._database.fetch(
            "SELECT page.path, page.title, page.content_text, "
            "string_agg(passage.chunk_text || ' ' || passage.page_title, ' ') AS passages "
            "FROM notion_pages AS page LEFT JOIN notion_embeddings AS passage ON passage.page_id = page.id "
            "GROUP BY page.id"
        )
        return tuple(
            Indexed(
                path=tuple(PageId(str(one)) for one in row["path"]),
                words=frozenset(
                    WORD.findall(f"{row['title']} {row['content_text']} {row['passages'] or ''}")
                ),
            )
            for row in rows
        )

    # --- what happens to Redis ---

    async def remember_values(self) -> None:
        """Copy all that Redis holds, to be put back later."""
        async with self._redis() as client:
            for key in await client.keys("*"):
                if await client.type(key) == b"string" and isinstance(value := await client.get(key), bytes):
                    self.values[key] = value

    async def put_values_back(self) -> None:
        """Everything that was ever copied, under the keys it had."""
        async with self._redis() as client:
            for key, value in self.values.items():
                await client.set(key, value)

    async def corrupt(self, seed: int) -> None:
        """Damage every value: cut it, turn a bit over, or put that of another key there."""
        async with self._redis() as client:
            # In order of their names values of one kind are neighbours.
            keys = sorted([key for key in await client.keys("*") if await client.type(key) == b"string"])
            held = [value if isinstance(value := await client.get(key), bytes) else b"-" for key in keys]
            for place, (key, value) in enumerate(zip(keys, held, strict=True)):
                if seed % 2:
                    await client.set(key, held[place - 1])
                elif place % 2:
                    await client.set(key, value[: len(value) // 2])
                else:
                    at = seed % len(value)
                    await client.set(key, value[:at] + bytes([value[at] ^ 1]) + value[at + 1 :])

    async def flush(self) -> None:
        """Empty Redis, scripts and all."""
        async with self._redis() as client:
            await client.flushall()
            await client.script_flush()

    @asynccontextmanager
    async def _redis(self) -> AsyncIterator["redis.asyncio.Redis"]:
        client = redis.asyncio.Redis.from_url(self.redis_url)
        try:
            yield client
        finally:
            await client.aclose()


def rests_on(outcome: Outcome) -> frozenset[str]:
    """Every word of ours in what the asker is told and what it was made of."""
    if isinstance(outcome, NoAnswer):
        return frozenset()
    told = " ".join(span.text for span in outcome.spans)
    sources = " ".join(
        f"{one.quote} {one.passage.candidate.body} {one.passage.candidate.title} "
        f"{one.passage.candidate.breadcrumb}"
        for one in outcome.citations
    )
    return frozenset(WORD.findall(f"{told} {sources}"))


def visible(indexed: tuple[Indexed, ...], audience: Audience) -> frozenset[str]:
    """The words that these readers may be told."""
    return frozenset(word for page in indexed if audience.admits(page.path) for word in page.words)


@contextmanager
def impatient_processes() -> Iterator[None]:
    """Redis is looked for with every call, and the model is one that copies."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wiring, "RedisConnection", partial(RedisConnection, rest=0.0))
        patch.setattr(wiring, "make_generator", lambda _settings, _client: Copier())
        yield
