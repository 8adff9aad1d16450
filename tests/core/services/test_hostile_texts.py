"""Texts made to keep a reader busy: each is so long that reading it once per character would take hours."""

from collections.abc import Callable

import pytest

from core.domain.documents import Block, BlockKind, PageRef, PlacedPage
from core.domain.ids import PageId
from core.domain.references import referenced, resolve
from core.services.chunking import chunk_page
from core.services.draft_markup import quotable, read_draft
from core.services.facts import facts_of
from core.services.markdown_text import plain
from core.services.orders import is_order
from core.services.polarity import clauses
from core.services.scrubbing import EVERYTHING_SENSITIVE, scrubbed
from core.services.tokens import tokens
from core.services.untrusted import neutralised

MANY = 400_000


def read_facts(text: str) -> object:
    """The facts of a statement."""
    return facts_of(text, ("en",))


def read_code(text: str) -> object:
    """The passages of a page with a table."""
    page = PlacedPage(ref=PageRef(id=PageId("1"), title="T", url="https://notion.example/1"), ancestors=())
    return chunk_page(page, (Block(BlockKind.TABLE, f"| a |\n{text}\n| b |"),))


@pytest.mark.parametrize(
    ("read", "text"),
    [
        # Names of single letters could be grouped in more ways than there are atoms.
        (read_facts, "a." * 400),
        (read_facts, "1.2." * 400),
        (read_facts, "-" * MANY),
        (read_facts, "`" * MANY),
        (lambda text: referenced([text]), "\\[" * MANY),
        (lambda text: resolve(text, lambda _: None), "(page:" + "\\[" * MANY),
        (plain, "\\[" * MANY),
        (plain, "\n" * MANY),
        (read_code, " " * MANY),
        (is_order, " " * MANY),
        (clauses, " " * MANY),
        (tokens, "_" * MANY),
        (neutralised, "<" + " " * MANY + "x"),
        (lambda text: read_draft(text, ()), "x" + "\t" * MANY + "x"),
        (lambda text: read_draft(text, ()), "a." * MANY),
        (lambda text: read_draft(text, ()), "(see" + " " * MANY),
        (lambda text: quotable(text, ()), "<a" * MANY),
        (lambda text: scrubbed(text, EVERYTHING_SENSITIVE), "1. " * 10_000),
    ],
    ids=range(18),
)
def test_a_text_is_read_in_one_go(read: Callable[[str], object], text: str) -> None:
    """It comes to an end, and a short text of the same kind is read as ever."""
    assert read(text) is not None


@pytest.mark.parametrize("before", [0, 450, 470, 490, 497, 500, 520])
def test_a_number_at_the_edge_of_a_window_is_found_whole(before: int) -> None:
    """Wherever long texts are cut to be looked through, a telephone number is masked."""
    filler = "word " * (before // 5)

    masked = scrubbed(f"{filler}call +49 30 901820 now, {filler}", EVERYTHING_SENSITIVE)

    assert "call [phone] now" in masked


def test_escaped_brackets_open_no_reference() -> None:
    """An escaped backslash before a reference does not hide it, an escaped bracket is none."""
    page = "0f3a9c1b-2d4e-5f60-7182-93a4b5c6d7e8"

    assert referenced([rf"C:\\[home](page:{page})"]) == (page,)
    assert referenced([rf"\[home](page:{page})"]) == ()
    assert resolve(rf"\[x\] C:\\[](page:{page}) \[", lambda _: None) == r"\[x\] C:\\ \["
