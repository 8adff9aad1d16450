"""Given replies in PostgreSQL, beside the pages they rest on."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

import asyncpg

from adapters.stores.small_pool import SmallPool, small_pool
from core.domain.ids import PageId
from core.ports.replies import ChangedReply, GivenReply, PassageDigest, ReplyPlace, Suspect

MAX_ATTEMPTS = 3
_STATEMENT_SECONDS = 20.0

_PLACE = "reply.platform, reply.workspace, reply.channel, reply.message, reply.thread, reply.question"

_REMEMBER = """
INSERT INTO given_replies (platform, workspace, channel, message, thread, question, language, given_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (platform, channel, message) DO UPDATE SET
    thread = excluded.thread, question = excluded.question, language = excluded.language,
    given_at = excluded.given_at, changed_at = NULL, lease_until = NULL, attempts = 0
RETURNING id
"""

_PUT_PASSAGE = """
INSERT INTO given_reply_passages (reply, position, page_id, language, figures, words, denials)
VALUES ($1, $2, $3, $4, $5, $6, $7)
"""

# A page counts once the passages of its newest revision are in the index: those of the one before it say what
# they always said. A page without text has no passages and is as good as gone.
_SUSPECTS = f"""
SELECT {_PLACE}, reply.given_at, passage.position, passage.page_id, passage.language,
    passage.figures, passage.words, passage.denials, page.revision,
    ARRAY(
        SELECT chunk.chunk_text FROM notion_embeddings AS chunk
        WHERE chunk.page_id = page.id AND chunk.fingerprint = state.active
        ORDER BY chunk.chunk_level, chunk.chunk_index
    ) AS texts
FROM given_replies AS reply
JOIN given_reply_passages AS passage ON passage.reply = reply.id
CROSS JOIN index_state AS state
LEFT JOIN notion_pages AS page ON page.id = passage.page_id
LEFT JOIN notion_embedded AS embedded
    ON embedded.page_id = page.id AND embedded.fingerprint = state.active
WHERE reply.changed_at IS NULL AND reply.given_at >= $1
  AND (
      page.id IS NULL
      OR (passage.looked <> page.revision AND (embedded.revision = page.revision OR NOT page.has_text))
  )
ORDER BY reply.id, passage.position
LIMIT $2
"""

_LOOKED = """
UPDATE given_reply_passages AS passage SET looked = $5
FROM given_replies AS reply
WHERE passage.reply = reply.id AND reply.platform = $1 AND reply.channel = $2 AND reply.message = $3
  AND reply.given_at = $4 AND passage.position = $6
"""

_CHANGED = """
UPDATE given_replies SET changed_at = coalesce(changed_at, now())
WHERE platform = $1 AND channel = $2 AND message = $3 AND given_at = $4
"""

_TAKE = f"""
UPDATE given_replies AS reply SET lease_until = now() + $3, attempts = attempts + 1
WHERE id IN (
    SELECT id FROM given_replies
    WHERE platform = $1 AND changed_at IS NOT NULL AND given_at >= $2
      AND (lease_until IS NULL OR lease_until <= now()) AND attempts < {MAX_ATTEMPTS}
    ORDER BY changed_at, id
    LIMIT $4
    FOR UPDATE SKIP LOCKED
)
RETURNING {_PLACE}, reply.language
"""

_FORGET = "DELETE FROM given_replies WHERE platform = $1 AND channel = $2 AND message = $3"
_PRUNE = "WITH gone AS (DELETE FROM given_replies WHERE given_at < $1 RETURNING 1) SELECT count(*) FROM gone"


class PostgresReplies:
    """`core.ports.replies.ReplyBook` over a pool; made by `open_given_replies`."""

    def __init__(self, pool: SmallPool) -> None:
        self._pool = pool

    async def remember(self, reply: GivenReply) -> None:
        """As the port says."""
        place = reply.place
        async with self._pool.transaction() as connection:
            row = await connection.fetchval(
                _REMEMBER,
                *(place.platform, place.workspace, place.channel, place.message),
                *(place.thread, place.question, reply.language, reply.given_at),
            )
            await connection.execute("DELETE FROM given_reply_passages WHERE reply = $1", row)
            await connection.executemany(
                _PUT_PASSAGE,
                [(row, at, *_digest_row(one)) for at, one in enumerate(reply.passages)],
            )

    async def suspects(self, *, since: datetime, limit: int) -> Sequence[Suspect]:
        """As the port says."""
        rows = await self._pool.fetch(_SUSPECTS, since, limit)
        return tuple(
            Suspect(
                place=_place(row),
                given_at=row["given_at"],
                position=row["position"],
                digest=PassageDigest(
                    page_id=PageId(str(row["page_id"])),
                    language=row["language"],
                    figures=frozenset(row["figures"]),
                    words=frozenset(row["words"]),
                    denials=row["denials"],
                ),
                revision=row["revision"],
                texts=tuple(row["texts"]),
            )
            for row in rows
        )

    async def settle(self, looked: Mapping[Suspect, bool]) -> None:
        """As the port says."""
        async with self._pool.transaction() as connection:
            for suspect, is_changed in looked.items():
                place = suspect.place
                key = (place.platform, place.channel, place.message, suspect.given_at)
                if is_changed:
                    await connection.execute(_CHANGED, *key)
                else:
                    await connection.execute(_LOOKED, *key, suspect.revision, suspect.position)

    async def take_changed(
        self, platform: str, *, since: datetime, lease_seconds: float, limit: int
    ) -> Sequence[ChangedReply]:
        """As the port says."""
        rows = await self._pool.fetch(_TAKE, platform, since, timedelta(seconds=lease_seconds), limit)
        return tuple(ChangedReply(place=_place(row), language=row["language"]) for row in rows)

    async def forget(self, place: ReplyPlace) -> None:
        """As the port says."""
        await self._pool.execute(_FORGET, place.platform, place.channel, place.message)

    async def prune(self, *, before: datetime) -> int:
        """As the port says."""
        removed: int = await self._pool.fetchval(_PRUNE, before)
        return removed


def _digest_row(one: PassageDigest) -> tuple[object, ...]:
    return (one.page_id, one.language, sorted(one.figures), sorted(one.words), one.denials)


def _place(row: asyncpg.Record) -> ReplyPlace:
    return ReplyPlace(
        platform=row["platform"],
        workspace=row["workspace"],
        channel=row["channel"],
        message=row["message"],
        thread=row["thread"],
        question=row["question"],
    )


@asynccontextmanager
async def open_given_replies(url: str) -> AsyncIterator[PostgresReplies]:
    """Given replies with a small pool of their own.

    Raises:
        UnavailableError, RefusedError, ConfigurationError: as `adapters.stores.connecting.translated`.
    """
    async with small_pool(url, seconds=_STATEMENT_SECONDS) as pool:
        yield PostgresReplies(pool)
