"""Rules, cache and index together: real PostgreSQL, real Redis, the app as chats use it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from adapters.caches import connecting
from bot.settings import Settings
from bot.wiring import App, open_app
from core.domain.answers import Answer, NoAnswer, NoAnswerReason, Outcome
from core.domain.places import AskerKind, ChannelKind, Place
from core.domain.questions import Conversation, Question
from core.ports import StoredPage
from core.services.indexing import Indexer
from core.services.sync_report import Tally
from tests.builders_store import a_page, page_id

RULES = f"""
[scopes.Garden]
include = ["{page_id(1)}"]
[scopes.Pond]
include = ["{page_id(2)}"]
[slack.channels]
C1 = ["Garden"]
C2 = ["Pond"]
"""
TEXT = "The garden has three trees and the pond has nine fish."
QUESTION = "How many trees are in the garden, and how many fish in the pond?"


@asynccontextmanager
async def an_app(database_url: str, redis_url: str, rules: Path, **more: str) -> AsyncIterator[App]:
    """A process over the test's servers."""
    variables = {
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "EMBEDDING_MODEL": "hashing:384",
        "FOOTNOTE_CONFIG": str(rules),
    }
    async with open_app(Settings.from_mapping(variables | more)) as app:
        yield app


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """Two channels, each with a page of its own."""
    file = tmp_path / "footnote.toml"
    file.write_text(RULES, encoding="utf-8")
    return file


async def ask(app: App, channel: str = "C1", *, asker: str = "U1", kind: str = "member") -> Outcome:
    """A question of somebody in a channel, as an adapter asks it."""
    place = Place("slack", "T1", channel, ChannelKind.PUBLIC, asker, AskerKind(kind))
    return await app.answerer.answer(
        Question(
            id=f"E{datetime.now(UTC).timestamp()}",
            text=QUESTION,
            asker=asker,
            conversation=Conversation("slack", "T1", channel),
            audience=app.audiences.audience_for(place),
            asked_at=datetime.now(UTC),
        )
    )


def pages(outcome: Outcome) -> set[str]:
    """The pages an answer rests on."""
    assert isinstance(outcome, Answer), outcome
    return {passage.candidate.page_id for passage in outcome.retrieval.passages}


async def put(app: App, *pages_: StoredPage) -> None:
    """Store pages and embed them, as a sync does."""
    await app.store.put_pages(pages_)
    indexer = Indexer(writer=app.store, embedder=app.embedder, chunk_settings=app.chunk_settings)
    await indexer.run(Tally(None))


async def fill(app: App) -> None:
    """Two pages that answer the same question."""
    await put(app, a_page(1, TEXT, title="Garden"), a_page(2, TEXT, title="Pond"))


def is_cached(outcome: Outcome) -> bool:
    """Whether it was answered before."""
    assert isinstance(outcome, Answer), outcome
    return outcome.cached


async def test_a12_shr4_channels_share_no_answer(database_url: str, redis_url: str, rules: Path) -> None:
    """The same question in two channels is answered from what each may see; a guest sees nothing."""
    async with an_app(database_url, redis_url, rules) as app:
        await fill(app)
        first, second = await ask(app, "C1"), await ask(app, "C2")
        again = await ask(app, "C1", asker="U2")
        guest = await ask(app, "C1", kind="guest")

    assert pages(first) == pages(again) == {page_id(1)}
    assert [is_cached(one) for one in (first, second, again)] == [False, False, True]
    assert pages(second) == {page_id(2)}
    assert isinstance(guest, NoAnswer)
    assert guest.reason is NoAnswerReason.NOTHING_VISIBLE


async def test_a13_new_rules_count_at_once(database_url: str, redis_url: str, rules: Path) -> None:
    """What was answered under the old rules is not served under the new ones."""
    async with an_app(database_url, redis_url, rules) as app:
        await fill(app)
        before = await ask(app, "C1")
        closed = RULES.replace('C1 = ["Garden"]', "C1 = []")
        await asyncio.to_thread(rules.write_text, closed, encoding="utf-8")
        app.audiences.refresh()
        after = await ask(app, "C1")

    assert pages(before) == {page_id(1)}
    assert isinstance(after, NoAnswer)


async def test_f66_u22_a_move_out_of_the_scope_ends_an_answer(
    database_url: str, redis_url: str, rules: Path
) -> None:
    """A page that moves is gone for its former readers with that transaction, cached answers included."""
    async with an_app(database_url, redis_url, rules) as app:
        await fill(app)
        before = await ask(app, "C1")
        await put(app, a_page(5, TEXT, title="Shed", parent=1))
        deeper = await ask(app, "C1")
        cached = await ask(app, "C1")
        await app.store.put_pages([a_page(5, TEXT, title="Shed", parent=2)])
        after = await ask(app, "C1")

    assert pages(before) == {page_id(1)}
    assert page_id(5) in pages(deeper)
    assert is_cached(cached)
    assert not is_cached(after)
    assert pages(after) == {page_id(1)}


async def test_t27_limits_hold_over_processes(
    database_url: str, redis_url: str, rules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two processes share three questions of one person; others are not held up."""
    # A busy machine may take longer than the product waits, and limits are then shared out.
    monkeypatch.setattr(connecting, "CALL_SECONDS", 60.0)
    monkeypatch.setattr(connecting, "ANSWER_SECONDS", 60.0)
    monkeypatch.setattr(connecting, "CONNECT_SECONDS", 60.0)
    limit = {"FOOTNOTE_LIMIT_PERSON": "3/h"}
    async with (
        an_app(database_url, redis_url, rules, **limit) as one,
        an_app(database_url, redis_url, rules, **limit) as other,
    ):
        await fill(one)
        outcomes = [await ask(app) for app in (one, other, one, other)]
        somebody = await ask(other, asker="U2")

    assert [isinstance(outcome, Answer) for outcome in outcomes] == [True, True, True, False]
    assert isinstance(outcomes[3], NoAnswer)
    assert outcomes[3].reason is NoAnswerReason.LIMIT_REACHED
    assert 3500 < outcomes[3].wait <= 3600
    assert isinstance(somebody, Answer)
