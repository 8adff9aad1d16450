"""The answers of the endpoints, without HTTP: checked values in, JSON or ApiError out."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from tests.fakes.notion.behaviour import Behaviour
from tests.fakes.notion.blocks import SUPPORTED
from tests.fakes.notion.clock import to_minute
from tests.fakes.notion.errors import ApiError, not_found, not_so, validation, wrong_kind
from tests.fakes.notion.markdown import render
from tests.fakes.notion.paging import MAX_PAGE, Pager
from tests.fakes.notion.present import CURRENT, Presenter
from tests.fakes.notion.properties import property_id
from tests.fakes.notion.query import Query, relevance, title_matches
from tests.fakes.notion.records import Block, Comment, Database, DataSource, Page, Seen, dashed
from tests.fakes.notion.richtext import Json
from tests.fakes.notion.workspace import Workspace

T = TypeVar("T")
_KINDS: dict[type, str] = {Page: "page", Block: "block", Database: "database", DataSource: "data source"}
_LISTED = frozenset({"title", "rich_text", "relation", "people", "rollup"})
"""Property types whose property endpoint answers with a list."""
_NEWEST_FIRST = {"timestamp": "last_edited_time", "direction": "descending"}
_LISTINGS_KEPT = 8
_RELATIVE = re.compile("(past|this|next)_(week|month|year)")


@dataclass(frozen=True, slots=True)
class Call:
    """One checked request."""

    show: Presenter
    params: dict[str, str]
    query: Json
    body: Json


@dataclass(slots=True)
class Api:
    """Endpoints by the names that ``routes`` gives them."""

    workspace: Workspace
    behaviour: Behaviour
    pager: Pager
    _kept: dict[str, tuple[object, list[Any]]] = field(default_factory=dict)

    # -- users ------------------------------------------------------------------------------------

    def me(self, call: Call) -> Json:
        """The integration's own bot."""
        return call.show.user(self.workspace.bot)

    def users(self, call: Call) -> Json:
        """Members and bots; guests are not listed."""
        members = [user for user in self.workspace.users.values() if not user.guest]
        return self._list(call.query, members, lambda user: user.id, call.show.user, "user", "users")

    def user(self, call: Call) -> Json:
        """One member or bot."""
        user = self.workspace.users.get(call.params["user_id"])
        if user is None or user.guest:
            raise self._missing("user", call.params["user_id"])
        return call.show.user(user)

    # -- pages and blocks ---------------------------------------------------------------------------

    def page(self, call: Call) -> Json:
        """A page with its properties, in the trash or not."""
        return call.show.page(self._open(call.params["page_id"], Page), _only(call.query))

    def property_item(self, call: Call) -> Json:
        """One property of a page, in full: in pages of items where it may be long."""
        page = self._open(call.params["page_id"], Page)
        value = self._cell(page, call.params["property_id"])
        kind = value["type"]
        content = call.show.property_value(page, value)
        if kind not in _LISTED:
            return {"object": "property_item", "id": value["id"], "type": kind, kind: content}
        if kind == "rollup":
            items = content["array"] if content["type"] == "array" else []
            shown = [part for item in items for part in _items(value["id"], item["type"], item[item["type"]])]
            summary = {**content, **({"array": []} if content["type"] == "array" else {})}
        else:
            shown = _items(value["id"], kind, content)
            summary = {}
        numbered = list(enumerate(shown))
        scope = f"property/{page.id}/{value['id']}"
        answer = self._list(
            call.query, numbered, lambda item: str(item[0]), lambda item: item[1], "property_item", scope
        )
        answer["property_item"] = {"id": value["id"], "next_url": None, "type": kind, kind: summary}
        return answer

    def markdown(self, call: Call) -> Json:
        """A page, or a block that an earlier answer could not render, as enhanced Markdown."""
        if call.show.version < CURRENT:
            raise validation(f"This endpoint requires Notion-Version {CURRENT} or later.")
        identifier = call.params["page_id"]
        record = self._open_block(identifier)
        if isinstance(record, Database):
            raise wrong_kind(identifier, "database", "page")
        text, truncated, unknown = render(
            self.workspace,
            record,
            limit=self.behaviour.markdown_block_limit,
            transcript=call.query.get("include_transcript") == "true",
        )
        return {
            "object": "page_markdown",
            "id": record.id,
            "markdown": text,
            "truncated": truncated,
            "unknown_block_ids": unknown,
        }

    def block(self, call: Call) -> Json:
        """A block; pages and databases are blocks as well."""
        return call.show.block(self._open_block(call.params["block_id"]))

    def children(self, call: Call) -> Json:
        """The blocks directly below a page or block, never deeper."""
        holder = self._open_block(call.params["block_id"])
        listed = [self.workspace.record(key) for key in self._child_ids(holder)]
        blocks = [item for item in listed if isinstance(item, Page | Block | Database)]
        return self._list(
            call.query, blocks, lambda item: item.id, call.show.block, "block", f"children/{holder.id}"
        )

    def _child_ids(self, holder: Block | Page | Database) -> list[str]:
        if isinstance(holder, Database):
            return []
        below = holder.children
        if isinstance(holder, Block):
            if holder.type not in SUPPORTED:
                raise validation(f"Block type {holder.type} is not supported via the API.")
            source = holder.content.get("synced_from") if holder.type == "synced_block" else None
            if source and not self.behaviour.synced_copies_list_children:
                raise self._missing("block", holder.id)
            if source:
                below = self._open(source["block_id"], Block).children
        if self.behaviour.unshared_children_listed:
            return [key for key in below if self.workspace.knows(key)]
        return [key for key in below if self.workspace.reachable(key) and not self._gone(key)]

    def _gone(self, key: str) -> bool:
        """Trashed child pages leave their parent's listing."""
        return self.workspace.record(key).in_trash

    # -- databases ----------------------------------------------------------------------------------

    def database(self, call: Call) -> Json:
        """A container; one without a reachable data source is refused, as linked views often are."""
        database = self._open(call.params["database_id"], Database)
        if not any(self.workspace.reachable(key) for key in database.sources):
            raise validation(
                f"Database with ID {database.id} does not contain any data sources "
                "accessible by this API bot."
            )
        return call.show.database(database)

    def data_source(self, call: Call) -> Json:
        """A table's columns."""
        return call.show.data_source(self._open(call.params["data_source_id"], DataSource))

    def templates(self, call: Call) -> Json:
        """Page templates of a table; the stand-in has none."""
        self._open(call.params["data_source_id"], DataSource)
        return {"templates": [], "has_more": False, "next_cursor": None}

    def query(self, call: Call) -> Json:
        """Rows of a table, filtered and sorted, up to the cap."""
        source = self._open(call.params["data_source_id"], DataSource)
        asked = [
            repr(call.body.get(key)) for key in ("filter", "sorts", "in_trash", "archived", "result_type")
        ]
        scope = f"query/{source.id}/{asked}"
        rows = self._remember(scope, lambda: self._rows(source, call.body))
        only = _only(call.query)
        return self._capped(
            call.body, rows, lambda page: call.show.page(page, only), scope, self.behaviour.query_cap
        )

    def _rows(self, source: DataSource, body: Json) -> list[Page]:
        reader = Query(self.workspace, source.schema)
        trashed = bool(body.get("in_trash", body.get("archived", False)))
        wanted = reader.test(body["filter"]) if "filter" in body else None
        order = body.get("sorts", [])
        if body.get("result_type") == "data_source":
            return []
        rows = [self.workspace.pages[key] for key in source.rows if key in self.workspace.pages]
        rows = [row for row in rows if row.in_trash is trashed and self.workspace.reachable(row.id)]
        return reader.sorted([row for row in rows if wanted is None or wanted(row)], order)

    # -- search -------------------------------------------------------------------------------------

    def search(self, call: Call) -> Json:
        """Pages and data sources by title, as the index knows them; not everything need be there."""
        wanted, sort = call.body.get("filter", {}), call.body.get("sort", _NEWEST_FIRST)
        query = call.body.get("query", "")
        scope = f"search/{query}/{sorted(wanted.items())}/{sorted(sort.items())}"
        found = self._remember(scope, lambda: self._matching(query, wanted, sort))

        def show(item: tuple[Page | DataSource, Seen]) -> Json:
            record, seen = item
            shown = call.show.page(record) if isinstance(record, Page) else call.show.data_source(record)
            return {**shown, "last_edited_time": to_minute(seen.edited)}

        return self._capped(call.body, found, show, scope, self.behaviour.search_cap)

    def _matching(self, query: str, wanted: Json, sort: Json) -> list[tuple[Page | DataSource, Seen]]:
        found = self._indexed(wanted.get("value"), bool(wanted.get("in_trash")))
        matching = [(record, seen) for record, seen in found if title_matches(seen.title, query)]
        if sort.get("property") == "relevance" and query:
            return sorted(matching, key=lambda item: relevance(item[1].title, query))
        backwards = sort.get("direction", "descending") == "descending"
        return sorted(matching, key=lambda item: (to_minute(item[1].edited), item[0].id), reverse=backwards)

    def _indexed(self, kind: str | None, in_trash: bool) -> list[tuple[Page | DataSource, Seen]]:
        """What the index holds: with a lag, the state of some time ago."""
        horizon = self.workspace.clock.now() - self.behaviour.search_lag
        records: list[Page | DataSource] = []
        if kind != "data_source":
            records += self.workspace.pages.values()
        if kind != "page":
            records += self.workspace.sources.values()
        hits = []
        for record in records:
            seen = _state_at(record.seen, horizon)
            if seen is None or record.id in self.behaviour.search_omits:
                continue
            hidden = seen.in_trash is not in_trash and not self.behaviour.search_shows_trashed
            if not hidden and self.workspace.reachable(record.id):
                hits.append((record, seen))
        return hits

    # -- comments -----------------------------------------------------------------------------------

    def comments(self, call: Call) -> Json:
        """Open comments on one page or block, not on what lies below it."""
        try:
            identifier = dashed(call.query["block_id"])
        except ValueError:
            raise not_so("query.block_id", "a valid uuid", call.query["block_id"]) from None
        target = self._open_block(identifier)
        found = [item for item in self.workspace.comments.values() if item.parent.id == target.id]
        scope = f"comments/{target.id}"
        return self._list(call.query, found, lambda item: item.id, call.show.comment, "comment", scope)

    def comment(self, call: Call) -> Json:
        """One comment."""
        found: Comment | None = self.workspace.comments.get(call.params["comment_id"])
        if found is None or not self.workspace.reachable(found.parent.id):
            raise self._missing("comment", call.params["comment_id"])
        return call.show.comment(found)

    # -- inside -------------------------------------------------------------------------------------

    def _remember(self, scope: str, make: Callable[[], list[T]]) -> list[T]:
        """A listing, made anew only when the workspace, a switch or the time has changed."""
        held = self.behaviour
        state = (
            self.workspace.version,
            self.workspace.clock.now() if held.search_lag or _RELATIVE.search(scope) else None,
            frozenset(held.search_omits),
            held.search_lag,
            held.search_shows_trashed,
        )
        found = self._kept.get(scope)
        if found is None or found[0] != state:
            found = (state, make())
            self._kept[scope] = found
            while len(self._kept) > _LISTINGS_KEPT:
                self._kept.pop(next(iter(self._kept)))
        listing: list[T] = found[1]
        return listing

    def _open(self, identifier: str, wanted: type[T]) -> T:
        """The object, if the integration may see it and it is of the kind. ApiError 404 or 400."""
        label = _KINDS[wanted]
        if not self.workspace.reachable(identifier):
            raise self._missing(label, identifier)
        record = self.workspace.record(identifier)
        if not isinstance(record, wanted):
            raise wrong_kind(identifier, _KINDS[type(record)], label)
        return record

    def _open_block(self, identifier: str) -> Block | Page | Database:
        """As ``_open``, for endpoints that take pages and databases as blocks; a table is none."""
        if not self.workspace.reachable(identifier):
            raise self._missing("block", identifier)
        record = self.workspace.record(identifier)
        if isinstance(record, DataSource):
            raise self._missing("block", identifier)
        return record

    def _missing(self, kind: str, identifier: str) -> ApiError:
        return not_found(kind, identifier, self.workspace.bot.name or "")

    def _cell(self, page: Page, wanted: str) -> Json:
        for name, value in self.workspace.cells(page).items():
            known = value["id"]
            if wanted in (known, name, _decoded(known)) or wanted == property_id(value["type"], name):
                return value
        raise validation(f"Could not find property with name or id: {wanted}")

    def _capped(
        self, asked: Json, items: list[T], show: Callable[[T], Json], scope: str, cap: int | None
    ) -> Json:
        """A listing of pages and data sources that ends at a cap and says so."""
        capped = cap is not None and len(items) > cap
        kept = items[:cap] if capped else items
        answer = self._list(asked, kept, _name, show, "page_or_data_source", scope)
        first, last = "start_cursor" not in asked, not answer["has_more"]
        where = self.behaviour.request_status_on
        if capped and (where == "every" or (where == "first" and first) or (where == "last" and last)):
            reason = "query_result_limit_reached"
            answer["request_status"] = {"type": "incomplete", "incomplete_reason": reason}
        elif not capped and self.behaviour.request_status_when_complete:
            answer["request_status"] = {"type": "complete"}
        return answer

    def _list(
        self,
        asked: Json,
        items: Sequence[T],
        name: Callable[[T], str],
        show: Callable[[T], Json],
        kind: str,
        scope: str,
    ) -> Json:
        page, cursor = self.pager.cut(
            items,
            name,
            scope=scope,
            start_cursor=asked.get("start_cursor"),
            page_size=asked.get("page_size", MAX_PAGE),
        )
        return {
            "object": "list",
            "results": [show(item) for item in page],
            "next_cursor": cursor,
            "has_more": cursor is not None,
            "type": kind,
            kind: {},
        }


def _name(item: Any) -> str:
    record = item[0] if isinstance(item, tuple) else item
    return str(record.id)


def _items(identifier: str, kind: str, content: Any) -> list[Json]:
    """Property items of one value: texts, people and relations give one for each of their parts."""
    parts = content if kind in _LISTED else [content]
    return [{"object": "property_item", "id": identifier, "type": kind, kind: part} for part in parts]


def _only(query: Json) -> frozenset[str] | None:
    wanted = query.get("filter_properties")
    return frozenset([*wanted, *(_encoded(item) for item in wanted)]) if wanted else None


def _encoded(identifier: str) -> str:
    return identifier.replace(":", "%3A").replace("{", "%7B").replace("@", "%40")


def _decoded(identifier: str) -> str:
    return identifier.replace("%3A", ":").replace("%7B", "{").replace("%40", "@")


def _state_at(states: list[Seen], horizon: datetime) -> Seen | None:
    """The last state that the index had at that time; None if it did not know the object yet."""
    return next((state for state in reversed(states) if state.at <= horizon), None)
