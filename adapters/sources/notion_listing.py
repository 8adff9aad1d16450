"""Raw objects to listing entries with resolved parents: what is shared, where it hangs, in which order."""

import logging
from collections.abc import Awaitable, Collection, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

from adapters.sources.notion_api import NotionApi
from adapters.sources.notion_files import property_files
from adapters.sources.notion_json import (
    Json,
    as_list,
    as_mapping,
    as_text,
    is_gone,
    page_id,
    type_of,
)
from adapters.sources.notion_properties import Schema, unfinished_properties
from adapters.sources.notion_refs import database_ref, page_ref, parent_of
from core.domain.documents import ObjectType, PageRef
from core.domain.files import Attachment
from core.domain.ids import PageId
from core.errors import NotFoundError, TemporaryError, UnreadableError

_logger = logging.getLogger("footnote.notion")

MAX_CLIMB = 100
"""Blocks between a page and the page that holds it; more is a cycle."""

_Asked = TypeVar("_Asked")


class Catalogue:
    """Remembers what was seen of the workspace, so that a parent or a schema is asked for once.

    ``homes`` maps a block (of which a child page is one) to the page it stands on; ``databases`` maps a data
    source to its database; ``absent`` are ids that gave 404 in this listing, or are forbidden to us.
    """

    def __init__(self, api: NotionApi) -> None:
        self._api = api
        self._homes: dict[str, PageId] = {}
        self._databases: dict[PageId, PageId] = {}
        self._schemas: dict[PageId, tuple[object, Schema]] = {}
        self._long_values: dict[tuple[PageId, object], Json] = {}
        self.parents: dict[PageId, PageId | None] = {}
        self._files: dict[PageId, tuple[Attachment, ...]] = {}
        self.absent: set[PageId] = set()
        self._forbidden: dict[PageId, UnreadableError] = {}
        self._failing: dict[str, TemporaryError] | None = None

    def begin_listing(self, *, anew: bool = True) -> None:
        """What cannot be had for now is waited for once until `end_listing`, however many objects need it.

        ``anew``: what was not shared is asked for again.
        """
        self._failing = {}
        if anew:
            self.absent.clear()
            self.parents.clear()
            self._forbidden.clear()

    def end_listing(self) -> None:
        """From now on everything is asked for whenever it is needed."""
        self._failing = None

    async def _waited_once(self, identifier: str, asking: Awaitable[_Asked]) -> _Asked:
        """The answer; within one listing the trouble that one object makes is raised again at once."""
        try:
            return await asking
        except TemporaryError as error:
            if self._failing is not None:
                self._failing[identifier] = error
            raise

    def _raise_known(self, identifier: str) -> None:
        if self._failing and (error := self._failing.get(identifier)) is not None:
            raise error

    # --- Entries ---------------------------------------------------------------------------------------

    async def entry(self, held: Json) -> PageRef | None:
        """A page or database object as an entry; null for what is in the trash or has no id.

        The parent is named even if it is not shared; `check_parent` tells.
        """
        if is_gone(held) or held.get("object") not in {"page", "database"}:
            return None
        parent_id = await self._parent(held)
        if held.get("object") == "database":
            ref = database_ref(held, parent_id=parent_id)
        else:
            ref = page_ref(
                await self._completed(held), parent_id=parent_id, schema=await self._schema_of(held)
            )
        if ref is not None:
            self.parents[ref.id] = parent_id
            if files := property_files(held):
                self._files[ref.id] = files
            else:
                self._files.pop(ref.id, None)
        return ref

    async def files(self, ref: PageRef) -> tuple[Attachment, ...]:
        """Files in the properties of a row, as its entry had them; asked for where there was no entry."""
        if ref.object_type is not ObjectType.ROW:
            return ()
        if ref.id not in self.parents:
            return property_files(await self._api.page(ref.id))
        return self._files.get(ref.id, ())

    async def database(self, identifier: PageId) -> tuple[PageRef | None, tuple[PageId, ...]]:
        """A database with its data sources; a linked view leads to the database it shows (F5).

        Raises:
            NotFoundError, UnreadableError: it cannot be had.
        """
        for _ in range(2):
            held = await self._api.database(identifier)
            sources = [page_id(as_mapping(one).get("id")) for one in as_list(held.get("data_sources"))]
            found = [one for one in sources if one is not None]
            owners = [await self.database_of(one) for one in found]
            strangers = [owner for owner in owners if owner not in {None, identifier}]
            if not strangers or identifier in owners or strangers[0] is None:
                return await self.entry(held), tuple(found)
            identifier = strangers[0]
        return None, ()

    def remember_data_source(self, held: Json) -> PageId | None:
        """Note schema and database of a data source object; its database's id."""
        identifier = page_id(held.get("id"))
        kind, parent = parent_of(held)
        if identifier is None:
            return None
        self._schemas[identifier] = (held.get("last_edited_time"), as_mapping(held.get("properties")))
        if kind == "database_id" and parent:
            self._databases[identifier] = PageId(parent)
        return self._databases.get(identifier)

    def remember_home(self, documents: Iterable[PageId], home: PageId) -> None:
        """Note on which page child documents stand."""
        self._homes.update(dict.fromkeys(documents, home))

    async def database_of(self, data_source: PageId) -> PageId | None:
        """The database of a data source, asked for once; null where it is not shared."""
        if data_source not in self._databases and data_source not in self.absent:
            self._raise_known(data_source)
            try:
                held = await self._waited_once(data_source, self._api.data_source(data_source))
                self.remember_data_source(held)
            except (NotFoundError, UnreadableError):
                self.absent.add(data_source)
        return self._databases.get(data_source)

    async def _schema_of(self, held: Json) -> Schema | None:
        kind, parent = parent_of(held)
        if kind != "data_source_id" or not parent:
            return None
        await self.database_of(PageId(parent))
        known = self._schemas.get(PageId(parent))
        return known[1] if known else None

    async def _completed(self, held: Json) -> Json:
        """The page with all entries of properties that the object holds 25 of (NOT-14)."""
        unfinished = unfinished_properties(held)
        identifier = page_id(held.get("id"))
        if not unfinished or identifier is None:
            return held
        properties = dict(as_mapping(held.get("properties")))
        for name, property_id in unfinished:
            key = (identifier, (property_id, as_text(held.get("last_edited_time"))))
            if key not in self._long_values:
                kind = type_of(as_mapping(properties[name]))
                try:
                    items = [
                        item.get(kind) async for item in self._api.property_items(identifier, property_id)
                    ]
                except (NotFoundError, UnreadableError) as error:
                    # The 25 that the object holds are no reason to have nothing of the page.
                    _logger.warning("A property of %s is left as its page shows it: %s", identifier, error)
                    continue
                self._long_values[key] = {"type": kind, kind: items}
            properties[name] = self._long_values[key]
        return {**held, "properties": properties}

    # --- Parents ---------------------------------------------------------------------------------------

    async def _parent(self, held: Json) -> PageId | None:
        """The nearest page or database above, whatever lies between (U10)."""
        kind, identifier = parent_of(held)
        if kind == "block_id":
            own = page_id(held.get("id"))
            return (self._homes.get(own) if own else None) or await self._home_of(identifier)
        if kind == "data_source_id":
            named = page_id(as_mapping(held.get("parent")).get("database_id"))
            return named or await self.database_of(PageId(identifier))
        return PageId(identifier) if kind in {"page_id", "database_id"} and identifier else None

    async def _home_of(self, block: str) -> PageId | None:
        """Climb from a block to its page; null where a block on the way is not shared."""
        climbed: list[str] = []
        home: PageId | None = None
        while block and block not in climbed and len(climbed) < MAX_CLIMB:
            if block in self._homes:
                home = self._homes[block]
                break
            climbed.append(block)
            self._raise_known(block)
            try:
                kind, above = parent_of(await self._waited_once(block, self._api.block(block)))
            except (NotFoundError, UnreadableError):
                break
            if kind != "block_id":
                home = PageId(above) if above else None
                break
            block = above
        if home is not None:
            self._homes.update(dict.fromkeys(climbed, home))
        return home

    async def retrieve(self, identifier: PageId) -> Json | None:
        """A page or database object by its id; null if neither is shared.

        Raises:
            UnreadableError: it is there, but not for us.
        """
        refused: UnreadableError | None = None
        for fetch in (self._api.page, self._api.database):
            try:
                return await fetch(identifier)
            except NotFoundError:
                continue
            except UnreadableError as error:
                refused = error
        if refused is not None:
            raise refused
        return None

    async def shared(self, identifier: PageId) -> PageRef | None:
        """The entry of something that others hang below; null if it is not there for us.

        Raises:
            TemporaryError: nobody can tell now.
        """
        self._raise_known(identifier)
        try:
            ref = await self._waited_once(identifier, self._entry_of(identifier))
        except NotFoundError:
            ref = None
        except UnreadableError as error:
            self._forbidden[identifier] = error
            ref = None
        if ref is None:
            self.absent.add(identifier)
        return ref

    async def _entry_of(self, identifier: PageId) -> PageRef | None:
        held = await self.retrieve(identifier)
        if held is None or is_gone(held):
            return None
        if held.get("object") == "database":
            return (await self.database(identifier))[0]
        return await self.entry(held)

    async def path(self, identifier: PageId) -> tuple[PageId, ...]:
        """The page and all that is above it, as far as it is shared; asks for what was never seen (F29)."""
        path: list[PageId] = []
        here: PageId | None = identifier
        while here is not None and here not in path and len(path) < MAX_CLIMB:
            path.append(here)
            if here not in self.parents and here not in self.absent:
                await self._see(here)
            here = self.parents.get(here)
        return tuple(path)

    async def is_below(self, identifier: PageId, roots: Collection[PageId]) -> bool:
        """Whether the page is one of the roots or hangs below one.

        Raises:
            UnreadableError, TemporaryError: something above it cannot be had, so nobody can tell.
        """
        path = await self.path(identifier)
        if not path or not set(path).isdisjoint(roots):
            return bool(path)
        if (error := self._forbidden.get(path[-1])) is not None:
            raise error
        return False

    async def _see(self, identifier: PageId) -> None:
        self._raise_known(identifier)
        try:
            held = await self._waited_once(identifier, self.retrieve(identifier))
        except UnreadableError as error:
            self._forbidden[identifier] = error
            held = None
        if held is None or is_gone(held):
            self.absent.add(identifier)
            return
        self.parents[identifier] = await self._parent(held)

    async def with_shared_parent(self, ref: PageRef) -> PageRef:
        """The entry without a parent that nobody shared with us (F29); one that cannot be had now stays."""
        if ref.parent_id is None:
            return ref
        with suppress(TemporaryError):
            await self.path(ref.parent_id)
        return replace(ref, parent_id=None) if ref.parent_id in self.absent else ref
