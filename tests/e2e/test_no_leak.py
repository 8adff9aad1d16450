"""No byte of a page that the readers may not see reaches them, a log, a model, or anybody else's cache."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.stores.memory import MemoryStore
from adapters.stores.postgres import open_store
from core.domain.answers import Answer
from core.domain.audiences import Audience
from core.domain.profiles import profile_for
from tests.e2e.leak_rig import PAGES, TOPICS, FixedClock, Lines, Site, Wiki, audience_of, told

numbers = st.integers(1, PAGES)
some = st.frozensets(numbers, max_size=3)
scope = st.tuples(st.none() | st.frozensets(numbers, min_size=1, max_size=3), some)
audiences = st.lists(st.lists(scope, min_size=0, max_size=2), min_size=0, max_size=2).map(audience_of)


@st.composite
def wikis(draw: st.DrawFn) -> Wiki:
    """A random forest, in which pages mention one another."""
    parents: dict[int, int | None] = {
        number: draw(st.none() | st.integers(1, number - 1)) if number > 1 else None
        for number in range(1, PAGES + 1)
    }
    return Wiki(parents, draw(st.dictionaries(numbers, numbers, max_size=PAGES)))


asking = st.tuples(st.just("ask"), st.integers(0, 2), st.sampled_from(TOPICS))
moving = st.tuples(st.just("move"), numbers, st.none() | numbers)
steps = st.lists(asking | moving, min_size=3, max_size=12)


@contextmanager
def all_lines() -> Iterator[Lines]:
    """Everything that anybody logs meanwhile."""
    lines = Lines()
    root = logging.getLogger()
    level = root.level
    root.addHandler(lines)
    root.setLevel(logging.DEBUG)
    try:
        yield lines
    finally:
        root.removeHandler(lines)
        root.setLevel(level)


async def play(site: Site, readers: list[Audience], script: list[tuple[str, object, object]]) -> int:
    """Ask and move by the script, and look everywhere after each question; returns how many were answered."""
    answered = 0
    for number in range(1, PAGES + 1):
        await site.write(number)
    for kind, first, second in script:
        if kind == "move":
            assert isinstance(first, int)
            assert second is None or isinstance(second, int)
            if second is None or first not in _above(site.wiki, second):
                await site.move(first, second)
            continue
        assert isinstance(first, int)
        answered += await check_question(site, readers[first], str(second))
    return answered


async def check_question(site: Site, audience: Audience, topic: str) -> bool:
    """One question, with all its traces."""
    prompts, puts = len(site.model.prompts), len(site.cache.values)
    with all_lines() as log:
        outcome, exchange = await site.ask(audience, topic)
        gaps = await site.gaps.find(viewer=audience, since=FixedClock().now(), limit=5)
    traces = {
        "reply": told(outcome),
        "record": repr(exchange),
        "gaps": repr([(gap.as_gap(), gap.nearest) for gap in gaps]),
        "model": repr(site.model.prompts[prompts:]),
        "log": "\n".join(log.lines),
        "cache": repr([value for _, value in site.cache.values[puts:]]),
    }
    forbidden = site.wiki.forbidden(audience)
    for place, trace in traces.items():
        leaked = [secret for secret in forbidden if secret in trace]
        assert not leaked, f"{place} tells {leaked}"
    for number in site.wiki.parents:
        assert not any(secret in traces["log"] for secret in _secrets(number)), "the log holds page text"
    return isinstance(outcome, Answer)


def _above(wiki: Wiki, number: int) -> set[int]:
    return {int(one.replace("-", ""), 16) for one in wiki.path(number)}


def _secrets(number: int) -> tuple[str, ...]:
    return tuple(f"zq{number}{part}x" for part in ("title", "head", "text", "slug"))


@settings(max_examples=60, deadline=None)
@given(wiki=wikis(), readers=st.lists(audiences, min_size=3, max_size=3), script=steps, model=st.booleans())
def test_u22_t26_nothing_leaks_from_the_index_in_memory(
    wiki: Wiki, readers: list[Audience], script: list[tuple[str, object, object]], *, model: bool
) -> None:
    """Random trees, moves, scopes and questions, with a model that copies all it is given, and without."""
    asyncio.run(play(Site(MemoryStore(), wiki, with_model=model), readers, script))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(wiki=wikis(), readers=st.lists(audiences, min_size=3, max_size=3), script=steps, model=st.booleans())
def test_u22_t26_nothing_leaks_from_postgresql(
    database_url: str,
    wiki: Wiki,
    readers: list[Audience],
    script: list[tuple[str, object, object]],
    *,
    model: bool,
) -> None:
    """The same over the real statements; the tables are emptied between examples."""

    async def over_postgres() -> None:
        connection = await asyncpg.connect(database_url)
        await connection.execute("TRUNCATE notion_pages CASCADE")
        await connection.close()
        profile = profile_for("hashing:384")
        async with open_store(
            database_url, profile=profile, fingerprint=profile.fingerprint("c"), connections=2
        ) as store:
            await play(Site(store, wiki, with_model=model), readers, script)

    asyncio.run(over_postgres())


@pytest.mark.parametrize("model", [True, False])
async def test_the_search_for_leaks_sees_answers(*, model: bool) -> None:
    """The test is no test unless allowed pages are answered from: readers of one branch get that branch."""
    wiki = Wiki({1: None, 2: 1, 3: 2, 4: None, 5: 4, 6: 4, 7: 6}, {3: 4, 2: 1})
    site = Site(MemoryStore(), wiki, with_model=model)
    branch = audience_of([[(frozenset({2}), frozenset())]])

    answered = await play(site, [branch] * 3, [("ask", 0, "harbour"), ("ask", 1, "furnace")])
    outcome, _ = await site.ask(branch, "harbour")

    assert answered == 2
    assert "zq3textx" in told(outcome)
    assert "zq4titlex" not in told(outcome)
    assert "zq1titlex" not in told(outcome)
    assert "zq2titlex" in repr(outcome)
