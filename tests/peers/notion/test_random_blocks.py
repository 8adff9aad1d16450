"""The random blocks that renderers are fuzzed with are of official shape and of every type."""

from __future__ import annotations

from collections import Counter

from tests.peers.notion.peers import block_types, complaint, random_blocks


def test_random_blocks_cover_every_official_type() -> None:
    """2,000 blocks, each valid against its own type, all 37 types about equally often."""
    blocks = random_blocks()
    counts = Counter(block["type"] for block in blocks)
    assert len(blocks) == 2000
    assert set(counts) == set(block_types())
    assert len(counts) == 37
    assert min(counts.values()) >= 2000 // 37
    # The generator works from the typings as they are, with the key of the older versions.
    problems = [complaint(block_types()[block["type"]], block, "2025-09-03") for block in blocks]
    assert [text for text in problems if text] == []


def test_random_blocks_hold_every_kind_of_rich_text() -> None:
    """Text, equations and all eight kinds of mentions occur."""
    kinds: set[str] = set()
    stack: list[object] = list(random_blocks())
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(node)
        elif isinstance(node, dict):
            if "plain_text" in node:
                kinds.add(node["mention"]["type"] if node["type"] == "mention" else node["type"])
            stack.extend(node.values())
    assert kinds == {
        *("text", "equation", "user", "date", "page", "database"),
        *("link_preview", "link_mention", "template_mention", "custom_emoji"),
    }
