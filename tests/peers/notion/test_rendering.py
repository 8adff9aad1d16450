"""Random blocks of official shape through our renderer: no crash, and every word survives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from adapters.sources.notion_blocks import OWN_PAGES, render_blocks
from adapters.sources.notion_files import attachments_of
from core.domain.documents import PlacedPage, walk
from core.services.chunking import chunk_page
from tests.builders_store import a_page
from tests.peers.notion.peers import random_blocks

SILENT = {"table_of_contents", "breadcrumb", "divider"}


def test_2000_random_blocks_lose_no_text() -> None:
    """Each alone: every ``plain_text`` of the block stands in what is rendered, letter for letter."""
    lost = []
    for block in ({**one, "in_trash": False, "archived": False} for one in random_blocks()):
        rendered = letters("\n".join(one.text for one, _ in walk(render_blocks([block]).blocks)))
        if block["type"] in OWN_PAGES | SILENT:
            continue
        lost += [
            (block["type"], text)
            for text in plain_texts(block)
            if letters(text) and letters(text) not in rendered
        ]
    assert lost == []


def test_2000_random_blocks_together_are_a_page_that_can_be_cut() -> None:
    """All on one page, with their files looked at."""
    blocks = random_blocks()
    rendered = render_blocks(blocks)
    stored = a_page(1)
    chunks = chunk_page(PlacedPage(stored.page.ref), rendered.blocks)
    assert len(chunks) > 1000
    assert len(attachments_of(blocks)) > 100


def plain_texts(block: dict[str, Any]) -> Iterator[str]:
    """Every ``plain_text`` in a block."""
    stack: list[object] = [block]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(node)
        elif isinstance(node, dict):
            if isinstance(node.get("plain_text"), str):
                yield node["plain_text"]
            stack.extend(node.values())


def letters(text: str) -> str:
    """The letters and digits alone: what marks and escapes may stand between."""
    return "".join(re.findall(r"[^\W_]", text))
