"""``footnote reembed``: the old vectors serve until the new are complete; cut off, it goes on."""

import json
import shutil
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from uuid import uuid4

import pytest

from adapters.sources.sample import SampleSource
from adapters.stores.postgres import PostgresStore
from adapters.stores.status import IndexCounts
from bot.commands.reembed import run_cost, run_reembed
from bot.settings import Settings
from bot.syncing import sync_with_progress
from bot.wiring import ask_as_console, open_app
from core.domain.answers import Answer
from core.domain.ids import PageId
from core.errors import RefusedError
from core.ports import IndexedChunk
from core.services.surroundings import Surroundings
from tests.fakes.model import model_server

QUESTION = "How long does the free trial run?"
CUT_AFTER = 7


def settings_for(database_url: str, redis_url: str, **changed: str) -> Settings:
    """The hashing model keeps it quick."""
    variables = {"DATABASE_URL": database_url, "REDIS_URL": redis_url, "EMBEDDING_MODEL": "hashing:384"}
    return Settings.from_mapping({**variables, **changed})


async def counts_under(settings: Settings) -> IndexCounts:
    """What the index says to a process with these settings, which must be those in use."""
    async with open_app(settings) as app:
        return await app.store.counts()


async def is_answered(settings: Settings) -> bool:
    """Whether a process with these settings can open the index and answer from it."""
    async with open_app(settings) as app:
        return isinstance(await app.answerer.answer(ask_as_console(QUESTION)), Answer)


@pytest.fixture
async def settings(database_url: str, redis_url: str) -> Settings:
    """Of a database that holds the sample workspace."""
    chosen = settings_for(database_url, redis_url)
    async with open_app(chosen) as app:
        await sync_with_progress(app, SampleSource())
    return chosen


@pytest.fixture
def cut_off(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The process loses its hold on the database after some pages; undone by the test."""
    swapped = count(1)
    swap = PostgresStore.swap_chunks

    async def until_cut(
        self: PostgresStore, page_id: PageId, *, revision: int, chunks: Sequence[IndexedChunk]
    ) -> bool:
        if next(swapped) > CUT_AFTER:
            raise RefusedError("cut off")
        return await swap(self, page_id, revision=revision, chunks=chunks)

    monkeypatch.setattr(PostgresStore, "swap_chunks", until_cut)
    return monkeypatch


CHANGES: tuple[dict[str, str], ...] = (
    {"EMBEDDING_MODEL": "hashing:128"},
    {"NOTION_CHUNK_SIZE": "400", "NOTION_CHUNK_OVERLAP": "80"},
    {},
)


@pytest.mark.parametrize("changed", CHANGES, ids=["model", "chunks", "same"])
async def test_sy24_reembedding_switches_to_the_configured_index(
    settings: Settings,
    database_url: str,
    redis_url: str,
    changed: dict[str, str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Every page is embedded anew, the index switches, nothing of the old one stays, and it answers."""
    new = settings_for(database_url, redis_url, **changed)
    before = await counts_under(settings)

    code = await run_reembed(new, as_json=True)

    report = json.loads(capsys.readouterr().out)
    after = await counts_under(new)
    assert code == 0
    assert report["clean"] is True
    assert report["pages_embedded"] == before.pages - before.empty_pages
    assert report["reused"] == 0
    assert (after.pending, after.of_other_fingerprints, after.vector_index) == (0, 0, "hnsw")
    assert (after.active == before.active) == (not changed)
    assert await is_answered(new)


@pytest.mark.parametrize("changed", CHANGES, ids=["model", "chunks", "same"])
async def test_f34_a_reembedding_that_was_cut_off_goes_on_where_it_was(
    settings: Settings,
    database_url: str,
    redis_url: str,
    changed: dict[str, str],
    cut_off: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The old vectors answer meanwhile; the second run does the other pages only."""
    new = settings_for(database_url, redis_url, **changed)
    with pytest.raises(RefusedError, match="cut off"):
        await run_reembed(new, as_json=True)
    cut_off.undo()
    meanwhile = await counts_under(settings)
    answered_meanwhile = await is_answered(settings)

    code = await run_reembed(new, as_json=True)

    report = json.loads(capsys.readouterr().out)
    assert answered_meanwhile
    assert code == 0
    assert report["pages_embedded"] == meanwhile.pages - meanwhile.empty_pages - CUT_AFTER
    assert (await counts_under(new)).of_other_fingerprints == 0


async def test_reembedding_clears_up_what_an_earlier_one_left(
    settings: Settings, database_url: str, redis_url: str, cut_off: pytest.MonkeyPatch
) -> None:
    """Vectors of a model that was begun with and given up are gone once another one is complete."""
    with pytest.raises(RefusedError, match="cut off"):
        await run_reembed(settings_for(database_url, redis_url, EMBEDDING_MODEL="hashing:64"), as_json=True)
    cut_off.undo()
    left = (await counts_under(settings)).of_other_fingerprints
    new = settings_for(database_url, redis_url, EMBEDDING_MODEL="hashing:128")

    await run_reembed(new, as_json=True)

    assert left > 0
    assert (await counts_under(new)).of_other_fingerprints == 0


async def test_t2_a_page_that_cannot_be_embedded_keeps_the_old_index_in_use(
    settings: Settings,
    database_url: str,
    redis_url: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The command fails, says so, and the old vectors go on answering."""

    async def changed_meanwhile(*_: object, **__: object) -> bool:
        return False

    new = settings_for(database_url, redis_url, EMBEDDING_MODEL="hashing:128")
    with monkeypatch.context() as patch:
        patch.setattr(PostgresStore, "swap_chunks", changed_meanwhile)

        code = await run_reembed(new, as_json=True)

    captured = capsys.readouterr()
    report = json.loads(captured.out)
    assert code == 1
    assert report["pending"] > 0
    assert "go on answering" in captured.err
    assert await is_answered(settings)


async def test_costs_of_a_models_texts_are_told_and_nothing_is_asked(
    settings: Settings, database_url: str, redis_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Calls and tokens for all pages of the workspace; the index stays in use, and no model was asked."""
    async with model_server("llama3") as server:
        model = {"LLM_MODEL": "ollama:llama3", "LLM_BASE_URL": server.url}
        wanted = settings_for(database_url, redis_url, NOTION_SUMMARIES="on", **model)
        assert await run_cost(wanted, as_json=True) == 0
        cost = json.loads(capsys.readouterr().out)

        assert server.asked("/api/chat") == []
    assert cost["calls"] == cost["pages"] > 50
    assert cost["tokens"] > 100 * cost["calls"]
    assert await is_answered(settings)


@pytest.mark.usefixtures("settings")
async def test_a_summary_finds_a_page_and_the_page_is_quoted(database_url: str, redis_url: str) -> None:
    """After re-embedding with summaries a word that only the model wrote finds the page, which is cited."""
    async with model_server("llama3") as server:
        server.answer = lambda _: "About the zebrakey."
        model = {"LLM_MODEL": "ollama:llama3", "LLM_BASE_URL": server.url}
        wanted = settings_for(database_url, redis_url, NOTION_SUMMARIES="on", **model)
        assert await run_reembed(wanted, as_json=True) == 0
        asked = len(server.asked("/api/chat"))
        assert await run_reembed(wanted, as_json=True) == 0

        async with open_app(wanted) as app:
            found = await app.retriever.retrieve(ask_as_console("zebrakey"))
            read = await Surroundings(app.store).without_summaries(found)
        assert len(server.asked("/api/chat")) == asked > 50

    assert any(one.candidate.body == "About the zebrakey." for one in found.passages)
    assert read.passages
    assert all("zebrakey" not in one.candidate.body for one in read.passages)


@pytest.fixture
def home(servers_home: Path) -> Iterator[Path]:
    """An empty data folder that PostgreSQL's account can reach."""
    folder = servers_home / f"reembed-{uuid4().hex[:8]}"
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


async def test_a_demo_from_before_is_embedded_anew(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where only the sample workspace was ever synced, its index is meant, as by every reading command."""
    before, now = (
        Settings.from_mapping({"FOOTNOTE_HOME": str(home), "EMBEDDING_MODEL": model})
        for model in ("hashing:64", "hashing:128")
    )
    async with open_app(before, sample=True) as app:
        await sync_with_progress(app, SampleSource())
        counts = await app.store.counts()
    capsys.readouterr()

    ended = await run_reembed(now, as_json=True)

    assert ended == 0
    assert json.loads(capsys.readouterr().out)["pages_embedded"] == counts.pages - counts.empty_pages > 0
