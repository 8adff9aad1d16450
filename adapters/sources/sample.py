"""The workspace that ships with Footnote: the demo's pages, in the shape of Notion's API."""

import json
from collections.abc import AsyncIterator, Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable

from adapters.sources.notion_blocks import children_of, render_blocks
from adapters.sources.notion_json import Json, as_list, as_mapping, block_id, is_gone, page_id
from adapters.sources.notion_refs import database_blocks, database_ref, page_ref, parent_of
from core.domain.documents import Page, PageRef
from core.domain.ids import PageId
from core.errors import NotFoundError
from core.ports import Presence, Probe


class SampleSource:
    """A `PageSource` over a folder of JSON: ``workspace.json`` and ``pages/*.json`` with nested children."""

    def __init__(self, folder: Traversable | None = None) -> None:
        folder = folder or files("adapters.sources.sample_workspace")
        workspace = as_mapping(_read(folder / "workspace.json"))
        self._databases = _by_id(workspace.get("databases"))
        self._data_sources = _by_id(workspace.get("data_sources"))
        self._pages: dict[PageId, Json] = {}
        self._blocks: dict[PageId, list[Json]] = {}
        self._home_of_block: dict[str, PageId] = {}
        for file in sorted((folder / "pages").iterdir(), key=lambda one: one.name):
            if file.name.endswith(".json"):
                self._add(as_mapping(_read(file)))
        self._refs = dict(self._parents_first())

    def _add(self, document: Json) -> None:
        page = as_mapping(document.get("page"))
        identifier = page_id(page.get("id"))
        if identifier is None or is_gone(page):
            return
        self._pages[identifier] = page
        self._blocks[identifier] = list(as_list(document.get("blocks")))
        stack: list[object] = list(self._blocks[identifier])
        while stack:
            raw = as_mapping(stack.pop())
            if found := block_id(raw.get("id")):
                self._home_of_block[found] = identifier
            stack.extend(children_of(raw))

    async def list_pages(self) -> AsyncIterator[PageRef]:
        """Every page, parents before children."""
        for ref in self._refs.values():
            yield ref

    async def read(self, ref: PageRef) -> Page:
        """The page with its blocks.

        Raises:
            NotFoundError: the sample holds no such page.
        """
        if ref.id in self._databases:
            return Page(self._refs[ref.id], database_blocks(self._databases[ref.id]))
        if ref.id not in self._pages:
            raise NotFoundError(f"The sample workspace has no page {ref.id}.")
        return Page(self._refs[ref.id], render_blocks(self._blocks[ref.id]).blocks)

    async def probe(self, page_id: PageId) -> Probe:
        """Whether the sample holds the page."""
        ref = self._refs.get(page_id)
        return Probe(Presence.LIVE, ref) if ref else Probe(Presence.NOT_SHARED)

    def _parents_first(self) -> Iterator[tuple[PageId, PageRef]]:
        refs = dict(self._all_refs())
        done: set[PageId] = set()
        for start in refs:
            chain: list[PageId] = []
            here: PageId | None = start
            while here is not None and here in refs and here not in done and here not in chain:
                chain.append(here)
                here = refs[here].parent_id
            for identifier in reversed(chain):
                done.add(identifier)
                yield identifier, refs[identifier]

    def _all_refs(self) -> Iterator[tuple[PageId, PageRef]]:
        for database in self._databases.values():
            if ref := database_ref(database, parent_id=self._parent(database)):
                yield ref.id, ref
        for page in self._pages.values():
            schema = None
            kind, parent = parent_of(page)
            if kind == "data_source_id":
                schema = as_mapping(as_mapping(self._data_sources.get(PageId(parent))).get("properties"))
            parent_id = self._parent(page)
            if ref := page_ref(page, parent_id=parent_id, schema=schema):
                yield ref.id, ref

    def _parent(self, held: Json) -> PageId | None:
        kind, identifier = parent_of(held)
        if kind == "block_id":
            return self._home_of_block.get(identifier)
        if kind == "data_source_id":
            return self._parent_database(PageId(identifier))
        return PageId(identifier) if identifier else None

    def _parent_database(self, data_source: PageId) -> PageId | None:
        kind, identifier = parent_of(self._data_sources.get(data_source, {}))
        return PageId(identifier) if kind == "database_id" and identifier else None


def _read(file: Traversable) -> object:
    return json.loads(file.read_text(encoding="utf-8"))


def _by_id(held: object) -> dict[PageId, Json]:
    found = ((page_id(as_mapping(one).get("id")), as_mapping(one)) for one in as_list(held))
    return {identifier: one for identifier, one in found if identifier is not None and not is_gone(one)}
