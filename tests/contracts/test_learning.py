"""What holds for every log of questions."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import asyncpg
import pytest

from adapters.stores.learning import PostgresLearning, hashed_person, open_learning
from adapters.stores.learning_memory import MemoryLearning
from core.domain.audiences import EVERYTHING, Audience, Scope
from core.ports.chat import Verdict
from core.ports.learning import Exchange, PassageTrace, Totals
from tests.builders_store import block_id, page_id

NOW = datetime.now(UTC).replace(microsecond=0)
HANDBOOK = Audience(
    "C1 in T1",
    ((Scope("Handbook", frozenset({page_id(1)}), frozenset({page_id(2)})),), (Scope("all", None),)),
)
Log = PostgresLearning | MemoryLearning


class RealClock:
    """The computer's own clock."""

    def now(self) -> datetime:
        """The current instant."""
        return datetime.now(UTC)


@pytest.fixture
def memory_log() -> MemoryLearning:
    """An empty log in dictionaries."""
    return MemoryLearning(clock=RealClock())


@pytest.fixture
async def postgres_log(database_url: str) -> AsyncIterator[PostgresLearning]:
    """An empty log in a database of its own."""
    async with open_learning(database_url) as opened:
        yield opened


@pytest.fixture(params=["memory_log", "postgres_log"])
def log(request: pytest.FixtureRequest) -> Log:
    """Each log in turn, empty."""
    opened: Log = request.getfixturevalue(request.param)
    return opened


def an_exchange(event: str = "E1", text: str = "Where do I park?", **more: object) -> Exchange:
    """An unanswered question of U1."""
    trace = PassageTrace(page_id(7), block_id(8), "hash", 0.71, 0.4, is_cited=True)
    values: dict[str, object] = {
        "event": event,
        "platform": "slack",
        "person": "U1",
        "audience": EVERYTHING,
        "asked_at": NOW,
        "text": text,
        "language": "en",
        "outcome": "no_relevant_pages",
        "timings": {"total": 12.5},
        "passages": (trace,),
    }
    return Exchange(**(values | more))  # type: ignore[arg-type]  # keywords of a dataclass


async def weak_events(log: Log, since: datetime = NOW - timedelta(days=1)) -> list[str]:
    """The events of what went badly, in the order given."""
    return [one.event for one in await log.weak(since=since, limit=100)]


async def test_unanswered_and_badly_rated_questions_are_weak(log: Log) -> None:
    """An answer is weak when more people judge it bad than good; the newest come first."""
    await log.record(
        [
            an_exchange("old", asked_at=NOW - timedelta(days=3)),
            an_exchange("unanswered", asked_at=NOW - timedelta(minutes=9)),
            an_exchange("good", outcome="answered"),
            an_exchange("bad", outcome="answered", asked_at=NOW - timedelta(minutes=5)),
            an_exchange("even", outcome="answered"),
            an_exchange("hidden", outcome="nothing_visible"),
            an_exchange("failed", outcome="failed"),
        ]
    )
    await log.judge(question_id="good", person="U2", verdict=Verdict.GOOD)
    await log.judge(question_id="bad", person="U2", verdict=Verdict.BAD, reason="out of date")
    await log.judge(question_id="even", person="U2", verdict=Verdict.BAD)
    await log.judge(question_id="even", person="U3", verdict=Verdict.GOOD)

    assert await weak_events(log) == ["bad", "unanswered"]
    assert await weak_events(log, NOW - timedelta(days=9)) == ["bad", "unanswered", "old"]
    assert len(await log.weak(since=NOW - timedelta(days=9), limit=1)) == 1


async def test_a_question_remembers_who_could_read_its_answer(log: Log) -> None:
    """The audience comes back as it was, scopes and exclusions included."""
    await log.record([an_exchange(audience=HANDBOOK, text="Straße\x00?")])

    [weak] = await log.weak(since=NOW - timedelta(days=1), limit=5)

    assert weak.audience.groups == HANDBOOK.groups
    assert weak.audience.key == HANDBOOK.key
    assert weak.text.startswith("Straße")


async def test_a_question_is_recorded_once_and_a_judgement_replaced(log: Log) -> None:
    """Platforms deliver twice, and people change their minds."""
    await log.record([an_exchange(outcome="answered"), an_exchange(text="other")])
    await log.judge(question_id="E1", person="U2", verdict=Verdict.BAD)
    await log.judge(question_id="E1", person="U2", verdict=Verdict.GOOD)

    totals = await log.totals(since=NOW - timedelta(days=1))

    assert totals == Totals(questions=1, answered=1, good=1, bad=0)
    assert await log.recent_questions(person="U1", limit=5) == ("Where do I park?",)


async def test_what_one_person_asked_judged_and_suggested_is_forgotten(log: Log) -> None:
    """Everything of that person, and nothing of others."""
    await log.record([an_exchange("E1"), an_exchange("E2", person="U2")])
    for person in ("U1", "U2"):
        await log.judge(question_id="E2", person=person, verdict=Verdict.BAD)
        await log.suggest(question_id="E2", person=person, text="In the yard.")

    removed = await log.forget("U1")

    assert removed == 3
    assert await weak_events(log) == ["E2"]
    assert await log.forget("U1") == 0
    assert (await log.totals(since=NOW - timedelta(days=1))).bad == 1
    assert await log.recent_questions(person="U1", limit=5) == ()


async def test_what_is_old_is_forgotten(log: Log) -> None:
    """Questions older than the moment go, newer ones stay."""
    await log.record([an_exchange("old", asked_at=NOW - timedelta(days=91)), an_exchange("new")])

    assert await log.prune(before=NOW - timedelta(days=90)) == 1
    assert await weak_events(log, NOW - timedelta(days=999)) == ["new"]


async def test_use_is_summed_up(log: Log) -> None:
    """Top questions whatever their case, unanswered ones newest first, judgements by day."""
    minute = timedelta(minutes=1)
    await log.record(
        [
            an_exchange("1", "Where do I park?", asked_at=NOW - 4 * minute),
            an_exchange("2", "where do i park?", asked_at=NOW - 3 * minute),
            an_exchange("3", "Who is Bob?", asked_at=NOW - 2 * minute, outcome="answered"),
            an_exchange("4", "Old?", asked_at=NOW - timedelta(days=40)),
        ]
    )
    await log.judge(question_id="3", person="U2", verdict=Verdict.GOOD)

    usage = await log.usage(days=30, viewer=EVERYTHING)

    assert usage.questions == 3
    assert usage.top_questions == (("Where do I park?", 2), ("Who is Bob?", 1))
    assert usage.unanswered == ("where do i park?", "Where do I park?")
    assert [(one.good, one.bad) for one in usage.verdicts] == [(1, 0)]


async def test_t26_a_summary_shows_a_viewer_what_that_viewer_may_see(log: Log) -> None:
    """Counts are of all questions; texts only of those whose readers could see no more than the viewer."""
    await log.record(
        [
            an_exchange("1", "Where do I park?", audience=HANDBOOK),
            an_exchange("2", "Where do I park?"),
            an_exchange("3", "When is the merger?", asked_at=NOW - timedelta(minutes=1)),
        ]
    )

    usage = await log.usage(days=30, viewer=HANDBOOK)

    assert usage.questions == 3
    assert usage.top_questions == (("Where do I park?", 1),)
    assert usage.unanswered == ("Where do I park?",)
    everything = await log.usage(days=30, viewer=EVERYTHING)
    assert everything.top_questions == (("Where do I park?", 2), ("When is the merger?", 1))
    assert everything.unanswered == ("Where do I park?", "When is the merger?")


async def test_a_digest_is_claimed_once(log: Log) -> None:
    """Of several processes one sends it; the next week has its own."""
    week = date(2026, 5, 4)

    first = await log.claim_digest(platform="slack", channel="C1", week=week)
    again = await log.claim_digest(platform="slack", channel="C1", week=week)
    later = await log.claim_digest(platform="slack", channel="C1", week=week + timedelta(days=7))

    assert (first, again, later) == (True, False, True)
    assert await log.is_digest_sent(platform="slack", channel="C1", week=week)
    assert not await log.is_digest_sent(platform="discord", channel="C1", week=week)

    await log.unclaim_digest(platform="slack", channel="C1", week=week)
    assert not await log.is_digest_sent(platform="slack", channel="C1", week=week)
    assert await log.is_digest_sent(platform="slack", channel="C1", week=week + timedelta(days=7))
    assert await log.claim_digest(platform="slack", channel="C1", week=week)


async def test_the_database_holds_no_persons_id_and_no_answers_text(database_url: str) -> None:
    """Whoever reads all the tables of learning learns of no person and of no page's text."""
    async with open_learning(database_url) as log:
        await log.record([an_exchange(person="USECRET")])
        await log.judge(question_id="E1", person="USECRET", verdict=Verdict.BAD, reason="wrong")
        await log.suggest(question_id="E1", person="USECRET", text="In the yard.")
    async with open_learning(database_url) as other_process:
        assert await other_process.recent_questions(person="USECRET", limit=5) == ("Where do I park?",)

    connection = await asyncpg.connect(database_url)
    try:
        tables = ("questions", "answers", "answer_passages", "feedback", "suggestions", "question_audiences")
        held = [
            str(dict(row))
            for table in tables
            for row in await connection.fetch(f"SELECT * FROM {table}")  # noqa: S608 - the names above
        ]
        columns = await connection.fetch(
            "SELECT column_name FROM information_schema.columns WHERE table_name IN "
            "('answers', 'answer_passages')"
        )
        keys = await connection.fetch("SELECT length(key) AS length FROM person_key")
    finally:
        await connection.close()

    assert len(held) == 6
    assert not any("USECRET" in row for row in held)
    assert not {"text", "title", "body"} & {row["column_name"] for row in columns}
    assert [row["length"] for row in keys] == [32]


def test_a_hash_of_a_person_needs_the_key() -> None:
    """Keys are made for each database, so that neither two of them nor a list of ids can be compared."""
    assert hashed_person("U1", b"a" * 32) == hashed_person("U1", b"a" * 32)
    assert hashed_person("U1", b"a" * 32) != hashed_person("U1", b"b" * 32)
    assert hashed_person("U1", b"a" * 32) != hashed_person("U2", b"a" * 32)
    with pytest.raises(ValueError, match="key of the hashes is missing"):
        hashed_person("U1", b"")


def test_an_exchange_knows_its_best_figures() -> None:
    """Of no passages there are none."""
    exchange = an_exchange()

    assert (exchange.best_cosine, exchange.best_score) == (0.71, 0.4)
    assert replace(exchange, passages=()).best_cosine is None
