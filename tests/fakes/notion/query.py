"""Filters and sorts of a data source's query, and the ranking of search."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any

from tests.fakes.notion.clock import parse
from tests.fakes.notion.errors import not_so, validation
from tests.fakes.notion.properties import property_id
from tests.fakes.notion.records import Page
from tests.fakes.notion.richtext import Json, plain
from tests.fakes.notion.workspace import Workspace

Test = Callable[[Page], bool]

_TEXTS = ("title", "rich_text", "url", "email", "phone_number")
_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "greater_than": operator.gt,
    "less_than": operator.lt,
    "greater_than_or_equal_to": operator.ge,
    "less_than_or_equal_to": operator.le,
}
_DATES: dict[str, Callable[[Any, Any], bool]] = {
    "equals": operator.eq,
    "before": operator.lt,
    "after": operator.gt,
    "on_or_before": operator.le,
    "on_or_after": operator.ge,
}
_SPANS = {
    "past_week": (-7, 0),
    "past_month": (-30, 0),
    "past_year": (-365, 0),
    "this_week": (-7, 7),
    "next_week": (0, 7),
    "next_month": (0, 30),
    "next_year": (0, 365),
}
MAX_FILTER_DEPTH = 2  # compound filters may nest two levels deep


class Query:
    """Reads the filter and the sorts of a request for the rows of one data source."""

    def __init__(self, workspace: Workspace, schema: dict[str, Json]) -> None:
        self._workspace = workspace
        self._schema = schema

    def test(self, spec: Json, place: str = "body.filter", depth: int = 0) -> Test:
        """A filter as a predicate. ApiError 400 for an empty or unknown one."""
        for word, combine in (("or", any), ("and", all)):
            if word in spec:
                if depth >= MAX_FILTER_DEPTH:
                    raise validation(f"body failed validation: {place} nests too deeply.")
                if not isinstance(spec[word], list):
                    raise not_so(f"{place}.{word}", "an array", spec[word])
                parts = [
                    self.test(part, f"{place}.{word}[{index}]", depth + 1)
                    for index, part in enumerate(spec[word])
                ]
                return _combined(combine, parts)
        if "timestamp" in spec:
            return self._timestamp(spec, place)
        if "property" in spec:
            return self._property(spec, place)
        raise not_so(f"{place}.or", "defined", ...)

    def sorted(self, pages: list[Page], sorts: list[Json]) -> list[Page]:
        """Rows in the asked order; the first sort counts most."""
        for spec in reversed(sorts):
            pages = sorted(pages, key=self._key(spec), reverse=spec["direction"] == "descending")
        return pages

    def _key(self, spec: Json) -> Callable[[Page], Any]:
        if "timestamp" in spec:
            field = "created" if spec["timestamp"] == "created_time" else "edited"
            return lambda page: _minute(getattr(page, field))
        name = self._column(spec["property"])
        return lambda page: self._rank(page, name)

    def _rank(self, page: Page, name: str) -> tuple[str, str]:
        value = self._workspace.cells(page)[name]
        content = value[value["type"]]
        if isinstance(content, int | float) and not isinstance(content, bool):
            return ("0", f"{content:030.6f}")
        return ("1", _words(value).casefold())

    def _column(self, wanted: str) -> str:
        for name, config in self._schema.items():
            if wanted in (name, config.get("id") or property_id(config["type"], name)):
                return name
        raise validation(f"Could not find property with name or id: {wanted}")

    def _timestamp(self, spec: Json, place: str) -> Test:
        kind = spec["timestamp"]
        if kind not in ("created_time", "last_edited_time"):
            raise not_so(f"{place}.timestamp", '`"created_time"` or `"last_edited_time"`', kind)
        if not isinstance(spec.get(kind), dict) or not spec[kind]:
            raise not_so(f"{place}.{kind}", "defined", spec.get(kind, ...))
        check = self._date(spec[kind], f"{place}.{kind}")
        field = "created" if kind == "created_time" else "edited"
        return lambda page: check(_minute(getattr(page, field)))

    def _property(self, spec: Json, place: str) -> Test:
        name = self._column(spec["property"])
        kind = self._schema[name]["type"]
        conditions = {key: value for key, value in spec.items() if key not in ("property", "type")}
        if list(conditions) != [kind]:
            found = next(iter(conditions), "nothing")
            raise validation(f"database property {kind} does not match filter {found}")
        condition = conditions[kind]
        if not isinstance(condition, dict) or len(condition) != 1:
            raise not_so(f"{place}.{kind}", "an object with one condition", condition)
        check = self._condition(kind, condition, f"{place}.{kind}")
        return lambda page: check(self._workspace.cells(page)[name])

    def _condition(self, kind: str, condition: Json, place: str) -> Callable[[Json], bool]:
        word, wanted = next(iter(condition.items()))
        if word in ("is_empty", "is_not_empty"):
            return lambda cell: _is_empty(cell) is (word == "is_empty")
        if kind in ("date", "created_time", "last_edited_time"):
            check = self._date(condition, place)
            return lambda cell: (moment := _moment(cell)) is not None and check(moment)
        if kind == "formula":
            inner = self._condition("rich_text" if word == "string" else word, wanted, f"{place}.{word}")
            return lambda cell: inner({"type": word, word: cell["formula"].get(word)})
        if word in _ORDER:
            compare = _ORDER[word]
            return lambda cell: (number := _number(cell)) is not None and compare(number, wanted)
        return _words_condition(kind, word, wanted, place)

    def _date(self, condition: Json, place: str) -> Callable[[datetime], bool]:
        word, wanted = next(iter(condition.items()))
        if word in _SPANS:
            low, high = (self._workspace.clock.now() + timedelta(days=days) for days in _SPANS[word])
            return lambda moment: low <= moment <= high
        if word not in _DATES:
            raise not_so(f"{place}.{word}", "not present", wanted)
        try:
            target = parse(wanted)
        except (TypeError, ValueError):
            raise not_so(f"{place}.{word}", "a valid ISO 8601 date string", wanted) from None
        compare = _DATES[word]
        if len(wanted) == len("2026-01-01"):
            return lambda moment: compare(moment.date(), target.date())
        return lambda moment: compare(moment, target)


def _combined(combine: Callable[[Iterable[bool]], bool], parts: list[Test]) -> Test:
    return lambda page: combine(part(page) for part in parts)


def _words_condition(kind: str, word: str, wanted: Any, place: str) -> Callable[[Json], bool]:
    if word in ("equals", "does_not_equal"):
        if kind in _TEXTS or kind in ("select", "status"):
            return lambda cell: (_words(cell) == wanted) is (word == "equals")
        return lambda cell: (_scalar(cell) == wanted) is (word == "equals")
    if word in ("contains", "does_not_contain"):
        return lambda cell: _contains(cell, str(wanted)) is (word == "contains")
    if word in ("starts_with", "ends_with") and kind in _TEXTS:
        return lambda cell: getattr(_words(cell), word.replace("_", ""))(wanted)
    raise not_so(f"{place}.{word}", "not present", wanted)


def _scalar(cell: Json) -> Any:
    content = cell[cell["type"]]
    return content.get("number") if isinstance(content, dict) and "number" in content else content


def _number(cell: Json) -> float | None:
    value = _scalar(cell)
    return value if isinstance(value, int | float) else None


def _words(cell: Json) -> str:
    content = cell[cell["type"]]
    if cell["type"] in ("title", "rich_text") and isinstance(content, list):
        return plain(content)
    if isinstance(content, dict):
        return str(content.get("name") or content.get("start") or content.get("string") or "")
    if isinstance(content, list):
        return " ".join(str(item.get("name") or item.get("id")) for item in content)
    return "" if content is None else str(content)


def _contains(cell: Json, wanted: str) -> bool:
    content = cell[cell["type"]]
    if isinstance(content, list) and cell["type"] not in ("title", "rich_text"):
        return any(wanted in (item.get("name"), item.get("id")) for item in content)
    return wanted.casefold() in _words(cell).casefold()


def _is_empty(cell: Json) -> bool:
    return cell[cell["type"]] in (None, [], "", {})


def _moment(cell: Json) -> datetime | None:
    content = cell[cell["type"]]
    if isinstance(content, dict):
        content = content.get("start")
    return parse(content) if isinstance(content, str) else None


def _minute(moment: datetime) -> datetime:
    return moment.replace(second=0, microsecond=0)


def title_matches(title: str, query: str) -> bool:
    """Search looks at titles only: every word of the query must stand in it, in any case."""
    folded = title.casefold()
    return all(word in folded for word in query.casefold().split())


def relevance(title: str, query: str) -> tuple[int, int, str]:
    """Best match first: the whole title, then its start, then the rest; shorter titles first."""
    folded, wanted = title.casefold(), query.casefold().strip()
    grade = 0 if folded == wanted else 1 if folded.startswith(wanted) else 2
    return (grade, len(folded), folded)
