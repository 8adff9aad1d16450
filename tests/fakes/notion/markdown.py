"""A page as enhanced Markdown, for the page-markdown endpoint. Enough of the format to test with."""

from __future__ import annotations

from collections.abc import Callable

from tests.fakes.notion.blocks import SUPPORTED
from tests.fakes.notion.records import Block, Database, DataSource, Page
from tests.fakes.notion.richtext import Json, plain
from tests.fakes.notion.store import Store

_PREFIX = {
    "heading_1": "# ",
    "heading_2": "## ",
    "heading_3": "### ",
    "heading_4": "#### ",
    "bulleted_list_item": "- ",
    "numbered_list_item": "1. ",
    "quote": "> ",
}


def render(store: Store, root: Page | Block, *, limit: int, transcript: bool) -> tuple[str, bool, list[str]]:
    """Markdown, whether it was cut at ``limit`` blocks, and the ids that could not be rendered."""
    lines: list[str] = []
    unknown: list[str] = []
    truncated = False
    first = list(root.children) if isinstance(root, Page) else [root.id]
    stack = [(key, 0) for key in reversed(first)]
    count = 0
    while stack:
        key, depth = stack.pop()
        count += 1
        if count > limit:
            truncated = True
            unknown.append(key)
            continue
        if not store.reachable(key):
            unknown.append(key)
            continue
        record = store.record(key)
        if isinstance(record, Block) and record.type not in SUPPORTED:
            unknown.append(key)
        indent = "\t" * depth
        lines += [indent + line for line in _lines(store, record).split("\n")]
        if isinstance(record, Block) and not _hidden(store, record, transcript):
            stack.extend((child, depth + 1) for child in reversed(_below(store, record)))
    return "\n".join(lines), truncated, unknown


def _below(store: Store, block: Block) -> list[str]:
    source = block.content.get("synced_from")
    if not source:
        return block.children
    return store.children_of(source["block_id"]) if store.reachable(source["block_id"]) else []


def _hidden(store: Store, block: Block, transcript: bool) -> bool:
    """Transcripts are left out unless asked for."""
    above = store.parent_of(block)
    if transcript or not isinstance(above, Block) or above.type != "meeting_notes":
        return False
    return bool(above.content.get("children", {}).get("transcript_block_id") == block.id)


def _lines(store: Store, record: Page | Block | Database | DataSource) -> str:
    if isinstance(record, Block):
        kind, content = record.type, record.content
        if kind in SUPPORTED:
            return _WRITERS.get(kind, _text)(kind, content)
        return f'<unknown url="{store.url(record.id)}" alt="{content.get("block_type", kind)}"/>'
    kind = "page" if isinstance(record, Page) else "database"
    return f'<{kind} url="{store.url(record.id)}">{store.title(record.id)}</{kind}>'


def _text(kind: str, content: Json) -> str:
    return _PREFIX.get(kind, "") + plain(content.get("rich_text") or content.get("title") or [])


def _code(_: str, content: Json) -> str:
    return f"```{content['language']}\n{plain(content['rich_text'])}\n```"


def _row(_: str, content: Json) -> str:
    return "| " + " | ".join(plain(cell) for cell in content["cells"]) + " |"


def _task(_: str, content: Json) -> str:
    return f"- [{'x' if content['checked'] else ' '}] {plain(content['rich_text'])}"


def _media(kind: str, content: Json) -> str:
    return f"<{kind}>{plain(content.get('caption') or []) or content.get('name', '')}</{kind}>"


_WRITERS: dict[str, Callable[[str, Json], str]] = {
    "code": _code,
    "table_row": _row,
    "to_do": _task,
    "equation": lambda _, content: f"$$\n{content['expression']}\n$$",
    "divider": lambda _, __: "---",
    **dict.fromkeys(("image", "video", "audio", "file", "pdf", "bookmark", "embed"), _media),
}
