"""A role that may search and nothing else."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from adapters.stores.postgres import open_store
from adapters.stores.reader import excess_rights, grant_reading, role_of
from bot.cli import run_command_line
from bot.settings import Settings
from bot.wiring import ask_as_console, open_app
from core.domain.answers import Answer
from core.domain.audiences import EVERYTHING
from core.errors import ConfigurationError, RefusedError
from tests.builders_store import FINGERPRINT, PROFILE, a_chunk, a_page, a_vector, index_page, page_id, words


async def execute(url: str, statement: str) -> None:
    """One statement with a connection of its own."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


@pytest.fixture
async def reader_url(database_url: str) -> AsyncIterator[str]:
    """The test's database with a new role that may do nothing yet; the name needs quoting."""
    role = "Reader " + database_url.split("@/")[1].split("?", maxsplit=1)[0]
    await execute(database_url, f'CREATE ROLE "{role}" LOGIN')
    yield database_url.replace("postgres@/", f"{role.replace(' ', '%20')}@/")
    await execute(database_url, f'DROP OWNED BY "{role}"')
    await execute(database_url, f'DROP ROLE "{role}"')


async def test_row59_a_granted_role_searches_and_can_do_nothing_else(
    database_url: str, reader_url: str
) -> None:
    """Both searches work; nothing can be written, and nothing be read of what people asked."""
    async with open_store(database_url, profile=PROFILE, fingerprint=FINGERPRINT) as store:
        await index_page(store, a_page(1), a_chunk(1))
    await grant_reading(database_url, role_of(reader_url))

    async with open_store(reader_url, profile=PROFILE, fingerprint=FINGERPRINT, read_only=True) as reader:
        asked = words("text", language="en")
        passages = await reader.search(vector=a_vector(1), words=asked, audience=EVERYTHING, limit=5)
        pages = await reader.search_pages(words=asked, audience=EVERYTHING, limit=5)
        with pytest.raises(RefusedError):
            await reader.remove_pages([page_id(1)], proof="none")
    connection = await asyncpg.connect(reader_url)
    try:
        for table in ("questions", "feedback", "suggestions", "person_key", "chat_claims"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.fetch(f"SELECT * FROM {table}")  # noqa: S608 - the names above
        for statement in (
            "DELETE FROM notion_pages",
            "UPDATE index_state SET generation = 0",
            "CREATE TABLE mine (id int)",
        ):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(statement)
    finally:
        await connection.close()

    assert [one.page_id for one in passages.candidates] == [page_id(1)]
    assert [one.page_id for one in pages.candidates] == [page_id(1)]
    assert await excess_rights(reader_url) == ()


async def test_row94_a_role_with_more_rights_is_noticed(database_url: str, reader_url: str) -> None:
    """The owner may do everything; a reader that was granted too much is told apart from a proper one."""
    await grant_reading(database_url, role_of(reader_url))
    await execute(database_url, f'GRANT SELECT ON questions TO "{role_of(reader_url)}"')
    await execute(database_url, f'GRANT UPDATE ON notion_pages TO "{role_of(reader_url)}"')

    assert await excess_rights(reader_url) == ("public.notion_pages", "public.questions")
    assert "public.person_key" in await excess_rights(database_url)


async def test_a_role_that_does_not_exist_is_an_error_that_says_how_to_make_it(database_url: str) -> None:
    """Nothing is granted to a mistyped name."""
    with pytest.raises(ConfigurationError, match='CREATE ROLE "nobody" LOGIN'):
        await grant_reading(database_url, "nobody")


def test_a_reading_url_names_its_role() -> None:
    """In the usual place or as a parameter."""
    assert role_of("postgresql://a%20b:x@h/db") == "a b"
    assert role_of("postgresql:///db?user=reader") == "reader"
    with pytest.raises(ConfigurationError, match="names no user"):
        role_of("postgresql://h/db")


async def test_row59_answers_come_through_the_reading_role(
    database_url: str,
    reader_url: str,
    redis_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """migrate grants, the app searches with it, and writing goes on with the other one."""
    variables = {
        "DATABASE_URL": database_url,
        "DATABASE_READ_URL": reader_url,
        "REDIS_URL": redis_url,
        "EMBEDDING_MODEL": "hashing:384",
    }
    monkeypatch.chdir(tmp_path)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert await asyncio.to_thread(run_command_line, ["migrate"]) == 0

    async with open_app(Settings.from_mapping(variables)) as app:
        await app.store.put_pages([a_page(1, "The garden has three trees.", title="Garden")])
        outcome = await app.answerer.answer(ask_as_console("How many trees are in the garden?"))
        with pytest.raises(RefusedError):
            await app.index.put_pages([a_page(2)])  # type: ignore[attr-defined]  # the port cannot; the role must not

    assert isinstance(outcome, Answer)
    assert outcome.citations[0].title == "Garden"
