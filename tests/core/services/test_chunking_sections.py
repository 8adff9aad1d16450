"""Headings, containers and depth: which section a paragraph belongs to."""

import pytest

from core.domain.documents import Block, BlockKind
from core.domain.ids import BlockId
from tests.core.services.chunking_builders import (
    bodies,
    chunks_of,
    container,
    contexts,
    heading,
    item,
    own_text,
    text,
)


def test_f36_text_before_a_later_heading_is_kept() -> None:
    """The prose in front of a heading has a chunk of its own."""
    chunks = chunks_of(text("Intro sentence."), heading(2, "Detail"), text("more"))

    assert bodies(chunks) == ["Intro sentence.", "more"]
    assert contexts(chunks) == ["", "## Detail"]


@pytest.mark.parametrize(
    "kind", [BlockKind.LIST_ITEM, BlockKind.QUOTE, BlockKind.CONTAINER, BlockKind.PARAGRAPH]
)
def test_c18_a_heading_inside_a_container_opens_a_section_of_its_level(kind: BlockKind) -> None:
    """Behind the container the headings that stood before it hold again."""
    inside = (text("in the toggle"), heading(2, "Inner"), text("under inner"))
    label = "" if kind is BlockKind.CONTAINER else "Label"

    chunks = chunks_of(
        heading(1, "Outer"),
        text("before"),
        Block(kind, label, children=inside),
        text("behind"),
        text("and more"),
    )

    assert contexts(chunks) == ["# Outer", "# Outer > ## Inner", "# Outer"]
    assert [own_text(chunk).split() for chunk in chunks] == [
        ["before", *label.split(), "in", "the", "toggle"],
        ["under", "inner"],
        ["behind", "and", "more"],
    ]


def test_c18_a_top_heading_in_one_column_does_not_cover_the_next_column() -> None:
    """Columns stand side by side, under the same outer heading."""
    chunks = chunks_of(
        heading(2, "Offices"),
        container(
            container(heading(1, "Berlin"), text("first floor")),
            container(text("no heading here")),
            container(heading(3, "Vienna"), text("third floor")),
        ),
        text("closed on Sundays"),
    )

    assert list(zip(contexts(chunks), bodies(chunks), strict=True)) == [
        ("# Berlin", "first floor"),
        ("## Offices", "no heading here"),
        ("## Offices > ### Vienna", "third floor"),
        ("## Offices", "closed on Sundays"),
    ]


def test_c19_a_toggle_headings_children_stand_under_it() -> None:
    """With their own sub-headings, and what follows is under the toggle heading itself again."""
    chunks = chunks_of(
        heading(2, "Refunds", text("within 14 days"), heading(3, "Abroad"), text("within 30 days")),
        text("ask finance"),
    )

    assert list(zip(contexts(chunks), bodies(chunks), strict=True)) == [
        ("## Refunds", "within 14 days"),
        ("## Refunds > ### Abroad", "within 30 days"),
        ("## Refunds", "ask finance"),
    ]


def test_f12_a_toggle_headings_text_is_not_under_the_next_heading() -> None:
    """ "within 14 days" stands under Refunds, not under Other."""
    chunks = chunks_of(heading(2, "Refunds", text("within 14 days")), heading(2, "Other"))

    assert (contexts(chunks)[0], bodies(chunks)[0]) == ("## Refunds", "within 14 days")
    assert bodies(chunks)[1] == "## Other"


def test_f11_items_nested_in_columns_are_kept() -> None:
    """A second column is not indented, so it cannot become code."""
    (chunk,) = chunks_of(container(container(item("1. One", item("1. One-a"))), container(text("Two"))))

    assert chunk.body == "1. One\n   1. One-a\nTwo"


def test_f2_nesting_of_1200_levels_is_kept() -> None:
    """Every level's text is in a chunk, and no chunk is too long."""
    block = item("- level 1200")
    for level in range(1199, 0, -1):
        block = item(f"- level {level}", block)

    chunks = chunks_of(block)

    words = " ".join(map(own_text, chunks)).split()
    assert words == [word for level in range(1, 1201) for word in ("-", "level", str(level))]
    assert max(len(chunk.body) for chunk in chunks) <= 600


def test_f2_headings_1200_levels_deep_open_sections() -> None:
    """The path never holds more than three headings."""
    block = text("innermost")
    for number in range(1200, 0, -1):
        block = container(heading(number % 3 + 1, f"H{number}"), block)

    chunks = chunks_of(block)

    assert bodies(chunks)[-1] == "innermost"
    assert max(len(chunk.heading_path) for chunk in chunks) <= 3


def test_c13_headings_without_bodies_share_a_chunk() -> None:
    """Both lines are found."""
    (chunk,) = chunks_of(heading(1, "Only", block="h1"), heading(2, "Another", block="h2"))

    assert (chunk.body, contexts([chunk]), chunk.block_id) == ("# Only\n## Another", ["# Only"], "h1")


def test_u16_a_heading_with_nothing_below_it_is_kept() -> None:
    """It becomes a chunk that links to the heading itself."""
    chunks = chunks_of(heading(1, "A", block="h1"), heading(1, "B", block="h2"), text("text"))

    assert list(zip(bodies(chunks), contexts(chunks), strict=True)) == [("# A", "# A"), ("text", "# B")]
    assert chunks[0].block_id == "h1"


def test_c14_a_heading_of_one_letter_is_no_junk() -> None:
    """Hash marks are not its text."""
    assert bodies(chunks_of(heading(3, "A"))) == ["### A"]


def test_u16_a_heading_above_a_sub_section_is_not_repeated() -> None:
    """Its words stand in the path of what is below."""
    chunks = chunks_of(heading(1, "A"), heading(2, "B"), text("text"))

    assert list(zip(bodies(chunks), contexts(chunks), strict=True)) == [("text", "# A > ## B")]


def test_u16_a_last_heading_with_nothing_below_it_is_kept() -> None:
    """Also inside a container, and behind text."""
    chunks = chunks_of(heading(1, "A"), text("text"), container(heading(2, "Draft"), heading(2, "Todo")))

    assert list(zip(bodies(chunks), contexts(chunks), strict=True)) == [
        ("text", "# A"),
        ("## Draft\n## Todo", "# A"),
    ]


def test_headings_with_the_same_words_are_different_sections() -> None:
    """Two sections called Setup do not run together."""
    chunks = chunks_of(heading(2, "Setup"), text("first"), heading(2, "Setup"), text("second"))

    assert bodies(chunks) == ["first", "second"]
    assert [chunk.overlap for chunk in chunks] == [0, 0]


@pytest.mark.parametrize("words", ["", "  ", "\n"])
def test_c12_an_empty_heading_opens_nothing(words: str) -> None:
    """What follows belongs to the section before."""
    (chunk,) = chunks_of(heading(2, "Real"), text("intro"), heading(1, words), text("body"))

    assert (chunk.body, contexts([chunk])) == ("intro\nbody", ["## Real"])


def test_a_heading_of_several_lines_is_one_line_in_the_path() -> None:
    """A line break would end the heading in Markdown."""
    (chunk,) = chunks_of(heading(1, "Opening\nhours"), text("9 to 5"))

    assert contexts([chunk]) == ["# Opening hours"]


def test_c17_a_paragraph_that_looks_like_a_heading_is_text() -> None:
    """The block's kind decides, never its text."""
    (chunk,) = chunks_of(text("# not heading"), Block(BlockKind.CODE, "```\n# install\n```"))

    assert chunk.heading_path == ()
    assert chunk.body.startswith("# not heading")


def test_a_deeper_heading_is_text() -> None:
    """Only levels 1 to 3 open sections."""
    (chunk,) = chunks_of(heading(1, "A"), Block(BlockKind.HEADING, "**Deep**", BlockId("b"), 4), text("x"))

    assert (chunk.body, chunk.block_id) == ("**Deep**\nx", "b")
