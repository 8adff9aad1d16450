"""Questions, answers and judgements in PostgreSQL; people are keyed hashes, pages are ids."""

import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import date, datetime, timedelta

import asyncpg

from adapters.stores import learning_sql as sql
from adapters.stores.audience_rows import audience_from_json, audience_to_json
from adapters.stores.connecting import Connection
from adapters.stores.locking import LOG_LOCK
from adapters.stores.small_pool import SmallPool, small_pool
from adapters.stores.texts import storable
from core.domain.audiences import Audience
from core.ports.chat import DailyVerdicts, Usage, Verdict
from core.ports.learning import Exchange, Totals, WeakQuestion

_STATEMENT_SECONDS = 10.0
SHOWN = 10
"""Top and unanswered questions in a summary."""

_LOOKED_AT = 500
"""Before those are left out that the viewer may not see."""


class PostgresLearning:
    """`QuestionLog`, `Feedback` and `Insights` over a pool of their own; made by `open_learning`."""

    def __init__(self, pool: SmallPool) -> None:
        self._pool = pool
        self._key: bytes | None = None

    async def record(self, exchanges: Sequence[Exchange]) -> None:
        """As `QuestionLog.record`; all of them in one transaction."""
        if not exchanges:
            return
        people = {one.person: await self._hash(one.person) for one in exchanges}
        audiences = {one.audience.key: audience_to_json(one.audience) for one in exchanges}
        async with self._pool.transaction() as connection:
            # An audience that nobody asked under yet must not be pruned before its question is in.
            await connection.execute("SELECT pg_advisory_xact_lock_shared($1)", LOG_LOCK)
            await connection.execute(sql.PUT_AUDIENCES, list(audiences), list(audiences.values()))
            await self._put(connection, exchanges, people)

    async def weak(self, *, since: datetime, limit: int) -> Sequence[WeakQuestion]:
        """As `QuestionLog.weak`."""
        rows = await self._pool.fetch(sql.WEAK, since, limit)
        return tuple(
            WeakQuestion(
                event=row["event"],
                text=row["text"],
                language=row["language"],
                asked_at=row["asked_at"],
                audience=audience_from_json(row["audience"], row["groups"]),
                outcome=row["outcome"],
                bad=row["bad"],
            )
            for row in rows
        )

    async def totals(self, *, since: datetime) -> Totals:
        """As `QuestionLog.totals`."""
        [row] = await self._pool.fetch(sql.TOTALS, since)
        return Totals(**dict(row))

    async def forget(self, person: str) -> int:
        """As `QuestionLog.forget`."""
        hashed = await self._hash(person)
        async with self._pool.transaction() as connection:
            for statement in sql.FORGET_NAMES:
                await connection.execute(statement, storable(person))
            return sum([await connection.fetchval(one, hashed) for one in sql.FORGET])

    async def prune(self, *, before: datetime) -> int:
        """As `QuestionLog.prune`."""
        async with self._pool.transaction() as connection:
            await connection.execute("SELECT pg_advisory_xact_lock($1)", LOG_LOCK)
            for statement in sql.PRUNE_OTHERS:
                await connection.execute(statement, before)
            removed: int = await connection.fetchval(sql.PRUNE_QUESTIONS, before)
            await connection.execute(sql.PRUNE_AUDIENCES)
            return removed

    async def is_digest_sent(self, *, platform: str, channel: str, week: date) -> bool:
        """As `QuestionLog.is_digest_sent`."""
        return bool(await self._pool.fetchval(sql.IS_DIGEST_SENT, platform, channel, week))

    async def claim_digest(self, *, platform: str, channel: str, week: date) -> bool:
        """As `QuestionLog.claim_digest`."""
        return await self._pool.fetchval(sql.CLAIM_DIGEST, platform, channel, week) is not None

    async def unclaim_digest(self, *, platform: str, channel: str, week: date) -> None:
        """As `QuestionLog.unclaim_digest`."""
        await self._pool.execute(sql.UNCLAIM_DIGEST, platform, channel, week)

    # --- judgements ------------------------------------------------------------------------------------

    async def judge(self, *, question_id: str, person: str, verdict: Verdict, reason: str = "") -> None:
        """As `Feedback.judge`."""
        hashed = await self._hash(person)
        await self._pool.execute(sql.JUDGE, question_id, hashed, verdict.value, storable(reason))

    async def suggest(self, *, question_id: str, person: str, text: str) -> None:
        """As `Feedback.suggest`."""
        hashed = await self._hash(person)
        await self._pool.execute(sql.SUGGEST, question_id, hashed, storable(text))

    # --- summaries -------------------------------------------------------------------------------------

    async def recent_questions(self, *, person: str, limit: int) -> Sequence[str]:
        """As `Insights.recent_questions`."""
        hashed = await self._hash(person)
        rows = await self._pool.fetch(sql.RECENT, hashed, limit)
        return tuple(row["text"] for row in rows)

    async def usage(self, *, days: int, viewer: Audience) -> Usage:
        """As `Insights.usage`."""
        span = timedelta(days=days)
        async with self._pool.transaction(isolation="repeatable_read") as connection:
            count = await connection.fetchval(sql.COUNT, span)
            top = await connection.fetch(sql.TOP, span, _LOOKED_AT)
            unanswered = await connection.fetch(sql.UNANSWERED, span, _LOOKED_AT)
            verdicts = await connection.fetch(sql.VERDICTS, span)
        return Usage(
            questions=count,
            top_questions=most_asked([(row["text"], row["asked"]) for row in _shown_to(viewer, top)]),
            unanswered=tuple(dict.fromkeys(row["text"] for row in _shown_to(viewer, unanswered)))[:SHOWN],
            verdicts=tuple(DailyVerdicts(row["day"], good=row["good"], bad=row["bad"]) for row in verdicts),
        )

    # --- the details -----------------------------------------------------------------------------------

    async def _put(
        self, connection: Connection, exchanges: Sequence[Exchange], people: Mapping[str, str]
    ) -> None:
        # Of exchanges with the same event the first one counts, as it does between batches.
        first: dict[str, Exchange] = {}
        for one in exchanges:
            first.setdefault(one.event, one)
        rows = [_row(one, people[one.person]) for one in first.values()]
        kept = await connection.fetch(sql.PUT_EXCHANGES, *map(list, zip(*rows, strict=True)))
        passages = [
            (row["id"], place, it.page_id, it.block_id, it.text_hash, it.cosine, it.score, it.is_cited)
            for row in kept
            for place, it in enumerate(first[row["event"]].passages, start=1)
        ]
        if passages:
            await connection.execute(sql.PUT_PASSAGES, *map(list, zip(*passages, strict=True)))

    async def _hash(self, person: str) -> str:
        if self._key is None:
            self._key = await self._pool.fetchval("SELECT key FROM person_key")
        return hashed_person(person, self._key or b"")


def most_asked(asked: Sequence[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    """Questions with how often they were asked, the most frequent first; case makes no difference."""
    counts: dict[str, tuple[str, int]] = {}
    for text, count in asked:
        known = counts.get(text.lower().strip(), (text, 0))
        counts[text.lower().strip()] = (min(known[0], text), known[1] + count)
    return tuple(sorted(counts.values(), key=lambda pair: (-pair[1], pair[0]))[:SHOWN])


def _shown_to(viewer: Audience, rows: "Sequence[asyncpg.Record]") -> "Sequence[asyncpg.Record]":
    return [row for row in rows if viewer.covers(audience_from_json(row["audience"], row["groups"]))]


def _row(one: Exchange, person: str) -> tuple[object, ...]:
    """An exchange in the order of `PUT_EXCHANGES`."""
    return (
        *(one.event, one.platform, person, one.audience.key, storable(one.text), one.language, one.asked_at),
        *(one.outcome, one.degraded, one.cached, one.generation, one.best_cosine, one.best_score),
        json.dumps(dict(one.timings)),
    )


def hashed_person(person: str, key: bytes) -> str:
    """HMAC-SHA256 of a person's id: equal for one person, and not to be looked up without the key."""
    if not key:
        raise ValueError("the key of the hashes is missing")
    return hmac.new(key, person.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


@asynccontextmanager
async def open_learning(url: str) -> AsyncIterator[PostgresLearning]:
    """The log of questions with a small pool of its own, so that it never delays a search.

    Raises:
        UnavailableError, RefusedError, ConfigurationError: as `adapters.stores.connecting.translated`.
    """
    async with small_pool(url, seconds=_STATEMENT_SECONDS) as pool:
        yield PostgresLearning(pool)
