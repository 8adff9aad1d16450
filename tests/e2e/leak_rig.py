"""A wiki whose every page holds words that nobody outside its scope may see, and all that answers."""

import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from adapters.caches.memory import MemoryCache
from adapters.chat.markdown import render
from adapters.embedders.hashing import HashingEmbedder
from adapters.stores.learning_memory import MemoryLearning
from adapters.stores.memory import MemoryStore
from adapters.stores.postgres import PostgresStore
from core.domain.answers import Outcome
from core.domain.audiences import EVERYTHING, Audience, Scope
from core.domain.ids import PageId
from core.domain.models import Fingerprint
from core.domain.questions import Conversation, Question
from core.ports import IndexedChunk, Prompt, StoredPage
from core.ports.learning import Exchange
from core.services.answering import Answering, Looking
from core.services.caching import AnswerCache, CachingEmbedder, Making
from core.services.gaps import Gaps
from core.services.prompting import Style
from core.services.recording import exchange_of
from core.services.retriever import Retriever
from core.services.scoped_index import ScopedIndex
from core.services.surroundings import Surroundings
from core.services.watching import WatchedAnswerer
from tests.builders_store import a_chunk, a_page, page_id
from tests.fakes.watch import SilentWatch

PAGES = 7
TOPICS = ("harbour", "orchard", "furnace")
"""What people ask about; stands on every page in turn."""


def secrets_of(number: int) -> tuple[str, ...]:
    """What only readers of a page may see: in its title, heading, text and link."""
    return tuple(f"zq{number}{part}x" for part in ("title", "head", "text", "slug"))


@dataclass
class Wiki:
    """The tree as the test knows it."""

    parents: dict[int, int | None]
    mentions: dict[int, int]

    def path(self, number: int) -> tuple[PageId, ...]:
        """A page and everything above it."""
        found: list[PageId] = []
        at: int | None = number
        while at is not None and page_id(at) not in found:
            found.append(page_id(at))
            at = self.parents[at]
        return tuple(found)

    def forbidden(self, audience: Audience) -> list[str]:
        """Every secret of every page that an audience may not see."""
        return [
            secret
            for number in self.parents
            if not audience.admits(self.path(number))
            for secret in secrets_of(number)
        ]


class Model:
    """Copies all it is given into its answer, as a careless model might; remembers what it was given."""

    model = "copier"
    context_tokens = 8192

    def __init__(self) -> None:
        self.prompts: list[Prompt] = []

    async def write(self, prompt: Prompt) -> AsyncIterator[str]:
        """Everything in the prompt, with the first source named."""
        self.prompts.append(prompt)
        yield f"{prompt.user[:3000]} [1]"


class Puts(MemoryCache):
    """A cache that remembers what was put into it, by whom."""

    def __init__(self) -> None:
        super().__init__()
        self.asker: Audience = EVERYTHING
        self.values: list[tuple[Audience, bytes]] = []

    async def put(self, key: str, value: bytes, *, seconds: int) -> None:
        """Keep it, and note whose question it was for."""
        self.values.append((self.asker, value))
        await super().put(key, value, seconds=seconds)


class Lines(logging.Handler):
    """Every line that is logged, at any level."""

    def __init__(self) -> None:
        super().__init__(level=logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the line."""
        self.lines.append(record.getMessage() + str(record.exc_info or ""))


class FixedClock:
    """Stands still."""

    def now(self) -> datetime:
        """One moment."""
        return datetime(2026, 5, 4, tzinfo=UTC)


@dataclass
class Site:
    """Everything that answers, over one store."""

    store: MemoryStore | PostgresStore
    wiki: Wiki
    with_model: bool
    model: Model = field(default_factory=Model)
    cache: Puts = field(default_factory=Puts)
    log: MemoryLearning = field(default_factory=lambda: MemoryLearning(clock=FixedClock()))
    asked: int = 0

    def __post_init__(self) -> None:
        self.embedder = CachingEmbedder(HashingEmbedder(), self.cache)
        index = ScopedIndex(self.store, self.store, self.store)
        answering = Answering(
            retriever=Retriever(index=index, embedder=self.embedder),
            generator=self.model if self.with_model else None,
            embedder=self.embedder,
            cache=AnswerCache(self.cache, Making(model="copier", prompt="1", index=Fingerprint("f"))),
            style=Style.GUIDED,
            looking=Looking(surroundings=Surroundings(index, reach=1)),
        )
        self.answerer = WatchedAnswerer(answering, SilentWatch())
        self.gaps = Gaps(log=self.log, embedder=self.embedder, index=index, pages=self.store)

    async def write(self, number: int) -> None:
        """Store a page as it is now; its passages are embedded under the breadcrumb of this moment."""
        await self.store.put_pages([self._page(number)])
        state = (await self.store.states([page_id(number)]))[page_id(number)]
        chunks = [await self._chunk(number, index) for index in (0, 1)]
        await self.store.swap_chunks(page_id(number), revision=state.revision, chunks=chunks)

    async def move(self, number: int, parent: int | None) -> None:
        """Hang a page elsewhere, as a sync that saw nothing but the move does: passages stay as they are."""
        self.wiki.parents[number] = parent
        await self.store.put_pages([self._page(number)])

    async def _chunk(self, number: int, index: int) -> IndexedChunk:
        """The page's text, or a second passage that no question finds and only its neighbour brings along."""
        breadcrumb, headings = self._breadcrumb(number), [self._named(number, 1)]
        body = (
            f"Behind it stands {secrets_of(number)[2]}.{self._mention(number)}"
            if index
            else self._body(number)
        )
        bare = a_chunk(number, index, body, breadcrumb=breadcrumb, headings=headings)
        [vector] = await HashingEmbedder().embed_passages([bare.chunk.text_to_embed])
        assert vector is not None
        return replace(bare, vector=vector)

    def _page(self, number: int) -> StoredPage:
        return a_page(
            number,
            self._body(number),
            title=self._named(number, 0),
            parent=self.wiki.parents[number],
            url=_link(number),
        )

    def _body(self, number: int) -> str:
        topic = TOPICS[number % len(TOPICS)]
        text = f"The {topic} is described here: {secrets_of(number)[2]} {topic}."
        return f"{text}{self._mention(number)}"

    def _mention(self, number: int) -> str:
        mentioned = self.wiki.mentions.get(number)
        return "" if mentioned is None else f" See [{secrets_of(mentioned)[0]}]({_link(mentioned)})."

    def _named(self, number: int, part: int) -> str:
        return f"{secrets_of(number)[part]} {TOPICS[number % len(TOPICS)]}"

    async def ask(self, audience: Audience, topic: str) -> tuple[Outcome, Exchange]:
        """One question of these readers, and what would be recorded of it."""
        self.asked += 1
        self.cache.asker = audience
        question = Question(
            id=f"E{self.asked}",
            text=f"Where is the {topic}?",
            asker="U1",
            conversation=Conversation(platform="slack", workspace="T1", channel="C1"),
            audience=audience,
            asked_at=FixedClock().now(),
        )
        outcome = await self.answerer.answer(question)
        exchange = exchange_of(question, outcome, scrub=lambda text: text)
        await self.log.record([exchange])
        return outcome, exchange

    def _breadcrumb(self, number: int) -> str:
        above = self.wiki.path(number)[1:3]
        titles = [secrets_of(int(one.replace("-", ""), 16))[0] for one in reversed(above)]
        return " > ".join((*titles, secrets_of(number)[0]))


def _link(number: int) -> str:
    return f"https://www.notion.so/{secrets_of(number)[3]}-{page_id(number).replace('-', '')}"


def told(outcome: Outcome) -> str:
    """All that a platform's adapter gets hold of, and what the reader is shown of it."""
    return f"{outcome!r} {render(outcome)}"


def audience_of(groups: Sequence[Sequence[tuple[frozenset[int] | None, frozenset[int]]]]) -> Audience:
    """An audience out of numbers of pages."""
    return Audience(
        "readers",
        tuple(
            tuple(
                Scope(
                    f"scope {place}",
                    None if include is None else frozenset(map(page_id, include)),
                    frozenset(map(page_id, exclude)),
                )
                for place, (include, exclude) in enumerate(group)
            )
            for group in groups
        ),
    )
