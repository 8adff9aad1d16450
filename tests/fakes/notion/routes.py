"""The endpoints, and what a request to each may contain.

Written from the official OpenAPI document and typings: a key that is not listed is refused, as
Notion does, and so is a value of another type. Writing endpoints exist and refuse with 403: the
product only reads, and the integration of the stand-in has no right to change anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.notion.errors import ApiError, not_so
from tests.fakes.notion.paging import MAX_PAGE
from tests.fakes.notion.records import dashed
from tests.fakes.notion.richtext import Json

Check = Callable[[str, Any], None]


def _string(place: str, value: Any) -> None:
    if not isinstance(value, str):
        raise not_so(place, "a string or `undefined`", value)


def _boolean(place: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise not_so(place, "a boolean or `undefined`", value)


def _page_size(place: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise not_so(place, "a number or `undefined`", value)
    if value > MAX_PAGE:
        raise not_so(place, f"≤ `{MAX_PAGE}`", value)
    if value < 1:
        raise not_so(place, "≥ `1`", value)


def _one_of(*allowed: str) -> Check:
    words = " or ".join(f'`"{word}"`' for word in allowed)

    def check(place: str, value: Any) -> None:
        if value not in allowed:
            raise not_so(place, words, value)

    return check


def _object(required: dict[str, Check], optional: dict[str, Check] | None = None) -> Check:
    known = {**required, **(optional or {})}

    def check(place: str, value: Any) -> None:
        if not isinstance(value, dict):
            raise not_so(place, "an object or `undefined`", value)
        for key in required:
            if key not in value:
                raise not_so(f"{place}.{key}", "defined", ...)
        for key, inner in value.items():
            if key not in known:
                raise not_so(f"{place}.{key}", "not present", inner)
            known[key](f"{place}.{key}", inner)

    return check


def _search_filter(place: str, value: Any) -> None:
    if isinstance(value, dict) and "in_trash" in value and not {"property", "value"} & set(value):
        _object({"in_trash": _boolean})(place, value)
        return
    required = {"property": _one_of("object"), "value": _one_of("page", "data_source")}
    _object(required, {"in_trash": _boolean})(place, value)


def _search_sort(place: str, value: Any) -> None:
    if isinstance(value, dict) and "property" in value:
        _object({"property": _one_of("relevance")})(place, value)
        return
    _object({"direction": _DIRECTION, "timestamp": _one_of("last_edited_time")})(place, value)


def _filter(place: str, value: Any) -> None:
    if not isinstance(value, dict):
        raise not_so(place, "an object or `undefined`", value)
    if not value:
        raise not_so(f"{place}.or", "defined", ...)


def _sorts(place: str, value: Any) -> None:
    if not isinstance(value, list):
        raise not_so(place, "an array or `undefined`", value)
    for index, item in enumerate(value):
        by_time = isinstance(item, dict) and "timestamp" in item
        key, check = ("timestamp", _TIMES) if by_time else ("property", _string)
        _object({key: check, "direction": _DIRECTION})(f"{place}[{index}]", item)


_DIRECTION = _one_of("ascending", "descending")
_TIMES = _one_of("created_time", "last_edited_time")
_PAGED: dict[str, Check] = {"start_cursor": _string, "page_size": _page_size}
_MANY = "filter_properties"  # may stand several times in a query


@dataclass(frozen=True, slots=True)
class Route:
    """One endpoint; ``name`` is the method of ``Api`` that answers it, empty for a refused write."""

    method: str
    template: str
    name: str = ""
    right: str = "read_content"
    query: dict[str, Check] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    body: dict[str, Check] | None = None

    @property
    def key(self) -> str:
        """What requests are counted by, for example ``GET /v1/pages/{page_id}``."""
        return f"{self.method} {self.template}"

    def match(self, path: str) -> dict[str, str] | None:
        """The parameters in a path, None if it is another endpoint's."""
        pattern = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", self.template)
        found = re.fullmatch(pattern, path)
        return found.groupdict() if found else None


SEARCH = "POST /v1/search"
CHILDREN = "GET /v1/blocks/{block_id}/children"
BLOCK = "GET /v1/blocks/{block_id}"
PAGE = "GET /v1/pages/{page_id}"
PROPERTY = "GET /v1/pages/{page_id}/properties/{property_id}"
MARKDOWN = "GET /v1/pages/{page_id}/markdown"
QUERY = "POST /v1/data_sources/{data_source_id}/query"
DATA_SOURCE = "GET /v1/data_sources/{data_source_id}"
DATABASE = "GET /v1/databases/{database_id}"
USERS = "GET /v1/users"
USER = "GET /v1/users/{user_id}"
ME = "GET /v1/users/me"
COMMENTS = "GET /v1/comments"
FILE = "GET /files/{file_id}/{name}"

_WRITES = (
    ("PATCH", "/v1/blocks/{block_id}/children"),
    ("PATCH", "/v1/blocks/{block_id}"),
    ("DELETE", "/v1/blocks/{block_id}"),
    ("POST", "/v1/pages"),
    ("PATCH", "/v1/pages/{page_id}"),
    ("POST", "/v1/pages/{page_id}/move"),
    ("PATCH", "/v1/pages/{page_id}/markdown"),
    ("POST", "/v1/databases"),
    ("PATCH", "/v1/databases/{database_id}"),
    ("POST", "/v1/data_sources"),
    ("PATCH", "/v1/data_sources/{data_source_id}"),
    ("POST", "/v1/comments"),
    ("PATCH", "/v1/comments/{comment_id}"),
    ("DELETE", "/v1/comments/{comment_id}"),
    ("POST", "/v1/file_uploads"),
)

ROUTES = (
    Route("GET", "/v1/users/me", "me", right=""),
    Route("GET", "/v1/users", "users", right="read_users", query=_PAGED),
    Route("GET", "/v1/users/{user_id}", "user", right="read_users"),
    Route(
        "POST",
        "/v1/search",
        "search",
        body={**_PAGED, "query": _string, "sort": _search_sort, "filter": _search_filter},
    ),
    Route("GET", "/v1/blocks/{block_id}", "block"),
    Route("GET", "/v1/blocks/{block_id}/children", "children", query=_PAGED),
    Route("GET", "/v1/pages/{page_id}", "page", query={_MANY: _string}),
    Route(
        "GET",
        "/v1/pages/{page_id}/markdown",
        "markdown",
        query={"include_transcript": _one_of("true", "false")},
    ),
    Route("GET", "/v1/pages/{page_id}/properties/{property_id}", "property_item", query=_PAGED),
    Route("GET", "/v1/databases/{database_id}", "database"),
    Route("GET", "/v1/data_sources/{data_source_id}", "data_source"),
    Route(
        "GET",
        "/v1/data_sources/{data_source_id}/templates",
        "templates",
        query={**_PAGED, "name": _string},
    ),
    Route(
        "POST",
        "/v1/data_sources/{data_source_id}/query",
        "query",
        query={_MANY: _string},
        body={
            **_PAGED,
            "filter": _filter,
            "sorts": _sorts,
            "archived": _boolean,
            "in_trash": _boolean,
            "result_type": _one_of("page", "data_source"),
        },
    ),
    Route(
        "GET",
        "/v1/comments",
        "comments",
        right="read_comments",
        query={**_PAGED, "block_id": _string},
        required=("block_id",),
    ),
    Route("GET", "/v1/comments/{comment_id}", "comment", right="read_comments"),
    *(Route(method, template) for method, template in _WRITES),
)


def find(method: str, path: str) -> tuple[Route, dict[str, str]]:
    """The endpoint of a request and the parameters in its path. ApiError 400 if there is none."""
    for route in ROUTES:
        params = route.match(path) if route.method == method else None
        if params is not None:
            return route, params
    raise ApiError(400, "invalid_request_url", "Invalid request URL.")


def check_path(params: dict[str, str]) -> dict[str, str]:
    """Ids in their usual form. ApiError 400 for a malformed one."""
    checked = dict(params)
    for name, value in params.items():
        if name == "property_id":
            continue
        try:
            checked[name] = dashed(value)
        except ValueError:
            raise not_so(f"path.{name}", "a valid uuid", value) from None
    return checked


def check_query(route: Route, query: dict[str, list[str]]) -> Json:
    """The query string as values. ApiError 400 for unknown keys and wrong values."""
    values: Json = {}
    for key, given in query.items():
        if key not in route.query:
            raise not_so(f"query.{key}", "not present", given[0])
        if len(given) > 1 and key != _MANY:
            raise not_so(f"query.{key}", "a string or `undefined`", given)
        value: Any = given if key == _MANY else given[0]
        if key == "page_size" and re.fullmatch(r"-?\d+", given[0]):
            value = int(given[0])
        for item in value if isinstance(value, list) else [value]:
            route.query[key](f"query.{key}", item)
        values[key] = value
    for key in route.required:
        if key not in values:
            raise not_so(f"query.{key}", "defined", ...)
    return values


def check_body(route: Route, body: Any) -> Json:
    """The JSON body. ApiError 400 for unknown keys and wrong values."""
    if not isinstance(body, dict):
        raise not_so("body", "an object", body)
    allowed = route.body or {}
    for key, value in body.items():
        if key not in allowed:
            raise not_so(f"body.{key}", "not present", value)
        allowed[key](f"body.{key}", value)
    return body
