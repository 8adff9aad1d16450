"""Where the wiki failed people, and who may be told of it."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from adapters.embedders.hashing import HashingEmbedder
from adapters.stores.learning_memory import MemoryLearning
from adapters.stores.memory import MemoryStore
from core.domain.audiences import EVERYTHING, NOTHING, Audience, Scope
from core.domain.places import ChannelKind, Place
from core.ports.chat import Verdict
from core.ports.learning import Exchange
from core.services.audiences import AudienceRules, PlatformRules
from core.services.digests import WeeklyDigests
from core.services.gaps import Gaps, group
from tests.builders_store import a_chunk, a_page, index_page, page_id

MONDAY = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)
HANDBOOK = Scope("Handbook", frozenset({page_id(1)}), frozenset({page_id(3)}))
SALARIES = Scope("Salaries", frozenset({page_id(3)}))


class SteppedClock:
    """Moves when it is told to."""

    def __init__(self) -> None:
        self.time = MONDAY

    def now(self) -> datetime:
        """Where it stands."""
        return self.time


def seen(*scopes: Scope) -> Audience:
    """An audience of one group."""
    return Audience("a channel", (scopes,))


def asked(event: str, text: str, audience: Audience = EVERYTHING, **more: object) -> Exchange:
    """An unanswered question of an hour ago."""
    values: dict[str, object] = {
        "event": event,
        "platform": "slack",
        "person": "U1",
        "audience": audience,
        "asked_at": MONDAY - timedelta(hours=1),
        "text": text,
        "language": "en",
        "outcome": "no_relevant_pages",
    }
    return Exchange(**(values | more))  # type: ignore[arg-type]  # keywords of a dataclass


async def a_wiki() -> MemoryStore:
    """Parking in the handbook, pay in a part of it that few may see."""
    store = MemoryStore()
    embedder = HashingEmbedder()
    for number, title, text, parent in (
        (1, "Handbook", "Start here.", None),
        (2, "Getting to the office", "Come by parking garage or by train.", 1),
        (3, "Salaries", "What people earn.", 1),
        (4, "Bonus payments of the parking garage", "Parking garage bonus figures.", 3),
    ):
        [vector] = await embedder.embed_passages([f"{title} {text}"])
        assert vector is not None
        page = a_page(number, text, title=title, parent=parent, last_edited_by=f"editor of {title}")
        await index_page(store, page, a_chunk(number, body=text, vector=vector, breadcrumb=title))
    return store


async def gaps_over(*exchanges: Exchange, log: MemoryLearning | None = None) -> Gaps:
    """Gaps over the wiki and these exchanges."""
    kept = log or MemoryLearning(clock=SteppedClock())
    await kept.record(exchanges)
    store = await a_wiki()
    return Gaps(log=kept, embedder=HashingEmbedder(), index=store, pages=store)


SINCE = MONDAY - timedelta(days=7)


async def test_questions_of_one_meaning_are_one_gap_and_the_largest_comes_first() -> None:
    """With how often, examples, the nearest pages, and whom to ask."""
    gaps = await gaps_over(
        asked("1", "Who waters the plants?"),
        asked("2", "Where is the parking garage?"),
        asked("3", "Where is the parking garage please?"),
        asked("4", "Where is the parking garage?"),
    )

    first, second = await gaps.find(viewer=EVERYTHING, since=SINCE, limit=10)

    assert first.count == 3
    assert set(first.examples) == {"Where is the parking garage?", "Where is the parking garage please?"}
    assert "Getting to the office" in [page.title for page in first.nearest]
    assert first.owner == f"editor of {first.nearest[0].title}"
    assert second.examples == ("Who waters the plants?",)
    assert first.as_gap().nearest_pages[0] == (first.nearest[0].title, first.nearest[0].url)


async def test_badly_rated_answers_are_gaps_too() -> None:
    """What was answered and judged bad is shown beside what was not answered."""
    log = MemoryLearning(clock=SteppedClock())
    gaps = await gaps_over(asked("1", "How do I travel?", outcome="answered"), log=log)
    before = await gaps.find(viewer=EVERYTHING, since=SINCE, limit=10)
    await log.judge(question_id="1", person="U2", verdict=Verdict.BAD)

    [gap] = await gaps.find(viewer=EVERYTHING, since=SINCE, limit=10)

    assert before == ()
    assert gap.questions[0].bad == 1


async def test_t26_titles_of_pages_the_viewer_may_not_see_are_not_told() -> None:
    """The nearest page of all is left out where it is forbidden: titles are content too."""
    gaps = await gaps_over(asked("1", "Parking garage bonus figures?", seen(HANDBOOK)))

    [for_all] = await gaps.find(viewer=EVERYTHING, since=SINCE, limit=10)
    [for_handbook] = await gaps.find(viewer=seen(HANDBOOK), since=SINCE, limit=10)

    assert for_all.nearest[0].title == "Bonus payments of the parking garage"
    assert "Bonus payments of the parking garage" not in [page.title for page in for_handbook.nearest]
    assert for_handbook.nearest
    assert "Bonus" not in repr(for_handbook.as_gap().nearest_pages)


async def test_t26_questions_asked_where_more_could_be_seen_are_counted_and_not_shown() -> None:
    """What was asked among those who see salaries is no reading for the others."""
    gaps = await gaps_over(
        asked("1", "Where is the parking garage?", seen(HANDBOOK)),
        asked("2", "Where is the parking garage for Bob?", seen(HANDBOOK, SALARIES)),
        asked("3", "Why was Bob fired?", seen(SALARIES)),
    )

    [shown] = await gaps.find(viewer=seen(HANDBOOK), since=SINCE, limit=10)

    assert shown.count == 2
    assert shown.examples == ("Where is the parking garage?",)
    assert "Bob" not in repr(shown)
    assert await gaps.find(viewer=NOTHING, since=SINCE, limit=10) == ()


async def test_no_questions_cost_nothing() -> None:
    """Without weak questions there is nothing to search for."""
    gaps = await gaps_over()

    assert await gaps.find(viewer=EVERYTHING, since=SINCE, limit=10) == ()


def test_groups_are_joined_while_their_average_is_near() -> None:
    """A chain of neighbours does not join its far ends."""
    angles = np.radians([0, 10, 20, 30, 40, 90])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)

    groups = {tuple(sorted(one)) for one in group(vectors, threshold=float(np.cos(np.radians(21))))}

    assert (5,) in groups
    assert (0, 1, 2, 3, 4) not in groups
    assert sorted(row for one in groups for row in one) == [0, 1, 2, 3, 4, 5]
    assert group(vectors, threshold=1.01) == [[0], [1], [2], [3], [4], [5]]
    assert group(vectors[:1], threshold=0.5) == [[0]]


RULES = AudienceRules(
    platforms={
        "slack": PlatformRules(channels={"C1": (HANDBOOK,)}, digest="C1"),
        "discord": PlatformRules(default=(HANDBOOK,)),
    }
)


async def test_a_digest_is_due_once_a_week_for_a_channel_that_wants_one() -> None:
    """It tells the week's figures, and of gaps only what the channel may see."""
    clock = SteppedClock()
    log = MemoryLearning(clock=clock)
    gaps = await gaps_over(
        asked("1", "Parking garage bonus figures?", seen(HANDBOOK)),
        asked("2", "Why was Bob fired?", seen(SALARIES)),
        asked("3", "Answered?", outcome="answered"),
        log=log,
    )
    await log.judge(question_id="3", person="U2", verdict=Verdict.GOOD)
    digests = WeeklyDigests(gaps=gaps, log=log, rules=lambda: RULES, clock=clock)

    digest = await digests.due("slack")
    again = await digests.due("slack")
    assert digest is not None
    await digests.put_back("slack", digest)
    once_more = await digests.due("slack")
    elsewhere = await digests.due("discord")
    clock.time += timedelta(days=7)
    later = await digests.due("slack")

    assert once_more == digest
    assert (digest.channel, digest.questions, digest.answered, digest.good, digest.bad) == ("C1", 3, 1, 1, 0)
    assert [gap.examples for gap in digest.gaps] == [("Parking garage bonus figures?",)]
    assert "Bob" not in repr(digest)
    assert "Bonus payments" not in repr(digest)
    assert again is None
    assert elsewhere is None
    assert later is not None


@pytest.mark.parametrize(("hours", "due"), [(-2, False), (0, True), (24, False)])
async def test_a_digest_waits_for_monday_morning(hours: int, *, due: bool) -> None:
    """Before eight it is still last week's turn, which was sent."""
    clock = SteppedClock()
    log = MemoryLearning(clock=clock)
    gaps = await gaps_over(log=log)
    digests = WeeklyDigests(gaps=gaps, log=log, rules=lambda: RULES, clock=clock)
    clock.time = MONDAY - timedelta(days=3)
    assert await digests.due("slack") is not None
    clock.time = MONDAY + timedelta(hours=0 if hours == 24 else hours)
    if hours == 24:
        await digests.due("slack")
        clock.time += timedelta(hours=24)

    assert (await digests.due("slack") is not None) is due


def test_the_place_of_a_digest_is_a_channel_everybody_reads() -> None:
    """Its audience is the channel's, whoever set it up."""
    place = Place("slack", "", "C1", ChannelKind.PUBLIC, "")

    assert RULES.channel_audience(place).key == seen(HANDBOOK).key
