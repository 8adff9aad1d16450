"""The blocks of one page, fetched level by level; never a truncated page without saying so."""

import asyncio
from collections import Counter
from collections.abc import Coroutine, Iterable
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
    be had, by reason.
    """

    blocks: list[dict[str, Any]] = field(default_factory=list)
    documents: list[PageId] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class _Node:
    """A block whose children are to be fetched, from the block ``source`` (itself, or what it mirrors)."""

    raw: dict[str, Any]
    source: str
    depth: int
    parent: "_Node | None"


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
    while level:
        fetched = await together(_children(api, node, tree) for node in level)
        deeper: list[_Node] = []
        for node, found_children in zip(level, fetched, strict=True):
            room = max(0, limits.blocks - count)
            children = found_children[:room]
            if len(children) < len(found_children):
                tree.skipped["too many blocks"] += len(found_children) - len(children)
            count += len(children)
            node.raw["children"] = children
            for child in children:
                if is_gone(child):
                    continue
                if type_of(child) in OWN_PAGES:
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
            return (
                None if _mirrors_itself(original, parent) else _Node(raw, original, parent.depth + 1, parent)
            )
    if not source or not (raw.get("has_children") is True or _parts(raw)):
        return None
    return _Node(raw, source, parent.depth + 1, parent)


def _mirrors_itself(original: str, node: _Node | None) -> bool:
    while node is not None:
        if node.source == original:
            return True
        node = node.parent
    return False


async def _children(api: NotionApi, node: _Node, tree: Tree) -> list[dict[str, Any]]:
    raw = node.raw
    if _parts(raw) and raw.get("has_children") is not True:
        # Meeting notes name their parts instead of holding them.
        return [{"id": part, "type": MEETING_PART, "has_children": True} for part in _parts(raw)]
    try:
        return [dict(child) async for child in api.children(node.source)]
    except (NotFoundError, UnreadableError) as error:
        if not raw:
            raise
        kind = type_of(raw)
        is_copy = kind == "synced_block" and node.source != block_id(raw.get("id"))
        if is_copy or not is_known_type(kind):
            tree.skipped["original not shared" if is_copy else kind or "untyped"] += 1
            return []
        raise UnavailableError(f"A {kind} block of the page could not be read: {error}") from error


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
