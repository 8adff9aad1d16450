"""What stands on every page is no passage of any; what only resembles it stays."""

import pytest

from core.domain.documents import BlockKind
from core.services.boilerplate import is_boilerplate
from tests.core.services.chunking_builders import bodies, chunks_of, heading, item, text


@pytest.mark.parametrize(
    "line",
    [
        "© 2024 Example Water Works GmbH",
        "Copyright (c) 2019–2024 Example Inc. All rights reserved.",
        "Alle Rechte vorbehalten.",
        "© Пример, 2023. Все права защищены",
        "Page 3 of 12",
        "Seite 4 von 9",
        "Стр. 2 из 7",
        "3/12",
        "[Back to top](#top)",
        "↑ Nach oben",
        "Table of contents",
        "Was this page helpful?",
        "Type '/' for commands",
        "Lorem ipsum dolor sit amet, consectetur adipiscing elit. " * 9,
    ],
)
def test_x24_boilerplate_is_no_passage(line: str) -> None:
    """Notices, page numbers, ways around the page and filler text are left out, wherever they stand."""
    chunks = chunks_of(text(line), heading(1, "Rules"), text("Take off your shoes."), text(line))

    assert bodies(chunks) == ["Take off your shoes."]


@pytest.mark.parametrize(
    "line",
    [
        "All rights reserved for photos that employees take stay with them; ask before you publish one.",
        "In 2024 the copyright of the manual went to Example GmbH.",
        "The table of contents lists every chapter.",
        "Page 3 of the form asks for your bank account.",
        "Go back to the office on Monday.",
        "Copyright questions go to legal@example.com, who answer within 2 days since 2024.",
        "3",
        "C++ 2020",
        "Seite",
    ],
)
def test_x24_prose_about_it_stays(line: str) -> None:
    """A sentence that only mentions a notice or a page is text."""
    assert bodies(chunks_of(text(line))) == [line]


def test_x24_items_tables_and_code_stay() -> None:
    """A list of the pages' names, or code that prints a notice, was written on purpose."""
    for kind in (BlockKind.LIST_ITEM, BlockKind.TABLE, BlockKind.CODE, BlockKind.HEADING):
        assert not is_boilerplate("© 2024 Example GmbH", kind)
    assert bodies(chunks_of(item("Table of contents"))) == ["Table of contents"]


def test_x24_a_page_of_nothing_else_is_found_by_its_title() -> None:
    """Its chunks are gone, so `chunks_or_title` takes the title."""
    assert chunks_of(text("© 2024 Example GmbH"), text("Page 1 of 1"), title="Imprint") == ()
