"""Database properties as readable names and values."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.sources.notion_properties import render_properties, title_of, unfinished_properties
from core.domain.ids import PageId
from core.domain.references import Target, resolve_properties
from tests.adapters.sources.notion_objects import Object, an_id, run
from tests.adapters.sources.notion_strategies import RICH_TEXTS, broken


def prop(kind: str, value: Any) -> Object:
    """One property value."""
    return {"id": "abcd", "type": kind, kind: value}


def rendered(kind: str, value: Any, **keywords: Any) -> str:
    """The value of a single property as text; nothing where it is left out."""
    pairs = render_properties({"properties": {"P": prop(kind, value)}}, **keywords)
    return dict(pairs).get("P", "")


USER = {"object": "user", "id": an_id(1), "name": "Ada"}
NAMELESS = {"object": "user", "id": an_id(1)}


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("rich_text", [run("plain "), run("bold", bold=True)], "plain **bold**"),
        ("select", {"id": "1", "name": "High", "color": "red"}, "High"),
        ("select", None, ""),
        ("status", {"id": "1", "name": "In progress", "color": "blue"}, "In progress"),
        ("multi_select", [{"name": "Go"}, {"name": "Redis"}], "Go, Redis"),
        ("people", [USER, {"object": "group", "id": an_id(2), "name": "Ops"}], "Ada, Ops"),
        ("people", [NAMELESS], ""),
        ("created_by", USER, "Ada"),
        ("last_edited_by", NAMELESS, ""),
        ("date", {"start": "2026-05-01", "end": None, "time_zone": None}, "2026-05-01"),
        ("date", {"start": "2026-05-01", "end": "2026-05-03", "time_zone": None}, "2026-05-01 → 2026-05-03"),
        (
            "date",
            {"start": "2026-05-01T09:00:00.000", "end": None, "time_zone": "Europe/Berlin"},
            "2026-05-01 09:00 (Europe/Berlin)",
        ),
        ("date", {"start": "2026-05-01T09:00:00.000+02:00", "end": None}, "2026-05-01 09:00 +02:00"),
        ("date", None, ""),
        ("created_time", "2026-05-01T09:00:00.000Z", "2026-05-01 09:00 UTC"),
        ("last_edited_time", "2026-05-01T09:00:43.405+00:00", "2026-05-01 09:00 UTC"),
        ("checkbox", True, "yes"),
        ("checkbox", False, "no"),
        ("number", 0, "0"),
        ("number", 12.5, "12.5"),
        ("number", 3.0, "3"),
        ("number", None, ""),
        ("url", "https://a.example", "https://a.example"),
        ("email", "a@b.example", "a@b.example"),
        ("phone_number", "+49 30 1", "+49 30 1"),
        ("unique_id", {"prefix": "INV", "number": 7}, "INV-7"),
        ("unique_id", {"prefix": None, "number": 7}, "7"),
        (
            "files",
            [{"name": "rules.pdf", "type": "file", "file": {"url": "https://x?X-Amz-Signature=1"}}],
            "rules.pdf",
        ),
        ("formula", {"type": "string", "string": "ok"}, "ok"),
        ("formula", {"type": "number", "number": 2.5}, "2.5"),
        ("formula", {"type": "boolean", "boolean": True}, "yes"),
        ("formula", {"type": "date", "date": {"start": "2026-05-01", "end": None}}, "2026-05-01"),
        ("formula", {"type": "unsupported", "unsupported": {}}, ""),
        ("rollup", {"type": "number", "number": 4, "function": "sum"}, "4"),
        ("rollup", {"type": "number", "number": 0.25, "function": "percent_checked"}, "25 %"),
        (
            "rollup",
            {"type": "date", "date": {"start": "2026-05-01"}, "function": "latest_date"},
            "2026-05-01",
        ),
        (
            "rollup",
            {
                "type": "array",
                "function": "show_original",
                "array": [prop("title", [run("A")]), prop("select", {"name": "B"}), prop("number", None)],
            },
            "A, B",
        ),
        ("rollup", {"type": "unsupported", "unsupported": {}, "function": "count"}, ""),
        ("button", {}, ""),
        ("place", {"lat": 1.0, "lon": 2.0, "name": "Harbour", "address": "Pier 3"}, "Harbour, Pier 3"),
        ("verification", {"state": "unverified", "verified_by": None, "date": None}, ""),
        (
            "verification",
            {"state": "verified", "verified_by": USER, "date": {"start": "2026-05-01", "end": None}},
            "verified by Ada, 2026-05-01",
        ),
        ("never_seen", "kept", "kept"),
        ("never_seen", {"x": [1]}, ""),
    ],
)
def test_sy15_every_type_is_readable(kind: str, value: Any, expected: str) -> None:
    """A property reads as a person would say it; empty ones are left out."""
    assert rendered(kind, value) == expected


@pytest.mark.parametrize(
    ("number", "style", "expected"),
    [
        (0.125, "percent", "12.5 %"),
        (0.07, "percent", "7 %"),
        (1200, "euro", "1200 €"),
        (9.5, "dollar", "$9.5"),
        (1234567, "number_with_commas", "1,234,567"),
        (1234.5, "number_with_commas", "1,234.5"),
        (5, "won", "5 KRW"),
        (5, "brand_new_format", "5"),
        (10**400, "", "1" + "0" * 400),
        (10**400, "percent", "1" + "0" * 402 + " %"),
    ],
)
def test_number_formats_come_from_the_data_source(number: float, style: str, expected: str) -> None:
    """The column knows whether 0.125 is a share or a price."""
    schema = {"P": {"type": "number", "number": {"format": style}}}

    assert rendered("number", number, schema=schema) == expected


def test_relations_show_the_titles_of_known_pages() -> None:
    """Ids of pages that nobody has seen are not shown."""
    known = {PageId(an_id(1)): Target("Launch", "https://www.notion.so/1")}
    page = {"properties": {"P": prop("relation", [{"id": an_id(2)}, {"id": an_id(1)}, {"id": an_id(3)}])}}

    properties = render_properties(page)

    assert resolve_properties(properties, known.get) == (("P", "[Launch](https://www.notion.so/1)"),)
    assert resolve_properties(properties, lambda _: None) == ()


def test_f7_the_title_is_found_by_its_type() -> None:
    """Whatever the property is called, and even if it is empty."""
    assert (
        title_of({"properties": {"Aufgabe": prop("title", [run("Tor "), run("streichen")])}})
        == "Tor streichen"
    )
    assert title_of({"properties": {"Aufgabe": prop("title", [])}}) == ""
    assert title_of({"title": [run("Database")]}) == "Database"
    assert title_of({}) == ""


def test_the_title_is_no_property_and_the_order_is_notions() -> None:
    """Names and values in the order of the API, the title elsewhere."""
    page = {
        "properties": {"B": prop("checkbox", True), "Name": prop("title", [run("T")]), "A": prop("number", 1)}
    }

    assert render_properties(page) == (("B", "yes"), ("A", "1"))


def test_not14_long_properties_are_known_to_be_unfinished() -> None:
    """A page object holds 25 references; the rest has to be asked for."""
    full = {
        "id": "r1",
        "type": "relation",
        "relation": [{"id": an_id(n)} for n in range(25)],
        "has_more": True,
    }
    page = {"properties": {"Full": full, "Short": prop("relation", [{"id": an_id(1)}])}}

    assert unfinished_properties(page) == (("Full", "r1"),)


PROPERTIES = st.dictionaries(
    st.text(max_size=8),
    st.one_of(
        RICH_TEXTS.map(lambda value: prop("rich_text", value)),
        st.sampled_from(
            [
                prop("people", [USER, NAMELESS]),
                prop("date", {"start": "2026-05-01", "end": None}),
                prop("rollup", {"type": "array", "function": "x", "array": [prop("title", [run("A")])]}),
                prop("formula", {"type": "number", "number": 1}),
                prop("files", [{"name": "a"}]),
                prop("verification", {"state": "verified", "verified_by": USER, "date": None}),
                prop("place", {"name": "x"}),
                prop("button", {}),
            ]
        ),
    ),
    max_size=4,
)


@settings(max_examples=300, deadline=None)
@given(broken(PROPERTIES.map(lambda held: {"properties": held})))
def test_f9_no_json_crashes_the_properties(page: Any) -> None:
    """Dropped fields, wrong types and junk at any place raise nothing, and the text can be stored."""
    held = page if isinstance(page, dict) else {"properties": page}

    for name, value in render_properties(held):
        f"{name}: {value}".encode()
    title_of(held).encode()
    unfinished_properties(held)
