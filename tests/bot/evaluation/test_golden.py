"""Reading golden sets: every malformed line is named."""

from pathlib import Path

import pytest

from bot.evaluation.golden import parse_golden, read_golden
from core.errors import InvalidInputError

PAGE = "11111111-1111-4111-8111-111111111111"


def test_a_line_is_a_question_with_its_right_places() -> None:
    """Ids are taken in every form; a missing heading means the whole page."""
    line = (
        '{"id": "q1", "question": "How many days?", "lang": "en", "answerable": true, '
        f'"relevant": [{{"page_id": "{PAGE.replace("-", "").upper()}"}}, '
        '{"page_title": "Leave", "heading": "Vacation"}]}'
    )

    (question,) = parse_golden([line, ""], name="set")

    assert question.relevant[0].page_id == PAGE
    assert question.relevant[0].heading is None
    assert (question.relevant[1].page_title, question.relevant[1].heading) == ("Leave", "Vacation")


def test_every_malformed_line_is_named() -> None:
    """One message tells the lines and what is wrong with them."""
    lines = [
        "not json",
        '{"id": "a"}',
        '{"id": "b", "question": "?", "answerable": true, "relevant": []}',
        '{"id": "c", "question": "?", "answerable": false}',
        '{"id": "c", "question": "?", "answerable": false}',
    ]

    with pytest.raises(InvalidInputError) as caught:
        parse_golden(lines, name="set.jsonl")

    message = str(caught.value)
    assert message.startswith("set.jsonl is not a golden set:")
    assert "line 1:" in message
    assert "line 2: 'question' is missing" in message
    assert "line 3: an answerable question needs" in message
    assert "line 5: id 'c' occurs twice" in message
    assert "line 4" not in message


def test_a_missing_file_is_one_clear_error(tmp_path: Path) -> None:
    """The path is in the message."""
    with pytest.raises(InvalidInputError, match=r"nothing\.jsonl"):
        read_golden(tmp_path / "nothing.jsonl")


def test_an_empty_file_is_no_golden_set() -> None:
    """Measuring nothing would look like success."""
    with pytest.raises(InvalidInputError, match="holds no questions"):
        parse_golden(["", " "], name="set")
