"""Markdown text to blocks: what opens a section, what is code, what becomes of links and HTML."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.markup.markdown import parse_markdown
from adapters.markup.markdown_text import fence_for, fenced, table
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


def sections(markdown: str) -> list[tuple[str, str]]:
    found = chunks(markdown)
    return list(zip(contexts(found), (chunk.body for chunk in found), strict=True))


def test_c1_headings_nest() -> None:
    """Each body stands under the headings above it, hash marks kept."""
    assert sections("# Main\nMain body\n## Sub\nSub body\n### Detail\nDetail body") == [
        ("# Main", "Main body"),
        ("# Main > ## Sub", "Sub body"),
        ("# Main > ## Sub > ### Detail", "Detail body"),
    ]


def test_c2_a_new_heading_clears_deeper_ones() -> None:
    """Of any level, and text before the first has no context."""
    assert sections("intro\n# A\na\n## B\nb\n# C\nc\n### D\nd\n## E\ne") == [
        ("", "intro"),
        ("# A", "a"),
        ("# A > ## B", "b"),
        ("# C", "c"),
        ("# C > ### D", "d"),
        ("# C > ## E", "e"),
    ]


def test_c3_a_page_may_begin_with_a_deep_heading() -> None:
    """Nothing is invented above it."""
    assert sections("### C\nx\n# A\ny\n### D\nz") == [("### C", "x"), ("# A", "y"), ("# A > ### D", "z")]


def test_c4_a_comment_in_a_fence_is_no_heading() -> None:
    """It stays in its section's body; both bodies are complete."""
    found = chunks(f"# Setup\nRun:\n{FENCE}\n# install deps\n{FENCE}\n# Usage\nStart")

    assert contexts(found) == ["# Setup", "# Usage"]
    assert [chunk.body for chunk in found] == [f"Run:\n{FENCE}\n# install deps\n{FENCE}", "Start"]


def test_t8_a_comment_of_a_shell_script_is_code() -> None:
    """Only what stands outside of the fence opens a section, and the comments stay where they were."""
    script = f"{FENCE}bash\n#!/bin/sh\n# 1. Prepare\n## 2. Install\npip install x\n{FENCE}"

    assert sections(f"# Setup\n{script}\n## Next\nGo on") == [
        ("# Setup", script),
        ("# Setup > ## Next", "Go on"),
    ]


def test_f35_a_hash_in_a_fence_does_not_split_the_code() -> None:
    """Two sections, Setup and Next, the first with the whole fence."""
    found = chunks(f"# Setup\n{FENCE}bash\n# install\npip install x\n{FENCE}\n# Next\nGo on")

    assert found[0].body == f"{FENCE}bash\n# install\npip install x\n{FENCE}"
    assert contexts(found) == ["# Setup", "# Next"]


def test_c5_a_fence_of_tildes_holds_code() -> None:
    """One heading, and the comment in its body."""
    markdown = "# S\nRun:\n~~~\n# install deps\n~~~\nend"

    assert sections(markdown) == [("# S", f"Run:\n{FENCE}\n# install deps\n{FENCE}\nend")]


def test_c6_a_longer_fence_holds_shorter_ones() -> None:
    """No heading inside."""
    assert headings(f"# S\n````\n{FENCE}\n# not\n{FENCE}\n# not\n````\nend") == ["S"]


@pytest.mark.parametrize("margin", [" ", "  ", "   ", "    ", "\t"])
def test_c7_an_indented_fence_holds_code(margin: str) -> None:
    """No heading inside, whatever the margin."""
    assert headings(f"# S\n{margin}{FENCE}\n{margin}# not\n{margin}{FENCE}\nend") == ["S"]


@pytest.mark.parametrize(
    "markdown",
    [
        f"# S\n{FENCE}\ncode\n# not\n\n## not",
        "# S\n~~~\n# not",
        f"# S\n````\n# not\n{FENCE}\n# not",
        f"# S\n{FENCE}\n# not\n~~~\n# not",
    ],
)
def test_c8_a_fence_that_is_not_closed_holds_all_that_follows(markdown: str) -> None:
    """Never closed, or closed by fewer or other marks."""
    assert headings(markdown) == ["S"]


def test_u14_fences_of_every_kind_mask_their_content() -> None:
    """Tildes, longer ones, indented ones and unclosed ones on one page."""
    markdown = f"~~~\n# a\n~~~\n````\n{FENCE}\n# b\n````\n  {FENCE}\n  # c\n  {FENCE}\n# Real\n{FENCE}\n# d"

    assert headings(markdown) == ["Real"]


def test_c9_an_empty_fence_hides_nothing() -> None:
    """The heading behind it is one."""
    assert sections(f"{FENCE}\n{FENCE}\n# R\nx") == [("# R", "x")]


@pytest.mark.parametrize("markdown", ["Title\n=====\nbody", "Sub\n---\nmore", "Sub\n-\nmore", "A\n==="])
def test_c10_underlined_lines_are_no_headings(markdown: str) -> None:
    """A divider right below a paragraph least of all."""
    assert headings(markdown) == []


@pytest.mark.parametrize(
    ("markdown", "kept"),
    [
        ("#tag line", "#tag line"),
        ("> # quoted", "> # quoted"),
        ("- # item", "- # item"),
        ("1. one\n   # nested", "nested"),
        ("#### Deep", "Deep"),
        ("###### Deepest", "Deepest"),
        ("####### too deep", "too deep"),
        ("    # indented", "# indented"),
        ("\\# escaped", "# escaped"),
        ("| # a | b |\n| --- | --- |\n| # c | d |", "# c"),
    ],
)
def test_c11_what_only_looks_like_a_heading_is_text(markdown: str, kept: str) -> None:
    """No section, and the words are kept."""
    (found,) = chunks(markdown)

    assert found.heading_path == ()
    assert kept in found.body


@pytest.mark.parametrize("mark", ["#", "##   ", "### ###", "#\t"])
def test_u15_a_lone_hash_does_not_take_the_next_line(mark: str) -> None:
    """It is no heading, and the line below is text."""
    assert sections(f"intro\n{mark}\nfoo line\nbody") == [("", "intro\nfoo line\nbody")]


def test_closing_hash_marks_and_comments_are_no_text() -> None:
    """As CommonMark has it."""
    assert headings("# Real #\ntext\n\n<!--\n# not\n-->") == ["Real"]


def test_c8_an_unclosed_fence_reaches_to_the_end() -> None:
    """Everything after it is code, and closed in the chunk."""
    (found,) = chunks(f"{FENCE}sh\nmake\n# all\n\ntail")

    assert found.body == f"{FENCE}sh\nmake\n# all\n\ntail\n{FENCE}"


def test_c6_the_longer_fence_is_kept_in_the_chunk() -> None:
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


def test_c13_headings_without_bodies_share_a_chunk() -> None:
    """With both lines."""
    assert [chunk.body for chunk in chunks("# Only\n## Another")] == ["# Only\n## Another"]


def test_c14_a_heading_with_nothing_below_it_is_found() -> None:
    """In a chunk of its own."""
    assert sections("# A\n# B\ntext") == [("# A", "# A"), ("# B", "text")]


def test_c15_line_ends_do_not_matter() -> None:
    """CRLF and CR read as LF."""
    markdown = f"# A\na\n\n- x\n- y\n\n{FENCE}\n# c\n{FENCE}\n## B\n| a | b |\n| - | - |\n| c | d |"

    assert parse_markdown(markdown.replace("\n", "\r\n")) == parse_markdown(markdown)


@pytest.mark.parametrize("code", ["plain", FENCE, f"a\n{FENCE}py\n{FENCE}\nb", "``", "`" * 7, "~~~", ""])
def test_c16_a_fence_is_longer_than_what_it_holds(code: str) -> None:
    """Code goes in and comes out as one block."""
    (block,) = parse_markdown(fenced(code, "py"))

    assert block == Block(BlockKind.CODE, f"{fence_for(code)}py\n{code}\n{fence_for(code)}")


def test_u17_code_with_a_fence_and_text_with_a_hash_keep_their_kind() -> None:
    """Written and read again they are still one code block and one paragraph."""
    markdown = f"{fenced(f'a{chr(10)}{FENCE}{chr(10)}# b', 'md')}\n\n\\# text"

    assert [block.kind for block in parse_markdown(markdown)] == [BlockKind.CODE, BlockKind.PARAGRAPH]


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


def test_t7_bodies_are_the_text_of_the_source() -> None:
    """Fences before a heading shift nothing: each body is complete to its last letter."""
    code = f"{FENCE}py\nfor x in y:\n    # note\n    print(x)\n{FENCE}"
    markdown = f"# One\nfirst body\n\n{code}\n\nlast line of one\n# Two\nsecond body, complete"

    assert sections(markdown) == [
        ("# One", f"first body\n{code}\nlast line of one"),
        ("# Two", "second body, complete"),
    ]


def test_t13_brackets_in_titles_and_headings_take_nothing_from_the_body() -> None:
    """Breadcrumb, headings and body are stored apart and never parsed back."""
    (found,) = chunks("# Setup ] now\nthe body", title="Guide [v2]")

    assert (found.body, found.breadcrumb) == ("the body", "Guide [v2]")
    assert found.text_to_embed == "[Guide [v2] > # Setup ] now] the body"


def test_k5_lines_of_one_paragraph_are_cut_like_paragraphs() -> None:
    """The second chunk starts with the end of the first, at a word."""
    found = chunks(
        "First paragraph here.\nSecond paragraph here.\nThird paragraph here.", size=50, overlap=20
    )

    assert [chunk.body for chunk in found] == [
        "First paragraph here.\nSecond paragraph here.",
        "paragraph here.\nThird paragraph here.",
    ]


def test_k6_sections_do_not_mix() -> None:
    """Prefix and body of each its own."""
    found = chunks("# A\nShort section A.\n# B\nShort section B.", title="Doc")

    assert [chunk.text_to_embed for chunk in found] == [
        "[Doc > # A] Short section A.",
        "[Doc > # B] Short section B.",
    ]


def test_k8_blank_markdown_gives_nothing() -> None:
    """Whatever it is blank with."""
    assert [chunks(blank, title="Doc") for blank in ("", " \n\t\n", "---", "#", "<!-- x -->", "&nbsp;")] == [
        ()
    ] * 6


def test_f16_numbered_items_keep_their_numbers() -> None:
    """Also where a paragraph stands between, and inside other items."""
    (found,) = chunks("1. a\n2. b\n   1. b1\n\nbetween\n\n3. c")

    assert found.body == "1. a\n2. b\n   1. b1\nbetween\n3. c"


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


def test_a_table_of_one_long_row_stays_as_large_as_it_is() -> None:
    """Short rows are filled up, but not by the million."""
    rows = [["x"] * 50_000, *[["y"]] * 50_000]

    written = table(rows)

    assert table([["a", "b"], ["c"]]) == "| a | b |\n| --- | --- |\n| c |  |"
    assert len(written) < 20 * 100_000
    assert written.endswith("\n| y |")
