"""Links that follow a rename."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from core.domain.documents import Block, BlockKind, walk
from core.domain.ids import PageId
from core.domain.references import Target, reference, referenced, resolve, resolve_blocks, resolve_properties

ONE = PageId("00000000-0000-0000-0000-000000000001")
TWO = PageId("00000000-0000-0000-0000-000000000002")
KNOWN = {ONE: Target("Travel [v2]", "https://app.notion.com/p/1")}


def test_a_known_page_shows_its_title_whatever_was_shown_before() -> None:
    """After a rename the same stored text reads differently."""
    text = f"See {reference(ONE, 'Old name')} first."

    assert resolve(text, KNOWN.get) == "See [Travel \\[v2\\]](https://app.notion.com/p/1) first."


def test_an_unknown_page_shows_what_the_source_showed() -> None:
    """A link to the id remains; without any text nothing remains."""
    assert resolve(reference(TWO, "Shown"), KNOWN.get) == f"[Shown](https://www.notion.so/{2:032x})"
    assert resolve(f"a {reference(TWO)} b", KNOWN.get) == "a  b"


@given(st.text(alphabet="[]()\\\\ab `\n", max_size=12))
def test_any_title_makes_one_link(title: str) -> None:
    """Neither shown text nor title can end the link early."""
    known = {ONE: Target(title, "https://a.example/x")}

    for text in (
        resolve(reference(ONE, "x"), known.get),
        resolve(reference(TWO, "y" + title), lambda _: None),
    ):
        assert MarkdownIt().render(text).count("<a href") == 1


def test_referenced_pages_are_named_once_and_in_order() -> None:
    """What a writer must look up before it cuts a page."""
    texts = [f"{reference(TWO, 'b')} and {reference(ONE, 'a')}", reference(TWO, "again"), "none"]

    assert referenced(texts) == (TWO, ONE)


def test_lists_of_unknown_pages_leave_no_commas() -> None:
    """A relation shows the known titles only."""
    value = ", ".join([reference(TWO), reference(ONE), reference(TWO)])

    assert resolve_properties((("A", value), ("B", "x, y")), KNOWN.get) == (
        ("A", "[Travel \\[v2\\]](https://app.notion.com/p/1)"),
        ("B", "x, y"),
    )
    assert resolve_properties((("A", reference(TWO)),), KNOWN.get) == ()


@pytest.mark.parametrize("depth", [1, 1500])
def test_references_are_resolved_at_any_depth(depth: int) -> None:
    """The tree keeps its order and its shape, however deep it is."""
    block = Block(BlockKind.PARAGRAPH, reference(ONE, "x"))
    for _ in range(depth):
        block = Block(BlockKind.LIST_ITEM, "- a", children=(block, Block(BlockKind.PARAGRAPH, "z")))

    resolved = resolve_blocks((block, Block(BlockKind.PARAGRAPH, "end")), KNOWN.get)

    texts = [found.text for found, _ in walk(resolved)]
    assert texts == ["- a"] * depth + ["[Travel \\[v2\\]](https://app.notion.com/p/1)"] + ["z"] * depth + [
        "end"
    ]


def test_a_tree_without_references_is_shared_not_copied() -> None:
    """Nothing to resolve costs no memory."""
    tree = (Block(BlockKind.LIST_ITEM, "- a", children=(Block(BlockKind.PARAGRAPH, "b"),)),)

    assert resolve_blocks(tree, KNOWN.get)[0] is tree[0]
