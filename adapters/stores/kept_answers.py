"""Private answers in PostgreSQL, for the short time in which their asker may share them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from adapters.stores.learning import hashed_person
from adapters.stores.small_pool import SmallPool, small_pool
from adapters.stores.texts import storable
from core.domain.ids import PageId
from core.ports.chat import KeptAnswer

_STATEMENT_SECONDS = 5.0

_KEEP = """
INSERT INTO kept_answers (platform, event, person, pages, body, until)
VALUES ($1, $2, $3, $4::text[]::uuid[], $5, now() + $6)
ON CONFLICT (platform, event) DO UPDATE SET
    person = excluded.person, pages = excluded.pages, body = excluded.body, until = excluded.until
"""

# One row is handed out once, also to two presses of one button.
_TAKE = """
DELETE FROM kept_answers
WHERE platform = $1 AND event = $2 AND person = $3 AND until > now()
RETURNING pages, body
"""

_FORGET = "DELETE FROM kept_answers WHERE until <= now()"


class PostgresKeptAnswers:
    """`core.ports.chat.KeptAnswers` over a pool; made by `open_kept_answers`."""

    def __init__(self, pool: SmallPool) -> None:
        self._pool = pool
        self._key = b""

    async def keep(self, answer: KeptAnswer, *, seconds: float) -> None:
        """As the port says; also deletes what has expired."""
        person = await self._hash(answer.person)
        await self._pool.execute(_FORGET)
        await self._pool.execute(
            _KEEP,
            answer.platform,
            answer.event,
            person,
            list(answer.pages),
            storable(answer.body),
            timedelta(seconds=seconds),
        )

    async def take(self, platform: str, event: str, *, person: str) -> KeptAnswer | None:
        """As the port says."""
        hashed = await self._hash(person)
        rows = await self._pool.fetch(_TAKE, platform, event, hashed)
        if not rows:
            return None
        [row] = rows
        pages = tuple(PageId(str(page)) for page in row["pages"])
        return KeptAnswer(platform=platform, event=event, person=person, pages=pages, body=row["body"])

    async def _hash(self, person: str) -> str:
        if not self._key:
            self._key = await self._pool.fetchval("SELECT key FROM person_key")
        return hashed_person(person, self._key)


@asynccontextmanager
async def open_kept_answers(url: str) -> AsyncIterator[PostgresKeptAnswers]:
    """Kept answers with a small pool of their own.

    Raises:
        UnavailableError, RefusedError, ConfigurationError: as `adapters.stores.connecting.translated`.
    """
    async with small_pool(url, seconds=_STATEMENT_SECONDS) as pool:
        yield PostgresKeptAnswers(pool)
