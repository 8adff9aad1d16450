"""Markdown text to blocks: what opens a section, what is code, what becomes of links and HTML."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.sources.markdown import parse_markdown
from adapters.sources.markdown_text import fence_for, fenced, table
from core.domain.documents import Block, BlockKind, Chunk, PageRef, PlacedPage, walk
from core.domain.ids import PageId
from core.services.chunking import ChunkSettings, chunk_page

FENCE = "`" * 3


def chunks(
    markdown: str, *, title: str = "", size: int = 600, overlap: int | None = None
) -> tuple[Chunk, ...]:
    """The chunks of a page written in Markdown."""
    placed = PlacedPage(PageRef(PageId("p"), title, "https://www.notion.so/p"))
    return chunk_page(placed, parse_markdown(markdown), ChunkSettings(size=size, overlap=overlap))


def contexts(found: tuple[Chunk, ...]) -> list[str]:
    return [" > ".join(map(str, chunk.heading_path)) for chunk in found]


def headings(markdown: str) -> list[str]:
    return [block.text for block, _ in walk(parse_markdown(markdown)) if block.kind is BlockKind.HEADING]


def kinds_and_texts(markdown: str) -> list[tuple[str, str]]:
    return [(block.kind.value, block.text) for block, _ in walk(parse_markdown(markdown))]


@pytest.mark.parametrize(
    ("case", "markdown", "expected"),
    [
        (
            "C1",
            "# Main\nMain body\n## Sub\nSub body\n### Detail\nDetail body",
            [
                ("# Main", "Main body"),
                ("# Main > ## Sub", "Sub body"),
                ("# Main > ## Sub > ### Detail", "Detail body"),
            ],
        ),
        (
            "C2",
            "intro\n# A\na\n## B\nb\n# C\nc\n### D\nd\n## E\ne",
            [
                ("", "intro"),
                ("# A", "a"),
                ("# A > ## B", "b"),
                ("# C", "c"),
                ("# C > ### D", "d"),
                ("# C > ## E", "e"),
            ],
        ),
        ("C3", "### C\nx\n# A\ny\n### D\nz", [("### C", "x"), ("# A", "y"), ("# A > ### D", "z")]),
    ],
)
def test_c1_c2_c3_headings_make_the_context(
    case: str, markdown: str, expected: list[tuple[str, str]]
) -> None:
    """A heading clears deeper ones and stands below shallower ones."""
    found = chunks(markdown)

    assert list(zip(contexts(found), (chunk.body for chunk in found), strict=True)) == expected, case


def test_c4_a_comment_in_a_fence_is_no_heading() -> None:
    """It stays in its section's body; both bodies are complete."""
    found = chunks(f"# Setup\nRun:\n{FENCE}\n# install deps\n{FENCE}\n# Usage\nStart")

    assert contexts(found) == ["# Setup", "# Usage"]
    assert [chunk.body for chunk in found] == [f"Run:\n{FENCE}\n# install deps\n{FENCE}", "Start"]


def test_t8_f35_a_hash_in_a_fence_does_not_split_the_code() -> None:
    """Two sections, the first with the whole fence."""
    found = chunks(f"# Setup\n{FENCE}bash\n# install\npip install x\n{FENCE}\n# Next\nGo on")

    assert found[0].body == f"{FENCE}bash\n# install\npip install x\n{FENCE}"
    assert contexts(found) == ["# Setup", "# Next"]


@pytest.mark.parametrize(
    ("case", "markdown", "expected"),
    [
        ("C5 tildes", "# S\nRun:\n~~~\n# install deps\n~~~\nend", ["S"]),
        ("C6 four backticks", f"# S\n````\n{FENCE}\n# not\n{FENCE}\n# not\n````\nend", ["S"]),
        ("C7 indented fence", f"# S\n  {FENCE}\n  # not\n  {FENCE}\nend", ["S"]),
        ("C7 tabs", f"# S\n\t{FENCE}\n\t# not\n\t{FENCE}\nend", ["S"]),
        ("C8 unclosed", f"# S\n{FENCE}\ncode\n# not\n\n## not", ["S"]),
        ("C8 unclosed tildes", "# S\n~~~\n# not", ["S"]),
        ("C8 closed by fewer", f"# S\n````\n# not\n{FENCE}\n# not", ["S"]),
        ("C9 empty fence", f"{FENCE}\n{FENCE}\n# R\nx", ["R"]),
        ("indented code", "# S\n\n    # not\n\nend", ["S"]),
        ("C10 underlined", "Title\n=====\nbody", []),
        ("C10 divider", "Sub\n---\nmore", []),
        ("C11 tag", "#tag line", []),
        ("C11 quoted", "> # quoted", []),
        ("C11 item", "- # item", []),
        ("C11 nested", "1. one\n   # nested", []),
        ("C11 deep", "#### Deep\n##### Deeper\n###### Deepest\n####### too deep", []),
        ("C12 empty", "intro\n#\nfoo line\nbody", []),
        ("C12 empty with blanks", "intro\n##   \nfoo\n### ###\nbar", []),
        ("closing marks", "# Real #\ntext", ["Real"]),
        ("escaped", "\\# not", []),
        ("in a table", "| # a | b |\n| --- | --- |\n| # c | d |", []),
        ("in a comment", "<!--\n# not\n-->", []),
    ],
)
def test_c5_to_c12_only_real_headings_open_sections(case: str, markdown: str, expected: list[str]) -> None:
    """Fences of all kinds, quotes, items, tables and underlines do not."""
    assert headings(markdown) == expected, case


def test_c8_an_unclosed_fence_reaches_to_the_end() -> None:
    """Everything after it is code, and closed in the chunk."""
    (found,) = chunks(f"{FENCE}sh\nmake\n# all\n\ntail")

    assert found.body == f"{FENCE}sh\nmake\n# all\n\ntail\n{FENCE}"


def test_c6_a_fence_inside_a_longer_one_is_code() -> None:
    """The longer fence is kept."""
    (found,) = chunks(f"````md\n{FENCE}\n# not\n{FENCE}\n````")

    assert found.body == f"````md\n{FENCE}\n# not\n{FENCE}\n````"


def test_c10_c11_what_opens_no_section_keeps_its_text() -> None:
    """Every word is in a chunk without heading."""
    (found,) = chunks(
        "Title\n=====\nbody\n\nSub\n---\nmore\n\n#tag line\n> # quoted\n\n- # item\n\n#### Deep"
    )

    assert found.heading_path == ()
    for words in ("Title", "body", "Sub", "more", "#tag line", "> # quoted", "- # item", "**Deep**"):
        assert words in found.body


def test_c12_nothing_is_swallowed_by_an_empty_heading() -> None:
    """One section with all three lines."""
    (found,) = chunks("intro\n#\nfoo line\nbody")

    assert found.body.split("\n") == ["intro", "foo line", "body"]


def test_c13_c14_headings_without_bodies_are_found() -> None:
    """In one chunk, or one of their own."""
    assert [chunk.body for chunk in chunks("# Only\n## Another")] == ["# Only\n## Another"]
    assert [chunk.body for chunk in chunks("# A\n# B\ntext")] == ["# A", "text"]


def test_c15_line_ends_do_not_matter() -> None:
    """CRLF and CR read as LF."""
    markdown = f"# A\na\n\n- x\n- y\n\n{FENCE}\n# c\n{FENCE}\n## B\n| a | b |\n| - | - |\n| c | d |"

    assert parse_markdown(markdown.replace("\n", "\r\n")) == parse_markdown(markdown)


@pytest.mark.parametrize("code", ["plain", FENCE, f"a\n{FENCE}py\n{FENCE}\nb", "``", "`" * 7, "~~~", ""])
def test_c16_a_fence_is_longer_than_what_it_holds(code: str) -> None:
    """Code goes in and comes out as one block."""
    (block,) = parse_markdown(fenced(code, "py"))

    assert block == Block(BlockKind.CODE, f"{fence_for(code)}py\n{code}\n{fence_for(code)}")


def test_c17_text_that_was_escaped_stays_text() -> None:
    """A paragraph "# not heading" opens nothing, here or when it is read again."""
    blocks = parse_markdown("\\# not heading")

    assert blocks == (Block(BlockKind.PARAGRAPH, "\\# not heading"),)
    assert parse_markdown(blocks[0].text) == blocks


def test_c18_a_heading_inside_a_callout_opens_a_section() -> None:
    """Behind the callout the outer section goes on."""
    found = chunks(
        "# Outer\nbefore\n\n<aside>\n💡 Mind this\n\n## Inner\n\nunder inner\n\n</aside>\n\nbehind"
    )

    assert list(zip(contexts(found), (chunk.body for chunk in found), strict=True)) == [
        ("# Outer", "before\n💡 Mind this"),
        ("# Outer > ## Inner", "under inner"),
        ("# Outer", "behind"),
    ]


def test_c20_a_tree_too_deep_to_parse_is_plain_text() -> None:
    """All its words are still indexed."""
    markdown = "\n".join("    " * level + f"- level {level}" for level in range(400))

    blocks = parse_markdown(markdown)

    assert {block.kind for block in blocks} == {BlockKind.PARAGRAPH}
    assert [line.removeprefix("\\- ") for line in blocks[0].text.split("\n")] == [
        f"level {n}" for n in range(400)
    ]


def test_lists_keep_markers_depth_and_order() -> None:
    """Numbers, boxes and what is nested, code included (F16, F17)."""
    code = f"    {FENCE}sh\n    make\n    {FENCE}"

    found = kinds_and_texts(f"1. a\n2. b\n    1. b1\n\npara\n\n- [ ] open\n- [x] done\n{code}\n* other\n")

    assert found == [
        ("list_item", "1. a"),
        ("list_item", "2. b"),
        ("list_item", "1. b1"),
        ("paragraph", "para"),
        ("list_item", "- [ ] open"),
        ("list_item", "- [x] done"),
        ("code", f"{FENCE}sh\nmake\n{FENCE}"),
        ("list_item", "- other"),
    ]


def test_quotes_keep_their_marks() -> None:
    """Each paragraph of a quote, nested ones deeper, lists inside as lists."""
    assert kinds_and_texts("> a\n> b\n>\n> > c\n>\n> - l") == [
        ("quote", "> a\n> b"),
        ("quote", "> > c"),
        ("list_item", "- l"),
    ]


def test_f14_a_cell_keeps_its_bars_and_stays_one_cell() -> None:
    """Also in code, and rows that are too short are filled up."""
    assert kinds_and_texts("| a | b |\n| --- | --- |\n| x\\|y | `p\\|q` |\n| z |") == [
        ("table", "| a | b |\n| --- | --- |\n| x\\|y | `p\\|q` |\n| z |  |")
    ]
    assert table([["a|b", "line 1\nline 2"]]) == "| a\\|b | line 1 line 2 |\n| --- | --- |"


def test_relative_links_are_resolved_and_dead_ones_leave_their_text() -> None:
    """Absolute ones stay, scripts and signed files lose their target (F19)."""
    known = {"A%20b.md": "https://www.notion.so/a"}
    markdown = (
        "[A b](A%20b.md) [gone](Gone.md) [web](https://e.example/x) [here](#part) "
        "[bad](javascript:alert(1)) [file](https://s3.example/f.pdf?X-Amz-Signature=abc)"
    )

    (block,) = parse_markdown(markdown, resolve_link=known.get)

    assert block.text == "[A b](https://www.notion.so/a) gone [web](https://e.example/x) here bad file"


def test_a_link_text_with_brackets_stays_one_link() -> None:
    """The label cannot end early."""
    (block,) = parse_markdown("[Guide \\[v2\\]](https://e.example/a_(b))")

    assert block.text == "[Guide \\[v2\\]](https://e.example/a_%28b%29)"


def test_images_leave_their_captions() -> None:
    """Neither path nor file name."""
    (block,) = parse_markdown(
        "![Floor plan of the third floor](Office/plan.png)\n![image.png](Office/image.png)"
    )

    assert block.text == "Floor plan of the third floor"


def test_html_leaves_its_text() -> None:
    """Line breaks break, comments vanish, placeholders in angle brackets stay."""
    assert kinds_and_texts("a<br>b <u>c</u> <host> &amp; <!-- no -->d") == [
        ("paragraph", "a\nb c <host> & d")
    ]
    assert kinds_and_texts("<details><summary>More</summary>\n\n- inside\n\n</details>\n\nend") == [
        ("container", ""),
        ("paragraph", "More"),
        ("list_item", "- inside"),
        ("paragraph", "end"),
    ]
    assert "visible" in kinds_and_texts("<div>visible<script>hidden()</script></div>")[0][1]
    assert "hidden" not in str(kinds_and_texts("<div>visible<script>hidden()</script></div>"))


def test_lines_that_look_like_link_definitions_are_kept() -> None:
    """CommonMark would swallow them."""
    assert kinds_and_texts("[note]: buy milk") == [("paragraph", "\\[note]: buy milk")]


def test_thousands_of_brackets_are_read_as_text() -> None:
    """One such paragraph would keep the parser busy for minutes."""
    (block,) = parse_markdown("[a " * 100_000)

    assert block.text.count("[") == 100_000


@given(st.text(alphabet="ab #*_`~[]()<>|-+\n\t1.&;!\\\"'é", max_size=300))
@settings(deadline=None, max_examples=300)
def test_no_text_breaks_the_reader_or_loses_words(markdown: str) -> None:
    """Any text gives blocks, the same each time; where no markup can hide words, all of them are there."""
    blocks = parse_markdown(markdown)

    assert parse_markdown(markdown) == blocks
    if not set(markdown) & set("<>&![]`~\\"):
        kept = "".join(block.text for block, _ in walk(blocks))
        assert kept.count("a") == markdown.count("a")
        assert kept.count("é") == markdown.count("é")
