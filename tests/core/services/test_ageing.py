"""Sources that nobody has edited for long are called out."""

from datetime import UTC, datetime, timedelta

import pytest

from core.services.ageing import with_age
from core.services.citing import number
from core.services.draft_markup import Piece
from tests.core.services.found import a_passage

NOW = datetime(2026, 5, 4, tzinfo=UTC)


@pytest.mark.parametrize(("age", "days", "is_told"), [(400, 365, True), (300, 365, False), (4000, 0, False)])
def test_an_old_page_is_called_possibly_outdated(age: int, days: int, *, is_told: bool) -> None:
    """With its date and number, in the language of the answer, if it is older than configured."""
    passage = a_passage(1, last_edited=NOW - timedelta(days=age))
    cited = with_age(number([Piece("So it is", (0,))], [passage]), now=NOW, days=days, language="de")
    assert len(cited.spans) == 1 + is_told
    if is_told:
        assert cited.spans[-1].cites == (1,)
        assert cited.spans[-1].text == "\n\n*Möglicherweise veraltet: zuletzt bearbeitet am 2025-03-30.*"


def test_only_old_pages_are_named_and_unknown_ages_are_not() -> None:
    """Each cited page speaks for itself."""
    old = a_passage(1, last_edited=NOW - timedelta(days=900))
    new = a_passage(2, last_edited=NOW)
    unknown = a_passage(3, last_edited=None)
    cited = number([Piece("One", (0,)), Piece("two", (1,)), Piece("three", (2,))], [old, new, unknown])
    remarks = with_age(cited, now=NOW, days=365, language="en").spans[len(cited.spans) :]
    assert [span.cites for span in remarks] == [(1,)]
