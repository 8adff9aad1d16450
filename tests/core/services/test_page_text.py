"""The plain text of a whole page."""

from core.domain.documents import Block, BlockKind
from core.services.chunking import page_text
from tests.core.services.chunking_builders import a_page, container, heading, item, text


def test_the_pages_structure_is_kept() -> None:
    """Headings with hash marks, items indented, tables and code as they are."""
    blocks = [
        heading(1, "Setup", text("Inside the toggle.")),
        item("- one", item("1. nested", item("- deeper")), text("its paragraph")),
        item("- two"),
        container(text("In a column.")),
        Block(BlockKind.TABLE, "| a | b |\n| --- | --- |"),
        Block(BlockKind.CODE, "```sh\n  make\n```"),
    ]

    assert page_text(a_page().ref, blocks) == (
        "# Setup\n\nInside the toggle.\n\n- one\n  1. nested\n     - deeper\n\n  its paragraph\n\n- two\n\n"
        "In a column.\n\n| a | b |\n| --- | --- |\n\n```sh\n  make\n```"
    )


def test_properties_stand_first_and_the_title_is_left_out() -> None:
    """The title is searched in a field of its own."""
    page = a_page("Printer", properties=(("Floor", "3"), ("Empty", "")))

    assert page_text(page.ref, [text("Paper below.")]) == "Floor: 3\n\nPaper below."


def test_a_page_without_text_gives_nothing() -> None:
    """So that it is never pending."""
    assert page_text(a_page().ref, [text("  "), container(text("\n"))]) == ""


def test_f2_1200_levels_are_kept() -> None:
    """Indentation stops growing, the text does not."""
    block = item("- level 1200")
    for level in range(1199, 0, -1):
        block = item(f"- level {level}", block)

    lines = page_text(a_page().ref, [block]).split("\n")

    assert [line.strip() for line in lines] == [f"- level {level}" for level in range(1, 1201)]
    assert max(map(len, lines)) < 60
