"""Which changes of a page make an answer that rests on it doubtful."""

import pytest

from core.services.source_changes import digest_of, has_changed
from tests.core.services.found import page_id

BEFORE = "You have 28 days of vacation a year. Unused days are not paid out. Ask your team lead first."


@pytest.mark.parametrize(
    "now",
    [
        BEFORE,
        "You have **28 days** of vacation a year.\nUnused days are not paid out. Ask your team lead first.",
        "Ask your team lead first. You have 28 days of vacation a year. Unused days are not paid out.",
        BEFORE.replace("28", "twenty-eight"),
        BEFORE.replace("a year", "per year").replace("Ask", "Please ask"),
    ],
)
def test_format_order_and_wording_are_not_material(now: str) -> None:
    """A reply is not marked because a comma moved."""
    assert not has_changed(digest_of(page_id(1), BEFORE, "en"), ["Something else stands here.", now])


@pytest.mark.parametrize(
    "now",
    [
        [],
        ["Something else stands here."],
        [BEFORE.replace("28", "30")],
        [BEFORE.replace("are not paid", "are paid")],
        [f"{BEFORE} From 2027 on it is 30 days."],
        ["You have 28 days. Not more."],
    ],
)
def test_figures_denials_and_lost_text_are_material(now: list[str]) -> None:
    """So is a page that was removed or emptied."""
    assert has_changed(digest_of(page_id(1), BEFORE, "en"), now)


def test_digests_hold_no_text() -> None:
    """What is kept cannot be read."""
    assert "vacation" not in repr(digest_of(page_id(1), BEFORE, "en"))
