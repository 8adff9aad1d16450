"""What `footnote check` examines: each finding is ok, warn or fail, and says what to do."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, ExitStack

import numpy as np

from adapters.caches.connecting import RedisConnection
from adapters.extractors.ocr import TesseractOcr
from adapters.sources.notion import NotionSource
from adapters.sources.notion_api import NotionApi
from adapters.sources.notion_json import as_text
from adapters.stores.facts import server_facts
from adapters.stores.postgres import open_store
from adapters.stores.reader import excess_rights, role_of
from adapters.stores.schema import pending
from adapters.transport import http_client
from bot.findings import Finding, State
from bot.notion import open_notion
from bot.platform_findings import platform_findings, webhook_finding
from bot.scopes.checking import audience_findings
from bot.servers import Servers, only_sample_exists, running_servers
from bot.settings import EMBEDDED, EXTRACTIVE, Settings, unknown_variables
from bot.wiring import chunking_for, make_generator, open_embedder, open_reader
from core.domain.ids import PageId
from core.errors import FootnoteError, UnavailableError
from core.ports import Presence, Prompt
from core.ports.reading import Writing

OLDEST_PGVECTOR = (0, 8)
"""Iterative index scans came with 0.8; without them a scoped search comes back short."""

UP_TO_DATE = Finding("schema", State.OK, "up to date")

FIRST_WORD_SECONDS = 60.0
"""A model may have to be loaded before it writes its first word."""


async def examine(settings: Settings, variables: dict[str, str]) -> AsyncIterator[Finding]:
    """Every finding, in the order a newcomer would need them; nothing raises."""
    yield _settings(variables)
    with ExitStack() as stack:
        servers: Servers | None = None
        try:
            sample = only_sample_exists(settings)
            servers = stack.enter_context(running_servers(settings, sample=sample))
        except FootnoteError as error:
            yield Finding("embedded servers", State.FAIL, str(error))
        if servers is not None:
            async for finding in _database_and_redis(settings, servers):
                yield finding
        yield await _guarded("embedding model", lambda: _embedder(settings))
        yield await _guarded("reader", lambda: _answer_reader(settings))
        yield await _guarded("chat model", lambda: _generator(settings))
        if settings.notion_ocr:
            yield await _guarded("OCR", lambda: _ocr(settings.notion_ocr))
        async for finding in _notion(settings, servers):
            yield finding
    for finding in await platform_findings(settings):
        yield finding


def _settings(variables: dict[str, str]) -> Finding:
    unknown = unknown_variables(variables)
    if unknown:
        return Finding(
            "settings",
            State.WARN,
            f"unknown: {', '.join(unknown)}",
            "check the spelling against .env.example",
        )
    return Finding("settings", State.OK, "all settings are readable")


async def _database_and_redis(settings: Settings, servers: Servers) -> AsyncIterator[Finding]:
    yield await _guarded("PostgreSQL", lambda: _postgres(servers.database_url))
    schema = await _guarded("schema", lambda: _schema(settings, servers.database_url))
    yield schema
    if schema == UP_TO_DATE:
        yield await _guarded("index", lambda: _index(settings, servers))
    if (reading := settings.database_read_url) is not None:
        yield await _guarded("reading role", lambda: _reader(reading))
    yield await _guarded("Redis", lambda: _redis(servers.redis_url))
    async for finding in audience_findings(settings, servers.database_url):
        yield finding
    if settings.notion_token is not None:
        yield await _guarded("Notion webhook", lambda: webhook_finding(settings, servers.database_url))


async def _postgres(url: str) -> Finding:
    facts = await server_facts(url)
    version = facts.pgvector or facts.pgvector_available
    if version is None:
        return Finding(
            "PostgreSQL", State.FAIL, f"{facts.postgres} without pgvector", "install the pgvector extension"
        )
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST_PGVECTOR:
        return Finding(
            "PostgreSQL",
            State.FAIL,
            f"{facts.postgres} with pgvector {version}",
            "upgrade pgvector to 0.8 or newer: ALTER EXTENSION vector UPDATE",
        )
    return Finding("PostgreSQL", State.OK, f"{facts.postgres} with pgvector {version}")


async def _schema(settings: Settings, url: str) -> Finding:
    missing = await pending(url)
    if missing and settings.database_url == EMBEDDED:
        return Finding("schema", State.OK, "will be made by the first sync")
    if missing:
        return Finding(
            "schema", State.FAIL, f"{len(missing)} migrations are pending", "run: footnote migrate"
        )
    return UP_TO_DATE


async def _index(settings: Settings, servers: Servers) -> Finding:
    async with http_client() as client, open_embedder(settings, client) as embedder:
        chunker = chunking_for(settings, embedder).version
        async with open_store(
            servers.database_url,
            profile=embedder.profile,
            fingerprint=embedder.profile.fingerprint(chunker),
            chunker=chunker,
            read_only=True,
            connections=1,
        ) as store:
            counts = await store.counts()
    if not counts.embeddings:
        return Finding("index", State.WARN, "empty", "run: footnote sync")
    whose = "the sample workspace" if servers.is_sample else "your workspace"
    return Finding(
        "index",
        State.OK,
        f"{counts.embeddings} passages of {counts.pages} pages of {whose}, made with this model",
    )


async def _reader(url: str) -> Finding:
    if excess := await excess_rights(url):
        return Finding(
            "reading role",
            State.WARN,
            f"{role_of(url)} may do more than search: {', '.join(excess)}",
            "take these rights away, or use a role of its own: docs/audiences.md",
        )
    return Finding("reading role", State.OK, f"{role_of(url)} may search and nothing else")


async def _redis(url: str) -> Finding:
    connection = RedisConnection(url)
    try:
        memory = await connection.ask(lambda client: client.info("memory"))
    except UnavailableError as error:
        return Finding(
            "Redis", State.WARN, f"{error}; answers still come, uncached", "start it, or fix REDIS_URL"
        )
    finally:
        await connection.close()
    most, policy = int(memory.get("maxmemory") or 0), str(memory.get("maxmemory_policy") or "")
    if not most or policy == "noeviction":
        return Finding(
            "Redis",
            State.WARN,
            "answers, but nothing bounds its memory"
            if not most
            else "answers, but keeps nothing new once full",
            "set maxmemory and maxmemory-policy allkeys-lru: everything in it may be forgotten",
        )
    return Finding("Redis", State.OK, f"answers, {most // 2**20} MiB")


async def _embedder(settings: Settings) -> Finding:
    async with http_client() as client, open_embedder(settings, client) as embedder:
        vector = await embedder.embed_query("How many vacation days do I have?")
        profile = embedder.profile
    if not np.isfinite(vector).all():
        return Finding("embedding model", State.FAIL, f"{profile.name} gave a vector that is no number")
    return Finding("embedding model", State.OK, f"{profile.name}, {profile.dimensions} dimensions")


async def _answer_reader(settings: Settings) -> Finding:
    with open_reader(settings) as reader:
        if reader is None:
            return Finding("reader", State.OK, "none: many near misses pass for answers (ANSWER_READER)")
        await reader.reader.read("When?", [Writing(title="Opening hours", text="We open at nine.")])
        return Finding("reader", State.OK, f"{reader.reader.name} reads the best passages")


async def _generator(settings: Settings) -> Finding:
    if settings.llm_model == EXTRACTIVE:
        return Finding("chat model", State.OK, "none: answers are quotes (LLM_MODEL=extractive)")
    async with http_client() as client:
        generator = make_generator(settings, client)
        if generator is None:
            return Finding("chat model", State.OK, "none")
        async with asyncio.timeout(FIRST_WORD_SECONDS):
            async for _ in generator.write(Prompt(system="Answer with one word.", user="Say yes.")):
                break
    return Finding("chat model", State.OK, f"{generator.model} writes, {generator.context_tokens} tokens")


async def _ocr(languages: str) -> Finding:
    missing = sorted({*languages.split("+")} - await TesseractOcr(languages).languages_installed())
    if missing:
        return Finding(
            "OCR",
            State.FAIL,
            f"tesseract lacks {', '.join(missing)}",
            "install them (apt-get install tesseract-ocr-deu for deu), or change NOTION_OCR",
        )
    return Finding("OCR", State.OK, f"tesseract reads {languages}")


async def _notion(settings: Settings, servers: Servers | None) -> AsyncIterator[Finding]:
    if settings.notion_token is None:
        yield Finding(
            "Notion",
            State.WARN,
            "NOTION_TOKEN is not set",
            "create an internal integration and put its token into .env, or use: footnote sync --export PATH",
        )
        return
    async with AsyncExitStack() as stack:
        redis = RedisConnection(servers.redis_url) if servers is not None else None
        if redis is not None:
            stack.push_async_callback(redis.close)
        api = await stack.enter_async_context(open_notion(settings, redis))
        yield await _guarded("Notion", lambda: _notion_token(api, settings))
        source = NotionSource(api)
        for root in settings.root_pages:
            yield await _guarded("Notion root", lambda root=root: _root(source, root))  # type: ignore[misc] # mypy cannot type the bound default


async def _notion_token(api: NotionApi, settings: Settings) -> Finding:
    name = as_text((await api.me()).get("name")) or "an integration"
    if settings.root_pages:
        return Finding("Notion", State.OK, f"the token of {name} is accepted")
    async for _ in api.search():
        return Finding("Notion", State.OK, f"the token of {name} is accepted and sees pages")
    return Finding(
        "Notion",
        State.WARN,
        f"the token of {name} is accepted but sees no page",
        "open a page in Notion, choose '...', 'Connections', and add the integration",
    )


async def _root(source: NotionSource, root: PageId) -> Finding:
    probe = await source.probe(root)
    if probe.presence is Presence.LIVE and probe.ref is not None:
        return Finding("Notion root", State.OK, f"sees {probe.ref.title!r}")
    return Finding(
        "Notion root",
        State.FAIL,
        f"{root} is {probe.presence.value.replace('_', ' ')}",
        "open it in Notion, choose '...', 'Connections', and add the integration",
    )


async def _guarded(subject: str, probe: Callable[[], Awaitable[Finding]]) -> Finding:
    try:
        return await probe()
    except TimeoutError:
        return Finding(subject, State.FAIL, "took too long to answer", "is it running, and not overloaded?")
    except FootnoteError as error:
        return Finding(subject, State.FAIL, str(error))
