"""Rich text as Markdown."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from adapters.markup.escaping import escape_structure
from adapters.markup.links import link, safe_link
from adapters.sources.notion_text import page_link, render, render_line
from core.domain.ids import PageId
from core.domain.references import Target, resolve
from tests.adapters.sources.notion_objects import an_id, mention, run

MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def block_types(markdown: str) -> set[str]:
    """The kinds of blocks that a Markdown reader sees."""
    return {token.type for token in MARKDOWN.parse(markdown) if token.type not in {"inline"}}


def test_f13_markers_stand_inside_edge_white_space() -> None:
    """A bold run with a space at its edge is still read as bold."""
    assert render([run("This is a "), run("bold ", bold=True), run("word.")]) == "This is a **bold** word."


@pytest.mark.parametrize(
    ("look", "expected"),
    [
        ({"italic": True}, "a *b* c"),
        ({"strikethrough": True}, "a ~~b~~ c"),
        ({"code": True}, "a `b` c"),
        ({"bold": True, "italic": True}, "a ***b*** c"),
        ({"underline": True}, "a b c"),
    ],
)
def test_f13_every_annotation_keeps_the_white_space_outside(look: dict[str, Any], expected: str) -> None:
    """Leading and trailing white space of a marked run stays outside its markers."""
    assert render([run("a"), run(" b ", **look), run("c")]) == expected


def test_f13_a_marked_run_of_white_space_alone_gets_no_markers() -> None:
    """Bold blanks are blanks."""
    assert render([run("a"), run("  ", bold=True), run("b")]) == "a  b"


def test_markers_inside_a_word_are_dropped_so_that_search_finds_the_word() -> None:
    """A bold initial does not cut its word in two."""
    assert render([run("P", bold=True), run("ersonal data")]) == "Personal data"


def test_neighbours_of_equal_look_are_one_run() -> None:
    """Notion's invisible cuts leave no trace."""
    assert render([run("one ", bold=True), run("two", bold=True)]) == "**one two**"


def test_colours_are_ignored() -> None:
    """A colour is no meaning that Markdown knows."""
    coloured = run("warm")
    coloured["annotations"]["color"] = "red_background"

    assert render([coloured]) == "warm"


def test_links_are_markdown_links_and_bare_addresses_stay_bare() -> None:
    """A label that is the address itself is not doubled."""
    assert render([run("docs", href="https://a.example/x(1)")]) == "[docs](https://a.example/x%281%29)"
    assert render([run("https://a.example", href="https://a.example")]) == "https://a.example"


def test_links_within_notion_get_a_host() -> None:
    """Notion writes links to its own pages without a host."""
    assert render([run("here", href="/0123#45")]) == "[here](https://www.notion.so/0123#45)"


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "https://files.example/a.png?X-Amz-Signature=abc&X-Amz-Expires=3600",
        "https://files.example/a.png?x=1&sig=abc",
        "http://[broken",
        "",
    ],
)
def test_not13_links_that_a_reader_must_not_get_are_dropped(url: str) -> None:
    """Scripts, signed and broken addresses leave their text only."""
    assert safe_link(url) == ""
    assert render([run("text", href=url)]) == "text"


@pytest.mark.parametrize("label", ["a]b", "[x", "a\nb", "`c`", "a\\]"])
def test_a_label_cannot_end_its_link(label: str) -> None:
    """Whatever the label holds, Markdown reads one link to the address."""
    rendered = MARKDOWN.render(link(label, "https://a.example/x"))

    assert rendered.count("<a href") == 1
    assert rendered.count('href="https://a.example/x"') == 1


def test_inline_code_with_backticks_gets_longer_fences() -> None:
    """Backticks inside do not end the code."""
    assert render([run("run"), run(" "), run("a`b", code=True)]) == "run ``a`b``"
    assert "<code>`</code>" in MARKDOWN.render(render([run("`", code=True)]))


def test_f15_a_page_mention_shows_the_known_title() -> None:
    """A mention that Notion calls Untitled is a link with the title we know."""
    item = mention("page", {"id": an_id(1)}, "Untitled", href="https://www.notion.so/0001")
    known = {PageId(an_id(1)): Target("Travel Policy", "https://app.notion.com/p/1")}

    assert resolve(render([item]), known.get) == "[Travel Policy](https://app.notion.com/p/1)"
    assert resolve(render([item]), lambda _: None) == f"[Untitled](https://www.notion.so/{1:032x})"


def test_f15_a_mention_is_never_an_empty_string() -> None:
    """Without title, text and link there is still a word to click."""
    item = mention("page", {"id": an_id(0x11)}, "")

    assert (
        resolve(render([item]), lambda _: None)
        == "[Untitled](https://www.notion.so/00000000000000000000000000000011)"
    )
    assert page_link(None) == "Untitled"


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (mention("user", {"object": "user", "id": an_id(1), "name": "Ada"}, "@Ada"), "@Ada"),
        (mention("user", {"object": "user", "id": an_id(1)}, ""), ""),
        (mention("date", {"start": "2026-05-01", "end": None}, "May 1"), "May 1"),
        (
            mention("date", {"start": "2026-05-01T09:00:00.000+02:00", "end": "2026-05-02"}, ""),
            "2026-05-01 09:00 +02:00 → 2026-05-02",
        ),
        (
            mention("database", {"id": an_id(2)}, "Tasks", href="https://www.notion.so/2"),
            f"[Tasks](page:{an_id(2)})",
        ),
        (
            mention("link_mention", {"href": "https://a.example", "title": "A Site"}, "https://a.example"),
            "[A Site](https://a.example)",
        ),
        (
            mention("link_preview", {"url": "https://a.example/pr/1"}, "PR 1"),
            "[PR 1](https://a.example/pr/1)",
        ),
        (mention("template_mention", {"type": "template_mention_date"}, "@Today"), "@Today"),
        (mention("custom_emoji", {"id": an_id(3), "name": "bufo"}, ":bufo:"), ":bufo:"),
        (mention("hologram", {"x": 1}, "shown"), "shown"),
    ],
    ids=lambda value: value["mention"]["type"] if isinstance(value, dict) else "",
)
def test_not10_every_mention_keeps_what_notion_shows(item: dict[str, object], expected: str) -> None:
    """Known kinds become links or names, unknown kinds keep their text."""
    assert render([item]) == expected


def test_equations_stand_between_dollars() -> None:
    """An inline formula is marked as one."""
    item = {**run("e=mc^2"), "type": "equation", "equation": {"expression": "e=mc^2"}}

    assert render([run("Famous: "), item]) == "Famous: $e=mc^2$"


def test_f8_a_mention_of_a_user_without_name_does_not_raise() -> None:
    """A guest has only an id; nothing of it is shown."""
    item = {"type": "mention", "mention": {"type": "user", "user": {"object": "user", "id": an_id(1)}}}

    assert render([run("ask "), item]) == "ask "


@pytest.mark.parametrize(
    "line",
    [
        "# x",
        "#",
        "###### x",
        "- x",
        "+ x",
        "* x",
        "-",
        "1. x",
        "23) x",
        "> x",
        ">x",
        "```",
        "````python",
        "~~~",
        "---",
        "- - -",
        "***",
        "___",
        "===",
        "=",
        "| a | b |\n|---|---|",
        "a | b\n--- | ---",
        "    indented",
        "\tindented",
        "<div>",
        "<!-- hidden",
        "[a]: https://x.example",
        "text\n---",
        "text\n===",
    ],
)
def test_c17_u17_no_paragraph_becomes_structure(line: str) -> None:
    """Whatever a paragraph starts with, Markdown reads it as a paragraph."""
    assert block_types(escape_structure(line)) == {"paragraph_open", "paragraph_close"}


@pytest.mark.parametrize("line", ["#tag line", "-5 degrees", "1.5 litres", "a - b", "C# 1. x", "2026-01-01"])
def test_text_that_is_no_structure_stays_as_it_is(line: str) -> None:
    """Nothing is escaped without need."""
    assert escape_structure(line) == line


@given(st.text(alphabet=st.sampled_from("#->+*1.)`~=_|: <[]!ab\t\n"), max_size=30))
def test_u17_no_text_at_all_becomes_structure(text: str) -> None:
    """However the signs are mixed, only paragraphs come out."""
    assert block_types(escape_structure(text)) <= {"paragraph_open", "paragraph_close"}


def test_headings_and_cells_are_one_line() -> None:
    """Line breaks have no place where one line is all there is."""
    assert render_line([run("one\ntwo  three")]) == "one two three"


def test_f40_nul_and_half_surrogates_are_removed() -> None:
    """No database refuses the text."""
    assert render([run("Preis\0liste \ud800")]) == "Preisliste \N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize("broken", [None, 1, "text", {}, [None], [1], [{}], [{"type": 3, "plain_text": 5}]])
def test_f9_odd_rich_texts_read_as_nothing(broken: object) -> None:
    """Missing and wrong fields raise nothing."""
    assert render(broken) == ""
