"""Notion's time as its answers tell it: never later than it is, whatever our clock and the headers say."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.sources.notion_time import CONVINCING, SAME_TIME, NotionTime

START = datetime(2026, 11, 2, 9, 0, 0, tzinfo=UTC)
DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)


class World:
    """Notion's time as it really is, and a machine whose clock is ``skew`` ahead of it."""

    def __init__(self, skew: timedelta = timedelta()) -> None:
        self.passed = 0.0
        self.skew = skew
        self.time = NotionTime(clock=self.ours, monotonic=lambda: 5000.0 + self.passed)

    @property
    def truth(self) -> datetime:
        """What Notion's clock shows."""
        return START + timedelta(seconds=self.passed)

    def ours(self) -> datetime:
        """What our clock shows."""
        return self.truth + self.skew

    def answer(self, *, off: timedelta = timedelta(), times: int = 1, kind: str = "application/json") -> None:
        """Answers whose date differs from Notion's time."""
        for _ in range(times):
            date = format_datetime((self.truth + off).replace(microsecond=0), usegmt=True)
            self.time.heard(httpx.Headers({"Date": date, "Content-Type": kind}))
            self.passed += 0.01


def is_close(one: datetime, other: datetime) -> bool:
    """Within what whole seconds and a quick answer allow."""
    return abs(one - other) <= timedelta(seconds=SAME_TIME)


@pytest.mark.parametrize("skew", [timedelta(), 90 * SECOND, -90 * SECOND, DAY, -DAY, 300 * DAY])
def test_sy4_answers_tell_the_time_whatever_our_clock_shows(skew: timedelta) -> None:
    """What is marked from then on, and the present, are told by Notion's clock."""
    world = World(skew)
    world.answer(times=CONVINCING)
    mark, marked = world.time.mark(), world.truth
    world.passed += 1000

    assert is_close(world.time.earliest(mark), marked)
    assert is_close(world.time.now(), world.truth)


@pytest.mark.parametrize("skew", [90 * SECOND, DAY])
def test_sy4_a_mark_of_before_the_first_answer_is_told_by_notion_after_it(skew: timedelta) -> None:
    """One answer is enough where our clock is ahead."""
    world = World(skew)
    mark, marked = world.time.mark(), world.truth
    assert world.time.earliest(mark) == marked + skew
    world.passed += 1
    world.answer()

    assert is_close(world.time.earliest(mark), marked)


@pytest.mark.parametrize("answers", [1, CONVINCING - 1, CONVINCING])
def test_sy4_a_mark_between_answers_is_not_told_by_our_clock_that_is_ahead(answers: int) -> None:
    """Also while another time than ours is not believed yet."""
    world = World(DAY)
    world.answer(times=answers)
    world.passed += 1
    mark, marked = world.time.mark(), world.truth

    assert is_close(world.time.earliest(mark), marked)


def test_until_an_answer_tells_the_time_ours_counts() -> None:
    """It is followed when it is set, and what was marked before it was set back is not later than it."""
    world = World(DAY)
    assert world.time.now() == world.truth + DAY
    mark = world.time.mark()
    world.skew = timedelta()
    world.passed += 10

    assert world.time.now() == world.truth
    assert world.time.earliest(mark) == world.truth


@pytest.mark.parametrize("jump", [DAY, -DAY, timedelta(hours=1), -90 * SECOND])
def test_sy4_setting_our_clock_moves_nothing_once_the_time_is_known(jump: timedelta) -> None:
    """Not even until the next answer."""
    world = World()
    world.answer()
    mark, marked = world.time.mark(), world.truth
    world.passed += 60
    world.skew += jump

    assert is_close(world.time.now(), world.truth)
    assert is_close(world.time.earliest(mark), marked)
    world.answer()
    assert is_close(world.time.now(), world.truth)


@pytest.mark.parametrize("delay", [20, 90, 600])
def test_sy4_a_slow_answer_makes_the_time_too_early_never_too_late(delay: int) -> None:
    """The date may have been written as soon as the request came, or when the answer left."""
    for written in (0, delay / 2, delay):
        world = World(DAY)
        mark, asked = world.time.mark(), world.truth
        world.passed += delay
        world.answer(off=timedelta(seconds=written - delay))

        assert asked - timedelta(seconds=delay + 1) <= world.time.earliest(mark) <= asked


def test_sy4_an_answer_out_of_a_cache_is_as_old_as_its_date() -> None:
    """What rests on it is dated by it; what rests on other answers is not, and the present is not moved."""
    world = World()
    world.answer(times=CONVINCING)
    old = world.time.mark()
    world.passed += 1
    world.answer(off=-timedelta(hours=1))
    assert is_close(world.time.earliest(old), world.truth - timedelta(hours=1))
    assert is_close(world.time.now(), world.truth)

    world.passed += 10
    new, marked = world.time.mark(), world.truth
    world.passed += 1
    world.answer()

    assert is_close(world.time.earliest(new), marked)
    assert is_close(world.time.earliest(old), marked - timedelta(hours=1, seconds=10))


@pytest.mark.parametrize("off", [2 * SECOND, 60 * SECOND, DAY, 300 * DAY])
def test_sy4_one_date_that_is_ahead_is_not_believed(off: timedelta) -> None:
    """Not as the first answer and not later: a look is never dated by it."""
    for before in (0, CONVINCING):
        world = World()
        world.answer(times=before)
        mark, marked = world.time.mark(), world.truth
        world.answer(off=off)

        assert world.time.earliest(mark) <= marked + timedelta(seconds=SAME_TIME)


def test_servers_that_disagree_by_a_second_or_two_tell_one_time() -> None:
    """It does not sway with them, so that nothing looks as if it had been seen before it was."""
    world = World()
    world.answer()
    known = world.time.now() - world.truth
    for off in (2, -2, 1, 0, -1, 2, 2, 2, -2, -2, -2):
        world.passed += 0.7
        world.answer(off=off * SECOND)
        assert abs((world.time.now() - world.truth) - known) < timedelta(milliseconds=1)


def test_a_machine_that_slept_learns_the_time_from_a_few_answers() -> None:
    """Its monotonic clock stood still: until then moments are too early."""
    world = World()
    world.answer(times=CONVINCING)
    slept = timedelta(hours=8)
    mark, marked = world.time.mark(), world.truth + slept
    world.answer(off=slept)
    assert world.time.earliest(mark) <= marked
    assert is_close(world.time.now(), marked)

    world.answer(off=slept, times=CONVINCING - 1)
    assert is_close(world.time.earliest(world.time.mark()), marked)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Date": "garbage"},
        {"Date": "Thu, 01 Jan 1970 00:00:00 GMT"},
        {"Date": "Fri, 31 Dec 9999 23:59:59 GMT"},
        {"Date": "Mon, 02 Nov 2026 09:00:60 GMT"},
    ],
)
def test_a_date_that_tells_nothing_leaves_our_clock(headers: dict[str, str]) -> None:
    """Missing, malformed or absurd."""
    world = World(DAY)
    mark = world.time.mark()
    world.time.heard(httpx.Headers({"Content-Type": "application/json", **headers}))

    assert world.time.now() == world.truth + DAY
    assert world.time.earliest(mark) == world.truth + DAY


def test_a_gateways_page_does_not_tell_notions_time() -> None:
    """Only answers of the API do."""
    world = World()
    world.answer(off=-DAY, kind="text/html", times=CONVINCING)
    assert world.time.now() == world.truth


@given(
    skew=st.integers(-200_000, 200_000),
    steps=st.lists(
        st.tuples(st.floats(0, 300), st.integers(0, 100_000), st.integers(-100_000, 100_000)), max_size=30
    ),
)
def test_sy4_no_look_is_ever_dated_later_than_its_answer(
    skew: int, steps: list[tuple[float, int, int]]
) -> None:
    """Whatever is slow or old, and however often our clock is set."""
    world = World(timedelta(seconds=skew))
    looks = []
    for passed, age, jump in steps:
        mark, marked = world.time.mark(), world.truth
        world.passed += passed
        world.skew = timedelta(seconds=jump)
        world.answer(off=-timedelta(seconds=age))
        as_of = min(marked, world.truth - timedelta(seconds=age))
        assert world.time.earliest(mark) <= as_of + timedelta(seconds=SAME_TIME)
        looks.append((mark, as_of))
    for mark, as_of in looks[-50:]:
        assert world.time.earliest(mark) <= as_of + timedelta(seconds=SAME_TIME)
