"""Drawings are dropped, text of every script is kept."""

import pytest

from core.domain.documents import Block, BlockKind
from core.domain.ids import BlockId
from tests.core.services.chunking_builders import bodies, chunks_of, heading, item, text


def test_k9_forty_percent_letters_are_enough() -> None:
    """40 letters and 60 dashes are kept, 39 and 61 dropped."""
    assert len(chunks_of(text("a" * 40 + "-" * 60))) == 1
    assert chunks_of(text("a" * 39 + "-" * 61)) == ()


def test_k10_box_drawing_is_dropped() -> None:
    """Blanks inside do not count."""
    assert chunks_of(text("┌────┐   ┌────┐\n│ ab │──▶│ cd │\n└────┘   └────┘")) == ()


def test_k11_two_letters_of_five_are_kept() -> None:
    """A table row with short cells is text."""
    assert bodies(chunks_of(text("| a | b |"))) == ["| a | b |"]


@pytest.mark.parametrize(
    "words", ["äöü--", "пр---", "你好---", "한국---", "हिन्दी", "สวัสดี", "३४---", "e\u0301e\u0301"]
)
def test_k12_letters_of_every_script_count(words: str) -> None:
    """With their vowel signs and accents; digits too."""
    assert bodies(chunks_of(text(words))) == [words]


def test_k13_only_the_body_is_judged() -> None:
    """A long title and heading do not save a drawing."""
    assert (
        chunks_of(heading(1, "A long heading in words"), text("+--+--+--+"), title="A title in many words")
        == ()
    )


def test_t9_a_prefix_full_of_signs_does_not_condemn_the_body() -> None:
    """The other way round."""
    (chunk,) = chunks_of(heading(1, "*** --- ***"), text("Words."), title="::::::::")

    assert chunk.body == "Words."


def test_a_table_of_short_cells_is_kept() -> None:
    """Bars and the separator row only draw the table."""
    assert len(chunks_of(Block(BlockKind.TABLE, "| A | B |\n| ------- | ------- |\n| 1 | 2 |"))) == 1


def test_a_drawing_in_a_code_block_is_dropped() -> None:
    """The language on its fence is no text of its own."""
    assert chunks_of(Block(BlockKind.CODE, "```plaintext\n+---+\n| a |\n+---+\n```")) == ()


def test_a_list_of_short_items_is_kept() -> None:
    """Markers and boxes only draw the list."""
    assert len(chunks_of(item("- [ ] A"), item("- [x] B"))) == 1


def test_a_kept_chunk_does_not_turn_into_junk_by_what_it_repeats() -> None:
    """Repetition gives way."""
    chunks = chunks_of(text("word " * 100 + "-" * 100), text("x" * 500 + "-" * 50))

    assert chunks[0].overlap == 0
    assert all(10 * sum(map(str.isalnum, body)) >= 4 * len(body.replace(" ", "")) for body in bodies(chunks))


def test_k23_a_caption_below_a_drawing_is_kept() -> None:
    """Of a chunk that is mostly a drawing the text stays, and links to its own block."""
    drawing = Block(BlockKind.CODE, "```\n" + "+---+---+\n|   |   |\n" * 20 + "```", BlockId("b1"))

    (chunk,) = chunks_of(drawing, text("The two rooms of the office.", "b2"))

    assert (chunk.body, chunk.block_id) == ("The two rooms of the office.", "b2")
