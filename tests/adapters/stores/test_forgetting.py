"""Forgetting one person reaches every table that knew them."""

import json
from datetime import UTC, datetime

import asyncpg

from adapters.jobs.opening import open_jobs
from adapters.stores.claims import open_claims
from adapters.stores.kept_answers import open_kept_answers
from adapters.stores.learning import open_learning
from core.domain.audiences import EVERYTHING
from core.ports.chat import ClaimKey, KeptAnswer, ResyncKind, Verdict
from core.ports.learning import Exchange

PERSON, OTHER = "U0ZEBRA", "U0OTHER"


async def everything(database_url: str) -> str:
    """All rows of all tables, as text."""
    connection = await asyncpg.connect(database_url)
    try:
        tables = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
        rows = [
            row["line"]
            for table in tables
            for row in await connection.fetch(f"SELECT one::text AS line FROM {table['tablename']} AS one")  # noqa: S608 - names of the catalogue
        ]
    finally:
        await connection.close()
    return "\n".join(rows)


async def test_no_table_knows_a_person_who_was_forgotten(database_url: str) -> None:
    """Questions, judgements, private answers, threads and runs; others and what must go on stay."""
    async with (
        open_learning(database_url) as log,
        open_claims(database_url) as claims,
        open_kept_answers(database_url) as kept,
        open_jobs(database_url) as jobs,
    ):
        for person in (PERSON, OTHER):
            await log.record(
                [
                    Exchange(
                        event=f"E{person}",
                        platform="slack",
                        person=person,
                        audience=EVERYTHING,
                        asked_at=datetime.now(UTC),
                        text=f"words of {person}",
                        language="en",
                        outcome="answered",
                    )
                ]
            )
            await log.judge(question_id="E1", person=person, verdict=Verdict.GOOD, reason=f"so says {person}")
            await log.suggest(question_id="E1", person=person, text=f"a suggestion of {person}")
            key = ClaimKey("slack", f"event of {len(person)}{person[-1]}", f"C1:{person[-1]}")
            await claims.claim(key, payload={"user": person}, lease_seconds=60, thread=f"C1:17.01:{person}")
            await claims.done(key, reply="17.02")
            body = json.dumps({"asked": {"user": person}})
            await kept.keep(KeptAnswer("slack", f"P{person[-1]}", person, (), body), seconds=600)
        await jobs.runs.begin_here("notion", ResyncKind.CHANGES, asked_by=f"slack:{PERSON}")
        before = await everything(database_url)
        removed = await log.forget(PERSON)
        after = await everything(database_url)
        again = await claims.claim(
            ClaimKey("slack", f"event of {len(PERSON)}{PERSON[-1]}", f"C1:{PERSON[-1]}"),
            payload={},
            lease_seconds=60,
        )

    assert PERSON in before
    assert removed == 4
    assert PERSON not in after
    assert after.count(OTHER) == before.count(OTHER)
    assert again.value == "done"
