"""Random pages of official shape: every block type, every kind of rich text, and broken ones."""

from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from tests.adapters.sources.notion_objects import Object, an_id, run

WORDS = st.text(
    alphabet=st.one_of(
        st.characters(blacklist_categories=("Cs", "Cc")),
        st.sampled_from("#*_`~[]()<>|\\-+.:1\n "),
    ),
    min_size=1,
    max_size=25,
)
IDS = st.integers(1, 2**64).map(an_id)
URLS = st.sampled_from(
    [
        "https://a.example/x?y=1",
        "https://a.example/(x)",
        "/0123456789abcdef0123456789abcdef",
        "mailto:a@b.example",
        "https://files.example/f.pdf?X-Amz-Signature=abc",
        "javascript:x",
    ]
)
FLAGS = st.fixed_dictionaries(
    {name: st.booleans() for name in ("bold", "italic", "strikethrough", "underline", "code")}
)


@st.composite
def text_items(draw: st.DrawFn) -> Object:
    """A text run, linked or not."""
    return run(draw(WORDS), href=draw(st.none() | URLS), **draw(FLAGS))


@st.composite
def mentions(draw: st.DrawFn) -> Object:
    """A mention of any documented kind, or of one nobody knows."""
    kind, held = draw(
        st.sampled_from(
            [
                ("user", {"object": "user", "id": an_id(1), "name": "Ada"}),
                ("user", {"object": "user", "id": an_id(1)}),
                ("page", {"id": an_id(2)}),
                ("database", {"id": an_id(3)}),
                ("date", {"start": "2026-05-01", "end": None, "time_zone": None}),
                ("link_preview", {"url": "https://a.example/1"}),
                ("link_mention", {"href": "https://a.example/2", "title": "Title"}),
                ("template_mention", {"type": "template_mention_user", "template_mention_user": "me"}),
                ("custom_emoji", {"id": an_id(4), "name": "bufo", "url": "https://a.example/e"}),
                ("never_seen", {"x": {}}),
            ]
        )
    )
    item = run(draw(WORDS), href=draw(st.none() | URLS), **draw(FLAGS))
    return {**item, "type": "mention", "mention": {"type": kind, kind: held}}


@st.composite
def equations(draw: st.DrawFn) -> Object:
    """An inline formula."""
    expression = draw(WORDS)
    return {**run(expression), "type": "equation", "equation": {"expression": expression}}


RICH_TEXTS = st.lists(st.one_of(text_items(), mentions(), equations()), max_size=4)

WITH_TEXT = (
    "paragraph",
    "heading_1",
    "heading_2",
    "heading_3",
    "heading_4",
    "bulleted_list_item",
    "numbered_list_item",
    "to_do",
    "toggle",
    "quote",
    "callout",
    "template",
    "never_seen",
)
WITHOUT_TEXT = ("column_list", "column", "synced_block", "tab", "breadcrumb", "table_of_contents", "divider")
MEDIA = ("image", "video", "audio", "file", "pdf")
WITH_URL = ("bookmark", "embed", "link_preview")
OTHERS = (
    "code",
    "equation",
    "table",
    "table_row",
    "child_page",
    "child_database",
    "link_to_page",
    "meeting_notes",
    "transcription",
    "unsupported",
)
ALL_TYPES = (*WITH_TEXT, *WITHOUT_TEXT, *MEDIA, *WITH_URL, *OTHERS)
"""Every block type of the official typings, 37 of them, and one that does not exist."""

HOLDS_CHILDREN = (*WITH_TEXT, *WITHOUT_TEXT, "meeting_notes", "transcription")


@st.composite
def payloads(draw: st.DrawFn, kind: str) -> Object:
    """What a block of this type holds."""
    if kind in WITH_TEXT:
        return {
            "rich_text": draw(RICH_TEXTS),
            "color": "default",
            "checked": draw(st.booleans()),
            "is_toggleable": draw(st.booleans()),
            "icon": draw(st.none() | st.just({"type": "emoji", "emoji": "💡"})),
        }
    if kind in MEDIA:
        held = draw(st.sampled_from(["external", "file"]))
        return {"type": held, held: {"url": draw(URLS)}, "caption": draw(RICH_TEXTS), "name": "plan.pdf"}
    if kind in WITH_URL:
        return {"url": draw(URLS), "caption": draw(RICH_TEXTS)}
    others: dict[str, st.SearchStrategy[Object]] = {
        "code": st.fixed_dictionaries(
            {
                "rich_text": RICH_TEXTS,
                "caption": RICH_TEXTS,
                "language": st.sampled_from(["python", "plain text"]),
            }
        ),
        "equation": st.fixed_dictionaries({"expression": WORDS}),
        "table": st.fixed_dictionaries(
            {"table_width": st.just(2), "has_column_header": st.booleans(), "has_row_header": st.booleans()}
        ),
        "table_row": st.fixed_dictionaries({"cells": st.lists(RICH_TEXTS, min_size=1, max_size=3)}),
        "child_page": st.fixed_dictionaries({"title": WORDS}),
        "child_database": st.fixed_dictionaries({"title": WORDS}),
        "link_to_page": st.just({"type": "page_id", "page_id": an_id(5)}),
        "meeting_notes": st.fixed_dictionaries({"title": RICH_TEXTS}),
        "transcription": st.fixed_dictionaries({"title": RICH_TEXTS}),
        "unsupported": st.just({"block_type": "button"}),
        "synced_block": st.just({"synced_from": None}),
    }
    return draw(others.get(kind, st.just({})))


@st.composite
def blocks(draw: st.DrawFn, depth: int = 3, kinds: tuple[str, ...] = ALL_TYPES) -> Object:
    """A block of any type with children where its type has them."""
    kind = draw(st.sampled_from(kinds))
    made: Object = {
        "object": "block",
        "id": draw(IDS),
        "type": kind,
        "in_trash": False,
        kind: draw(payloads(kind)),
    }
    if kind == "table":
        made["children"] = draw(st.lists(blocks(kinds=("table_row",)), min_size=1, max_size=3))
    elif depth and kind in HOLDS_CHILDREN:
        made["children"] = draw(st.lists(blocks(depth=depth - 1), max_size=2))
    made["has_children"] = bool(made.get("children"))
    return made


PAGES = st.lists(blocks(), min_size=1, max_size=4)


def plain_texts(value: Any) -> Iterator[str]:
    """Every ``plain_text``, formula and child title anywhere in the JSON."""
    if isinstance(value, dict):
        for name, held in value.items():
            if isinstance(held, str) and name in {"plain_text", "expression"}:
                yield held
            elif name in {"child_page", "child_database"} and isinstance(held, dict):
                yield held["title"]
            else:
                yield from plain_texts(held)
    elif isinstance(value, list):
        for held in value:
            yield from plain_texts(held)


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def broken(draw: st.DrawFn, sound: st.SearchStrategy[Any]) -> Any:
    """A value of official shape in which one to four places were dropped or replaced by anything."""
    value = draw(sound)
    for _ in range(draw(st.integers(1, 4))):
        value = _mutated(draw, value)
    return value


def _mutated(draw: st.DrawFn, value: Any) -> Any:
    if isinstance(value, dict) and value and draw(st.integers(0, 5)):
        name = draw(st.sampled_from(sorted(value)))
        if draw(st.integers(0, 3)) == 0:
            return {key: held for key, held in value.items() if key != name}
        return {**value, name: _mutated(draw, value[name])}
    if isinstance(value, list) and value and draw(st.integers(0, 5)):
        place = draw(st.integers(0, len(value) - 1))
        return [*value[:place], _mutated(draw, value[place]), *value[place + 1 :]]
    return draw(JUNK)
