"""Masking on the command line: the next sync after a change of the rules reads everything again."""

import asyncio
from pathlib import Path

import asyncpg
import pytest

from adapters.stores.facts import note_fact
from bot.cli import run_command_line
from bot.masking import FACT, STALE, must_read_all, note_masking
from bot.settings import Settings
from bot.wiring import open_app
from core.services.sync_report import SyncReport

PAGE = "# Contact\n\nWrite to jane@example.com.\n"


async def run(*arguments: str) -> int:
    """One command in a thread, since it has an event loop of its own."""
    return await asyncio.to_thread(run_command_line, list(arguments))


async def stored(url: str) -> str:
    """All that the database holds of pages and passages."""
    connection = await asyncpg.connect(url)
    try:
        pages = await connection.fetch("SELECT content_text, blocks::text AS blocks FROM notion_pages")
        chunks = await connection.fetch("SELECT chunk_text FROM notion_embeddings")
    finally:
        await connection.close()
    return repr([dict(row) for row in (*pages, *chunks)])


async def test_a19_rules_reach_the_index_with_the_next_sync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, database_url: str, redis_url: str
) -> None:
    """On: masked in every table. Off again: as it was written."""
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "EMBEDDING_MODEL": "hashing:384",
    }.items():
        monkeypatch.setenv(name, value)
    export, rules = tmp_path / "export", tmp_path / "footnote.toml"
    await asyncio.to_thread(export.mkdir)
    page = export / "Contact 0123456789abcdef0123456789abcdef.md"
    await asyncio.to_thread(page.write_text, PAGE, encoding="utf-8")

    assert await run("sync", "--export", "export") == 0
    plain = await stored(database_url)
    await asyncio.to_thread(rules.write_text, '[scrub]\npages = ["email"]\n', encoding="utf-8")
    assert await run("sync", "--export", "export") == 0
    covered = await stored(database_url)
    await asyncio.to_thread(rules.write_text, "", encoding="utf-8")
    assert await run("sync", "--export", "export") == 0
    again = await stored(database_url)

    assert "jane@example.com" in plain
    assert "jane@example.com" not in covered
    assert "[email]" in covered
    assert "jane@example.com" in again


async def test_a19_a_page_that_crossed_a_border_meanwhile_is_not_forgotten(
    tmp_path: Path, database_url: str, redis_url: str
) -> None:
    """A full run settles the masking, unless a page came under other rules while it ran."""
    rules = tmp_path / "footnote.toml"
    await asyncio.to_thread(rules.write_text, '[scrub]\npages = ["email"]\n', encoding="utf-8")
    settings = Settings.from_mapping(
        {
            "DATABASE_URL": database_url,
            "REDIS_URL": redis_url,
            "EMBEDDING_MODEL": "hashing:384",
            "FOOTNOTE_CONFIG": str(rules),
        }
    )
    whole = SyncReport(complete=True)
    async with open_app(settings) as app:
        at_first = await must_read_all(app)
        await note_masking(app, SyncReport(complete=False), full=True)
        after_half = await must_read_all(app)
        await note_fact(database_url, FACT, STALE)
        await note_masking(app, whole, full=True)
        after_crossing = await must_read_all(app)
        await note_masking(app, whole, full=True)
        settled = await must_read_all(app)

    assert (at_first, after_half, after_crossing, settled) == (True, True, True, False)
