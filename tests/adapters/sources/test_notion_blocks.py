"""API block trees as blocks of the core."""

import json
import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from markdown_it import MarkdownIt

from adapters.sources.notion_blocks import render_blocks
from core.domain.documents import Block, BlockKind, walk
from core.domain.ids import PageId
from core.domain.references import Target, resolve_blocks
from tests.adapters.sources.notion_objects import Object, an_id, block, mention, run, table, text_block
from tests.adapters.sources.notion_strategies import ALL_TYPES, PAGES, broken, plain_texts

MARKDOWN = MarkdownIt("commonmark").enable("table")


def texts(raw: list[Any]) -> list[str]:
    """The texts of all blocks in reading order, empty ones left out."""
    return [found.text for found, _ in walk(render_blocks(raw).blocks) if found.text]


def only(raw: Object) -> Block:
    """The one block that an object becomes."""
    (found,) = render_blocks([raw]).blocks
    return found


def test_f2_sy12_deep_nesting_needs_no_recursion() -> None:
    """Bullets 1,200 levels deep all arrive, each below the one before."""
    deep = text_block("bulleted_list_item", "level 1200", 1200)
    for level in range(1199, 0, -1):
        deep = {**text_block("bulleted_list_item", f"level {level}", level), "children": [deep]}

    found = [(one.text, depth) for one, depth in walk(render_blocks([deep]).blocks)]

    assert found == [(f"- level {level}", level - 1) for level in range(1, 1201)]


def test_f4_unknown_types_are_counted_and_the_rest_stays() -> None:
    """A type of tomorrow loses neither its text nor its neighbours."""
    raw = [
        text_block("paragraph", "a", 1),
        block("external_object_instance_page", 2, inside=[{"deep": [run("kept")]}]),
        block("unsupported", 3, block_type="button"),
        block("unsupported", 4, block_type="button"),
        text_block("paragraph", "b", 5),
    ]

    rendered = render_blocks(raw)

    assert texts(raw) == ["a", "kept", "b"]
    assert rendered.unknown == {"external_object_instance_page": 1, "button": 2}


def test_f9_new_fields_are_ignored() -> None:
    """Fields that Notion adds change nothing."""
    raw = {**text_block("paragraph", "same"), "brand_new": {"x": 1}, "in_trash": False}

    assert texts([raw]) == ["same"]


def test_f11_columns_keep_their_order_and_no_indentation() -> None:
    """Sub-items of a column stay, and a second column is no code block."""
    raw = block(
        "column_list",
        1,
        children=[
            block(
                "column",
                2,
                children=[
                    {
                        **text_block("numbered_list_item", "One", 3),
                        "children": [text_block("numbered_list_item", "One-a", 4)],
                    }
                ],
            ),
            block("column", 5, children=[text_block("paragraph", "Two", 6)]),
        ],
    )

    found = [(one.text, depth) for one, depth in walk(render_blocks([raw]).blocks) if one.text]

    assert found == [("1. One", 0), ("1. One-a", 1), ("Two", 0)]


def test_f12_c19_children_of_a_toggle_heading_stand_under_it() -> None:
    """What is folded into a heading belongs to its section."""
    raw = [
        {
            **text_block("heading_2", "Refunds", 1, is_toggleable=True),
            "children": [text_block("paragraph", "within 14 days", 2)],
        },
        text_block("heading_2", "Other", 3),
    ]

    refunds, other = render_blocks(raw).blocks

    assert (refunds.kind, refunds.text, refunds.level) == (BlockKind.HEADING, "Refunds", 2)
    assert [child.text for child in refunds.children] == ["within 14 days"]
    assert (other.text, other.children) == ("Other", ())


@pytest.mark.parametrize("container", ["toggle", "column", "callout", "quote", "synced_block"])
def test_c18_a_heading_inside_a_container_stays_a_heading(container: str) -> None:
    """The level survives, and so does everything around it."""
    raw = block(
        container,
        1,
        rich_text=[run("box")],
        children=[text_block("heading_3", "Inside", 2), text_block("paragraph", "text", 3)],
    )

    found = [(one.kind, one.text, one.level) for one, _ in walk(render_blocks([raw]).blocks)]

    assert (BlockKind.HEADING, "Inside", 3) in found
    assert found[-1] == (BlockKind.PARAGRAPH, "text", 0)


def test_f14_pipes_and_line_breaks_stay_inside_their_cell() -> None:
    """Three cells stay three cells."""
    cells = [[run("a|b")], [run("line 1\nline 2")], [run("x|y", code=True)]]
    raw = table([[[run("A")], [run("B")], [run("C")]], cells])

    found = only(raw)

    assert found.kind is BlockKind.TABLE
    assert found.text.split("\n") == [
        "| A | B | C |",
        "| --- | --- | --- |",
        "| a\\|b | line 1 line 2 | `x\\|y` |",
    ]


@pytest.mark.parametrize("cell", ["a|b", "a\\|b", "\\", "a\\\\|", "|", "`|`", "a\nb"])
def test_f14_whatever_a_cell_holds_the_row_has_two_cells(cell: str) -> None:
    """A Markdown reader sees as many cells as Notion shows."""
    raw = table([[[run("A")], [run("B")]], [[run(cell)], [run("end")]]])

    rendered = MARKDOWN.render(only(raw).text)

    assert rendered.count("<td>") == 2
    assert "<td>end</td>" in rendered


def test_f6_tables_without_header_and_with_row_headers() -> None:
    """Without header row the header is empty; a header column is bold; short rows are filled up."""
    plain_table = table([[[run("a")], [run("b")]], [[run("c")]]], header=False)
    row_headers = table([[[run("Tool")], [run("Owner")]], [[run("Miro")], [run("Design")]]], row_header=True)

    assert only(plain_table).text.split("\n") == ["|  |  |", "| --- | --- |", "| a | b |", "| c |  |"]
    assert only(row_headers).text.split("\n")[-1] == "| **Miro** | Design |"


def test_f16_numbers_as_notion_shows_them() -> None:
    """A run counts up, children count for themselves, anything else starts the count again."""
    raw = [
        text_block("numbered_list_item", "a", 1),
        {
            **text_block("numbered_list_item", "b", 2),
            "children": [text_block("numbered_list_item", "b1", 3)],
        },
        text_block("paragraph", "between", 4),
        text_block("numbered_list_item", "c", 5),
    ]

    assert texts(raw) == ["1. a", "2. b", "1. b1", "between", "1. c"]


def test_f16_lists_may_start_elsewhere_and_count_in_letters() -> None:
    """The start and the style that an author chose are kept."""
    raw = [
        text_block("numbered_list_item", "x", 1, list_start_index=5, list_format="numbers"),
        text_block("numbered_list_item", "y", 2, list_start_index=5, list_format="numbers"),
        text_block("paragraph", "-", 3),
        text_block("numbered_list_item", "z", 4, list_start_index=28, list_format="letters"),
        text_block("paragraph", "-", 5),
        text_block("numbered_list_item", "v", 6, list_start_index=14, list_format="roman"),
    ]

    assert texts(raw)[0:2] == ["5. x", "6. y"]
    assert texts(raw)[3] == "ab. z"
    assert texts(raw)[5] == "xiv. v"


def test_f17_a_paragraph_between_list_items_stays() -> None:
    """Three blocks, three texts."""
    raw = [
        text_block("bulleted_list_item", "Item 1", 1),
        text_block("paragraph", "Limit: 81 EUR", 2),
        text_block("bulleted_list_item", "Item 2", 3),
    ]

    assert texts(raw) == ["- Item 1", "Limit: 81 EUR", "- Item 2"]


def test_f18_the_runs_of_a_code_block_are_joined_as_they_are() -> None:
    """No blanks, no marks, no links inside the fence."""
    runs = [
        run("curl "),
        run("https://intranet.example/a", href="https://intranet.example/a"),
        run("?b=1", bold=True),
    ]

    found = only(block("code", rich_text=runs, caption=[], language="bash"))

    assert found.kind is BlockKind.CODE
    assert found.text == "```bash\ncurl https://intranet.example/a?b=1\n```"


@pytest.mark.parametrize("code", ["```\ninner\n```", "`````", "a ```` b", "```"])
def test_c16_u17_a_fence_inside_the_code_does_not_end_it(code: str) -> None:
    """The fence is longer than any run of backticks within."""
    found = only(block("code", rich_text=[run(code)], language="plain text"))

    (fence,) = [token for token in MARKDOWN.parse(found.text) if token.type == "fence"]
    assert fence.content == code + "\n"


def test_code_keeps_its_indentation_and_its_caption_is_text() -> None:
    """Leading blanks matter in code; what stands under it is prose."""
    found = render_blocks(
        [block("code", 7, rich_text=[run("  if x:\n    y")], caption=[run("An example")], language="python")]
    ).blocks

    assert [one.text for one in found] == ["```python\n  if x:\n    y\n```", "An example"]
    assert {one.id for one in found} == {an_id(7)}


@pytest.mark.parametrize("kind", ["image", "video", "audio", "file", "pdf"])
def test_f19_not13_no_signed_address_is_kept(kind: str) -> None:
    """Uploaded files leave their name and caption only."""
    raw = block(
        kind,
        type="file",
        file={"url": "https://files.example/a.png?X-Amz-Signature=abc&X-Amz-Expires=3600"},
        caption=[run("Floor plan")],
        name="plan.png",
    )

    (text,) = texts([raw])

    assert "Floor plan" in text
    assert "plan.png" in text
    assert "files.example" not in text
    assert "Signature" not in text


def test_external_files_are_linked_and_unnamed_ones_named_by_their_address() -> None:
    """What lies outside Notion can be linked to."""
    raw = [
        block("image", type="external", external={"url": "https://a.example/p.png"}, caption=[run("Plan")]),
        block("pdf", type="file", file={"url": "https://files.example/x/rules.pdf?X-Amz-Signature=1"}),
        block("image", type="file", file={"url": "https://files.example/x/image.png"}),
    ]

    assert texts(raw) == ["[Plan](https://a.example/p.png)", "rules.pdf"]


@pytest.mark.parametrize("kind", ["child_page", "child_database"])
def test_u6_sy9_child_documents_are_links_and_never_copied(kind: str) -> None:
    """Even if their blocks are given, the parent holds a link only."""
    raw = {
        **block(kind, 0xAB, title="Berlin"),
        "has_children": True,
        "children": [text_block("paragraph", "secret body", 2)],
    }
    known = {PageId(an_id(0xAB)): Target("Berlin Office", "https://app.notion.com/p/berlin")}

    assert texts([raw]) == [f"[Berlin](page:{an_id(0xAB)})"]
    (found,) = resolve_blocks(render_blocks([raw]).blocks, known.get)
    assert (found.text, found.children) == ("[Berlin Office](https://app.notion.com/p/berlin)", ())


def test_sy11_every_other_type_keeps_its_text() -> None:
    """To-dos, toggles, quotes, callouts, equations, bookmarks, links and headings of level four."""
    raw = [
        text_block("to_do", "done", 1, checked=True),
        text_block("to_do", "open", 2, checked=False),
        text_block("toggle", "more", 3),
        text_block("quote", "one\ntwo", 4),
        text_block("callout", "careful", 5, icon={"type": "emoji", "emoji": "⚠️"}),
        text_block("callout", "own", 6, icon={"type": "custom_emoji", "custom_emoji": {"name": "bufo"}}),
        block("equation", 7, expression="a\n= b"),
        block("bookmark", 8, url="https://a.example", caption=[run("A site")]),
        block("embed", 9, url="https://b.example", caption=[]),
        block("link_preview", 10, url="https://c.example"),
        block("link_to_page", 11, type="page_id", page_id=an_id(0xC)),
        text_block("heading_4", "Small", 12),
        text_block("template", "Add a day", 13),
        block("meeting_notes", 14, title=[run("Weekly")], status="notes_ready"),
        block("transcription", 15, title=[run("Daily")]),
        block("divider", 16),
        block("breadcrumb", 17),
        block("table_of_contents", 18, color="default"),
    ]

    assert texts(raw) == [
        "- [x] done",
        "- [ ] open",
        "- more",
        "> one\n> two",
        "> ⚠️ careful",
        "> :bufo: own",
        "$$ a = b $$",
        "[A site](https://a.example)",
        "https://b.example",
        "https://c.example",
        f"[Untitled](page:{an_id(0xC)})",
        "**Small**",
        "Add a day",
        "Weekly",
        "Daily",
    ]


def test_sy10_synced_blocks_and_templates_show_their_children_in_place() -> None:
    """A container without text of its own changes neither order nor depth."""
    raw = [
        block("synced_block", 1, synced_from=None, children=[text_block("bulleted_list_item", "shared", 2)]),
        block("tab", 3, children=[text_block("paragraph", "First tab", 4)]),
    ]

    assert [(one.text, depth) for one, depth in walk(render_blocks(raw).blocks) if one.text] == [
        ("- shared", 0),
        ("First tab", 0),
    ]


def test_sy11_nested_lists_keep_their_depth() -> None:
    """Depth is in the tree, indentation is not in the text."""
    raw = {
        **text_block("bulleted_list_item", "outer", 1),
        "children": [
            {
                **text_block("bulleted_list_item", "middle", 2),
                "children": [text_block("to_do", "inner", 3, checked=False)],
            }
        ],
    }

    assert [(one.text, depth) for one, depth in walk(render_blocks([raw]).blocks)] == [
        ("- outer", 0),
        ("- middle", 1),
        ("- [ ] inner", 2),
    ]


def test_c17_items_and_quotes_hold_no_hidden_structure() -> None:
    """A bullet whose text looks like a heading is a bullet with text."""
    assert texts([text_block("bulleted_list_item", "# item")]) == ["- \\# item"]
    assert "<h1" not in MARKDOWN.render(texts([text_block("quote", "# quoted")])[0])


def test_c10_a_divider_never_underlines_the_paragraph_above() -> None:
    """A divider is no text, so nothing can become a heading by it."""
    assert texts([text_block("paragraph", "Sub"), block("divider"), text_block("paragraph", "more")]) == [
        "Sub",
        "more",
    ]


def test_every_block_keeps_its_id() -> None:
    """Ids are canonical, whatever form the API used (SY26)."""
    raw = {**text_block("paragraph", "x"), "id": an_id(0xBEEF).replace("-", "").upper()}

    assert only(raw).id == an_id(0xBEEF)


def test_f21_blocks_in_the_trash_are_left_out() -> None:
    """Deleted blocks are not content."""
    assert texts([{**text_block("paragraph", "old"), "in_trash": True}]) == []
    assert texts([{**text_block("paragraph", "old"), "in_trash": None, "archived": True}]) == []


def test_f8_mentions_of_nameless_users_do_not_lose_the_block() -> None:
    """A guest without a name costs no paragraph."""
    nameless = mention("user", {"object": "user", "id": an_id(1)}, "@Anonymous")

    assert texts([block("paragraph", rich_text=[run("Ask "), nameless])]) == ["Ask @Anonymous"]


def squeezed(text: str) -> str:
    """Without white space and without backslashes, which is all that Markdown changes in a text."""
    return re.sub(r"[\s\\]", "", text)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(PAGES)
def test_not11_every_plain_text_survives(raw: list[Object]) -> None:
    """Nothing that a person can read in Notion is missing in our blocks."""
    shown = (
        re.sub("^> ?", "", one.text, flags=re.MULTILINE) if one.kind is BlockKind.QUOTE else one.text
        for one, _ in walk(render_blocks(raw).blocks)
    )
    output = squeezed("\n".join(shown))

    missing = [text for text in plain_texts(raw) if squeezed(text) not in output]

    assert missing == []


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(broken(PAGES))
def test_f9_c20_not10_no_json_crashes_the_rendering(raw: Any) -> None:
    """Dropped fields, wrong types and junk at any place raise nothing."""
    rendered = render_blocks(raw if isinstance(raw, list) else [raw])

    json.dumps([one.text for one, _ in walk(rendered.blocks)]).encode()


def test_not11_the_two_properties_above_see_every_documented_type() -> None:
    """The 37 types of the official typings and one that does not exist, each once."""
    assert Counter(Counter(ALL_TYPES).values()) == {1: 38}
