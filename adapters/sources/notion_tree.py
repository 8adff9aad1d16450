"""The blocks of one page, fetched level by level; never a truncated page without saying so."""

import asyncio
from collections import Counter
from collections.abc import Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from adapters.sources.notion_api import NotionApi
from adapters.sources.notion_blocks import MEETING_PART, OWN_PAGES, is_known_type
from adapters.sources.notion_json import Json, as_mapping, block_id, is_gone, page_id, payload, type_of
from core.domain.ids import PageId
from core.errors import NotFoundError, UnavailableError, UnreadableError

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class TreeLimits:
    """How much of one page is read: levels of blocks and blocks in all, far above what people write (SY12).

    What lies beyond is left out, counted and logged; every level costs at least one request.
    """

    depth: int = 2000
    blocks: int = 100_000


@dataclass(slots=True)
class Tree:
    """The raw blocks of a page, each with its children under ``children``.

    ``documents`` are the pages and databases found in it. ``skipped`` counts blocks whose children could not
    be had, by reason. ``has_gone``: some lay in the trash, which a page shows while it lies there itself.
    """

    blocks: list[dict[str, Any]] = field(default_factory=list)
    documents: list[PageId] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    has_gone: bool = False


@dataclass(slots=True)
class _Node:
    """A block whose children are to be fetched, from the block ``source`` (itself, or what it mirrors)."""

    raw: dict[str, Any]
    source: str
    depth: int
    parent: "_Node | None"
    is_copied: bool = False
    """Whether it shows what stands elsewhere: pages in there are none of this page's."""


_Fetched = list[dict[str, Any]] | NotFoundError | UnreadableError
"""The children of a block, or why Notion does not give them."""


async def fetch_tree(api: NotionApi, page: PageId, limits: TreeLimits) -> Tree:
    """All blocks of a page.

    Left out on purpose: children of types the API does not serve (F4), copies of synced blocks whose original
    is not shared (F3), what lies beyond the limits.

    Raises:
        NotFoundError: the page itself is gone.
        UnavailableError: some block could not be read; the page must not be stored without it.
    """
    tree = Tree()
    count = 0
    root: dict[str, Any] = {}
    level = [_Node(root, page, 0, None)]
    known: dict[str, _Fetched] = {}
    while level:
        # What stands on a page in several copies is asked for once.
        sources = dict.fromkeys(
            node.source for node in level if node.source not in known and not _is_named(node)
        )
        known.update(zip(sources, await together(_fetch(api, source) for source in sources), strict=True))
        deeper: list[_Node] = []
        for node in level:
            found_children = _children(node, known, tree)
            room = max(0, limits.blocks - count)
            children = found_children[:room]
            if len(children) < len(found_children):
                tree.skipped["too many blocks"] += len(found_children) - len(children)
            count += len(children)
            node.raw["children"] = children
            for child in children:
                if is_gone(child):
                    tree.has_gone |= type_of(child) not in OWN_PAGES
                    continue
                if type_of(child) in OWN_PAGES:
                    if not node.is_copied:
                        tree.documents.extend(filter(None, [page_id(child.get("id"))]))
                elif found := _to_fetch(child, node):
                    if found.depth > limits.depth:
                        tree.skipped["too deep"] += 1
                    else:
                        deeper.append(found)
        level = deeper
    tree.blocks = root.get("children", [])
    return tree


def _to_fetch(raw: dict[str, Any], parent: _Node) -> _Node | None:
    kind = type_of(raw)
    source = str(block_id(raw.get("id")) or "")
    if kind == "synced_block":
        mirrored = as_mapping(payload(raw).get("synced_from"))
        original = block_id(mirrored.get("block_id"))
        if original is not None:
            if _is_inside(original, parent):
                return None
            return _Node(raw, original, parent.depth + 1, parent, is_copied=True)
    if not source or not (raw.get("has_children") is True or _parts(raw)):
        return None
    # A block that is moved while its page is read may be met inside itself, as a copy may.
    if _is_inside(source, parent):
        return None
    return _Node(raw, source, parent.depth + 1, parent, is_copied=parent.is_copied)


def _is_inside(source: str, node: _Node | None) -> bool:
    while node is not None:
        if node.source == source:
            return True
        node = node.parent
    return False


async def _fetch(api: NotionApi, source: str) -> _Fetched:
    try:
        return [dict(child) async for child in api.children(source)]
    except (NotFoundError, UnreadableError) as error:
        return error


def _children(node: _Node, known: Mapping[str, _Fetched], tree: Tree) -> list[dict[str, Any]]:
    raw = node.raw
    if _is_named(node):
        # Meeting notes name their parts instead of holding them.
        return [{"id": part, "type": MEETING_PART, "has_children": True} for part in _parts(raw)]
    found = known[node.source]
    if not isinstance(found, Exception):
        return [dict(child) for child in found]
    if not raw:
        raise found
    kind = type_of(raw)
    is_copy = kind == "synced_block" and node.source != block_id(raw.get("id"))
    if is_copy or not is_known_type(kind):
        tree.skipped["original not shared" if is_copy else kind or "untyped"] += 1
        return []
    raise UnavailableError(f"A {kind} block of the page could not be read: {found}") from found


def _is_named(node: _Node) -> bool:
    return bool(_parts(node.raw)) and node.raw.get("has_children") is not True


def _parts(raw: Json) -> tuple[str, ...]:
    """The ids of summary, notes and transcript that meeting notes hold."""
    if type_of(raw) not in {"meeting_notes", "transcription"}:
        return ()
    named = as_mapping(payload(raw).get("children"))
    return tuple(filter(None, (block_id(one) for one in named.values())))


async def together(coroutines: Iterable[Coroutine[Any, Any, Result]]) -> list[Result]:
    """All results in order; at the first failure the rest is cancelled and awaited."""
    tasks = [asyncio.ensure_future(one) for one in coroutines]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
