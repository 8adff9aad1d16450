"""Whether one audience may see all that another may see."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.audiences import EVERYTHING, NOTHING, Audience, Scope
from core.domain.ids import PageId

PAGES = tuple(PageId(f"p{number}") for number in range(4))
ids = st.frozensets(st.sampled_from(PAGES), max_size=3)
scopes = st.builds(Scope, name=st.just("s"), include=st.none() | ids, exclude=ids)
audiences = st.builds(
    Audience,
    name=st.just("a"),
    groups=st.lists(st.lists(scopes, max_size=2).map(tuple), max_size=2).map(tuple),
)


@given(audiences, audiences, st.frozensets(st.sampled_from(PAGES)))
def test_who_covers_another_sees_whatever_the_other_sees(
    viewer: Audience, other: Audience, path: frozenset[PageId]
) -> None:
    """Wherever a page lies."""
    if viewer.covers(other) and other.admits(path):
        assert viewer.admits(path)


@given(audiences)
def test_everybody_covers_themselves_and_everything_covers_all(audience: Audience) -> None:
    """Nobody who may see nothing covers anybody who may."""
    assert EVERYTHING.covers(audience)
    assert audience.covers(audience) or audience.is_empty
    assert not NOTHING.covers(audience)


@pytest.mark.parametrize(
    ("mine", "theirs", "expected"),
    [
        (Scope("m", None), Scope("t", frozenset({PAGES[0]})), True),
        (Scope("m", frozenset({PAGES[0]})), Scope("t", None), False),
        (Scope("m", None, frozenset({PAGES[1]})), Scope("t", None), False),
        (
            Scope("m", frozenset(PAGES[:2])),
            Scope("t", frozenset(PAGES[:1]), frozenset({PAGES[3]})),
            True,
        ),
    ],
)
def test_scopes_cover_by_roots_and_exclusions(mine: Scope, theirs: Scope, *, expected: bool) -> None:
    """More roots and fewer exclusions see more."""
    assert mine.covers(theirs) is expected
