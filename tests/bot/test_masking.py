"""Masking on the command line: the next sync after a change of the rules reads everything again."""

import asyncio
from pathlib import Path

import asyncpg
import pytest

from bot.cli import run_command_line

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
