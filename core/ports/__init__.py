"""What the core needs of the world, in the core's words. Adapters fit these; `bot.wiring` passes them in.

Every method that leaves the process has a time-out of its own and raises only `core.errors`.
"""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol, runtime_checkable

from core.domain.answers import Candidate, Draft, Outcome
from core.domain.audiences import Audience
from core.domain.documents import Block, Chunk, Page, PageRef, PlacedPage
from core.domain.ids import BlockId, ChunkId, PageId
from core.domain.models import Fingerprint, ModelProfile, Vector
from core.domain.questions import Question
from core.ports.source_time import SourceTime

# --- Driving side: what chat adapters ask of the core -------------------------------------------------


class Progress(Protocol):
    """Told how an answer comes along, so that a platform can show a status and stream the text."""

    async def stage(self, name: str) -> None:
        """A stage begins: ``search`` or ``write``."""

    async def text(self, so_far: str) -> None:
        """The checked Markdown of the answer so far, sources not yet attached."""


class Answerer(Protocol):
    """The only door into the core."""

    async def answer(self, question: Question, progress: Progress | None = None) -> Outcome:
        """Answer, or say why not.

        Raises:
            TemporaryError: neither vectors nor words could be searched.
        """


# --- Models --------------------------------------------------------------------------------------------


class Embedder(Protocol):
    """Texts to vectors of one space."""

    @property
    def profile(self) -> ModelProfile:
        """Names the space and how the model is used."""

    async def embed_query(self, text: str) -> Vector:
        """The vector of a question; the query prefix is added here.

        Raises:
            TemporaryError, RefusedError, ConfigurationError: as `core.errors` says.
        """

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """The vectors of passages, in order; null where the model refuses that one text.

        Batching, bounded concurrency and the splitting of failing batches happen inside.

        Raises:
            TemporaryError, RefusedError, ConfigurationError: nothing could be embedded.
        """


class Reranker(Protocol):
    """Reads question and passages together and says how well each answers."""

    @property
    def model(self) -> str:
        """Its name; part of cache keys."""

    async def rerank(self, question: str, passages: Sequence[str]) -> Sequence[float]:
        """A score for each passage in the order given, the higher the better, as a rule 0 to 1.

        Raises:
            TemporaryError, RefusedError, ConfigurationError, InvalidInputError: as `core.errors` says.
        """


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a chat model is given: the rules, and the question with its numbered sources."""

    system: str
    user: str


class Generator(Protocol):
    """Writes an answer from a prompt."""

    @property
    def model(self) -> str:
        """The model's name; part of cache keys."""

    @property
    def context_tokens(self) -> int:
        """How many tokens prompt and answer may have together."""

    def write(self, prompt: Prompt) -> AsyncIterator[str]:
        """The answer as it is written, piece by piece.

        Raises:
            TemporaryError, RefusedError, ConfigurationError: as `core.errors` says.
        """


# --- The index: reading --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WordQuery:
    """The lexical side of a search.

    ``text`` is used with web-search syntax where ``web_syntax`` (the question has quotes or a minus);
    otherwise any of ``terms`` may match (F42). ``language`` is an ISO 639-1 code, or empty if unknown.
    ``spellings`` are other ways to write names among the terms: they find what they name, and a passage is
    not asked to have them. ``heal`` also asks for the nearest known words where a term is unknown.
    """

    text: str
    terms: tuple[str, ...]
    web_syntax: bool = False
    language: str = ""
    spellings: tuple[str, ...] = ()
    heal: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether only stop words were asked."""
        return not self.terms and not self.web_syntax


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What one search statement returned: both sides joined by chunk, and the generation they belong to.

    ``generation`` is read in the same snapshot. ``has_chunks`` tells an empty index from an empty result.
    ``vectors`` are those of all candidates, where a vector was searched for. ``shares`` are their BM25 scores
    as shares of what the question's words could reach, 0 to 1; absent where the store has no BM25, and where
    no words were asked. ``background`` names the state of what `BackgroundStore.background` would return,
    0 while there is none.
    """

    candidates: tuple[Candidate, ...]
    generation: int
    has_chunks: bool = True
    vectors: Mapping[ChunkId, Vector] = field(default_factory=dict, compare=False)
    shares: Mapping[ChunkId, float] = field(default_factory=dict, compare=False)
    background: int = 0


class PassageIndex(Protocol):
    """Finds passages; cannot change anything."""

    async def search(
        self, *, vector: Vector | None, words: WordQuery, audience: Audience, limit: int
    ) -> SearchResult:
        """The nearest chunks by vector and by words, one statement for both.

        At most ``limit`` by words, and by vector at most ``limit`` of each language that passages are written
        in: models place texts of one language near each other, and would else return nothing but those.
        Only chunks of the active fingerprint on pages the audience may see. Never fewer than
        ``min(limit, chunks in scope)`` on the vector side. Equal scores are ordered by chunk id. Cosines are
        given for every candidate where a vector is.
        """

    async def search_pages(self, *, words: WordQuery, audience: Audience, limit: int) -> SearchResult:
        """Whole pages by their words, chunks or not: what is left when there are no vectors."""

    async def generation(self) -> int:
        """Raised in the transaction that changes chunks or scopes; part of every answer's cache key."""


class PageTitles(Protocol):
    """Tells titles, to those who may see them."""

    async def titles(self, ids: Sequence[PageId], *, audience: Audience) -> Mapping[PageId, str | None]:
        """The titles of stored pages; null for those that the audience may not see, unknown ones absent."""


# --- The index: writing --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PageState:
    """What the index knows of a page, enough to decide whether it must be read again.

    ``synced_at`` is when it was looked at last, by the source's time. ``source`` names the source that gave
    it; empty if that was never said.
    """

    ref: PageRef
    content_hash: str
    revision: int
    synced_at: datetime
    embedded_at: datetime | None
    source: str = ""


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page as it is written: read blocks, the text made of them, and the hash over all that matters.

    ``content_hash`` covers title, parent path, url, properties and content (inventory X17, U1). ``seen_at``
    is when reading it began, by the source's time; null where the index's own clock will do.
    """

    page: Page
    content_text: str
    content_hash: str
    language: str = ""
    source: str = ""
    seen_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PendingPage:
    """A page whose chunks are missing or older than its content."""

    placed: PlacedPage
    blocks: tuple[Block, ...]
    revision: int


@dataclass(frozen=True, slots=True)
class IndexedChunk:
    """A chunk with its vector, ready to be stored; ``text_hash`` is of the exact text embedded."""

    chunk: Chunk
    vector: Vector
    text_hash: str
    language: str


@dataclass(frozen=True, slots=True)
class SampledPassage:
    """A stored passage to learn from; ``title`` is its page's breadcrumb, ``headings`` their path as text."""

    title: str
    headings: str
    body: str
    language: str
    vector: Vector


class BackgroundStore(Protocol):
    """Keeps what was learned of the passages under the active fingerprint, in the form it is given."""

    async def background(self) -> tuple[int, bytes] | None:
        """The state of what was kept, as `SearchResult.background` names it, and the figures themselves."""

    async def is_background_due(self) -> bool:
        """Whether nothing was learned yet, or the passages have changed a good deal since."""

    async def sample_passages(self, limit: int) -> Sequence[SampledPassage]:
        """Passages from all over the index, the same ones as long as it does not change."""

    async def keep_background(self, figures: bytes) -> None:
        """Replace what was learned; the index generation rises."""


class PageStates(Protocol):
    """What is known of pages: for whoever reads of them and changes nothing."""

    async def states(self, ids: Sequence[PageId]) -> Mapping[PageId, PageState]:
        """What is known of these pages; unknown ones are absent."""

    async def stored_blocks(self, page_id: PageId) -> tuple[Block, ...] | None:
        """The blocks of a page as they were stored; null for an unknown page."""


class PageWriter(Protocol):
    """Changes the index; every change is one transaction."""

    async def states(self, ids: Sequence[PageId]) -> Mapping[PageId, PageState]:
        """What is known of these pages; unknown ones are absent."""

    async def stored_blocks(self, page_id: PageId) -> tuple[Block, ...] | None:
        """The blocks of a page as they were stored; null for an unknown page."""

    async def child_ids(self, page_id: PageId) -> Sequence[PageId]:
        """What is stored directly below a page or database, in order of id."""

    async def put_pages(self, pages: Sequence[StoredPage]) -> None:
        """Store or update pages; they are found by words at once, by vectors once `swap_chunks` ran.

        Paths of all descendants follow a move; the index generation rises. Whoever refers to a new or renamed
        page is pending too: its links show titles (`core.domain.references`).
        """

    async def touch(self, refs: Sequence[PageRef], *, synced_at: datetime) -> None:
        """Note that pages were seen unchanged; only timestamps move."""

    async def pending(self, *, limit: int, after: PageId | None = None) -> Sequence[PendingPage]:
        """Pages with content that need (re-)embedding, in order of id, starting behind ``after``."""

    async def count_pending(self) -> int:
        """How many pages `pending` would give in all."""

    async def vectors_by_hash(self, hashes: Sequence[str]) -> Mapping[str, Vector]:
        """Vectors of the active fingerprint that were made from exactly these texts."""

    async def swap_chunks(self, page_id: PageId, *, revision: int, chunks: Sequence[IndexedChunk]) -> bool:
        """Replace all chunks of a page at once and mark it embedded; false if its revision moved on.

        The same transaction raises the index generation; until it commits the old chunks answer (U5).
        """

    async def remove_pages(self, ids: Sequence[PageId], *, proof: str) -> int:
        """Remove pages and their chunks; ``proof`` says how their absence is known. Returns how many were.

        Whoever refers to one of them is pending then.
        """

    async def mark_all_pending(self) -> int:
        """Force re-embedding of every page (row 9); returns how many."""

    async def referring(self, ids: Sequence[PageId | BlockId]) -> Sequence[PageId]:
        """Pages whose blocks or properties refer to one of these pages (``page:<id>``), or show one of these
        blocks (`Block.mirrors`), in order of id."""

    async def owe_looks(self, looks: Mapping[PageId, bool], *, source: str, owner: str) -> None:
        """Note pages to be looked at, before what makes that needed is stored; true: to be read in any case.

        ``owner`` names the run that settles them; ``source`` is as `PageState.source`.
        """

    async def take_owed_looks(self, *, source: str, owner: str) -> Mapping[PageId, bool]:
        """All looks that runs over this source owe; ``owner`` is to settle them from now on."""

    async def settle_looks(self, *, owner: str, but: Collection[PageId] = ()) -> None:
        """Forget the looks that an owner owes, but for these."""

    async def all_states(self, *, limit: int, after: PageId | None = None) -> Sequence[PageState]:
        """What is known of all pages, in order of id, starting behind ``after``."""


# --- Sources -------------------------------------------------------------------------------------------


class Presence(StrEnum):
    """What a direct look at one object says about it; only the last two prove its absence (NOT-6)."""

    LIVE = "live"
    IN_TRASH = "in_trash"
    NOT_SHARED = "not_shared"


@dataclass(frozen=True, slots=True)
class Probe:
    """The answer to a direct look; ``ref`` where the object is live."""

    presence: Presence
    ref: PageRef | None = None


class PageSource(Protocol):
    """Where pages come from. Listing is cheap, reading a page costs calls."""

    def list_pages(self) -> AsyncIterator[PageRef]:
        """Every page that can be seen, parents before children where the source knows.

        Raises:
            TemporaryError: the listing broke off; what was yielded is no proof of anything's absence.
            RefusedError: the credentials were refused.
        """

    async def read(self, ref: PageRef) -> Page:
        """The page with all its blocks.

        Raises:
            NotFoundError: gone between listing and reading.
            TemporaryError: could not be read in full; a truncated page is never returned.
        """

    async def probe(self, page_id: PageId) -> Probe:
        """Look at one object directly: the only proof that something is gone."""


@runtime_checkable
class IncrementalSource(PageSource, Protocol):
    """A source that can also say what changed lately, which costs less than listing everything."""

    def changed_since(self, moment: datetime) -> AsyncIterator[PageRef]:
        """Pages edited at ``moment`` or later, newest first; what it omits the next listing finds (U7).

        Raises:
            TemporaryError, RefusedError: as in `list_pages`.
        """

    def rows(self, ref: PageRef) -> AsyncIterator[PageRef]:
        """All rows of a database; nothing for a page.

        Raises:
            NotFoundError, TemporaryError, RefusedError: as in `list_pages`.
        """

    @property
    def requests_sent(self) -> int:
        """How many requests were sent so far; requests are what a sync costs."""

    @property
    def time(self) -> SourceTime:
        """By which pages are dated."""


# --- Caches, claims, time ------------------------------------------------------------------------------


class Cache(Protocol):
    """Bytes under keys, for a while. Failure is a miss: correctness never depends on it (X22, A15)."""

    async def get(self, key: str) -> bytes | None:
        """The value, or null: unknown, expired, corrupt or unreachable."""

    async def put(self, key: str, value: bytes, *, seconds: int) -> None:
        """Keep a value for ``seconds``; a cache that is away forgets it silently."""


class Clock(Protocol):
    """Now, for whoever needs it."""

    def now(self) -> datetime:
        """The current instant, with time zone."""


__all__ = [
    "Answerer",
    "Cache",
    "Clock",
    "Draft",
    "Embedder",
    "Fingerprint",
    "Generator",
    "IncrementalSource",
    "IndexedChunk",
    "PageSource",
    "PageState",
    "PageStates",
    "PageTitles",
    "PageWriter",
    "PassageIndex",
    "PendingPage",
    "Presence",
    "Probe",
    "Progress",
    "Prompt",
    "SearchResult",
    "StoredPage",
    "WordQuery",
]
